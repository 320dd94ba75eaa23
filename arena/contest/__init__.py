"""Contests: bots that authors hand in play by themselves, round by round, until a deadline or for good."""
