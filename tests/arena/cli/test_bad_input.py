"""Whatever a user gets wrong is one line on standard error, at once, and nothing half-done is left."""

import os

import pytest

from arena import api
from arena.cli.app import run_command
from arena.cli.exit_codes import FAILED, WRONG_COMMAND
from arena.core.errors import ConfigError
from arena.core.files import created_folder
from arena.isolation.levels.sandbox import NETWORK_HINT
from arena.isolation.own_process import process_launcher
from arena.runner import check
from bots import Bot
from bots.base import make_bot
from engine import IllegalActionError, UnsupportedError, load_game
from tests.support.tournaments import home_of, write

BOARD = 'games = [{ game = "epicycle", players = 2 }]\n'
BOTS = 'bots = [{ bot = "random" }, { bot = "greedy" }]\n'
GOOD = f'name = "small"\nseed = 3\nblocks = 2\n{BOARD}{BOTS}'
CONFIGS = {
    "game.toml": f'name = "x"\n{BOTS}[[game]]\ngame = "epicycle"\n',
    "games.toml": f'name = "x"\n{BOTS}[games]\ngame = "epicycle"\n',
    "texts.toml": f'name = "x"\ngames = ["epicycle"]\n{BOTS}',
    "text.toml": f'name = "x"\ngames = "epicycle"\n{BOTS}',
    "bot.s.toml": f'name = "x"\n{BOARD}[[bot]]\nbot = "random"\n',
    "bots.toml": f'name = "x"\n{BOARD}[bots]\nbot = "random"\n',
    "empty.toml": "",
    "binary.toml": "\0\1\2",
}
LACKING = "from bots import Bot\n\nclass Mine(Bot):\n    def chose(self, state):\n        return 0\n"
MADE = """
from bots import Bot

class Mine(Bot):
    def __init__(self):
        self.table = {}

    def choose(self, state):
        return state.legal_actions()[0]
"""


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    """A folder with a small tournament under `reports`, and with all kinds of files that are none."""
    folder = tmp_path_factory.mktemp("ground")
    config = write(folder, GOOD, "")
    api.run(config, home_of(config), workers=1, backend="local")
    for name, text in CONFIGS.items():
        (folder / name).write_text(text)
    for name in ("fifo.toml", "fifo.db", "fifo.py"):
        os.mkfifo(folder / name)
    for name in ("folder.toml", "folder.db", "z/small"):
        (folder / name).mkdir(parents=True)
    (folder / "file").write_text("words")
    (folder / "words.db").write_text("words " * 1000)
    (folder / "empty.db").touch()
    (folder / "z/small/matches.db").touch()
    (folder / "lacking.py").write_text(LACKING)
    (folder / "made.py").write_text(MADE)
    return folder


FOUND_WRONG = ("empty file", "match log: ", "file, line 1", "Not a directory")
"""What is said of a file that was named rightly and holds what it should not."""


def contents(folder):
    """Every path below a folder, with the size of files; but for what SQLite leaves beside a log that was read."""
    paths = (path for path in folder.rglob("*") if not path.name.endswith(("-shm", "-wal")))
    return {str(path): path.lstat().st_size if path.is_file() else -1 for path in paths}


