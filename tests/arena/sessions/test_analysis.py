"""Searches that grow: they find wins, tell what they expect, and are bounded."""

import random

import pytest

from arena.core.errors import ConfigError
from arena.sessions import analysis
from arena.sessions.analysis import AnalysisPool, request_for
from arena.sessions.session import RefusedError
from engine import EngineError, load_game
from tests.support.tournaments import PATIENCE


@pytest.fixture(scope="module")
def analyses():
    found = AnalysisPool(max_workers=1)
    yield found
    found.close()


def settled(analyses, asked, state, limit):
    """Return what an analysis has found when it grows no more."""
    while (found := analyses.look(asked, state, limit)).running:
        analyses.wait(asked, found.version, 10.0)
    return found


def win_in_one():
    """Return an Epicycle position and an action that wins at once, where others do not."""
    game, rng = load_game("epicycle", 2), random.Random(2)
    while True:
        state = game.new_initial_state()
        while not state.is_terminal():
            ends = {action: state.child(action) for action in state.legal_actions()}
            seat = state.current_player()
            wins = [action for action, end in ends.items() if end.is_terminal() and end.ranks()[seat] == 0]
            if len(wins) == 1 and len(ends) > 1:
                return state, wins[0]
            state.apply_action(rng.choice(state.legal_actions()))


def test_it_finds_and_proves_a_win_in_epicycle(analyses):
    won, winning = win_in_one()
    asked, state = request_for(won.game, won.position)
    found = settled(analyses, asked, state, 50_000)
    assert found.proven
    assert found.best[0].action == winning
    assert found.values[state.current_player()] == 1.0
    assert found.best[0].line[0] == found.best[0].text == state.action_to_string(found.best[0].action)


def test_it_grows_to_its_limit_and_goes_on_when_more_is_wanted(analyses):
    asked, state = request_for(load_game("epicycle", 3), None)
    found = settled(analyses, asked, state, 3_000)
    assert found.simulations == 3_000
    assert sum(best.visits for best in found.best) <= 3_000
    assert {best.action for best in found.best} == set(state.legal_actions())
    assert sum(found.values) == pytest.approx(0.0, abs=0.2)
    assert settled(analyses, asked, state, 5_000).simulations == 5_000


def test_a_match_that_is_over_is_not_searched(analyses):
    state = load_game("epicycle", 2).new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    asked, state = request_for(state.game, None, tuple(state.history()))
    found = analyses.look(asked, state, 1_000)
    assert (found.line, found.best) == ("it is over", ())


def test_more_positions_than_there_are_workers_are_refused_while_all_are_looked_at(analyses, monkeypatch):
    monkeypatch.setattr(analysis, "VIEWER_TIMEOUT_SECONDS", PATIENCE)
    game = load_game("epicycle", 3)
    first, state = request_for(game, None)
    analyses.look(first, state, 5_000_000)
    second, after = request_for(game, None, (state.legal_actions()[0],))
    with pytest.raises(RefusedError, match="are being analysed already"):
        analyses.look(second, after, 5_000_000)


@pytest.mark.parametrize(
    ("position", "actions", "kind"),
    [
        ("nonsense", (), EngineError),
        ("x" * 5000, (), ConfigError),
        (None, (99,), EngineError),
        (None, (0,) * 3000, ConfigError),
    ],
)
def test_what_is_no_position_is_refused(position, actions, kind):
    with pytest.raises(kind):
        request_for(load_game("epicycle", 2), position, actions)
