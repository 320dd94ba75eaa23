"""Full disks: what is said to be saved is, and a merge or an import that does not fit changes nothing."""

import contextlib
import resource

import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import UnwritableError
from arena.store import Store
from tests.arena.transfer.test_merge import make, whole
from tests.support.tournaments import home_of, write

LARGEST = 2**17
"""Of files, in bytes, while the disk is full: more than an empty log has."""
CONFIG = """
name = "small"
seed = 3
blocks = 1
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "random" }, { bot = "random", label = "other" }]
"""


@contextlib.contextmanager
def full_disk():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.suffix not in (".lock",)}


def grown(log):
    """A log with a bundle that fits on no full disk."""
    with Store.create(log) as store, store.transaction():
        store.insert_new("bundles", "large", bytes(2 * LARGEST))
    return log


@pytest.mark.parametrize("into", ["new", "there"])
def test_a_merge_that_does_not_fit_on_the_disk_changes_nothing_and_says_so(tmp_path, capsys, into):
    home = tmp_path / "home"
    (home / "there").mkdir(parents=True)
    log = make(home / "there" / "matches.db", range(5))
    large = grown(make(tmp_path / "large.db", range(9)))
    before = whole(log), files(home)
    with full_disk():
        assert run_command(["merge", str(large), "--into", into, "--home", str(home)]) == 1
    said = capsys.readouterr().err
    assert "; nothing is changed. Make room" in said and "saved" not in said and said.count("\n") == 1
    assert (whole(log), files(home)) == before
    assert run_command(["merge", str(large), "--into", into, "--home", str(home)]) == 0


def test_an_import_that_does_not_fit_on_the_disk_changes_nothing_and_says_so(tmp_path, capsys, monkeypatch):
    config = write(tmp_path, CONFIG, "")
    api.run(config, home_of(config), workers=1, backend="local")
    lines = api.export(config, home_of(config), tmp_path / "out", ["matches"])[0]
    monkeypatch.setattr(f"{__name__}.LARGEST", 4096)
    before = files(tmp_path)
    with full_disk():
        assert run_command(["import", str(lines), "--name", "copy", "--home", str(home_of(config))]) == 1
    said = capsys.readouterr().err
    assert "; nothing is changed. Make room" in said and "saved" not in said and said.count("\n") == 1
    assert files(tmp_path) == before


@pytest.mark.parametrize("command", ["run small.toml", "compare random greedy --game epicycle"])
def test_while_planning_nothing_is_said_to_be_saved(tmp_path, capsys, monkeypatch, command):
    def full(path):
        raise UnwritableError(f"{path}: the disk is full", "Make room")

    (tmp_path / "small.toml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Store, "create", full)
    assert run_command([*command.split(), "--home", str(tmp_path / "home"), "--workers", "1"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert "matches.db: the disk is full. Make room, then go on: " in said and "saved" not in said
