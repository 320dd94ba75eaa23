"""The arena's games as games of OpenSpiel, held against the arena itself and against OpenSpiel's own tests."""

import copy
import dataclasses
import pickle
import random
import subprocess
import sys

import numpy as np
import pyspiel
import pytest

import engine
from arena.interop.openspiel import arena_games, register
from engine import registry
from engine.specs import Value
from tests.arena.interop.openspiel.playing import (
    NAMES,
    assert_same_matches,
    bounded_tables,
    certainty,
    compiled_search,
    plain_search,
)
from tests.engine.matches import finished
from tests.engine.test_plain_game import NIM, NimState

SMALL = {"epicycle": "max_turns=40", "magic_mids": "max_turns=12", "pyramid_punch": "max_turns=8"}
"""Options that make random matches and histories short."""
TABLES = bounded_tables()
GAMES = [f"arena_{name}({SMALL.get(name, '')})" for name in NAMES]


@pytest.fixture(scope="module", autouse=True)
def ours_are_registered():
    register()


@pytest.fixture
def plug_in(monkeypatch):
    """Return what makes nim, under a name and with bounds, known for one test; OpenSpiel never forgets a game."""
    monkeypatch.setattr(arena_games, "registered_games", {*arena_games.registered_games})
    monkeypatch.setattr(registry, "registered_games", {})

    def known(name, bounds):
        engine.register_game(dataclasses.replace(NIM, name=name, bounds=bounds and (lambda players, params: bounds)))

    return known


def named(name: str, players: int, options: dict[str, Value]) -> tuple[str, dict[str, Value]]:
    """Return what OpenSpiel loads a game by."""
    return f"arena_{name}", {**options, "players": players}


def at_ply(spec, plies, seed=1):
    """Return a state of OpenSpiel some random plies after the start."""
    rng = random.Random(seed)
    state = pyspiel.load_game(spec).new_initial_state()
    for _ in range(plies):
        state.apply_action(rng.choice(state.legal_actions()))
    return state


def told(state):
    """Return what OpenSpiel and the arena's state within tell of a match."""
    return [(each.player, each.action) for each in state.full_history()], str(state), state.match.state.history()


def run(*lines: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)


# Registering


def test_registering_twice_registers_nothing_twice():
    before = pyspiel.registered_names()
    assert register() == [f"arena_{name}" for name in NAMES]
    assert register("epicycle", "epicycle") == register()
    assert pyspiel.registered_names() == before


def test_without_openspiel_one_line_says_what_to_install():
    ended = run("import sys; sys.modules['pyspiel'] = None", "import arena.interop.openspiel as o", "o.register()")
    assert "pip install 'pyramid-arena[openspiel]'" in ended.stderr.splitlines()[-1]


def test_a_plug_in_is_left_out_unless_it_tells_its_bounds(plug_in):
    plug_in("boundless", None)
    assert "arena_boundless" not in register()
    with pytest.raises(engine.UnsupportedError, match="boundless does not tell how far its matches can go"):
        register("boundless")


def test_a_plug_in_in_plain_python_without_drawing_or_observation_plays_too(plug_in, monkeypatch):
    plug_in("heaps", engine.Bounds(max_game_length=15, max_chance_nodes=1, max_chance_outcomes=4))
    monkeypatch.delattr(NimState, "__str__")
    with pytest.raises(engine.UnknownNameError, match="did you mean 'heaps'"):
        register("heaps", "heap")
    assert "arena_heaps" not in pyspiel.registered_names()
    assert "arena_heaps" in register()
    game = pyspiel.load_game("arena_heaps(players=3,rolled=true)")
    assert not game.get_type().provides_observation_tensor
    pyspiel.random_sim_test(game, num_sims=20, serialize=True, verbose=False)


def test_an_outcome_beside_openspiels_masks_is_refused(plug_in):
    plug_in("beside", engine.Bounds(max_game_length=15, max_chance_nodes=1, max_chance_outcomes=3))
    register("beside")
    state = pyspiel.load_game("arena_beside(rolled=true)").new_initial_state()
    with pytest.raises(engine.UnsupportedError, match="from 0 to max_chance_outcomes - 1"):
        state.legal_actions_mask()


def test_no_game_goes_there_and_back():
    with pytest.raises(engine.UnsupportedError, match="is OpenSpiel's own game; it is loaded there"):
        register("openspiel.pig")
    with pytest.raises(engine.UnknownNameError, match="OpenSpiel has no game 'arena_midgard'"):
        engine.load_game("openspiel.arena_midgard")


# Types and parameters


