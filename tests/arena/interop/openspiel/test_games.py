"""OpenSpiel's games keep our contract, are named by specs, and play as `pyspiel` plays them."""

from __future__ import annotations

import contextlib
import itertools
import math
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pyspiel
import pytest

import engine
from arena.interop.openspiel.drawing import as_drawing, with_board
from arena.interop.openspiel.games import GAME_PREFIX, provide
from arena.interop.openspiel.library import ARENA_PREFIX, version_number
from arena.interop.openspiel.state import as_word, whole_weights
from engine.errors import ParameterError, UnknownNameError, UnsupportedError
from tests.engine.contract import GameContract

SOME = [
    ("openspiel.tic_tac_toe", 2),
    ("openspiel.misere(game=tic_tac_toe())", 2),
    ("openspiel.nim(pile_sizes=1;2;3)", 2),
    ("openspiel.pig(horizon=60,winscore=20)", 3),
    ("openspiel.turn_based_simultaneous_game(game=goofspiel(num_cards=4,points_order=descending))", 2),
    ("openspiel.turn_based_simultaneous_game(game=matrix_pd())", 2),
    ("openspiel.turn_based_simultaneous_game(game=laser_tag(horizon=20))", 2),
]
MORE = [
    ("openspiel.antichess(fen=4k3/8/8/8/8/8/PP6/4K3%20w%20-%20-%200%201)", 2),
    ("openspiel.start_at(game=tic_tac_toe(),history=4;0)", 2),
    ("openspiel.dots_and_boxes(utility_margin=true)", 2),
    ("openspiel.misere(game=pig(winscore=15))", 4),
    ("openspiel.turn_based_simultaneous_game(game=goofspiel(num_cards=4))", 3),
    ("openspiel.turn_based_simultaneous_game(game=oshi_zumo(coins=6))", 2),
]
TURN_OR_FIRE = [0, 1, 9, 9]
"""Actions of OpenSpiel's laser_tag."""
WRAPPED = {"add_noise", "misere", "start_at", "turn_based_simultaneous_game", "zerosum"}
"""Games that can be played here around another one."""


def playable() -> Iterator[tuple[str, int]]:
    """Yield every game of OpenSpiel that can be played with its defaults, at its fewest and most players."""
    for name in pyspiel.registered_names():
        try:
            kind = engine.game_type(GAME_PREFIX + name)
            counts = {kind.min_players, kind.max_players}
            games = [engine.load_game(kind.name, players) for players in sorted(counts)]
        except engine.EngineError:
            continue
        yield from ((game.spec, game.players) for game in games)


@pytest.fixture(params=SOME, ids=str, scope="module")
def game(request: pytest.FixtureRequest) -> engine.Game:
    """A small game of OpenSpiel."""
    return engine.load_game(*request.param)


class TestOpenSpiel(GameContract):
    pass


def native_of(spec: str, players: int) -> Any:
    """Return OpenSpiel's own game of a spec, by its own reading of it."""
    text = spec.removeprefix(GAME_PREFIX)
    name = text.partition("(")[0]
    if "players" in pyspiel.load_game(text if "(" in text else name).get_type().parameter_specification:
        text = text[:-1] + f",players={players})" if "(" in text else f"{name}(players={players})"
    return pyspiel.load_game(text)


def load(spec: str, players: int) -> Any:
    """Return a game of ours with the attributes that only one of OpenSpiel has."""
    return engine.load_game(spec, players)


