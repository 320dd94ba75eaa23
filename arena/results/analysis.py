"""What a log tells beyond its leaderboards, board by board: who beats whom, cycles, seats and luck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from arena.core.errors import StoreError
from arena.plan.dice_keys import has_own_dice
from arena.plan.disqualification import disqualified
from arena.plan.logs import open_log
from arena.results.columns import CROSSTABLE
from arena.results.leaderboards import board_matches
from arena.stats import variance as luck_of
from arena.stats.board import skills_of
from arena.stats.cycles import cycles, entangled, significant
from arena.stats.head_to_head import COLUMNS, compare_pairs, rounded
from arena.stats.misfits import misfits, misfitting
from arena.stats.online_trueskill import rating_model
from engine.errors import did_you_mean

BoardName = tuple[str, int]
"""Canonical game spec and number of players."""


@dataclass(frozen=True)
class Meetings:
    """How the bots of a board did against each other."""

    bots: list[str]
    """As on the leaderboard."""
    pairs: pd.DataFrame
    """As `arena.api.head_to_head` returns it."""
    misfits: pd.DataFrame
    """As `arena.stats.misfits.misfitting` returns it."""
    cycles: pd.DataFrame
    """As `arena.stats.cycles.cycles` returns it."""
    entangled: list[list[str]]
    """Groups of bots that significant cycles of any length link."""


def choose_boards(
    target: str | Path, boards: Iterable[BoardName], game: str | None, players: int | None
) -> list[BoardName]:
    """Of a target's boards those of a game (a spec or a bare name) and a number of players."""
    known = list(boards)
    chosen = [
        (name, count)
        for name, count in known
        if (game is None or game in (name, name.partition("(")[0])) and (players is None or players == count)
    ]
    if not chosen:
        told = "; ".join(f"{name}, {count} players" for name, count in known)
        raise StoreError(f"{target}: has no such board; it has {told}")
    return chosen


def board_frames(
    target: str | Path, game: str | None, players: int | None, home: str | Path | None
) -> Iterator[tuple[BoardName, pd.DataFrame, dict[int, int], bool]]:
    """Of every board that is chosen: name, matches, benched bots, and whether matches have dice of their own."""
    store, resolved = open_log(target, home)
    with store:
        schedule = store.known(resolved.schedule())
        names = [(board.game, board.players) for board in schedule.boards]
        for name in choose_boards(target, names, game, players):
            board = names.index(name)
            out = disqualified(store, schedule, board)
            yield name, board_matches(store, schedule, board, out), out, has_own_dice(schedule, board)


def meetings(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[BoardName, Meetings]:
    """The meetings on every board of a tournament, or on those of a game or number of players."""
    frames = board_frames(target, game, players, home)
    return {name: board_meetings(matches, name[1], out) for name, matches, out, _ in frames}


def board_meetings(matches: pd.DataFrame, players: int, out: dict[int, int] | None = None) -> Meetings:
    """The meetings in the matches of one board."""
    skills = skills_of(matches, players)
    mu = dict(zip(skills.bots, skills.mu.tolist(), strict=True))
    benched_bots = set(matches.loc[matches["entry"].isin(list(out or ())), "bot"])
    bots = sorted(mu, key=lambda bot: (bot in benched_bots, -mu[bot], bot))
    compared = compare_pairs(matches, players, bots)
    fitted = misfits(compared, skills, players)
    edges = significant(compared)
    pairs = CROSSTABLE.arrange(compared[COLUMNS].join(fitted[["lead", "predicted", "z"]]))
    found = cycles(edges, bots)
    if bots:
        pairs.attrs["ratings"] = rating_model(skills.margin)
    return Meetings(bots, rounded(pairs), rounded(misfitting(fitted)), found, entangled(edges, bots))


def of_bot(found: Meetings, bot: str) -> Meetings:
    """What concerns one bot, seen from its side."""
    if bot not in found.bots:
        raise StoreError(f"no bot '{bot}' on the board{did_you_mean(bot, found.bots)}")
    rows = found.misfits
    cycle = (found.cycles[["first", "second", "third"]] == bot).any(axis=1)
    return Meetings(
        found.bots,
        _turned(found.pairs, bot),
        rows[(rows["bot"] == bot) | (rows["opponent"] == bot)],
        found.cycles[cycle],
        [group for group in found.entangled if bot in group],
    )


def _turned(pairs: pd.DataFrame, bot: str) -> pd.DataFrame:
    """The pairs of a bot, itself first."""
    other = pairs.rename(
        columns={
            **{"bot": "opponent", "opponent": "bot", "wins": "losses", "losses": "wins"},
            **{"difference_ci_low": "difference_ci_high", "difference_ci_high": "difference_ci_low"},
        }
    )
    signed = ["difference", "difference_ci_low", "difference_ci_high", "lead", "predicted", "z"]
    other[signed] = 0.0 - other[signed]
    mine = pairs.where(pairs["bot"] == bot, other[pairs.columns]).astype(pairs.dtypes.to_dict())
    return mine[mine["bot"] == bot].reset_index(drop=True)


def luck(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[BoardName, pd.DataFrame]:
    """`arena.stats.variance.luck` of every board that is chosen."""
    found = {}
    for name, matches, _, own_dice in board_frames(target, game, players, home):
        try:
            found[name] = luck_of.luck(matches, name[1], own_dice)
        except StoreError as error:
            raise StoreError(f"{target}: {name[0]}, {name[1]} players: {error}") from None
    return found
