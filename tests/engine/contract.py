"""What every game promises. A test class with a `game` fixture that inherits from these runs all of it.

The checks are those of `arena check-game`, `engine.conformance`; what is here beyond them is asked of our games alone.
"""

import copy
import pickle
from collections.abc import Container

import pytest

import engine
from engine import Game
from engine.conformance import CHECKS, FAILED, Check, run_check
from engine.conformance.checks import KERNELS, PROCESSES, SPEED
from tests.engine.matches import finished, stops

MATCHES, LONG_MATCHES = 100, 400
"""Matches that a check may play each way, in the short lane and in the long one."""
COUNTING = ("replays", "playouts", "playouts-by-draws", "playouts-and-steps")
"""Checks that play as many as they may."""


def holds(check: Check, game: Game, matches: int) -> None:
    """Assert that a check does not fail."""
    finding = run_check(check, game, most_matches=matches)
    assert finding.status != FAILED, f"{finding.claim}: {finding.detail} ({finding.where})"


def of_groups(*groups: str, names: Container[str] = ()) -> pytest.MarkDecorator:
    """Run a test with each check of these groups, and with those of these names."""
    checks = [check for check in CHECKS if check.group in groups or check.name in names]
    short = [pytest.param(check, MATCHES, id=check.name) for check in checks]
    at_length = [
        pytest.param(check, LONG_MATCHES, id=f"{check.name}-at-length", marks=pytest.mark.system)
        for check in checks
        if check.name in COUNTING
    ]
    return pytest.mark.parametrize(("check", "matches"), short + at_length)


class GameContract:
    """For every game, compiled or plain."""

    @of_groups(*{check.group for check in CHECKS} - {KERNELS, PROCESSES, SPEED})
    def test_a_check_holds(self, game: Game, check: Check, matches: int) -> None:
        holds(check, game, matches)

    def test_states_of_one_match_differ_unless_their_positions_are_the_same(self, game: Game) -> None:
        seen = []
        for state in stops(game, 15):
            alike = [other for other in seen if other == state]
            assert all(other.position == state.position for other in alike)
            assert pickle.loads(pickle.dumps(state)) == state == copy.copy(state)
            seen.append(state)
        assert len(set(seen)) == sum(state not in seen[:place] for place, state in enumerate(seen))

    def test_returns_follow_from_the_seats_that_are_beaten(self, game: Game) -> None:
        for seed in range(10):
            end = finished(game, seed)
            ranks, returns = end.ranks(), end.returns()
            beaten = [sum(other > rank for other in ranks) for rank in ranks]
            tied = [ranks.count(rank) - 1 for rank in ranks]
            expected = [(2 * b + t) / (game.players - 1) - 1 for b, t in zip(beaten, tied, strict=True)]
            assert returns == pytest.approx(expected)
            assert sum(returns) == pytest.approx(0)
            mirrored = engine.returns_from_ranks([max(ranks) - rank for rank in ranks])
            assert [-value for value in mirrored] == returns
            assert all(-1 <= value <= 1 for value in returns)

    def test_a_game_with_kernels_has_a_drawing(self, game: Game) -> None:
        if game.kernels:
            assert game.new_initial_state().svg()


class KernelContract:
    """For games whose rules are kernels."""

    @of_groups(KERNELS)
    def test_a_check_holds(self, game: Game, check: Check, matches: int) -> None:
        holds(check, game, matches)
