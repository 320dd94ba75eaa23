"""Our games as PettingZoo's environments: its own tests, its connect four, and what ours promise beyond them."""

import copy
import pickle
import random
import re
import warnings

import numpy as np
import pytest
from pettingzoo.classic.connect_four import connect_four
from pettingzoo.utils.conversions import aec_to_parallel

import engine
from arena.interop import pettingzoo, rendering
from arena.match.dice import BOTS_PERSON, DICE_PERSON, Dice, Streams, public_key
from engine import registry
from tests.engine.matches import observed_tables
from tests.engine.test_contract import label
from tests.engine.test_plain_game import NIM

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its tests import an environment in a way that it calls deprecated
    from pettingzoo.test import api_test, max_cycles_test, render_test, seed_test

# PettingZoo says so of every environment with masks that it does not list by name
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]


def play(env, rng, plies=10**6):
    """Play random legal actions; return what every agent was told when it was to act."""
    told = []
    for agent in env.agent_iter(plies):
        seen, *rest = env.last()
        told.append((agent, seen["observation"].tobytes(), seen["action_mask"].tolist(), *rest))
        legal = np.flatnonzero(seen["action_mask"])
        env.step(int(rng.choice(legal)) if len(legal) else None)
    return told


@pytest.mark.parametrize("table", [table for table in observed_tables() if not table[2]], ids=label)
def test_pettingzoos_own_tests_pass_for_every_game_and_number_of_players(table):
    name, players, _ = table
    for made in (pettingzoo.env, pettingzoo.raw_env):
        api_test(made(name, players), num_cycles=40)
        seed_test(lambda made=made: made(name, players), num_cycles=20)


@pytest.mark.system
@pytest.mark.parametrize("table", observed_tables(), ids=label)
def test_pettingzoos_own_tests_pass_for_every_variant_too(table):
    name, players, options = table
    spec = engine.load_game(name, players, **options).spec
    drawings = {"svg": lambda text: text.startswith("<svg")}
    for made in (pettingzoo.env, pettingzoo.raw_env):
        api_test(made(spec, players))
        seed_test(lambda made=made: made(spec, players))
        render_test(lambda render_mode, made=made: made(spec, players, render_mode=render_mode), drawings)


@pytest.mark.parametrize("made", [pettingzoo.env, pettingzoo.raw_env])
def test_pettingzoos_render_test_passes_with_drawings_and_pixels(made):
    drawings = {"svg": lambda text: text.startswith("<svg")}
    render_test(lambda render_mode: made("epicycle", 3, render_mode=render_mode), drawings)


class Counting(engine.Game):
    """Everybody may always say yes or no, and nothing ever ends: what PettingZoo's test of `max_cycles` needs."""

    def new_initial_state(self):
        return Count(self, [])

    def observation_spec(self):
        from engine.observation import Block, ObservationSpec

        return ObservationSpec(1, (Block("plies", (2,), "how many plies, and 1", 0, 1e6),))


class Count(engine.State):
    __slots__ = ()

    def __init__(self, game, history):
        self.game, self._history = game, history

    def current_player(self):
        return len(self._history) % self.game.players

    def legal_actions(self):
        return [0, 1]

    def chance_outcomes(self):
        return []

    def apply_action(self, action):
        self._history.append(self.checked(action))

    def action_to_string(self, action):
        return ["no", "yes"][action]

    def string_to_action(self, text):
        return ["no", "yes"].index(text)

    def ranks(self):
        raise self.too_early()

    ended = ""

    def clone(self):
        return Count(self.game, self._history.copy())

    def write_observation(self, seat, out):
        out[:] = len(self._history), 1


COUNTING = engine.GameType("counting", "Counting", "Say yes or no.", 2, 3, 2, 1, NIM.credit, factory=Counting)


@pytest.fixture
def own_games(monkeypatch):
    """Games for these tests alone."""
    monkeypatch.setattr(registry, "registered_games", dict(registry.registered_games))
    engine.register_game(COUNTING)
    engine.register_game(NIM)