@pytest.mark.parametrize(("name", "players", "options"), TABLES)
def test_type_and_numbers_are_those_of_the_game_with_its_options(name, players, options):
    game, ours = pyspiel.load_game(*named(name, players, options)), engine.load_game(name, players, **options)
    kind = game.get_type()
    assert (game.num_players(), game.num_distinct_actions()) == (players, ours.num_distinct_actions)
    assert (kind.min_num_players, kind.max_num_players) == (ours.type.min_players, ours.type.max_players)
    chance = kind.ChanceMode.EXPLICIT_STOCHASTIC if ours.has_chance else kind.ChanceMode.DETERMINISTIC
    assert (kind.chance_mode, kind.utility, game.utility_sum()) == (chance, kind.Utility.ZERO_SUM, 0)
    assert game.max_game_length() == ours.max_game_length
    assert (game.max_chance_nodes_in_history(), game.max_chance_outcomes()) == (
        ours.max_chance_nodes,
        ours.max_chance_outcomes,
    )
    assert (game.min_utility(), game.max_utility()) == (ours.min_utility, ours.max_utility)
    assert pyspiel.load_game(str(game)) == game == pickle.loads(pickle.dumps(game))
    assert pyspiel.load_game(str(game)).game == ours
    assert pickle.loads(pickle.dumps(kind)) == kind


def test_a_text_that_looks_like_a_number_is_written_in_quotes():
    game = pyspiel.load_game("arena_midgard(variant=loki,seeds='9')")
    assert game.game.params["seeds"] == "9"
    assert game == pyspiel.load_game("arena_midgard", {"variant": "loki", "seeds": "9"})
    assert str(game) == "arena_midgard(players=2,seeds='9',variant=loki)"
    cells = pyspiel.load_game("arena_midgard(variant=loki,seeds=f6+f7+f8)")
    assert cells.game.params["seeds"] == "f6+f7+f8"


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("arena_epicycle(players=6)", "epicycle is for 2 to 5 players, not 6"),
        ("arena_epicycle(setup=odd)", "setup=odd: not a choice"),
        ("arena_midgard(seeds='9')", "seeds=9 is for variant=loki alone"),
        ("arena_epicycle(odd=1)", "Unknown parameter 'odd'"),
    ],
)
def test_what_a_game_does_not_allow_is_refused_by_name(spec, why):
    with pytest.raises((engine.EngineError, pyspiel.SpielError), match=why):
        pyspiel.load_game(spec)


# States


@pytest.mark.parametrize("spec", GAMES)
def test_a_state_says_what_the_arenas_state_says_all_through_a_match(spec):
    game = pyspiel.load_game(spec)
    theirs, ours = game.new_initial_state(), game.game.new_initial_state()
    for ply in finished(game.game, seed=3).history():
        who, outcomes = ours.current_player(), dict(ours.chance_outcomes())
        possible = ours.legal_actions() or sorted(outcomes)
        assert (theirs.current_player(), theirs.is_terminal(), theirs.is_chance_node()) == (who, False, who == -1)
        assert theirs.legal_actions() == possible == np.flatnonzero(theirs.legal_actions_mask(who)).tolist()
        assert who == -1 or not any(theirs.legal_actions(seat) for seat in range(game.num_players()) if seat != who)
        if outcomes:
            total = sum(outcomes.values())
            assert theirs.chance_outcomes() == [(outcome, weight / total) for outcome, weight in outcomes.items()]
        some = possible[:50]
        words = [theirs.action_to_string(who, action) for action in some]
        assert words == [ours.action_to_string(action) for action in some]
        assert [theirs.string_to_action(who, word) for word in words[:5]] == some[:5]
        assert theirs.returns() == theirs.rewards() == [0] * game.num_players()
        theirs.apply_action(ply)
        ours.apply_action(ply)
    assert (theirs.current_player(), theirs.is_terminal(), theirs.legal_actions()) == (-4, True, [])
    assert theirs.returns() == theirs.rewards() == ours.returns()
    assert theirs.history() == ours.history()


@pytest.mark.parametrize("spec", GAMES)
def test_copies_are_equal_and_go_their_own_ways(spec):
    state = at_ply(spec, 4)
    before = told(state)
    copies = [state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
    copies.append(pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(state.get_game(), state))[1])
    for each in copies:
        assert told(each) == before
        each.apply_action(each.legal_actions()[-1])
        assert told(each) != before
    assert told(state) == before


