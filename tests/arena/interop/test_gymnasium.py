"""Our games as Gymnasium's environments: its own checks, and every number computed again by `State`."""

import itertools
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

import engine
from arena.interop import gymnasium as adapter
from arena.interop.gymnasium.vector import ArenaVectorEnv
from engine.errors import EngineError
from tests.engine.matches import observed_tables
from tests.engine.test_contract import label
from tests.support.batches import Single, bot, picked


def spec_of(table):
    name, players, options = table
    return engine.load_game(name, players, **options).spec, players


def check(env):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Not able to test alternative render modes.*")
        check_env(env)


@pytest.mark.parametrize("opponents", ["random", "greedy", None])
def test_gymnasiums_own_check_passes(opponents):
    check(adapter.make("connect_four", opponents=opponents))


@pytest.mark.system
@pytest.mark.parametrize("table", observed_tables(), ids=label)
def test_gymnasiums_own_check_passes_for_every_game_number_of_players_and_variant(table):
    spec, players = spec_of(table)
    for opponents in ("random", "greedy", None):
        check(adapter.make(spec, players, opponents=opponents))


def agree(env: ArenaVectorEnv, singles: list[Single], steps: int) -> int:
    """Hold environments against matches played by `State`; return how many have ended."""
    game, layout = env.game, env.game.observation_spec()
    rng = np.random.default_rng(5)
    observation, info = env.reset()
    ends = 0
    for _ in range(steps):
        actions = picked(info["action_mask"], rng)
        expected = []
        for i, single in enumerate(singles):
            seat = single.state.current_player()
            seen = layout.seen_actions(seat, game.num_distinct_actions)
            assert info["to_move"][i] == seat
            assert np.array_equal(observation[i], single.state.observe())
            mask = np.zeros(game.num_distinct_actions, np.int8)
            mask[seen[single.state.legal_actions()]] = 1
            assert np.array_equal(info["action_mask"][i], mask)
            expected.append((seat, *single.step(seen.tolist().index(actions[i]))))
        observation, rewards, terminated, truncated, info = env.step(actions)
        assert not truncated.any()
        for i, (seat, returns, end) in enumerate(expected):
            assert (rewards[i], terminated[i]) == (returns[seat], end is not None)
            if end is not None:
                assert np.array_equal(info["final_obs"][i], end)
                assert info["final_info"]["returns"][i].tolist() == returns
                ends += 1
        assert ("final_obs" in info) == terminated.any()
    return ends


def held(spec: str, players: int, opponents: list[str] | None, seat: int | None, steps: int) -> int:
    """Hold three environments against matches by `State`; return how many have ended."""
    env = adapter.make_vec(spec, players, 3, opponents=opponents, seat=seat, seed=4)
    first = (seat or 0) + 1
    bots = {(first + i) % players: bot(each) for i, each in enumerate(opponents or [])}
    rotation = (1, 1) if seat is None else (0, 0)
    return agree(env, [Single(env.game, 4, place, bots, rotation) for place in range(3)], steps)


@pytest.mark.parametrize(("opponents", "seat"), [(["greedy"], None), (["greedy"], 1), (None, None)])
def test_an_environment_plays_as_states_do_against_the_bots_that_were_named(opponents, seat):
    assert held("connect_four", 2, opponents, seat, 50) > 5


@pytest.mark.system
@pytest.mark.parametrize("table", observed_tables(), ids=label)
def test_environments_of_every_game_play_as_states_do(table):
    spec, players = spec_of(table)
    named = list(itertools.islice(itertools.cycle(["greedy", "uct:simulations=12", "random"]), players - 1))
    assert held(spec, players, named, None, 100) > 0
    if "max_turns" not in table[2]:  # or matches end before the last seat is asked
        assert held(spec, players, named[::-1], players - 1, 100) > 0
    assert held(spec, players, None, None, 200) > 0


