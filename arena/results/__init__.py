"""Leaderboards and other tables, from logs."""