def play_side_by_side(game: Any, native: Any, seed: int) -> None:
    """Play a random match with both, and compare them at every ply."""
    rng = random.Random(seed)
    ours, theirs = game.new_initial_state(), native.new_initial_state()
    checked_at = {3, 10, 40}
    for ply in itertools.count():
        assert ours.current_player() == theirs.current_player()
        assert ours.history() == theirs.history()
        if theirs.is_terminal():
            break
        if theirs.is_chance_node():
            pairs = theirs.chance_outcomes()
            total = sum(weight for _, weight in ours.chance_outcomes())
            shares = [(outcome, weight / total) for outcome, weight in ours.chance_outcomes()]
            assert [outcome for outcome, _ in pairs] == [outcome for outcome, _ in shares]
            assert all(math.isclose(p, q, abs_tol=1e-12) for (_, p), (_, q) in zip(pairs, shares, strict=True))
            possible = [outcome for outcome, _ in pairs]
        else:
            possible = theirs.legal_actions()
            assert ours.legal_actions() == sorted(possible)
        if ply in checked_at:
            twin = game.deserialize_state(ours.serialize())
            assert twin == pickle.loads(pickle.dumps(ours)) == ours.clone() == ours
            assert str(twin) == str(ours)
            assert twin.legal_actions() == ours.legal_actions()
            read = game.state_from_position(ours.position)
            assert read == ours and (read.history(), read.position) == ([], ours.position)
            assert read.current_player() == ours.current_player() and read.legal_actions() == ours.legal_actions()
            if "hive" not in game.spec:  # of which OpenSpiel writes the moves in words
                assert theirs.serialize().split()[-ply:] == ours.position.split()
            words = [ours.action_to_string(action) for action in possible]
            assert [ours.string_to_action(word) for word in words] == list(possible)
            assert len(set(words)) == len(words) and all(word.split() == [word] for word in words)
            ours.clone().apply_action(possible[0])
            assert ours.history() == theirs.history() and str(twin) == str(ours)
        choice = rng.choice(possible)
        word = ours.action_to_string(choice)
        assert ours.string_to_action(word) == choice and word.split() == [word]
        ours.apply_action(choice)
        theirs.apply_action(choice)
    assert game.state_from_position(ours.position) == ours
    utilities = theirs.returns()
    assert ours.utilities() == utilities
    assert ours.ranks() == [sum(other > mine for other in utilities) for mine in utilities]
    assert len(ours.history()) <= game.max_game_length + game.max_chance_nodes


@pytest.mark.parametrize(("spec", "players"), SOME)
def test_our_states_and_openspiels_agree_move_for_move(spec, players):
    for seed in range(3):
        native = native_of(spec, players) if players == 2 else load(spec, players).native
        play_side_by_side(load(spec, players), native, seed)


@pytest.mark.parametrize("horizon", [1, 2, 30])
def test_a_match_of_laser_tag_in_which_everybody_always_fires_keeps_within_its_bounds(horizon):
    game = load(f"openspiel.turn_based_simultaneous_game(game=laser_tag(grid=S...S,horizon={horizon}))", 2)
    for seed in range(20):
        rng, state, rolls = random.Random(seed), game.new_initial_state(), 0
        while not state.is_terminal():
            rolls += state.is_chance_node()
            outcomes = [outcome for outcome, _ in state.chance_outcomes()] if state.is_chance_node() else []
            state.apply_action(rng.choice(outcomes or TURN_OR_FIRE))
        assert horizon + 2 <= rolls <= game.max_chance_nodes
        assert len(state.history()) - rolls <= game.max_game_length


def openspiels_games():
    """Return the games of OpenSpiel, without ours that other tests register."""
    return [kind for kind in pyspiel.registered_games() if not kind.short_name.startswith(ARENA_PREFIX)]


@pytest.mark.system
def test_the_wrapper_that_a_refusal_names_plays_the_game_to_its_end():
    named = 0
    for kind in openspiels_games():
        text = ""
        with contextlib.suppress(ParameterError):  # of a game in a game, which has to be named
            try:
                engine.load_game(GAME_PREFIX + kind.short_name, 2)
            except UnsupportedError as error:
                text = str(error)
        wrapper = re.search(r"at the same time; (\S+) plays it in turns", text)
        if wrapper is not None:
            game = load(wrapper[1], max(kind.min_num_players, 2))
            play_side_by_side(game, game.native, 1)
            named += 1
    assert named > 15


@pytest.mark.system
def test_every_game_that_can_be_played_agrees_with_openspiel_move_for_move():
    games = [*playable(), *MORE]
    names = {spec.partition("(")[0].removeprefix(GAME_PREFIX) for spec, _ in games}
    assert {"backgammon", "chess", "go", "hex", "pig", "quoridor", "yacht"} <= names and len(names) >= 40
    for spec, players in games:
        game = load(spec, players)
        play_side_by_side(game, game.native, 1)