@pytest.mark.parametrize("players", [2, 3])
def test_pettingzoos_test_of_max_cycles_passes_where_it_applies(own_games, players):
    """It samples actions without a mask and steps agents in parallel: in games where all actions are always legal."""

    class Module:
        @staticmethod
        def env(max_cycles):
            made = pettingzoo.env("counting", players, max_cycles=max_cycles)
            made.metadata["is_parallelizable"] = True
            return made

        @staticmethod
        def parallel_env(max_cycles):
            return aec_to_parallel(Module.env(max_cycles))

    max_cycles_test(Module)


def test_max_cycles_truncates_everybody_and_a_match_that_ends_before_is_not_truncated():
    env = pettingzoo.env("epicycle", 2, max_cycles=3)
    env.reset(seed=1)
    told = play(env, random.Random(1))
    assert [(agent, *rest) for agent, _, _, *rest in told[6:]] == [
        ("seat_0", 0.0, False, True, {}),
        ("seat_1", 0.0, False, True, {}),
    ]
    assert len(told) == 8 and told[6][2] == [0] * 6
    env = pettingzoo.env("epicycle", 2, max_cycles=100_000)
    env.reset(seed=1)
    assert not any(truncated for *_, truncated, _ in play(env, random.Random(1)))


@pytest.mark.parametrize(("spec", "players"), [("magic_mids", 4), ("pyramid_punch", 3), ("midgard(variant=loki)", 2)])
def test_an_episode_is_a_match_of_the_engine_with_the_dice_of_the_arena(spec, players):
    env = pettingzoo.raw_env(spec, players)
    for episode, seed in enumerate([9, None, None]):
        env.reset(seed=seed)
        streams = Streams(public_key(9, DICE_PERSON), public_key(9, BOTS_PERSON), f"episode {episode}".encode())
        dice, state = Dice(streams), engine.load_game(spec, players).new_initial_state()
        rng = random.Random(episode)
        for agent in env.agent_iter():
            while state.is_chance_node():
                state.apply_action(dice.roll(state))
            seen, reward, terminated, truncated, _ = env.last()
            assert terminated == state.is_terminal() and not truncated
            assert np.array_equal(seen["observation"], state.observe(env.possible_agents.index(agent)))
            assert np.flatnonzero(seen["action_mask"]).tolist() == state.legal_actions()
            if terminated:
                assert reward == state.returns()[env.possible_agents.index(agent)]
                env.step(None)
                continue
            assert agent == f"seat_{state.current_player()}" and reward == 0
            action = rng.choice(state.legal_actions())
            env.step(action)
            state.apply_action(action)
        assert env.agents == []


def test_without_a_seed_the_first_episodes_are_those_of_seed_0():
    first, second = pettingzoo.env("magic_mids", 2), pettingzoo.env("magic_mids", 2)
    second.reset(seed=5)
    for seed in (0, None):
        first.reset()
        second.reset(seed=seed)
        assert play(first, random.Random(3)) == play(second, random.Random(3))
    first.reset()
    second.reset(seed=0)
    assert play(first, random.Random(3)) != play(second, random.Random(3))


def test_matches_that_end_before_anybody_has_a_choice_are_passed_over():
    env = pettingzoo.raw_env("magic_mids(max_turns=1)", 2)
    most = 0
    for seed in range(100):
        env.reset(seed=seed)
        assert not any(env.terminations.values())
        most = max(most, env._dice.episode)
    assert most > 0


def test_an_illegal_action_ends_the_episode_of_the_wrapped_environment_and_is_refused_by_the_raw_one():
    env, raw = pettingzoo.env("connect_four"), pettingzoo.raw_env("connect_four")
    for each in (env, raw):
        each.reset(seed=0)
        for _ in range(6):
            each.step(3)
    with pytest.raises(engine.IllegalActionError, match="d is not legal"):
        raw.step(3)
    assert len(raw.game_state.history()) == 6 and raw.rewards == {"seat_0": 0, "seat_1": 0}
    env.step(3)
    assert env.rewards == {"seat_0": -1.0, "seat_1": 0}
    assert all(env.terminations.values()) and all(env.truncations.values())


@pytest.mark.parametrize("spec", ["magic_mids", "connect_four"])
def test_pickled_and_copied_environments_go_on_alike_and_apart(spec):
    env = pettingzoo.env(spec, 2)
    env.reset(seed=4)
    play(env, random.Random(0), plies=7)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    expected = play(env, random.Random(1))
    assert len(expected) > 3 and not env.agents
    for made in copies:
        assert play(made, random.Random(1)) == expected