def same(one, other):
    """Return whether two observations, or two infos, are the same in every entry and type."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if one.dtype == object:
        return all(left is right or np.array_equal(left, right) for left, right in zip(one, other, strict=True))
    return one.dtype == other.dtype and np.array_equal(one, other)


@pytest.mark.parametrize("illegal", [False, True])
def test_one_environment_in_gymnasiums_own_vector_tells_what_ours_tells(illegal):
    env = adapter.make_vec("connect_four", num_envs=1, opponents="greedy", seed=3)
    made = [lambda: adapter.make("connect_four", opponents="greedy", seed=3)]
    other = SyncVectorEnv(made, autoreset_mode=AutoresetMode.SAME_STEP)
    assert env.metadata["autoreset_mode"] == other.metadata["autoreset_mode"]
    assert env.observation_space == other.observation_space and env.action_space == other.action_space
    (observation, info), (seen, told) = env.reset(), other.reset()
    assert same(observation, seen) and same(info, told)
    rng = np.random.default_rng(1)
    ends = 0
    for _ in range(60):
        actions = rng.integers(0, 7, 1) if illegal else picked(info["action_mask"], rng)
        *ours, info = env.step(actions)
        *theirs, told = other.step(actions)
        assert all(same(one, another) for one, another in zip(ours, theirs, strict=True)) and same(info, told)
        ends += ours[2][0]
    assert ends > 3


def test_an_illegal_action_ends_its_match_with_the_lowest_reward_or_is_refused():
    env = adapter.make_vec("connect_four", num_envs=2, opponents=None)
    env.reset()
    for _ in range(6):
        env.step([3, 2])
    _, rewards, terminated, _, info = env.step([3, 1])
    assert (rewards.tolist(), terminated.tolist()) == ([-1.0, 0.0], [True, False])
    assert info["final_info"]["illegal"].tolist() == [True, False]
    assert info["final_info"]["returns"][0].tolist() == [-1.0, 0.0]
    strict = adapter.make("connect_four", opponents=None, illegal="raise")
    strict.reset()
    for _ in range(6):
        strict.step(3)
    before = str(strict.vector.batch.state(0))
    with pytest.raises(engine.IllegalActionError, match="3 is not legal in connect_four for seat 0"):
        strict.step(3)
    assert str(strict.vector.batch.state(0)) == before


@pytest.mark.parametrize("action", [-1, 7, 2**70, 1.0, None, "a", True])
def test_what_is_no_action_at_all_is_refused_and_nothing_is_played(action):
    env = adapter.make("connect_four")
    env.reset()
    before = str(env.vector.batch.state(0))
    with pytest.raises(engine.IllegalActionError, match=r"is no action of connect_four|must be whole numbers"):
        env.step(action)
    assert str(env.vector.batch.state(0)) == before


def test_a_match_is_reset_before_it_is_played_and_after_it_has_ended():
    vector, env = adapter.make_vec("connect_four", num_envs=2), adapter.make("connect_four", opponents=None)
    for each, action in ((vector, [0, 0]), (env, 0)):
        with pytest.raises(ResetNeeded, match="call reset first"):
            each.step(action)
    env.reset()
    for action in (0, 1, 0, 1, 0, 1):
        _, reward, ended, *_ = env.step(action)
        assert (reward, ended) == (0.0, False)
    _, reward, ended, _, info = env.step(0)
    assert (reward, ended, info["returns"].tolist(), info["illegal"]) == (1.0, True, [1.0, -1.0], False)
    assert not info["action_mask"].any() and info["to_move"] == engine.TERMINAL
    with pytest.raises(ResetNeeded, match="the match has ended"):
        env.step(0)
    assert env.reset()[1]["to_move"] == 0
    env.step(0)


def test_a_reset_with_a_seed_begins_anew_and_one_without_goes_on():
    env = adapter.make("magic_mids", 2, seat=0)
    first, second = env.reset(seed=8)[1]["action_mask"], env.reset()[1]["action_mask"]
    assert not np.array_equal(first, second)
    assert np.array_equal(env.reset(seed=8)[1]["action_mask"], first)
    assert np.array_equal(env.reset()[1]["action_mask"], second)
    assert np.array_equal(adapter.make("magic_mids", 2, seat=0, seed=8).reset()[1]["action_mask"], first)


def test_what_was_returned_stays_as_it_is_unless_that_is_given_up():
    for copy in (True, False):
        env = adapter.make_vec("connect_four", num_envs=4, opponents=None, copy=copy)
        observation, info = env.reset()
        kept = [observation.copy(), info["action_mask"].copy()]
        for _ in range(6):
            env.step(np.zeros(4, int))
        assert np.array_equal(observation, kept[0]) == copy
        assert np.array_equal(info["action_mask"], kept[1]) == copy


def test_the_agent_changes_seats_or_keeps_one():
    env = adapter.make_vec("magic_mids", 2, 6)
    assert env.reset()[1]["to_move"].tolist() == [0, 1] * 3
    assert env.reset()[1]["to_move"].tolist() == [1, 0] * 3
    fixed = adapter.make_vec("magic_mids", 2, 6, seat=1)
    assert fixed.reset()[1]["to_move"].tolist() == fixed.reset()[1]["to_move"].tolist() == [1] * 6


def test_gymnasium_makes_our_games_by_name_with_its_own_wrappers():
    names = adapter.register()
    try:
        assert "arena/connect_four-v1" in names and len(names) == len({*engine.game_names()} - {"pig"}), (
            "pig has no observations"
        )
        env = gymnasium.make("arena/connect_four-v1", opponents="greedy", render_mode="ansi")
        check_env(env.unwrapped)
        many = gymnasium.make_vec("arena/connect_four-v1", num_envs=8, vectorization_mode="vector_entry_point")
        counted = wrappers.RecordEpisodeStatistics(many)
        _, info = counted.reset(seed=1)
        lengths = []
        for _ in range(60):
            *_, info = counted.step(picked(info["action_mask"], np.random.default_rng(len(lengths))))
            if "episode" in info:
                lengths += info["episode"]["l"][info["_episode"]].tolist()
        assert lengths and all(3 < length < 22 for length in lengths)
    finally:
        for name in names:
            del gymnasium.registry[name]


def test_a_board_is_drawn_also_after_its_end(capsys):
    drawn = {}
    for mode in ("ansi", "svg", "rgb_array", "human", None):
        env = adapter.make("connect_four", opponents=None, render_mode=mode)
        env.reset()
        for action in (0, 1, 0, 1, 0, 1, 0):
            env.step(action)
        drawn[mode] = env.render()
    assert drawn["ansi"].count("x") >= 4 and drawn["svg"].startswith("<svg")
    assert drawn["rgb_array"].dtype == np.uint8 and drawn["rgb_array"].shape[2] == 3
    assert drawn["human"] is None and drawn[None] is None
    assert drawn["ansi"] in capsys.readouterr().out


def test_masks_are_there_as_booleans_too():
    env = adapter.make("connect_four")
    _, info = env.reset()
    assert env.action_masks().dtype == bool and (env.action_masks() == info["action_mask"]).all()


def test_what_cannot_be_made_is_refused_in_one_line():
    for spec, options, why in [
        ("conect_four", {}, "did you mean 'connect_four'"),
        ("connect_four", {"players": 3}, "players"),
        ("connect_four", {"opponents": ["greedy", "greedy"]}, "connect_four with 2 players has 1, not 2"),
        ("connect_four", {"opponents": "gredy"}, "did you mean 'greedy'"),
        ("connect_four", {"seat": 2}, "seat must be a whole number from 0 to 1, not 2"),
        ("connect_four", {"seat": 1, "opponents": None}, "plays all seats"),
        ("connect_four", {"num_envs": 0}, "n must be a whole number from 1"),
        ("connect_four", {"illegal": "no"}, "illegal must be one of raise, lose"),
    ]:
        with pytest.raises(EngineError, match=why):
            adapter.make_vec(spec, **options)
    with pytest.raises(EngineError, match="no render mode 'film'; it has human, ansi, svg, rgb_array"):
        adapter.make("connect_four", render_mode="film")


def test_without_gymnasium_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(engine.UnsupportedError, match=r"pip install 'pyramid-arena\[gymnasium\]'"):
        adapter.make_vec("connect_four")