def test_all_that_openspiel_has_can_be_played_or_is_refused_with_the_reason():
    types = pyspiel.GameType
    for kind in openspiels_games():
        name = GAME_PREFIX + kind.short_name
        if kind.short_name in WRAPPED:
            assert engine.game_type(name).max_players == 10
            with pytest.raises(ParameterError, match=r"needs game=name\(\)"):
                engine.load_game(name, 2)
            continue
        try:
            found = engine.load_game(name, max(kind.min_num_players, 2))
        except engine.EngineError as error:
            text = str(error)
            assert text.startswith(name) and len(text.splitlines()) == 1
            reasons = {
                "at the same time": kind.dynamics == types.Dynamics.SIMULTANEOUS,
                "mean field": kind.dynamics == types.Dynamics.MEAN_FIELD,
                "one player alone": kind.max_num_players == 1,
                "hides information": kind.information != types.Information.PERFECT_INFORMATION,
                "from a file": not kind.default_loadable,
                "probabilities": kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC,
                "needs ": not kind.default_loadable,
            }
            assert any(holds for words, holds in reasons.items() if words in text), text
        else:
            assert kind.information == types.Information.PERFECT_INFORMATION
            assert kind.dynamics == types.Dynamics.SEQUENTIAL
            assert 2 <= found.players <= 10


@pytest.mark.parametrize(
    ("spec", "players", "canonical"),
    [
        ("openspiel.go( board_size = 05, komi=7.5 )", 2, "openspiel.go(board_size=5)"),
        ("openspiel.go(komi=6,board_size=9)", 2, "openspiel.go(board_size=9,komi=6.0)"),
        ("openspiel.go()", 2, "openspiel.go"),
        ("openspiel.misere(game=go(komi=7.5, board_size=5))", 2, "openspiel.misere(game=go(board_size=5))"),
        ("openspiel.misere(game=pig)", 3, "openspiel.misere(game=pig())"),
        ("openspiel.nim(pile_sizes=1;3;5;7)", 2, "openspiel.nim"),
    ],
)
def test_a_spec_has_one_form_without_defaults(spec, players, canonical):
    game = engine.load_game(spec, players)
    assert game.spec == canonical
    assert engine.load_game(canonical, players) == game


def test_spaces_in_a_parameter_are_written_as_in_addresses():
    fen = "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1"
    game = load(f"openspiel.antichess(fen={fen.replace(' ', '%20')})", 2)
    assert game.native.get_parameters()["fen"] == fen
    assert engine.load_game(game.spec, 2) == game


