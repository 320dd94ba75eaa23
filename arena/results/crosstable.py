"""Crosstables from a log: head-to-head results of all pairs, pairs that ratings do not predict, cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from arena.core.errors import UnknownTargetError
from arena.results.columns import CROSSTABLE
from arena.results.matches import BoardName, chosen_boards, seat_frame
from arena.stats.board import skills_of
from arena.stats.cycles import cycles, cyclic_groups, significant
from arena.stats.head_to_head import HEAD_TO_HEAD_COLUMNS, compare_pairs, p_values, rounded
from arena.stats.misfits import misfits, misfitting
from arena.stats.multiple import FAMILY_WISE_ERROR, holm, p_value_digits
from arena.stats.online_trueskill import rating_model
from arena.tournament.tournament import Tournament
from engine.errors import did_you_mean


@dataclass(frozen=True)
class Crosstable:
    """Head-to-head results of the bots of a board."""

    bots: list[str]
    """Labels in the order of the leaderboard."""
    pairs: pd.DataFrame
    """Columns: `arena.results.columns.CROSSTABLE`."""
    misfits: pd.DataFrame
    """Columns: `arena.results.columns.MISFITS`."""
    cycles: pd.DataFrame
    """Columns: `arena.results.columns.CYCLES`."""
    cyclic_groups: list[list[str]]
    """Groups of bots linked by significant cycles of any length."""

    @property
    def apart(self) -> int:
        """How many pairs differ significantly when all of them are tested at once."""
        return int((self.pairs["p_adjusted"] <= FAMILY_WISE_ERROR).sum())


def crosstables(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[BoardName, Crosstable]:
    """Return the crosstables of a tournament's boards, or of those of a game or number of players."""
    with Tournament.open(target, home) as tournament:
        boards = tournament.schedule.boards
        chosen = chosen_boards(target, tournament.schedule, game, players)
        return {(boards[index].game, boards[index].players): board_crosstable(tournament, index) for index in chosen}


def board_crosstable(tournament: Tournament, index: int) -> Crosstable:
    """Return the crosstable of a board."""
    players, out = tournament.schedule.boards[index].players, tournament.disqualified(index)
    return crosstable(seat_frame(tournament.counted(index)), players, out)


def crosstable(matches: pd.DataFrame, players: int, out: Mapping[int, int] | None = None) -> Crosstable:
    """Return the crosstable of the matches of one board; `out` are the disqualified bots."""
    skills = skills_of(matches, players)
    mu = dict(zip(skills.bots, skills.mu.tolist(), strict=True))
    last = set(matches.loc[matches["entry"].isin(list(out or ())), "bot"])
    bots = sorted(mu, key=lambda bot: (bot in last, -mu[bot], bot))
    compared = compare_pairs(matches, players, bots)
    fitted = misfits(compared, skills, players)
    edges = significant(compared)
    p = difference_p_values(compared)
    pairs = compared[HEAD_TO_HEAD_COLUMNS].join(fitted[["lead", "predicted", "z"]])
    pairs = rounded(CROSSTABLE.arrange(pairs.assign(p_value=0.0, p_adjusted=0.0)))
    pairs = pairs.assign(p_value=p_value_digits(p), p_adjusted=p_value_digits(holm(p)))
    found = cycles(edges, bots)
    if bots:
        pairs.attrs["ratings"] = rating_model(skills.margin)
    return Crosstable(bots, pairs, rounded(misfitting(fitted)), found, cyclic_groups(edges, bots))


def difference_p_values(compared: pd.DataFrame) -> np.ndarray:
    """Return the p-values of the differences of `compare_pairs`, each of its pair alone."""
    return p_values(*(compared[name].to_numpy() for name in ("difference", "error", "blocks", "decided")))


def of_bot(found: Crosstable, bot: str) -> Crosstable:
    """Return the part of a crosstable about one bot, from its side; p-values are adjusted for its pairs alone."""
    if bot not in found.bots:
        raise UnknownTargetError(f"no bot '{bot}' on the board{did_you_mean(bot, found.bots)}")
    rows = found.misfits
    cycle = (found.cycles[["first", "second", "third"]] == bot).any(axis=1)
    pairs = _turned(found.pairs, bot)
    return Crosstable(
        found.bots,
        pairs.assign(p_adjusted=p_value_digits(holm(pairs["p_value"].to_numpy()))),
        rows[(rows["bot"] == bot) | (rows["opponent"] == bot)],
        found.cycles[cycle],
        [group for group in found.cyclic_groups if bot in group],
    )


def _turned(pairs: pd.DataFrame, bot: str) -> pd.DataFrame:
    """Return the pairs of a bot with the bot first."""
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