@pytest.fixture
def refused(ground, monkeypatch, capsys):
    """Run a command that is to be refused; the one line that it says."""
    monkeypatch.chdir(ground)

    def refused(line):
        before = contents(ground)
        code = run_command(line.split())
        said = capsys.readouterr()
        fails = any(map(said.err.count, FOUND_WRONG)) or line == "merge small --into file/x.db"
        assert (code, said.out) == (FAILED if fails else WRONG_COMMAND, "")
        assert said.err.startswith("error: ") and said.err.count("\n") == 1
        assert contents(ground) == before
        return said.err.removeprefix("error: ").strip()

    return refused


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("run game.toml", "game.toml: game = [{'game': 'epicycle'}]: unknown key; did you mean 'games'?"),
        ("run games.toml", "must be a list; above each of its entries write [[games]]"),
        ("run text.toml", "must be a list; above each of its entries write [[games]]"),
        ("run texts.toml", "games[0] = 'epicycle': must be a table such as { game = \"NAME\" }"),
        ("run bot.s.toml", "unknown key; did you mean 'bots'?"),
        ("run bots.toml", "above each of its entries write [[bots]]"),
        ("run empty.toml", "name: is missing"),
        ("run binary.toml", "is not TOML"),
        ("run fifo.toml", "fifo.toml: cannot be read: Not a regular file"),
        ("run folder.toml", "is a folder; name a TOML file"),
        ("run t.toml --home=", "--home : is empty; name a folder"),
        ("run t.toml --home file", "file: is a file, or below one; name a folder: --home or ARENA_HOME"),
        ("run t.toml --home file/x", "file/x: is a file, or below one"),
        ("games epicycle(size=3)", "epicycle has no option 'size'"),
        ("games epicycle(setup=no)", "epicycle: setup=no: not a choice"),
        ("status --home file", "file: is a file, or below one"),
        ("status fifo.toml", "Not a regular file"),
        ("status empty.db", "empty.db: is an empty file, no match log"),
        ("status words.db", "is not a match log"),
        ("leaderboard empty.db", "is an empty file, no match log"),
        ("leaderboard small --home z", "z/small/matches.db: is an empty file, no match log"),
        ("leaderboard fifo.db", "no such match log"),
        ("crosstable empty.db", "is an empty file"),
        ("variance empty.db", "is an empty file"),
        ("power empty.db random greedy", "is an empty file"),
        ("export empty.db --out new", "is an empty file"),
        ("export small --out file", "--out file: is a file, or below one; name a folder"),
        ("export small --out file/new", "--out file/new: is a file, or below one"),
        ("export small --out fifo.db", "--out fifo.db: is a file, or below one"),
        ("archive small --out new/deep/x.zip", "--out new/deep/x.zip: no folder new/deep"),
        ("archive small --out folder.db", "--out folder.db: is a folder; name a file"),
        ("archive small --out file/x.zip", "no folder file"),
        ("archive empty.db", "is an empty file"),
        ("import nothere.jsonl --name x", "nothere.jsonl: no such file"),
        ("import folder.db --name x", "folder.db: is a folder"),
        ("import file --name x --home new --plan reports/small/plan.json", "file, line 1"),
        ("import file --name x --plan fifo.toml", "fifo.toml: is no regular file"),
        ("import file --name x --plan nothere.json", "nothere.json: no such file"),
        ("verify nothere.zip", "nothere.zip: no tournament of that name under /"),
        ("verify nothere.db", "no such match log"),
        ("verify file", "file: no tournament of that name under /"),
        ("merge empty.db --into m", "is an empty file"),
        ("merge small --into folder.db", "folder.db: cannot be used as a match log: Is a directory"),
        ("merge small --into words.db", "words.db: cannot be used as a match log: file is not a database"),
        ("merge small --into file/x.db", "file"),
        ("diff fifo.toml fifo.toml", "Not a regular file"),
        ("diff file file", "no such file"),
        ("compare greedy random --game epicycle --home file", "file: is a file, or below one"),
        ("match epicycle random random --home file", "file: is a file, or below one"),
        ("match epicycle fifo.py:Mine random", "no file 'fifo.py'"),
        ("bots random --home file", "file: is a file, or below one"),
        ("withdraw nobody --home file", "file: is a file, or below one"),
        ("replay nothere.jsonl", "no such file"),
        ("replay nothere.txt", "'nothere.txt' is no match id"),
        ("replay 00 --in empty.db", "is an empty file"),
        ("replay 00 --home file", "file: is a file, or below one"),
        ("submit made.py --name a --author b --home file/x", "file/x: is a file, or below one"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_leaves_nothing(refused, line, told):
    assert told in refused(line)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("bots lacking.py:Mine", "Mine lacks choose(self, state)"),
        ("check lacking.py", "Mine lacks choose(self, state)"),
        ("bots made.py:Mine", "Mine has an __init__ of its own; put what it does into prepare(self)"),
    ],
)
def test_a_bot_that_cannot_be_one_is_told_what_it_lacks(refused, line, told):
    assert told in refused(line)


