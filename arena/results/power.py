"""Power analysis of two bots from a log: are they apart, and how many blocks, matches and hours would it take?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from arena.core.errors import ConfigError, UnknownTargetError
from arena.results.columns import POWER
from arena.results.matches import board_matches, two_entries
from arena.schedule.blocks import Schedule
from arena.stats.power import Pilot, blocks_needed, fewest_blocks, pilot
from arena.tournament.dice_keys import has_own_dice
from arena.tournament.tournament import Tournament

MAX_CONFIDENCE = 0.9999
"""Largest confidence and power allowed."""


@dataclass(frozen=True)
class PowerOptions:
    """Difference to detect, confidence and power."""

    difference: float | None = None
    """Difference of mean returns; None for the observed one."""
    confidence: float = 0.95
    """Confidence of the interval that is to exclude 0."""
    power: float = 0.8
    """Probability that it does."""

    def __post_init__(self) -> None:
        for name in ("confidence", "power"):
            if not 0.5 <= getattr(self, name) <= MAX_CONFIDENCE:
                raise ConfigError(f"{name} = {getattr(self, name):g}: must be from 0.5 to {MAX_CONFIDENCE}")
        if self.difference is not None and not 0 < self.difference <= 2:
            raise ConfigError(f"difference = {self.difference:g}: must be above 0 and at most 2")


@dataclass(frozen=True)
class Power:
    """Result of two bots on a board, and the number of blocks that tells them apart."""

    game: str
    players: int
    a: str
    b: str
    pilot: Pilot
    """Of A's mean return minus B's in distinct blocks."""
    options: PowerOptions
    difference: float
    """To be detected: as asked for, or else as observed."""
    blocks: int | None
    """Distinct blocks needed in all, existing ones included; None when out of reach or unknown."""
    matches_per_block: int
    seconds_per_match: float | None
    """Median, of one worker; None of foreign results."""
    own_dice: bool
    """Whether the matches of a block draw their own dice; with common dice fewer blocks may do."""

    @property
    def more(self) -> int | None:
        """Blocks still missing."""
        return None if self.blocks is None else max(0, self.blocks - self.pilot.blocks)

    @property
    def seconds(self) -> float | None:
        """Time of one worker for the missing blocks."""
        if self.more is None or self.seconds_per_match is None:
            return None
        return self.more * self.matches_per_block * self.seconds_per_match


def power(
    target: str | Path,
    a: str,
    b: str,
    game: str | None = None,
    players: int | None = None,
    options: PowerOptions = PowerOptions(),
    home: str | Path | None = None,
) -> list[Power]:
    """Return an estimate for each board on which both bots play, or for those of a game or number of players."""
    with Tournament.open(target, home) as tournament:
        store, schedule = tournament.store, tournament.schedule
        two = two_entries(target, schedule, a, b)
        found = []
        for index, board in enumerate(schedule.boards):
            named = game in (None, board.game, board.game.partition("(")[0]) and players in (None, board.players)
            if not named or not set(two) <= set(board.entries):
                continue
            matches = board_matches(tournament, index)
            differences = paired_differences(matches, schedule, index, two)
            seen = pilot(differences.to_numpy(), options.confidence, _distinct_blocks(matches, differences))
            target_difference = abs(seen.mean) if options.difference is None else options.difference
            needed = None
            if seen.blocks > 1:
                needed = blocks_needed(target_difference, seen.likely_deviation, options.confidence, options.power)
            if needed is not None:
                needed = max(needed, fewest_blocks(options.confidence))
            found.append(
                Power(
                    *(board.game, board.players, a, b, seen, options, target_difference, needed),
                    matches_per_block=schedule.lineups(board),
                    seconds_per_match=None if schedule.is_foreign else store.board(board.game, board.players).seconds(),
                    own_dice=has_own_dice(schedule, index),
                )
            )
    if not found:
        raise UnknownTargetError(f"{target}: has no such board on which both {a} and {b} play")
    return found


def _distinct_blocks(matches: pd.DataFrame, differences: pd.Series) -> int:
    """Return the number of blocks that do not repeat another one move by move."""
    share = matches.drop_duplicates("block").set_index("block")["distinct_share"]
    return round(float(share.reindex(differences.index).sum()))


def paired_differences(matches: pd.DataFrame, schedule: Schedule, board: int, entries: tuple[int, int]) -> pd.Series:
    """Return, by block with both bots, the difference of their mean returns; in duels that in the duel's seat."""
    if matches.empty:
        return pd.Series(dtype=float)
    if set(entries) == set(schedule.compared_pair(board) or ()):
        players = matches["seat"].max() + 1
        matches = matches[matches["seat"] == matches["round"] % players]
    if schedule.is_foreign:  # whose blocks need not be of one table
        seated = matches["entry"].to_numpy().reshape(-1, matches["seat"].max() + 1)
        both = (seated == entries[0]).any(axis=1) & (seated == entries[1]).any(axis=1)
        matches = matches[np.repeat(both, seated.shape[1])]
    chosen = matches[matches["entry"].isin(entries)]
    means = chosen.pivot_table(index="block", columns="entry", values="return_", aggfunc="mean")
    means = means.reindex(columns=list(entries)).dropna()
    return means[entries[0]] - means[entries[1]]


def power_frame(found: Sequence[Power]) -> pd.DataFrame:
    """Return estimates as a frame; columns: `arena.results.columns.POWER`."""
    rows = [
        (
            *(each.game, each.players, each.a, each.b, each.pilot.blocks),
            *(each.pilot.mean, each.pilot.low, each.pilot.high, each.pilot.deviation, each.pilot.p),
            *(each.options.confidence, each.options.power, each.difference, each.blocks, each.seconds, each.own_dice),
        )
        for each in found
    ]
    return pd.DataFrame(rows, columns=POWER.names).astype({"blocks_needed": "Int64"})
