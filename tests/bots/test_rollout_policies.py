"""The compiled rollout policies judge as the bots do that they are the twins of, and play better than at random."""

import numpy as np
import pytest

import engine
from bots import make_bot
from bots.brawler import Brawler
from bots.catcher import Catcher
from bots.cautious import Cautious
from bots.heuristics import epicycle, heuristics_of, magic_mids, midgard, pyramid_punch
from bots.settler import Settler
from engine import Game, State
from engine.chance import new_rng
from engine.epicycle.rules import hand_of
from engine.kernel import bind
from tests.bots import policy_kernel
from tests.bots.built_in import installed_games, label
from tests.bots.matches import decisions

TWINS = {"epicycle": Cautious, "magic_mids": Catcher, "midgard": Settler, "pyramid_punch": Brawler}
WORTH = {
    "epicycle": lambda state, play: -epicycle.most_alike_after(state, hand_of(state, state.seat), play),
    "magic_mids": magic_mids.placement_worth,
    "midgard": midgard.drop_worth,
    "pyramid_punch": pyramid_punch.action_worth,
}
GAMES = [game for game in installed_games() if game.name in TWINS]
on_games = pytest.mark.parametrize("game", GAMES, ids=label)


def policy(game: Game):
    """Return the template's kernels, joined to the game and its rollout policy."""
    return bind(policy_kernel, game.rules, game.dtype, rollout_action=heuristics_of(game.name).rollout_action)


def drawn(state: State, count: int) -> list[int]:
    """Return what the policy plays, asked so many times."""
    actions = np.zeros(count, np.int64)
    policy(state.game).draws(state.words, count, new_rng(1), state.game.action_buffer, actions)
    return actions.tolist()


def judged(state: State) -> dict[int, float]:
    """Return what the bot compares with what it takes each for, or alone an action that it plays without comparing."""

    class Listening(TWINS[state.game.name]):  # type: ignore[misc, valid-type, name-defined]  # known only by then
        def pick_best(self, actions, values):
            seen.update(zip(actions, values, strict=True))
            return super().pick_best(actions, seen.values())

    seen: dict[int, float] = {}
    chosen = make_bot(Listening, state.game, state.current_player(), 1).choose(state)
    return seen or {chosen: 0.0}


def compares_all(state: State) -> bool:
    """Return whether the policy weighs all actions, as its bot does, and not only a few of them."""
    return state.game.name in ("epicycle", "magic_mids") or state.position.split(" ")[2].startswith("f")


@on_games
def test_the_policy_judges_every_action_as_its_bot_does(game):
    for state in decisions(game, 60):
        for action, value in judged(state).items():
            assert WORTH[game.name](state.record, action) == value


@pytest.mark.system
@on_games
def test_the_policy_plays_what_its_bot_may_choose_or_the_best_of_a_few(game):
    gained = 0.0
    for state in decisions(game, 60):
        values = judged(state)
        played = drawn(state, 200)
        best = {action for action, value in values.items() if value == max(values.values())}
        assert set(played) == best if compares_all(state) else set(played) <= values.keys()
        gained += float(np.mean([values[action] for action in played]) - np.mean(list(values.values())))
    assert gained > 0


def test_the_policy_knows_who_would_lead_if_odin_ended_at_once():
    seen = set()
    for state in decisions(engine.load_game("midgard", 2, variant="odin"), 150):
        ended = state
        while not ended.is_terminal():
            ended = ended.child(ended.string_to_action("declare"))
        cells = ended.scores()
        for seat in (0, 1):
            seen.add(cells[seat] > cells[1 - seat])
            assert midgard.leads_as_it_stands(state.record, seat) == (cells[seat] > cells[1 - seat])
    assert seen == {True, False}


def points_share(game: Game, count: int) -> float:
    """Return the policy's mean return, in each seat in turn, against random players."""
    kernels, total = policy(game), 0.0
    words, place = game.new_initial_state().words, np.zeros(game.players, np.int64)
    for seat in range(game.players):
        points = np.zeros(game.players, np.int64)
        kernels.playouts(words, count, 1 << seat, new_rng(seat), game.action_buffer, game.blank(), place, points)
        total += points[seat] / count / (game.players - 1) - 1
    return total / game.players


AT_LEAST = {"epicycle": 0.6, "magic_mids": 0.1, "midgard": 0.8, "pyramid_punch": 0.08}


@pytest.mark.system
@pytest.mark.parametrize(
    "game", [game for game in GAMES if (game.name, game.players) != ("pyramid_punch", 2)], ids=label
)
def test_the_policy_beats_random_play(game):
    assert points_share(game, 2000) > AT_LEAST[game.name]


@pytest.mark.system
def test_at_pyramid_punch_with_two_players_luck_decides():
    assert abs(points_share(engine.load_game("pyramid_punch", 2), 5000)) < 0.05