def test_rendering_shows_the_board_as_text_svg_and_pixels(capsys):
    shown, printed = {}, {}
    for mode in ("human", "ansi", "svg", "rgb_array"):
        env = pettingzoo.env("connect_four", render_mode=mode)
        env.reset()
        capsys.readouterr()
        env.step(3)
        shown[mode], printed[mode] = env.render(), capsys.readouterr().out
    state = engine.load_game("connect_four").new_initial_state().child(3)
    assert shown["human"] is None and printed.pop("human") == f"{state}\n" * 2  # after the step, and when it is asked
    assert set(printed.values()) == {""}
    assert (shown["ansi"], shown["svg"]) == (str(state), state.svg())
    height, width, channels = shown["rgb_array"].shape
    assert (channels, shown["rgb_array"].dtype) == (3, np.uint8)
    _, _, wide, high = map(float, re.search(r'viewBox="([^"]+)"', state.svg())[1].split())
    assert abs(width / height - wide / high) < 0.01
    assert len(np.unique(shown["rgb_array"].reshape(-1, 3), axis=0)) > 3


def test_a_game_without_a_drawing_has_text_alone_and_one_without_observations_is_refused(own_games):
    env = pettingzoo.raw_env("counting", 2, render_mode="ansi")
    assert env.metadata["render_modes"] == ["human", "ansi"]
    with pytest.raises(engine.ParameterError, match="counting has no render mode 'svg'; it has human, ansi"):
        pettingzoo.env("counting", 2, render_mode="svg")
    with pytest.raises(engine.ParameterError, match="max_cycles must be a whole number from 1 on, not 0"):
        pettingzoo.env("counting", 2, max_cycles=0)
    with pytest.raises(engine.UnsupportedError, match="nim has no observations"):
        pettingzoo.env("nim", 2)
    with pytest.raises(engine.UnknownNameError, match="did you mean 'epicycle'"):
        pettingzoo.env("epicycel", 2)


def compare_connect_four(matches):
    """Play random matches in PettingZoo's connect four and in ours; assert that all that is told agrees."""
    ours, theirs = pettingzoo.raw_env("connect_four"), connect_four.raw_env()
    rng, lengths = random.Random(11), set()
    split = ours.game.observation_spec().split
    for _ in range(matches):
        ours.reset()
        theirs.reset()
        plies = 0
        while True:
            agent, other = ours.agent_selection, theirs.agent_selection
            seat = int(agent[-1])
            assert [*ours.terminations.values()] == [*theirs.terminations.values()]
            assert [*ours.rewards.values()] == [*theirs.rewards.values()]
            if any(ours.terminations.values()):
                break
            assert seat == int(other[-1])
            seen, wanted = ours.observe(agent), theirs.observe(other)
            stones = split(seen["observation"])["stones"]
            assert np.array_equal(stones[:, ::-1].transpose(1, 2, 0), wanted["observation"])
            assert np.array_equal(seen["action_mask"], wanted["action_mask"])
            action = rng.choice(np.flatnonzero(wanted["action_mask"]).tolist())
            ours.step(action)
            theirs.step(action)
            plies += 1
        lengths.add(plies)
    return lengths


def test_our_connect_four_is_pettingzoos_move_by_move():
    assert min(compare_connect_four(150)) >= 7


@pytest.mark.system
@pytest.mark.parametrize("matches", [3_000, pytest.param(20_000, marks=pytest.mark.chaos)])
def test_our_connect_four_is_pettingzoos_move_by_move_over_thousands_of_matches(matches):
    lengths = compare_connect_four(matches)
    assert min(lengths) == 7 and max(lengths) == 42


def test_pixels_are_those_of_the_drawing_on_white():
    size = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"'
    square = '<rect x="-2" width="2" height="2" fill="#f00" fill-opacity=".5"/></svg>'
    rgb = rendering.svg_to_rgb(f'{size} viewBox="-2 0 4 2">{square}')
    assert rgb.shape == (2, 4, 3)
    assert rgb[:, 2:].tolist() == [[[255, 255, 255]] * 2] * 2
    assert rgb[1, 0].tolist() in ([255, 127, 127], [255, 128, 128])
    assert (rendering.svg_to_rgb(f"{size}>{square}") == 255).all()
