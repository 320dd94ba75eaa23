"""End a match before the game does: when all bots expect the same places, or the referee's search proves them.

Everything here is a fold over the moves of a match and the evaluations that its log keeps, so that verification finds
the same as the referee did, and what other rules would have done can be said of matches that were played to the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from arena.core.adjudication import ADJUDICATED, AGREEMENT, CERTAINTY, AdjudicationRules
from arena.core.errors import StoreError
from arena.match.estimates import EVALUATION_STEPS, unpack_estimates
from arena.match.proof import proved_ranks
from arena.match.replay import Ply
from arena.match.stored import StoredMatch
from engine import State


class Verdict(NamedTuple):
    """How a match is adjudicated."""

    ended: str
    ranks: tuple[int, ...]
    """By seat."""


class Adjudicator:
    """The adjudication of one match, told of the choices of its bots one by one."""

    def __init__(self, rules: AdjudicationRules, players: int) -> None:
        self.rules = rules
        self._margin = round(EVALUATION_STEPS * (1 - rules.threshold))
        self._expected: list[tuple[int, ...] | None] = [None] * players
        """By seat: ranks that its latest evaluation expected."""
        self._times = [0] * players
        """By seat: how often in a row."""
        self._is_asked = False

    def hear(self, seat: int, evaluation: Sequence[int]) -> None:
        """Take note of a choice of a bot, with its evaluation in steps; empty where it gave none."""
        ranks = expected_ranks(evaluation, self._margin)
        self._times[seat] = self._times[seat] + 1 if ranks == self._expected[seat] else 1
        self._expected[seat] = ranks
        self._is_asked = True

    def verdict(self, state: State) -> Verdict | None:
        """Return the verdict on a position, if there is one; none where no seat is to move, or no bot has chosen yet.

        Every bot counts, also one that has nothing to choose any more: what it said last stands. So no bot gains by
        what it says: the places that it gets are those that all others expected for it.
        """
        if not self._is_asked or state.current_player() < 0:
            return None
        if self.rules.agreement and min(self._times) >= self.rules.agreement:
            first, *others = self._expected
            if first is not None and all(ranks == first for ranks in others):
                return Verdict(AGREEMENT, first)
        if self.rules.certainty and len(state.legal_actions()) > 1:
            proved = proved_ranks(state, self.rules.certainty)
            return None if proved is None else Verdict(CERTAINTY, proved)
        return None


def expected_ranks(evaluation: Sequence[int], margin: int) -> tuple[int, ...] | None:
    """Return the ranks that an evaluation in steps expects, no two alike; None where it is not sure of them.

    It is sure where each seat's value is at most `margin` steps from the return of its rank. Ties cannot be told from
    doubt: both have values between those of ranks.
    """
    ranks = tuple(sum(other > value for other in evaluation) for value in evaluation)
    last = len(evaluation) - 1
    if not evaluation or len({*ranks}) <= last:
        return None
    off = (
        abs(last * value - EVALUATION_STEPS * (last - 2 * rank)) for value, rank in zip(evaluation, ranks, strict=True)
    )
    return ranks if max(off) <= margin * last else None


def verdicts(
    match: StoredMatch, plies: Iterable[Ply], rules: AdjudicationRules
) -> Iterator[tuple[Ply, Verdict | None]]:
    """Yield the plies of a match, as of `arena.match.replay.walk_plies`, each with the verdict on the state after it.

    There is none from the first forfeit on: where a bot has failed, its match is played to the end.
    """
    adjudicator = Adjudicator(rules, match.players)
    evaluations = evaluations_of(match)
    forfeit = min((ply for _, ply in match.forfeits.values()), default=len(match.moves) + 1)
    for ply in plies:
        found = None
        if ply.number < forfeit:
            if ply.by == "bot":
                adjudicator.hear(ply.seat, evaluations.get(ply.number, ()))
            found = adjudicator.verdict(ply.state)
        yield ply, found


def evaluations_of(match: StoredMatch) -> Mapping[int, Sequence[int]]:
    """Return the evaluations of a match by ply, in steps; raises `StoreError` when they are damaged."""
    kept = unpack_estimates(match.packed_estimates, match.players, len(match.moves))
    return {ply: evaluation for ply, evaluation, *_ in kept if evaluation}


def check_adjudication(match: StoredMatch, plies: Iterable[Ply], rules: AdjudicationRules | None) -> Iterator[Ply]:
    """Yield the plies of a match; raises `StoreError` unless it was adjudicated where the rules say so, and only there.

    `rules` are those of its board; None for one whose matches are not adjudicated.
    """
    is_adjudicated = match.ended in ADJUDICATED
    if rules is None:
        if is_adjudicated:
            raise StoreError(f"match {match.id}: was {match.ended}, and its plan adjudicates no matches")
        yield from plies
        return
    verdict = None
    for ply, verdict in verdicts(match, plies, rules):
        if verdict is not None and (not is_adjudicated or ply.number + 1 < len(match.moves)):
            raise StoreError(f"match {match.id}: is {verdict.ended} at ply {ply.number + 1}, and goes on in the log")
        yield ply
    if is_adjudicated and (verdict is None or (verdict.ended, [*verdict.ranks]) != (match.ended, match.ranks)):
        ours = "none follows" if verdict is None else f"{[*verdict.ranks]} {verdict.ended}"
        told = f"ranks {match.ranks} {match.ended} in the log, {ours} from its moves and evaluations"
        raise StoreError(f"match {match.id}: {told}")
