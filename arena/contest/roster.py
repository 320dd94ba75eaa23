"""Which bots are to play in the next round, and so which events it is bound to.

The events are the difference between who is to play, by the accounts, and who does, by the plan in the log. So nothing
has to be remembered between the two, and nothing can be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from arena.accounts import Accounts, BotVersion
from arena.contest.entrants import HOUSE_PREFIX, joining
from arena.plan.bots import ResolvedBot
from arena.schedule.blocks import Schedule
from arena.schedule.kinds.ladder import Ladder
from arena.schedule.ladder_rounds import Departed, Event, Retired


class Roster(NamedTuple):
    """Who is to play."""

    versions: Mapping[str, BotVersion]
    """By label."""
    house: Mapping[str, ResolvedBot]
    """By label."""
    kept: frozenset[str]
    """Bots, `b12`, that play no more and whose results stay: those of authors banned so."""


def roster_of(accounts: Accounts, contest: str, house: Mapping[str, ResolvedBot]) -> Roster:
    """Return who is to play in a contest now."""
    versions = {version.label: version for version in accounts.submissions.playing(contest)}
    banned = {member.author.id for member in accounts.contests.members(contest) if member.banned == "keep"}
    bots = accounts.submissions.bots(contest) if banned else []
    kept = frozenset(bot.id for bot in bots if bot.author in banned and bot.withdrawn is None)
    return Roster(versions, house, kept)


def events_of(roster: Roster, schedule: Schedule, resolve: Callable[[str], ResolvedBot | None]) -> list[Event]:
    """Return the events that turn the bots of a round into those of a roster.

    `resolve` returns a bot that joins, by its label; None for one that cannot be used.
    """
    ladder = schedule.scheduler
    assert isinstance(ladder, Ladder)
    there = {entry.label for entry in schedule.entries}
    wanted = roster.versions.keys() | roster.house.keys()
    events: list[Event] = []
    for label in sorted(there):
        if label in wanted and label not in ladder.retired:
            continue
        if label not in wanted and bot_of(label) in roster.kept:
            events += [] if label in ladder.retired else [Retired(label)]
        else:  # one that may play again leaves first, and joins with all its results in the following round
            events.append(Departed(label))
    for label in sorted(wanted - there):
        bot = resolve(label)
        if bot is not None and any(refusal is None for refusal in bot.refusals):
            events.append(joining(label, bot))
    return events


def bot_of(label: str) -> str:
    """Return the bot of a label in a log; empty for one of the house."""
    return "" if label.startswith(HOUSE_PREFIX) else label.rpartition(".")[0]
