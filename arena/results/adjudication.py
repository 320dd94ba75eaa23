"""Matches that were adjudicated, and what rules would have done to matches that were played to the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from arena.core.adjudication import ADJUDICATED, AdjudicationRules
from arena.core.errors import UnknownTargetError
from arena.match.adjudication import verdicts
from arena.match.replay import check_game, walk_plies
from arena.match.stored import StoredMatch
from arena.results.columns import ADJUDICATION
from arena.results.matches import BoardName, chosen_boards
from arena.stats.means import CONFIDENCE
from arena.tournament.tournament import Tournament
from engine import Game


class Adjudicated(NamedTuple):
    """What rules would have done to a match."""

    plies: int
    """After how many it would have ended."""
    is_other: bool
    """Whether with other ranks than those that it really had."""
    seconds: float
    """Time of the bots' moves after that."""


@dataclass
class BoardAdjudication:
    """What rules would have done to the matches of a board, without those that repeat others move by move."""

    matches: int = 0
    plies: int = 0
    seconds: float = 0.0
    """Time of all moves of bots."""
    left_out: int = 0
    """Matches that were adjudicated when they were played, so that nobody knows how they would have ended."""
    saved_plies: int = 0
    saved_seconds: float = 0.0
    blocks: list[tuple[int, int]] = field(default_factory=list)
    """Of each block with any: adjudicated matches, and those of them with another result."""

    def add(self, matches: Sequence[tuple[StoredMatch, Adjudicated | None]]) -> None:
        """Add the matches of a block."""
        found = [verdict for _, verdict in matches if verdict is not None]
        self.matches += len(matches)
        for match, verdict in matches:
            self.plies += len(match.moves)
            self.seconds += sum(call.wall for call in match.clocks if call.ply >= 0)
            if verdict is not None:
                self.saved_plies += len(match.moves) - verdict.plies
                self.saved_seconds += verdict.seconds
        if found:
            self.blocks.append((len(found), sum(each.is_other for each in found)))


def adjudicated_at(match: StoredMatch, game: Game, rules: AdjudicationRules) -> Adjudicated | None:
    """Return when rules would have ended a match, and how; None where they would have let it go on to its end."""
    for ply, verdict in verdicts(match, walk_plies(match, game, None), rules):
        if verdict is not None:
            seconds = sum(call.wall for call in match.clocks if call.ply > ply.number)
            return Adjudicated(ply.number + 1, [*verdict.ranks] != match.ranks, seconds)
    return None


def share_interval(blocks: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the interval of a share over blocks of (trials, hits); from 0 to 1 where there are none.

    Clopper and Pearson (1934), with as many trials as independent ones of the same variance would be: Korn and
    Graubard, "Confidence intervals for proportions with small expected number of positive counts estimated from survey
    data" (1998). Where all trials were hits, or none, blocks show no variance, and each counts as one trial.
    """
    count, hit = (np.array(column, float) for column in zip(*blocks, strict=True)) if blocks else (np.zeros(0),) * 2
    trials, number = count.sum(), len(blocks)
    if not number:
        return 0.0, 1.0
    share = hit.sum() / trials
    size = float(number)
    if 0 < share < 1 and number > 1:
        variance = number / (number - 1) * ((hit - share * count) ** 2).sum() / trials**2
        size = float(min(trials, share * (1 - share) / max(variance, 1e-300)))
    tail, hits = (1 - CONFIDENCE) / 2, share * size
    low = betaincinv(hits, size - hits + 1, tail) if share > 0 else 0.0
    high = betaincinv(hits + 1, size - hits, 1 - tail) if share < 1 else 1.0
    return float(low), float(high)


def board_adjudication(tournament: Tournament, index: int, rules: AdjudicationRules) -> BoardAdjudication:
    """Return what rules would have done to the finished matches of a board."""
    game = check_game(tournament.schedule.boards[index])
    found, seen = BoardAdjudication(), set[tuple[tuple[str, ...], tuple[str, ...]]]()
    waiting: list[tuple[StoredMatch, Adjudicated | None]] = []
    last = None
    for page in tournament.matches(index):
        for block, match in page:
            if block.identity != last:
                found.add(waiting)
                waiting, last = [], block.identity
            played = tuple(match.bots), tuple(match.moves)
            if match.ended in ADJUDICATED:
                found.left_out += 1
            elif played not in seen:
                seen.add(played)
                waiting.append((match, adjudicated_at(match, game, rules)))
    found.add(waiting)
    return found


def adjudication(
    tournament: Tournament, rules: AdjudicationRules, game: str | None = None, players: int | None = None
) -> pd.DataFrame:
    """Return what rules would have done, a row for each board; columns: `arena.results.columns.ADJUDICATION`.

    Boards of games with utilities of their own, and foreign results, are left out; raises `UnknownTargetError` where
    nothing is left.
    """
    schedule, found = tournament.schedule, {}
    for index in chosen_boards(tournament.plan.name, schedule, game, players):
        board = schedule.boards[index]
        if not board.utilities and not schedule.is_foreign:
            found[board.game, board.players] = board_adjudication(tournament, index, rules)
    if not found:
        raise UnknownTargetError(f"{tournament.plan.name}: has no board whose matches can be adjudicated")
    return adjudication_frame(found)


def adjudication_frame(found: Mapping[BoardName, BoardAdjudication]) -> pd.DataFrame:
    """Return what rules would have done as a frame; columns: `arena.results.columns.ADJUDICATION`."""
    rows = []
    for board, each in found.items():
        trials, others = (sum(column) for column in zip((0, 0), *each.blocks, strict=True))
        rows.append(
            (
                *(*board, each.matches, each.left_out, trials),
                *(_ratio(each.saved_plies, each.plies), _ratio(each.saved_seconds, each.seconds)),
                *(others, _ratio(others, trials), *share_interval(each.blocks)),
            )
        )
    frame = pd.DataFrame(rows, columns=ADJUDICATION.names)
    floats = frame.select_dtypes("float").columns
    frame[floats] = frame[floats].round(4)
    return frame


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else np.nan


def adjudicated_note(tournament: Tournament, index: int) -> str:
    """Return the note under a leaderboard on adjudicated matches; empty for a board that has no rules for them."""
    board = tournament.schedule.boards[index]
    if board.adjudication is None:
        return ""
    ended = [word for (word,) in tournament.store.board(board.game, board.players).match_rows("m.ended")]
    rows = tournament.counted(index).rows.tolist()
    counts = Counter(ended[row] for row in rows)
    number = sum(counts[word] for word in ADJUDICATED)
    return f"{number:,} of {len(rows):,} matches were adjudicated: {board.adjudication.words}."
