"""Wrong configurations, specs and positions: one clear line, nothing played, nothing written."""

import tempfile
from pathlib import Path

import pytest

import engine
from arena.cli.app import run_command
from arena.core.errors import ArenaError, ConfigError
from arena.plan.config import Config, config_from, load_config
from arena.plan.resolve import load_plan, make_plan
from arena.workers.process import WorkerProcess
from engine import EngineError, registry

GOOD = """
name = "sample"
blocks = 2

[[games]]
game = "epicycle"
players = [2]

[[bots]]
bot = "random"

[[bots]]
bot = "random"
label = "other"
"""

BOT_FILE = """
from typing import Annotated
from bots import Between, Bot, OneOf

class Deep(Bot):
    depth: Annotated[int, Between(1, 9)] = 1
    style: Annotated[str, OneOf(("calm", "bold"))] = "calm"

    def choose(self, state):
        return state.legal_actions()[0]
"""


def good_but(old, new):
    assert GOOD.count(old) >= 1
    return GOOD.replace(old, new, 1)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder to work in, with a home that is not there yet and a folder of its own for temporary files."""
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def files_in(folder: Path):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def refusal(desk, capsys, *arguments):
    """Run a command that must be refused; what it said."""
    before = files_in(desk)
    code = run_command(list(arguments))
    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.endswith("\n")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    assert files_in(desk) == before
    return printed.err.removeprefix("error: ").removesuffix("\n")


@pytest.fixture(scope="module")
def worker():
    """A worker process that the first plan that needs one will start."""
    process = WorkerProcess()
    yield process
    process.stop()


def load_error(path, worker):
    with pytest.raises((ArenaError, EngineError)) as caught:
        load_plan(path, worker)
    return " ".join(str(caught.value).split())


WRONG_FILES = {
    "unknown key": (good_but("blocks = 2", "bloks = 5"), ["bloks = 5", "'blocks'"]),
    "unknown key of a game": (good_but("players", "player"), ["games[0].player = [2]", "'players'"]),
    "unknown key of a bot": (good_but("label", "lable"), ["bots[1].lable = 'other'", "'label'"]),
    "unknown key of limits": (
        GOOD + "[limits]\nseconds_per_mov = 5",
        ["limits.seconds_per_mov = 5", "'seconds_per_move'"],
    ),
    "unknown key of output": (GOOD + "[output]\nformat = ['csv']", ["output.format = ['csv']", "'formats'"]),
    "unknown game": (good_but("epicycle", "epicycel"), ["games[0]", "'epicycel'", "'epicycle'"]),
    "unknown bot": (good_but("random", "randm"), ["bots[0]", "'randm'", "'random'"]),
    "unknown option of a game": (good_but("epicycle", "epicycle(setpu=random)"), ["games[0]", "'setpu'", "'setup'"]),
    "unknown value of an option": (
        good_but("epicycle", "epicycle(setup=randon)"),
        ["games[0]", "setup=randon", "'random'"],
    ),
    "value of an option out of range": (
        good_but("players = [2]", "options = {max_turns = 0}"),
        ["games[0]", "max_turns=0", "smallest value allowed, 1"],
    ),
    "option that is a list": (
        good_but("players = [2]", "options = {setup = ['random']}"),
        ["games[0].options.setup = ['random']", "a number or a text"],
    ),
    "game spec that cannot be read": (good_but("epicycle", "epicycle(setup)"), ["games[0]", "'epicycle(setup)'"]),
    "bot spec that cannot be read": (good_but("random", "random(depth=1)"), ["bots[0]", "'random(depth=1)'"]),
    "file of a bot that is not there": (good_but("random", "mine.py"), ["bots[0]", "no file 'mine.py'"]),
    "number of players that the game has not": (good_but("[2]", "[6]"), ["games[0]", "2 to 5", "6"]),
    "players that are no number": (good_but("[2]", "['two']"), ["games[0].players[0] = 'two'", "a whole number"]),
    "players as a text": (good_but("[2]", "'2'"), ["games[0].players = '2'", "a list"]),
    "no number of players": (good_but("[2]", "[]"), ["games[0].players = []", "at least one"]),
    "number of players given twice": (good_but("[2]", "[2, 2]"), ["games[0].players = [2, 2]", "different"]),
    "too few bots": (good_but("[2]", "[2, 4]"), ["games[0]", "epicycle with 4 players", "2 are listed"]),
    "one board listed twice": (
        good_but("players = [2]", 'players = 2\n[[games]]\ngame = "epicycle(setup=standard)"\nplayers = 2'),
        ["games", "epicycle, 2 players", "twice"],
    ),
    "label given twice": (
        good_but('bot = "random"', 'bot = "random"\nlabel = "other"'),
        ["bots[1]", "second 'other'", "label"],
    ),
    "one bot twice without labels": (good_but('label = "other"', ""), ["bots[1]", "second 'random'", "label"]),
    "label that breaks tables": (good_but('"other"', '"a|b"'), ["bots[1].label = 'a|b'", "printable"]),
    "label that steers terminals": (good_but('"other"', r'"\u001b[31m"'), ["bots[1].label", "printable"]),
    "empty label": (good_but('"other"', '""'), ["bots[1].label = ''", "1 to 40"]),
    "opening that is none": (good_but("blocks = 2", "opening = 'random:0'"), ["opening = 'random:0'", "random:k"]),
    "opening of a game that is none": (
        good_but("players = [2]", "opening = 'some'"),
        ["games[0].opening = 'some'", "none or random:k"],
    ),
    "challenger that is no bot": (
        good_but("blocks = 2", "schedule = 'gauntlet'\nchallenger = 'ohter'"),
        ["challenger = 'ohter'", "'other'"],
    ),
    "challenger of a round robin": (good_but("blocks = 2", "challenger = 'other'"), ["challenger", "gauntlet"]),
    "first blocks of a round robin": (good_but("blocks = 2", "first_blocks = 2"), ["first_blocks", "adaptive"]),
    "more first blocks than blocks": (
        good_but("blocks = 2", "blocks = 9\nschedule = 'adaptive'\nfirst_blocks = 10"),
        ["first_blocks = 10", "at most blocks", "9"],
    ),
    "one first block": (
        good_but("blocks = 2", "schedule = 'adaptive'\nfirst_blocks = 1"),
        ["first_blocks = 1", "must be 2 or more"],
    ),
    "unknown schedule": (good_but("blocks = 2", "schedule = 'roundrobin'"), ["'roundrobin'", "'round_robin'"]),
    "unknown line-ups": (good_but("blocks = 2", "line_ups = 'rotation'"), ["line_ups = 'rotation'", "'rotations'"]),
    "unknown format": (GOOD + "[output]\nformats = ['jsn']", ["output.formats[0] = 'jsn'", "'json'"]),
    "no name": (good_but('name = "sample"', ""), ["name", "missing"]),
    "no game": (good_but("[[games]]", "[[game]]"), ["game = ", "did you mean 'games'?"]),
    "name that is a path": (good_but("sample", "../sample"), ["name = '../sample'", "letters, digits"]),
    "text for a number": (good_but("blocks = 2", "blocks = 'many'"), ["blocks = 'many'", "a whole number"]),
    "number below its bounds": (good_but("blocks = 2", "blocks = 0"), ["blocks = 0", "must be 1 or more"]),
    "negative seed": (good_but("blocks = 2", "seed = -1"), ["seed = -1", "must be 0 or more"]),
    "limit that is no number": (
        GOOD + "[limits]\nseconds_per_move = nan",
        ["limits.seconds_per_move = nan", "must be a finite number"],
    ),
    "limit of nothing": (
        GOOD + "[limits]\nseconds_per_move = 0",
        ["limits.seconds_per_move = 0", "must be more than 0"],
    ),
    "folder of bots that is not there": (good_but("blocks = 2", "bot_paths = ['mine']"), ["bot_paths", "mine'"]),
    "bad TOML": (good_but("blocks = 2", "blocks ="), ["not TOML", "line 3"]),
    "key given twice": (good_but("blocks = 2", "blocks = 2\nblocks = 3"), ["not TOML", "line 4"]),
    "number of thousands of digits": (good_but("blocks = 2", f"blocks = {'9' * 5000}"), ["not TOML", "digits"]),
    "brackets without an end": (f"name = {'[' * 20_000}", ["not TOML"]),
    "name of the file of accounts": (
        good_but('name = "sample"', 'name = "arena.db-wal"'),
        ["must not begin with arena.db"],
    ),
    "labels that look the same": (
        good_but('label = "other"', 'label = "caf\u00e9"\n\n[[bots]]\nbot = "random"\nlabel = "cafe\u0301"'),
        ["bots[2]: a second", "give it a label of its own"],
    ),
    "bad UTF-8": (b'name = "\xff"', ["not UTF-8", "byte 8"]),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_wrong_configuration_is_refused_in_one_line(case, desk, capsys, worker):
    text, expected = WRONG_FILES[case]
    Path("sample.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    said = refusal(desk, capsys, "run", "sample.toml")
    assert said == load_error("sample.toml", worker)
    for part in ["sample.toml: ", *expected]:
        assert part in said
    assert not (desk / "home").exists()


WRONG_BOTS = {
    "no such class": ("class Dep(Bot):\n    pass", "mine.py:Deep", ["mine.py", "'Deep'", "'Dep'"]),
    "syntax error": ("class Deep(Bot:\n    pass", "mine.py:Deep", ["mine.py, line 1", "not valid Python"]),
    "null byte": ("class Deep:\n    x = '\0'", "mine.py:Deep", ["mine.py", "not valid Python"]),
    "raises on import": ("Deep = 1 / 0", "mine.py:Deep", ["'Deep'", "ZeroDivisionError", "(mine.py, line 1)"]),
    "imports what is not there": ("import nump\nclass Deep: ...", "mine.py:Deep", ["ModuleNotFoundError", "'nump'"]),
    "leaves on import": ("import sys\nDeep = sys.exit('bye')", "mine.py:Deep", ["SystemExit: bye"]),
    "ends its process": ("import os\nDeep = os._exit(3)", "mine.py:Deep", ["'Deep'", "ended its process"]),
    "no bot": ("class Deep:\n    pass", "mine.py:Deep", ["Deep is not a bot", "bots.Bot"]),
    "no method": ("from bots import Bot\nclass Deep(Bot): ...", "mine.py:Deep", ["Deep lacks choose"]),
    "nonsense for players": (
        "from bots import Bot\nclass Deep(Bot):\n    players = 2\n    def choose(self, state): ...",
        "mine.py:Deep",
        ["'Deep'", "TypeError"],
    ),
    "unknown parameter": (BOT_FILE, "mine.py:Deep:deptj=2", ["'deptj'", "'depth'"]),
    "parameter out of range": (BOT_FILE, "mine.py:Deep:depth=10", ["depth=10", "largest value allowed, 9"]),
    "parameter that is no number": (BOT_FILE, "mine.py:Deep:depth=two", ["depth=two", "a whole number"]),
    "parameter that is no choice": (BOT_FILE, "mine.py:Deep:style=bald", ["style=bald", "'bold'"]),
    "declares files that are not there": (
        "BUNDLE_FILES = ['*.txt']\n" + BOT_FILE,
        "mine.py:Deep",
        ["mine.py, line 1", "'*.txt'", "matches no file"],
    ),
    "plays another number of players": (
        BOT_FILE.replace("class Deep(Bot):", "class Deep(Bot):\n    players = (3,)"),
        "mine.py:Deep",
        ["games[0]", "1 of 2"],
    ),
}


@pytest.mark.parametrize("case", WRONG_BOTS)
def test_a_wrong_bot_is_refused_in_one_line(case, desk, capsys):
    source, spec, expected = WRONG_BOTS[case]
    Path("mine.py").write_text(source)
    Path("sample.toml").write_text(good_but('bot = "random"', f'bot = "{spec}"'))
    said = refusal(desk, capsys, "run", "sample.toml")
    for part in ["sample.toml: ", *expected]:
        assert part in said
    assert "games[0]" in said or "bots[0]" in said
    assert not (desk / "home").exists()


WRONG_COMMANDS = {
    "missing file": (["run", "sample.tml"], ["sample.tml: no such file"]),
    "folder instead of a file": (["run", "."], ["is a folder"]),
    "no file at all": (["run"], ["CONFIG"]),
    "unknown command": (["rnu"], ["'rnu'", "'run'"]),
    "unknown option": (["run", "good.toml", "--wrokers", "2"], ["--wrokers", "--workers"]),
    "no workers": (["run", "good.toml", "--workers", "0"], ["--workers 0", "must be a whole number, 1 or more"]),
    "unknown backend": (
        ["run", "good.toml", "--backend", "rya"],
        ["--backend rya: not a choice", "'ray'"],
    ),
    "home that is a file": (["run", "good.toml", "--home", "good.toml"], ["good.toml"]),
    "game that cannot be listed": (["games", "epicycel"], ["'epicycel'", "'epicycle'"]),
    "bot that cannot be listed": (["bots", "randm"], ["'randm'", "'random'"]),
    "match of an unknown game": (["match", "epicycel", "random", "random"], ["'epicycel'", "'epicycle'"]),
    "match of an unknown bot": (["match", "epicycle", "randm", "random"], ["seat 0: no bot 'randm'", "'random'"]),
    "match of one": (["match", "epicycle", "random"], ["2 to 5 players", "1"]),
    "match with a wrong option": (["match", "epicycle(setup=x)", "random", "random"], ["setup=x", "standard"]),
    "match with a wrong opening": (["match", "epicycle", "random", "random", "--opening", "random:0"], ["random:0"]),
    "boards that are not there": (["leaderboard", "sampel"], ["sampel"]),
    "boards of a text": (["leaderboard", "text"], ["text: no tournament of that name"]),
    "format that is none": (["leaderboard", "good.toml", "--format", "xls"], ["xls", "csv"]),
    "export of nothing": (["export", "good.toml", "--what", "matchs"], ["'matchs'", "'matches'"]),
    "replay of no match": (["replay", "3f9a0c", "--in", "good.toml"], ["no such match log"]),
}


@pytest.mark.parametrize("case", WRONG_COMMANDS)
def test_a_wrong_command_is_refused_in_one_line(case, desk, capsys):
    arguments, expected = WRONG_COMMANDS[case]
    Path("good.toml").write_text(GOOD)
    Path("text.db").write_text("no database " * 100)
    said = refusal(desk, capsys, *arguments)
    for part in expected:
        assert part in said
    assert not (desk / "home").exists()


def test_a_wrong_configuration_leaves_an_older_log_and_its_boards_alone(desk, capsys):
    Path("sample.toml").write_text(GOOD)
    assert run_command(["run", "sample.toml", "--workers", "1", "--quiet"]) == 0
    capsys.readouterr()
    assert any((desk / "home" / "sample").iterdir())
    for change in (("random", "randm"), ("[2]", "[2, 3]"), ("blocks = 2", "bloks = 2")):
        Path("sample.toml").write_text(good_but(*change))
        refusal(desk, capsys, "run", "sample.toml", "--fresh", "--quiet")


@pytest.mark.parametrize(
    ("spec", "position", "field"),
    [
        ("epicycle", "", "count"),
        ("epicycle", "SMLSMLSML. SML/SML 0", "count"),
        ("epicycle", "SMLSMLSMLS SML/SML 0 0", "PIE"),
        ("epicycle", "SMLSMLSMX. SML/SML 0 0", "PIE"),
        ("epicycle", "SSLSMLSML. SML/SML 0 2", "PIE"),
        ("epicycle", "SMLSMLSML. SML 0 0", "HANDS"),
        ("epicycle", "SMLSMLSML. LMS/SML 0 0", "HANDS"),
        ("epicycle", "SMLSMLSML. SSS/SML 0 0", "HANDS"),
        ("epicycle", "SMLSMLSML. SML/SML 1 0", "SEAT"),
        ("epicycle", "SMLSMLSML. SML/SML 5 0", "SEAT"),
        ("epicycle", "SMLSMLSML. SML/SML 0 501", "TURN"),
        ("epicycle", "SMLSMLSML. SML/SML 0 -1", "TURN"),
        ("epicycle", "SMLSMLSML. SML/SML 0 0\n", "TURN"),
        ("epicycle(setup=random)", ".......... SML/SML - 1", "PIE"),
    ],
)
def test_a_wrong_position_is_refused_in_one_line_that_names_the_field(spec, position, field):
    with pytest.raises(engine.PositionError) as caught:
        engine.load_game(spec, players=2).state_from_position(position)
    assert caught.value.field == field
    assert len(str(caught.value).strip().splitlines()) == 1


def test_every_key_has_a_default_but_for_name_and_games():
    assert [name for name, field in Config.model_fields.items() if field.is_required()] == ["name", "games"]


def test_a_configuration_reads_the_same_from_a_file_and_from_plain_data(tmp_path):
    (tmp_path / "sample.toml").write_text(GOOD)
    data = {
        "name": "sample",
        "blocks": 2,
        "games": [{"game": "epicycle", "players": [2]}],
        "bots": [{"bot": "random"}, {"bot": "random", "label": "other"}],
    }
    assert load_config(tmp_path / "sample.toml") == config_from(data)


def test_a_number_of_players_alone_is_a_list_of_one():
    base = {"name": "sample", "bots": [{"bot": "random"}]}
    alone = config_from({**base, "games": [{"game": "epicycle", "players": 3}]})
    assert alone.games[0].players == (3,)


def test_a_game_without_players_is_played_by_all_numbers_it_allows():
    config = config_from({"name": "sample", "bots": [{"bot": "random"}], "games": [{"game": "epicycle"}]})
    assert [game.players for _, game in config.boards(5, "config")] == [2, 3, 4, 5]


def test_a_configuration_cannot_be_changed():
    config = config_from({"name": "sample", "bots": [{"bot": "random"}], "games": [{"game": "epicycle"}]})
    with pytest.raises(ValueError, match="frozen"):
        config.blocks = 5


def test_too_few_bots_are_found_before_a_game_is_loaded(monkeypatch):
    def never(kind, players, params):
        raise AssertionError("a game was loaded")

    sample = engine.game_type("epicycle")
    monkeypatch.setattr(registry, "registered_games", dict(registry.registered_games))
    engine.register_game(
        engine.GameType("slow", "Slow", "Takes long to load.", 2, 9, 2, 1, sample.credit, factory=never)
    )
    data = {"name": "t", "games": [{"game": "slow"}], "bots": [{"bot": "random"}, {"bot": "greedy"}]}
    with pytest.raises(ConfigError) as caught:
        make_plan(config_from(data))
    assert str(caught.value) == "config: games[0]: slow with 3 players needs at least 3 bots; 2 are listed"


def test_a_byte_order_mark_before_a_configuration_does_no_harm(desk, worker):
    Path("sample.toml").write_bytes(GOOD.encode("utf-8-sig"))
    assert load_plan("sample.toml", worker).name == "sample"