def test_a_verification_of_an_empty_file_says_that_it_is_empty(ground, monkeypatch, capsys):
    monkeypatch.chdir(ground)
    assert run_command(["verify", "empty.db"]) == FAILED
    assert "empty.db: is an empty file" in capsys.readouterr().out


@pytest.mark.parametrize("in_the_way", ["bots", "bots/index.lock"])
def test_a_submission_finds_before_its_check_that_nothing_can_be_kept(
    ground, tmp_path, monkeypatch, capsys, in_the_way
):
    monkeypatch.setattr(check, "check", lambda *given, **named: pytest.fail("checked first"))
    way = tmp_path / "home" / in_the_way
    if way.name == "bots":
        way.parent.mkdir()
        way.touch()
    else:
        way.mkdir(parents=True)
    before = contents(tmp_path)
    options = ["--name", "a", "--author", "b", "--home", str(tmp_path / "home")]
    code = WRONG_COMMAND if way.name == "bots" else FAILED
    assert run_command(["submit", str(ground / "made.py"), *options]) == code
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and str(way.parent if way.name == "bots" else way) in said
    assert contents(tmp_path) == before


def test_a_submission_to_a_disk_that_takes_nothing_is_refused_before_its_check(ground, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(check, "check", lambda *given, **named: pytest.fail("checked first"))
    options = ["--name", "a", "--author", "b", "--home", "/proc/self"]
    assert run_command(["submit", str(ground / "made.py"), *options]) == FAILED
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_that_was_made_goes_again_when_something_fails(tmp_path):
    with pytest.raises(KeyError), created_folder(tmp_path / "a" / "b"):
        raise KeyError
    assert not list(tmp_path.iterdir())
    with created_folder(tmp_path / "a" / "b"):
        pass
    assert (tmp_path / "a" / "b").is_dir()


# Bots


class LeavesOut(Bot):
    def __init__(self, game, seat, seed, params):
        self.table = {}

    def choose(self, state):
        return self.pick(state.legal_actions())


class Extends(Bot):
    def __init__(self, *given):
        super().__init__(*given)
        self.table = {}

    def choose(self, state):
        return self.pick(state.legal_actions())


def test_a_constructor_may_add_to_bots_but_not_leave_it_out():
    game = load_game("epicycle", 2)
    with pytest.raises(UnsupportedError, match=r"LeavesOut has an __init__ that leaves out Bot's; .* prepare\(self\)"):
        make_bot(LeavesOut, game, 0, 1)
    assert make_bot(Extends, game, 0, 1).choose(game.new_initial_state()) in (1, 5)


@pytest.mark.parametrize("given", ["S-", "0", None, 1.0, b"S-", True, [1]])
def test_what_is_no_number_is_refused_with_the_numbers_of_the_legal_actions(given):
    with pytest.raises(IllegalActionError) as caught:
        load_game("epicycle", 2).new_initial_state().apply_action(given)
    assert str(caught.value) == (f"{given!r} is no action: actions are whole numbers; for seat 0 legal: 1 (S-) 5 (L-)")


@pytest.mark.parametrize(
    "said",
    [
        '  File "socket.py", line 851, in create_connection\nPermissionError: [Errno 1] Operation not permitted\n',
        "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
        "Error: getaddrinfo EAI_AGAIN example.com",
        "connect: Network is unreachable",
    ],
)
def test_a_fault_for_lack_of_a_network_says_that_the_sandbox_has_none(said):
    sandbox = process_launcher("sandbox")
    assert sandbox.explained(said).splitlines()[-1] == NETWORK_HINT
    assert process_launcher("process").explained(said) == said
    assert sandbox.explained("ZeroDivisionError: division by zero").endswith("zero")


def test_the_address_of_a_cluster_with_the_local_backend_is_refused_before_anything_is_made(tmp_path):
    config = write(tmp_path, GOOD, "")
    with pytest.raises(ConfigError, match="is of a Ray cluster, which backend = 'local' does not play on"):
        api.run(config, tmp_path / "home", backend="local", address="x:1")
    assert not (tmp_path / "home").exists()
