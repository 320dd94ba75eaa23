"""PettingZoo's environments as games: the contract, what is refused and why, rewards, copies, a tournament."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from arena.interop.pettingzoo import games, library
from engine import registry
from engine.conformance import CHECKS, FAILED, run_check
from engine.conformance.checks import MOST_MATCHES, PROCESSES, SPEED
from engine.conformance.matches import finished, walk
from tests.support.tournaments import ARENA

OWN = Path(__file__).with_name("zoo_environments.py")
ENTRIES = {
    "count_v0": "Count",
    "locked_v0": "Locked",
    "shared_v0": "Shared",
    "out_v0": "Elimination",
    "rolling_v0": "Rolling",
    "late_v0": "Late",
    "uneven_v0": "Uneven",
    "crashing_v0": "Crashing",
    "at_once_v0": "AtOnce",
    "alone_v0": "alone",
    "needy_v0": "needy",
    "nothing_v0": "nothing",
    "no_function_v0": "NO_FUNCTION",
    "missing_v0": "Missing",
}


@pytest.fixture(scope="module")
def authors(tmp_path_factory):
    """An installed package of an author who declares environments by entry points."""
    folder = tmp_path_factory.mktemp("author")
    shutil.copy(OWN, folder / "zoo_of_mine.py")
    installed = folder / "zoo_of_mine-2.5.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: zoo-of-mine\nVersion: 2.5\n")
    entries = "\n".join(f"{name} = zoo_of_mine:{thing}" for name, thing in ENTRIES.items())
    (installed / "entry_points.txt").write_text(f"[arena.pettingzoo]\n{entries}\n")
    caches = (registry.all_offers, library.source, games._game_type, games._trial)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for cached in caches:
            cached.cache_clear()
        yield folder
    for cached in caches:
        cached.cache_clear()


def keeps_the_contract(spec, players, most_matches=MOST_MATCHES):
    game = engine.load_game(spec, players)
    for check in CHECKS:
        if check.group not in (PROCESSES, SPEED):
            finding = run_check(check, game, most_matches=most_matches)
            assert finding.status != FAILED, finding


@pytest.mark.parametrize(
    ("spec", "most_matches"),
    [
        ("pettingzoo.tictactoe_v3", MOST_MATCHES),
        ("pettingzoo.connect_four_v3", MOST_MATCHES),
        pytest.param("pettingzoo.go_v5(board_size=5)", MOST_MATCHES, marks=pytest.mark.system),
        pytest.param("pettingzoo.chess_v6", 2, marks=pytest.mark.system),
    ],
)
def test_pettingzoos_environments_keep_the_contract_of_games(spec, most_matches):
    keeps_the_contract(spec, 2, most_matches)


@pytest.mark.parametrize(
    ("spec", "players"),
    [
        ("count_v0", 3),
        ("count_v0(num_players=4,target=12)", 4),
        ("count_v0(patience=2)", 3),
        ("locked_v0", 3),
        ("out_v0", 3),
    ],
)
def test_environments_of_other_authors_keep_it_too(authors, spec, players):
    keeps_the_contract(f"pettingzoo.{spec}", players)


def test_environments_that_cannot_be_copied_are_replayed(authors):
    copies = {name: engine.load_game(f"pettingzoo.{name}", 3).copies for name in ("count_v0", "locked_v0")}
    assert copies == {"count_v0": True, "locked_v0": False}


def test_utilities_are_the_sums_of_rewards_and_ranks_follow_them(authors):
    state = engine.load_game("pettingzoo.count_v0", 3).new_initial_state()
    with pytest.raises(engine.UnsupportedError, match="not over"):
        state.utilities()
    for action in (1, 0, 1, 1, 1):
        state.apply_action(action)
    assert state.utilities() == [-0.5 - 0.5 - 1, 3.0, -0.5 - 1]
    assert (state.ranks(), state.ended) == ([2, 0, 1], "normal")
    assert state.returns() == [-1.0, 1.0, 0.0]


def test_players_who_are_out_are_passed_over_and_truncation_is_a_cap(authors):
    state = engine.load_game("pettingzoo.out_v0", 3).new_initial_state()
    movers = []
    while not state.is_terminal():
        movers.append(state.current_player())
        state.apply_action(0)
    assert movers == [0, 1, 2, 0, 1, 0]
    assert state.utilities() == [-1.0, 5.0, -1.0]
    short = finished(engine.load_game("pettingzoo.count_v0(patience=2)", 3), 0)
    assert (len(short.history()), short.ended) == (2, "cap")


def test_the_version_of_an_authors_package_is_part_of_the_rules_version(authors):
    assert engine.load_game("pettingzoo.count_v0", 3).type.rules_version == 205_001


def test_a_drawing_has_nothing_that_steers_a_terminal(authors):
    assert str(engine.load_game("pettingzoo.count_v0", 3).new_initial_state()) == "0 of 9"
    state = engine.load_game("pettingzoo.tictactoe_v3").new_initial_state()
    assert str(state.child(0).child(4)) == "0 . .\n. 1 .\n. . ."


REFUSED = {
    "hanabi_v5": "hides information",
    "texas_holdem_no_limit_v6": "hides information",
    "gin_rummy_v4": "hides information",
    "rps_v2": "choose at the same time",
    "pistonball_v6": "agents act at the same time",
    "space_invaders_v2": "agents act at the same time",
    "connect_four_v2": "no environment 'pettingzoo.connect_four_v2' .*did you mean 'connect_four_v3'",
    "x": "known: .*tictactoe_v3",
    "go_v5(board_size=0)": "below the smallest value allowed, 1",
    "go_v5(size=9)": "has no option 'size'; known: board_size, komi",
    "tictactoe_v3(screen_height=10)": "has no option 'screen_height'; it has none",
    "rolling_v0": "does not go the same way twice",
    "late_v0": "does not go the same way twice",
    "shared_v0": "does not go the same way twice",
    "uneven_v0": "other actions than numbers from 0 on, the same for all",
    "crashing_v0": r"cannot be set up: RuntimeError: no board \(.*zoo_of_mine.py, line",
    "at_once_v0": "agents act at the same time",
    "alone_v0": "is for 1 players; 2 to 10 can be matched",
    "needy_v0": "needs a value for 'board', which has no default",
    "nothing_v0": "cannot be set up: AttributeError",
    "no_function_v0": "cannot be called",
    "missing_v0": "cannot be loaded: AttributeError",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_played_is_refused_with_the_reason_in_one_line(authors, name):
    with pytest.raises(engine.EngineError, match=REFUSED[name]) as caught:
        engine.load_game(f"pettingzoo.{name}")
    assert len(str(caught.value).splitlines()) == 1


def test_pettingzoos_connect_four_plays_as_ours():
    theirs, ours = engine.load_game("pettingzoo.connect_four_v3"), engine.load_game("connect_four")
    for seed in range(30):
        twin = ours.new_initial_state()
        for state in walk(theirs, seed):
            if state.history():
                twin.apply_action(state.history()[-1])
            assert (state.current_player(), state.legal_actions()) == (twin.current_player(), twin.legal_actions())
        assert (state.ranks(), state.returns()) == (twin.ranks(), twin.returns())


def test_boards_of_go_of_two_sizes_are_played_side_by_side():
    small, large = (engine.load_game(f"pettingzoo.go_v5(board_size={size})") for size in (3, 5))
    alone = [finished(game, 2).history() for game in (small, large)]
    rng = [random.Random(2), random.Random(2)]
    states = [small.new_initial_state(), large.new_initial_state()]
    while not all(state.is_terminal() for state in states):
        for state, dice in zip(states, rng, strict=True):
            if not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[int(dice.random() * len(legal))])
    assert [state.history() for state in states] == alone


def test_without_pettingzoo_the_error_says_what_to_install_and_nothing_imports_it_before():
    code = (
        "import sys, engine, arena.interop.pettingzoo\n"
        "assert not {'pettingzoo', 'gymnasium', 'pygame'} & {*sys.modules}\n"
        "sys.modules['pettingzoo'] = None\n"
        "for call, spec in ((engine.load_game, 'pettingzoo.go_v5'), (arena.interop.pettingzoo.env, 'epicycle')):\n"
        "    try: call(spec, 2)\n"
        "    except engine.UnsupportedError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "PettingZoo's environments need PettingZoo: pip install 'pyramid-arena[pettingzoo]'\n" * 2


def test_pygame_greets_nobody():
    code = "import engine; print(engine.load_game('pettingzoo.tictactoe_v3'))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("<pettingzoo.tictactoe_v3 for 2>\n", "")


CONFIG = """
name = "zoo"
seed = 4
blocks = 6
bots = [{ bot = "random" }, { bot = "greedy" }, { bot = "random", label = "another" }]
games = [{ game = "pettingzoo.connect_four_v3" }, { game = "pettingzoo.tictactoe_v3" }]
"""


@pytest.mark.system
def test_bots_play_a_tournament_of_environments_with_leaderboards_and_verification(tmp_path):
    def arena(*words):
        run = subprocess.run([*ARENA, *words], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    (tmp_path / "zoo.toml").write_text(CONFIG)
    home = ("--home", str(tmp_path / "home"))
    arena("run", "zoo.toml", *home, "--workers", "2")
    told = arena("leaderboard", "zoo", *home)
    assert "pettingzoo.connect_four_v3" in told and "pettingzoo.tictactoe_v3" in told and "greedy" in told
    assert "72 of 72" in arena("status", "zoo", *home) or "complete" in arena("status", "zoo", *home)
    arena("verify", "zoo", *home, "--rerun", "6")
