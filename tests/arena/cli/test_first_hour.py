"""What a newcomer types in a fresh folder: tournaments without a file, bots by file, `arena init`."""

import itertools
import os
import re
import shutil
import tomllib

import pytest
import typer

import arena
from arena.cli.app import run_command
from arena.cli.arguments import TournamentOptions
from arena.cli.new_config import (
    BOT_SEPARATOR,
    GAME_SEPARATOR,
    MAX_ATTEMPTS,
    asked_for,
    config_data,
    config_text,
    joined,
    usual_blocks,
)
from arena.core.errors import ArenaError
from arena.core.paths import HOME_FILE
from arena.plan.config import Config, config_from
from arena.plan.resolve import make_plan
from arena.schedule.kinds import kinds
from arena.schedule.kinds.knockout import Knockout
from tests.support.terminal import Terminal

BOT = """from bots import Bot


class Hopeful(Bot):
    boldness: float = 0.1

    def choose(self, state):
        return state.legal_actions()[0]
"""
OPTIONS = ["--game", "epicycle", "--players", "2", "--bots", "random,my_bot.py", "--blocks", "2"]
WORKER = ["--workers", "1"]


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A working folder with a space in its name and a bot in it."""
    folder = tmp_path / "my arena"
    folder.mkdir()
    (folder / "my_bot.py").write_text(BOT)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("ARENA_HOME", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return folder


def run(capsys, *arguments, code=0):
    """What a command prints on standard output, and on standard error."""
    assert run_command(list(arguments)) == code
    return capsys.readouterr()


def told(capsys, *arguments):
    """The one line of a command that is refused; it leaves nothing behind."""
    before = sorted(os.listdir())
    said = run(capsys, *arguments, code=2)
    assert (said.out, said.err.count("\n"), sorted(os.listdir())) == ("", 1, before)
    return said.err


# Running without a file


def test_a_run_without_a_file_writes_the_one_that_it_played(fresh, capsys):
    said = run(capsys, "run", *OPTIONS, *WORKER)
    assert "Written: reports/epicycle/config.toml\n" in said.err
    assert "4 matches played" in said.out and "Hopeful" in said.out
    again = run(capsys, "run", "reports/epicycle/config.toml", *WORKER)
    assert "Nothing to play: all 4 matches" in again.out
    assert os.listdir("reports") == ["epicycle"]


def test_the_same_options_resume_and_others_get_a_name_of_their_own(fresh, capsys):
    run(capsys, "run", *OPTIONS, *WORKER)
    again = run(capsys, "run", *OPTIONS, *WORKER)
    assert "Nothing to play" in again.out and "Written" not in again.err
    other = run(capsys, "run", *OPTIONS[:-1], "3", *WORKER)
    assert "Written: reports/epicycle-2/config.toml" in other.err and "6 matches played" in other.out
    assert "reports/epicycle holds another tournament" in told(
        capsys, "run", *OPTIONS[:-1], "4", "--name", "epicycle", *WORKER
    )
    assert "Nothing to play" in run(capsys, "run", *OPTIONS[:-1], "3", *WORKER).out


def test_a_folder_without_a_written_file_is_another_tournament(fresh, capsys):
    (fresh / "reports/epicycle").mkdir(parents=True)
    assert "reports/epicycle-2/config.toml" in run(capsys, "run", *OPTIONS, *WORKER).err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("run", "--game and --bots: missing; name a CONFIG, or what to play: arena run --game epicycle"),
        ("run --game epicycle", "--bots: missing"),
        ("run --bots greedy", "--game: missing"),
        ("run cup.toml --game epicycle", "--game: has no effect, for cup.toml says what is played"),
        ("run cup.toml --seed 0", "--seed: has no effect, for cup.toml says what is played"),
        ("run cup.toml --seconds-per-move 3", "--seconds-per-move: has no effect"),
        ("run --game epicicle --bots greedy,random", "no game 'epicicle'; did you mean 'epicycle'?"),
        ("run --game epicycle --bots greedy,randon", "no bot 'randon'; did you mean 'random'?"),
        ("run --game epicycle --bots greedy,your_bot.py", "no file 'your_bot.py' in the working folder"),
        ("run --game epicycle --bots greedy,", "bot spec '' cannot be read"),
        ("run --game epicycle --bots greedy,uct:simulation=3", "uct has no option 'simulation'"),
        ("run --game epicycle --bots greedy", "needs at least 2 bots; 1 is listed"),
        ("run --game epicycle --bots greedy,greedy", "a second 'greedy'; give it a label of its own"),
        ("run --game epicycle --bots greedy,random --players two", "--players two: write 2, or 2,3, or 2-4"),
        ("run --game epicycle --bots greedy,random --players 2-9", "epicycle is for 2 to 5 players, not 6"),
        ("run --game epicycle --bots greedy,random --players 5-2", "--players 5-2: write 2, or 2,3, or 2-4"),
        ("run --game epicycle --bots greedy,random --seed -1", "seed = -1"),
        ("run --game epicycle --bots greedy,random --blocks 0", "blocks = 0"),
        ("run --game epicycle --bots greedy,random --blocks many", "--blocks many: must be a whole number"),
        ("run --game epicycle --bots greedy,random --opening two", "opening = 'two': must be none or random:k"),
        (
            "run --game epicycle --bots greedy,random --schedule roulette",
            "schedule = 'roulette': not a choice; known: ",
        ),
        ("run --game epicycle --bots greedy,random --schedule gauntlet:challenger=uct", "no bot has that label"),
        ("run --game epicycle --bots greedy,random --isolation jail", "--isolation jail: not a choice"),
        ("run --game epicycle --bots greedy,random --name a/b", "name = 'a/b'"),
        ("run --game epicycle --bots greedy,random --seconds-per-move 0", "seconds_per_move = 0"),
        ("init --game epicycle", "--bots: missing; without a terminal there is nobody to ask"),
        ("init my_bot.py --game epicycle --bots random", "my_bot.py: exists already; --force replaces it"),
        ("init --game epicycle --bots random,nobody", "no bot 'nobody'"),
    ],
)
def test_wrong_input_is_told_in_one_line_and_leaves_nothing(fresh, capsys, arguments, line):
    assert line in told(capsys, *arguments.split())


def test_lists_are_split_where_no_option_of_a_game_or_bot_is():
    assert joined(["greedy,uct:simulations=9, c=1.4,b.py"], BOT_SEPARATOR) == [
        "greedy",
        "uct:simulations=9, c=1.4",
        "b.py",
    ]
    assert joined(["greedy", "random,uct"], BOT_SEPARATOR) == ["greedy", "random", "uct"]
    assert joined(["epicycle(setup=random,repetition=3),midgard"], GAME_SEPARATOR) == [
        "epicycle(setup=random,repetition=3)",
        "midgard",
    ]


def test_every_bot_plays_about_200_matches_on_a_board_and_at_least_ten_blocks():
    assert usual_blocks(3, [2]) == 50  # 2 matches a block against each of 2 others
    assert usual_blocks(3, [2, 3]) == 70  # 3 a block on the board of three
    assert usual_blocks(12, [2, 3, 4]) == 10
    assert usual_blocks(1, [2]) >= 10  # the plan refuses it


# The file that is written


EVERYTHING = {
    "game": ["epicycle(setup=random),magic_mids"],
    "players": "2-3",
    "bots": ["random,my_bot.py:boldness=0.5"],
    "name": "cup",
    "blocks": 3,
    "seed": 7,
    "schedule": "gauntlet:challenger=random",
    "opening": "random:1",
    "isolation": "process",
    "seconds_per_move": 2.5,
}


@pytest.mark.parametrize("options", [{"game": ["epicycle"], "bots": ["random,greedy"]}, EVERYTHING])
def test_the_written_file_says_what_the_options_say(fresh, options):
    data = config_data(TournamentOptions(**options), None, fresh)
    text = config_text(data, fresh / "cup.toml")
    assert tomllib.loads(text) == data
    assert isinstance(config_from(tomllib.loads(text)), Config)
    assert max(map(len, text.splitlines()[1:])) <= 100


def test_every_line_that_is_commented_out_is_a_key_with_its_comment(fresh):
    text = config_text(config_data(TournamentOptions(["epicycle"], "2", ["random,greedy"]), None, fresh), fresh / "a b")
    lines = [line for line in text.splitlines()[2:] if line.startswith("# ")]
    keys = tomllib.loads("\n".join(line.removeprefix("# ") for line in lines))
    known = {*Config.model_fields, *itertools.chain.from_iterable(kind.model_fields for kind in kinds())}
    assert {"challenger", "first_blocks"} < set(keys) - {"limits"} < known
    assert set(keys["limits"]) == {"seconds_per_move", "memory"}
    assert f"arena run '{fresh}/a b'" in text.splitlines()[0]
    assert f"# knockout: {Knockout.purpose}" in text
    usual = Config(name="x", games=({"game": "epicycle"},), bots=({"bot": "random"},))
    assert (keys["seed"], keys["forfeit_limit"]) == (usual.seed, usual.forfeit_limit)
    assert keys["schedule"] == usual.schedule.kind


def test_bots_by_path_are_found_from_the_file_wherever_it_is_written(fresh, tmp_path):
    (fresh / "bots of mine").mkdir()
    shutil.copy("my_bot.py", "bots of mine/other.py")
    bots = ["my_bot.py", "bots of mine/other.py:Hopeful:boldness=1", str(fresh / "my_bot.py:boldness=0.3")]
    options = TournamentOptions(["epicycle"], "2", [",".join(bots)])
    for folder in (fresh, fresh / "deep/er", tmp_path / "elsewhere"):
        folder.mkdir(parents=True, exist_ok=True)
        plan = make_plan(config_from(config_data(options, None, folder)), folder=folder)
        assert [bot.spec for bot in plan.bots] == ["Hopeful", "Hopeful:boldness=1.0", "Hopeful:boldness=0.3"]


# Bots by file, in every place that takes bots


def test_bots_are_named_by_file_or_folder_wherever_a_bot_is_named(fresh, capsys):
    (fresh / "my bots").mkdir()
    shutil.move("my_bot.py", "my bots/my_bot.py")
    path = "my bots/my_bot.py"
    assert "Hopeful" in run(capsys, "match", "epicycle", path, f"{path}:boldness=0.5").out
    assert run(capsys, "bots", path).out.startswith("Hopeful (my_bot.py)")
    compared = run(capsys, "compare", path, "random", "--game", "epicycle", "--fixed", "1", *WORKER)
    assert "Hopeful" in compared.out
    checked = run(capsys, "check", path, "--game", "epicycle", "--players", "2", "--isolation", "none")
    assert "fine on every board" in checked.out
    assert arena.play_match("epicycle", [path, "random"], 1).bots[0] == "Hopeful"
    (fresh / "t.toml").write_text(
        'name = "t"\nblocks = 1\ngames = [{game = "epicycle", players = 2}]\n'
        f'bots = [{{bot = "{path}"}}, {{bot = "random"}}]\n'
    )
    assert "Hopeful" in run(capsys, "run", "t.toml", *WORKER).out


def test_a_file_with_no_bot_or_several_is_told_with_their_names(fresh, capsys):
    (fresh / "two.py").write_text(BOT + BOT.partition("\n\n\n")[2].replace("Hopeful", "Other"))
    (fresh / "none.py").write_text("X = 1\n")
    assert "two.py: holds 2 bots, Hopeful, Other; name one: two.py:Hopeful" in told(
        capsys, "match", "epicycle", "two.py", "random"
    )
    assert "none.py: holds no bot; derive a class from bots.Bot" in told(
        capsys, "match", "epicycle", "none.py", "random"
    )


def test_a_program_is_named_by_its_folder(fresh, capsys):
    run(capsys, "init-bot", "deep", "--language", "node")
    played = run(capsys, "run", *OPTIONS[:-4], "--bots", "deep,random", "--blocks", "1", *WORKER)
    assert "deep" in played.out
    assert 'bot = "../../deep"' in (fresh / "reports/epicycle/config.toml").read_text()
    assert "Nothing to play" in run(capsys, "run", "reports/epicycle/config.toml", *WORKER).out


# arena init


def test_init_writes_a_file_that_runs_and_a_home_for_the_folders_below(fresh, capsys, monkeypatch):
    said = run(capsys, "init", "my cup.toml", *OPTIONS)
    assert said.out.splitlines()[0] == "my cup.toml is written."
    assert said.out.endswith("Next:\n  arena run 'my cup.toml'\n")
    assert (fresh / HOME_FILE).exists()
    assert "4 matches played" in run(capsys, "run", "my cup.toml", *WORKER).out
    (fresh / "below").mkdir()
    monkeypatch.chdir(fresh / "below")
    assert "Hopeful" in run(capsys, "leaderboard", "epicycle").out
    said = run(capsys, "init", "--game", "epicycle", "--bots", "random,greedy")
    assert HOME_FILE not in said.out and os.listdir() == ["tournament.toml"]


def test_init_replaces_a_file_only_with_force(fresh, capsys):
    (fresh / "tournament.toml").write_text("precious")
    assert "exists already" in told(capsys, "init", *OPTIONS)
    assert (fresh / "tournament.toml").read_text() == "precious"
    run(capsys, "init", "--force", *OPTIONS)
    assert 'bot = "./my_bot.py"' in (fresh / "tournament.toml").read_text()


def test_init_leaves_the_file_of_a_model_to_the_folder_of_the_configuration(fresh, capsys):
    (fresh / "cups").mkdir()
    (fresh / "cups" / "net.onnx").write_bytes(b"")
    run(capsys, "init", "cups/one.toml", *OPTIONS[:-4], "--bots", "random,onnx:file=net.onnx")
    assert 'bot = "onnx:file=net.onnx"' in (fresh / "cups" / "one.toml").read_text()


@pytest.fixture
def terminal(fresh):
    opened = Terminal("init", folder=fresh)
    yield opened
    opened.close()


def answer(terminal, *answers):
    """Type an answer to each question."""
    for question, text in answers:
        terminal.wait_for(lambda screen, question=question: re.search(rf"{question}[^\n]*:$", screen))
        terminal.type(text)


def test_init_asks_on_a_terminal_again_while_an_answer_will_not_do(fresh, terminal):
    answer(terminal, ("Game", "epicicle\n"))
    terminal.wait_for(lambda screen: "did you mean 'epicycle'?" in screen)
    answer(terminal, ("Game", "epicycle\n"), ("Bots", "random,my_bot.py\n"), ("Numbers", "7\n"))
    terminal.wait_for(lambda screen: "epicycle is for 2 to 5 players, not 7" in screen)
    answer(terminal, ("Numbers", "\n"), ("Name", "cup\n"))
    assert terminal.finish() == 0
    assert tomllib.loads((fresh / "tournament.toml").read_text()) == {
        "name": "cup",
        "blocks": 100,
        "games": [{"game": "epicycle", "players": [2]}],
        "bots": [{"bot": "random"}, {"bot": "./my_bot.py"}],
    }


def test_init_ends_with_what_is_wrong_when_no_answer_can_mend_it(fresh, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(typer, "prompt", lambda question, default: asked.append(question) or "epicycle")
    with pytest.raises(ArenaError, match="no bot 'nobody'"):
        asked_for(TournamentOptions(bots=["nobody"]), None)
    assert len(asked) == MAX_ATTEMPTS and capsys.readouterr().err.count("no bot 'nobody'") == MAX_ATTEMPTS - 1


def test_the_commands_for_a_new_bot_have_its_name_whatever_it_is(fresh, capsys):
    said = run(capsys, "init-bot", "GAME_bot", "--game", "connect_four").out
    assert "  arena match connect_four GAME_bot.py random\n" in said
    assert "  arena submit GAME_bot.py --name GAME_bot --author YOU\n" in said


def test_init_that_is_interrupted_writes_nothing(fresh, terminal):
    answer(terminal, ("Game", "epicycle\n"), ("Bots", ""))
    assert terminal.interrupt() == 130
    assert "error: interrupted" in terminal.screen.text
    assert os.listdir(fresh) == ["my_bot.py"]
