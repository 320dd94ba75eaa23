"""Short seasons of built-in bots, played for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import engine
from arena.contest.rounds import Rounds
from arena.core.adjudication import AdjudicationRules
from arena.core.limits import Limits
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import ResolvedBot, resolve_bots
from arena.runner.options import RunOptions
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board
from arena.schedule.kinds.ladder import Ladder, LadderRules
from arena.schedule.ladder_rounds import Departed, Event, Joined, ladder_boards
from arena.store import Store

GAMES = [engine.load_game("epicycle", 2), engine.load_game("magic_mids", 3)]
SPECS = {"b1.1": "random", "b2.1": "greedy", "b3.1": "random", "b4.1": "greedy", "b5.1": "random"}
OPTIONS = RunOptions(1, "local")


def ladder_of(games: Sequence[Any] = GAMES, adjudication: AdjudicationRules | None = None, **rules: Any) -> Schedule:
    """Return a season before its first round."""
    boards = tuple(Board.of(game, (), 1, 0, adjudication) for game in games)
    ladder = Ladder(round=0, rules=LadderRules(**rules), boards=ladder_boards(boards))
    return Schedule(7, (), boards, False, ladder, Limits())


def bots_of(labels: Sequence[str] = tuple(SPECS)) -> dict[str, ResolvedBot]:
    """Return built-in bots by label."""
    found = resolve_bots([BotEntry(bot=SPECS[label]) for label in labels], GAMES)
    return dict(zip(labels, found, strict=True))


def joining(bots: dict[str, ResolvedBot], label: str, trusted: bool = False) -> Joined:
    """Return the event of a bot that joins."""
    entry = replace(bots[label].entry(label, label), trusted=trusted)
    return Joined(entry, tuple(place for place, why in enumerate(bots[label].refusals) if why is None))


def scripted(bots: dict[str, ResolvedBot]) -> list[list[Event]]:
    """Return the events of a season of five rounds."""
    first = [joining(bots, label) for label in ("b1.1", "b2.1", "b3.1")]
    return [[*first], [joining(bots, "b4.1")], [Departed("b2.1")], [joining(bots, "b5.1", trusted=True)], []]


def play_season(log: Path, bots: dict[str, ResolvedBot], rounds: int = 5, ends: bool = True, **rules: Any) -> None:
    """Play rounds of the scripted season into a log."""
    with Store.create(log) as store:
        playing = Rounds("contests/sample/season-1", store, ladder_of(**{"placement": 2, **rules}))
        for events in scripted(bots)[playing.number : rounds]:
            schedule = playing.next(events)
            assert schedule is not None
            assert playing.play(schedule, events, bots, OPTIONS).complete
        if ends:
            playing.end()