def test_another_process_reads_a_match_once_it_has_registered_the_game_and_ends_in_peace():
    state = at_ply("arena_midgard(variant=loki,seeds='9')", 5)
    text = pyspiel.serialize_game_and_state(state.get_game(), state)
    ended = run(
        "import sys",
        "from arena.interop.openspiel import register",
        "assert 'pyspiel' not in sys.modules",
        "register('midgard')",
        "import pyspiel",
        f"game, state = pyspiel.deserialize_game_and_state({text!r})",
        "print(game, state.history())",
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{state.get_game()} {state.history()}\n", "")


def test_a_match_of_other_rules_is_refused():
    state = at_ply("arena_epicycle", 3)
    restore, (text,) = state.match.__reduce__()
    assert restore(text).state == state.match.state
    with pytest.raises(engine.NotationError, match="rules version 7"):
        restore(text.replace('"rules_version":1', '"rules_version":7'))


def test_an_illegal_action_is_refused_and_changes_nothing():
    state = at_ply("arena_connect_four", 3)
    with pytest.raises(engine.IllegalActionError, match="7 is not legal for seat 1"):
        state.apply_action(7)
    assert len(state.history()) == 3 == len(state.match.state.history())


def test_actions_and_outcomes_have_names_at_any_state():
    game = pyspiel.load_game("arena_magic_mids")
    rolling = game.new_initial_state()
    assert rolling.is_chance_node()
    placing = rolling.child(5)
    assert rolling.action_to_string(0, 7) == placing.action_to_string(0, 7) == game.action_to_string(0, 7)
    assert rolling.action_to_string(-1, 7) == placing.action_to_string(-1, 7) == game.action_to_string(-1, 7)
    with pytest.raises(engine.NotationError, match="-1 is not the number"):
        rolling.action_to_string(0, -1)


def test_states_of_one_string_play_on_alike():
    level, keys = [pyspiel.load_game("arena_epicycle").new_initial_state()], {}
    for _ in range(6):
        level = [state.child(action) for state in level for action in state.legal_actions()]
        for state in level:
            assert keys.setdefault(str(state), state.match.state.key) == state.match.state.key
    positions = {position for position, *_ in keys.values()}
    assert len(positions) < len({*keys.values()}), "each position comes with one past, which shows nothing"


# Observations


@pytest.mark.parametrize("spec", GAMES)
def test_tensors_are_the_arenas_observations_and_the_history(spec):
    from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation

    state = at_ply(spec, 6)
    game, ours = state.get_game(), state.match.state
    seen, recalled = make_observation(game), make_observation(game, INFO_STATE_OBS_TYPE)
    layout = ours.game.observation_spec()
    for seat in range(game.num_players()):
        assert state.observation_tensor(seat) == ours.observe(seat).tolist()
        seen.set_from(state, seat)
        for name, block in layout.split(ours.observe(seat)).items():
            np.testing.assert_array_equal(seen.dict[name], block)
        recalled.set_from(state, seat)
        assert state.information_state_tensor(seat) == recalled.tensor.tolist()
        numbers = max(game.num_distinct_actions(), game.max_chance_outcomes())
        history = np.rint(recalled.dict["history"] * numbers).astype(int) - 1
        assert [*history[history >= 0]] == state.history()
        assert state.observation_string(seat) == str(state)
        assert state.information_state_string(seat) == state.history_str()
    assert game.observation_tensor_size() == layout.size
    assert game.information_state_tensor_size() == layout.size + game.max_history_length()
    private = pyspiel.IIGObservationType(False, False, pyspiel.PrivateInfoType.SINGLE_PLAYER)
    hidden = make_observation(game, private)
    hidden.set_from(state, 0)
    assert (hidden.tensor, hidden.string_from(state, 0)) == (None, "")
    with pytest.raises(engine.ParameterError, match="observers have no parameters, and size was given"):
        make_observation(game, None, {"size": 3})


# OpenSpiel's own tests and algorithms; more of them in test_ours_at_length.py


@pytest.mark.parametrize("spec", GAMES)
def test_openspiels_random_simulation_finds_nothing(spec):
    pyspiel.random_sim_test(pyspiel.load_game(spec), num_sims=1, serialize=True, verbose=False, mask_test=True)


def test_openspiels_transforms_take_a_game_of_ours():
    inverse = pyspiel.load_game("misere(game=arena_connect_four())")
    pyspiel.random_sim_test(inverse, num_sims=3, serialize=True, verbose=False)
    state, ours = inverse.new_initial_state(), pyspiel.load_game("arena_connect_four").new_initial_state()
    for action in (0, 1, 0, 1, 0, 1, 0):
        state.apply_action(action)
        ours.apply_action(action)
    assert (state.returns(), ours.returns()) == ([-1, 1], [1, -1])


def test_connect_four_is_openspiels_connect_four_move_by_move():
    assert_same_matches(pyspiel.load_game("arena_connect_four"), pyspiel.load_game("connect_four"), range(150))


@pytest.mark.parametrize("search", [compiled_search, plain_search])
@pytest.mark.parametrize("spec", ["arena_epicycle(players=3,max_turns=60)", "arena_connect_four"])
def test_openspiels_tree_search_beats_random(spec, search):
    assert certainty(pyspiel.load_game(spec), search, matches=12, simulations=20) > 3