@pytest.mark.parametrize(
    ("spec", "players", "kind", "words"),
    [
        ("openspiel.tictactoe", 2, UnknownNameError, "did you mean 'tic_tac_toe'?"),
        ("openspeil.go", 2, UnknownNameError, "no game 'openspeil.go'"),
        ("openspiel.go(size=5)", 2, UnknownNameError, "openspiel.go has no option 'size'"),
        ("openspiel.go(board_size=large)", 2, ParameterError, "board_size=large: must be a whole number"),
        ("openspiel.go(board_size=150)", 2, ParameterError, "OpenSpiel refuses these options: The current Go"),
        ("openspiel.connect_four(rows=0)", 2, ParameterError, "below the smallest value allowed"),
        ("openspiel.hex(board_size=100)", 2, ParameterError, "OpenSpiel refuses these options"),
        ("openspiel.pig(players=3)", 3, UnknownNameError, "has no option 'players'"),
        ("openspiel.misere(game=pig(players=3))", 3, ParameterError, "players is set by the seats of a match"),
        ("openspiel.misere(game=kuhn_poker())", 2, UnsupportedError, "hides information"),
        ("openspiel.misere(game=tic_tac_toe())", 3, UnsupportedError, "is for 2 players, not 3"),
        ("openspiel.misere(game=misere(game=nothing()))", 2, ParameterError, "OpenSpiel has no game 'nothing'"),
        (f"openspiel.misere(game={'misere(game=' * 9}go(){')' * 10}", 2, ParameterError, "more than 8 games"),
        ("openspiel.havannah(board_size=100)", 2, ParameterError, "above the largest value allowed, 50"),
        ("openspiel.misere(game=y(board_size=190))", 2, ParameterError, "above the largest value allowed, 100"),
        ("openspiel.gomoku(dims=27)", 2, ParameterError, "above the largest value allowed, 4"),
        ("openspiel.nim(pile_sizes=1000000000)", 2, UnsupportedError, "more than 1,000,000 distinct actions"),
        ("openspiel.misere(game=nim(pile_sizes=2147483647))", 2, UnsupportedError, "more than 1,000,000 distinct"),
        ("openspiel.yacht(dice_sides=10,num_dice=9)", 2, UnsupportedError, "more than 100,000 chance outcomes"),
        (
            "openspiel.turn_based_simultaneous_game(game=goofspiel(imp_info=true))",
            2,
            UnsupportedError,
            "hides information",
        ),
        ("openspiel.turn_based_simultaneous_game(game=goofspiel())", 11, UnsupportedError, "for 2 to 10 players"),
        ("openspiel.go", 3, UnsupportedError, "is for 2 players, not 3"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(spec, players, kind, words, capfd):
    with pytest.raises(kind) as caught:
        engine.load_game(spec, players)
    assert words in str(caught.value) and len(str(caught.value).splitlines()) == 1
    assert capfd.readouterr().err == ""


def test_the_players_of_a_game_in_a_game_are_those_of_the_inner_one():
    assert engine.load_game("openspiel.misere(game=tic_tac_toe())").players == 2
    kind = provide("openspiel.misere", {"game": "yacht()"})
    assert (kind.min_players, kind.max_players) == (2, 10)
    kind = provide("openspiel.misere", {"game": "misere(game=quoridor())"})
    assert (kind.min_players, kind.max_players) == (2, 4)


def test_the_rules_version_is_openspiels_version():
    major, minor, patch, revision = divmod(version_number(1) // 1000, 100) + divmod(version_number(1) % 1000, 10)
    from importlib.metadata import version

    assert f"{major}.{minor}.{patch}" == version("open_spiel") and revision == 1
    assert engine.game_type("openspiel.go").rules_version == version_number(1)


def test_listing_games_does_not_import_openspiel():
    code = (
        "import sys, engine, arena; engine.game_names(); engine.load_game('epicycle', 2);"
        "from engine.registry import is_provided; assert is_provided('openspiel.go') and not is_provided('openspiel');"
        "sys.exit('pyspiel' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_openspiel_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "import engine\n"
        "try: engine.load_game('openspiel.go')\n"
        "except engine.UnsupportedError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "OpenSpiel's games need OpenSpiel: pip install 'pyramid-arena[openspiel]'\n"


def test_probabilities_become_the_whole_numbers_in_these_proportions():
    assert whole_weights([1 / 36, 2 / 36, 33 / 36]) == [1, 2, 33]
    assert whole_weights([1 / 7776, 1 - 1 / 7776]) == [1, 7775]
    assert whole_weights([0.5, 0.25, 0.25]) == [2, 1, 1]
    for odd in ([math.sqrt(0.5), 1 - math.sqrt(0.5)], [0.5, 0.4], [1e-7, 1 - 1e-7]):
        with pytest.raises(UnsupportedError, match="no fractions"):
            whole_weights(odd)


def test_words_and_drawings_have_nothing_that_steers_a_terminal():
    assert as_word(" a b\tc\x1b ") == "a_b%09c%1B"
    assert as_drawing("\x1b[31mred\x1b[0m\n" + "x" * 100 + "\a") == "red\n" + "x" * 80 + "\n" + "x" * 20 + "?"


def test_a_board_in_chess_notation_is_drawn_above_it():
    state = engine.load_game("openspiel.chess").new_initial_state()
    ranks = str(state).split("\n")
    assert [rank.split() for rank in ranks[:2]] == [list("rnbqkbnr"), list("pppppppp")]
    assert ranks[3].split() == ["."] * 8 and len(ranks) == 10
    assert ranks[9] == "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert with_board("+P2/12/3/k2[Qq] b").startswith("+P2/12")  # of rows of different lengths
    assert with_board("+P2/3/3/kQ~1[Qq] b").split("\n")[:4] == [" +P  .  .", "  .  .  .", "  .  .  .", "  k Q~  ."]
    for text in ("", "a/b", "Turn: x\n1/1/1/1", "1/1/1/!", "////", "..x\n..."):
        assert with_board(text) == text


def test_actions_of_one_name_are_told_apart_by_their_numbers():
    game = load("openspiel.tic_tac_toe", 2)
    state = game.new_initial_state()
    state.native = Muddled(state.native)
    names = [state.action_to_string(action) for action in range(9)]
    assert names == ["same~0", "same~1", "a~b~2", "~3", "one", "same~5", "same~6", "same~7", "same~8"]
    assert [state.string_to_action(name) for name in names] == [*range(9)]


class Muddled:
    """A state whose actions are named badly."""

    def __init__(self, native: Any) -> None:
        self.native = native

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def action_to_string(self, action: int) -> str:
        return {2: "a~b", 3: "", 4: "one"}.get(action, "same")
