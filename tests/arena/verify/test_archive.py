"""`arena archive`: all that a third party needs to verify a tournament, itself not trusted."""

import contextlib
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import zipfile
import zlib

import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ArenaError, StoreError
from arena.match.dice import key_hash
from arena.plan.bots import bot_identity
from arena.registry.bundles import hash_of
from arena.runner.check import submit
from arena.runner.compare import compare
from arena.runner.options import Matchup, StopRule
from arena.tournament.logs import LOG_FILE
from arena.verify.archive import MANIFEST_NAME, make_archive
from arena.verify.verification import verify
from tests.support.tournaments import home_of, write

BOTS = '''
from bots import Bot
from helper import pick


class Helped(Bot):
    """Take what its helper says."""

    def choose(self, state):
        return pick(state.legal_actions())
'''
CONFIG = """
name = "packed"
seed = 3
blocks = 3
dice = "secret"
games = [{ game = "epicycle", players = 2 }, { game = "pyramid_punch", players = 2 }]
bots = [{ bot = "random" }, { bot = "b.py:Helped" }]
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """A tournament that has been played."""
    path = write(tmp_path_factory.mktemp("packed"), CONFIG, BOTS)
    (path.parent / "helper.py").write_text("def pick(actions):\n    return actions[-1]\n")
    api.run(path, home_of(path), workers=1, backend="local")
    return path


@pytest.fixture(scope="module")
def archive(config):
    return make_archive(config, home_of(config), config.parent / "packed.zip")


def members(archive) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_an_archive_is_sound_wherever_it_is_verified_and_has_what_its_readme_says(archive, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_HOME", str(tmp_path))
    found = members(shutil.copy(archive, tmp_path / "moved.zip"))
    report = verify(tmp_path / "moved.zip", workers=1)
    assert report.sound, report.findings
    assert report.totals.matches == 2 * 3 * 2
    assert {"plan.json", "versions.json", "epicycle_2p.csv", "pyramid_punch_2p.parquet"} <= {*report.compared}
    assert report.manifest == hashlib.blake2b(found[MANIFEST_NAME], digest_size=32).hexdigest()
    (folder,) = {name.rsplit("/", 1)[0] for name in found if name.endswith("helper.py")}
    assert re.fullmatch("bots/Helped@[0-9a-f]{32}", folder)
    assert found[f"{folder}/b.py"].decode() == BOTS
    assert {"README.txt", "matches.db", "plan.json", "versions.json", MANIFEST_NAME} <= found.keys()
    assert json.loads(found["plan.json"])["secret_keys"][0]["key"] is not None


def test_the_same_log_gives_the_same_bytes_and_the_copy_has_all_its_rows(config, archive, tmp_path):
    again = make_archive(config, home_of(config), tmp_path / "again.zip")
    assert again.read_bytes() == archive.read_bytes()
    (tmp_path / LOG_FILE).write_bytes(members(archive)[LOG_FILE])
    dumps = []
    for log in (tmp_path / LOG_FILE, api.find_log(config, home_of(config))):
        with contextlib.closing(sqlite3.connect(log)) as db:
            dumps.append([*db.iterdump()])
    assert dumps[0] == dumps[1]
    assert members(archive)[LOG_FILE][18:20] == b"\1\1"  # one file, no write-ahead log beside it


def test_a_secret_key_leaves_only_when_it_is_disclosed(config, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(home_of(config), home)
    log = home / "packed" / LOG_FILE
    with contextlib.closing(sqlite3.connect(log)) as db, db:
        db.execute("UPDATE keys SET disclosed = NULL")
        db.execute("UPDATE runs SET finished = NULL")
    with pytest.raises(StoreError, match="the key of its secret dice is not disclosed before everything is played"):
        make_archive("packed", home, tmp_path / "early.zip")
    assert not (tmp_path / "early.zip").exists()


@pytest.mark.system
def test_a_comparison_with_a_submitted_bot_tells_its_key_in_its_plan_and_is_sound_as_it_lies_and_packed(
    config, tmp_path
):
    submit(f"{config.parent / 'b.py'}:Helped", "helped", "Ann", home=tmp_path)
    compared = compare(Matchup("helped", "random", "epicycle"), StopRule.fixed(2), workers=1, home=tmp_path)
    plan = json.loads((compared.folder / "plan.json").read_text())
    (key,) = plan["secret_keys"]
    assert (plan["dice"], key_hash(bytes.fromhex(key["key"]))) == ("secret", key["hash"])
    packed = make_archive(compared.folder / LOG_FILE, out=tmp_path / "a.zip")
    for target in (compared.folder / LOG_FILE, packed):
        report = verify(target, workers=1)
        assert (report.findings, "plan.json" in report.compared) == ([], True)


def test_a_damaged_log_is_not_packed(config, tmp_path):
    log = tmp_path / LOG_FILE
    log.write_bytes(api.find_log(config, home_of(config)).read_bytes()[:9000])
    with pytest.raises(StoreError, match="arena verify"):
        make_archive(log, out=tmp_path / "damaged.zip")
    assert not (tmp_path / "damaged.zip").exists()


def test_a_leaderboard_that_is_a_link_does_not_take_a_file_of_somebody_else_into_an_archive(config, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(home_of(config), home)
    (tmp_path / "private").write_text("private")
    board = next((home / "packed").glob("*.csv"))
    board.unlink()
    board.symlink_to(tmp_path / "private")
    with pytest.raises(StoreError, match=f"{board}: cannot go into an archive: Is a link"):
        make_archive("packed", home, tmp_path / "packed.zip")
    assert not (tmp_path / "packed.zip").exists()


# Archives that are not what they should be


def packed(path, files: dict[str, bytes], manifest: bytes | None = None, listed=None):
    """An archive of these files, with a manifest that fits them if none is given."""
    listed = listed or {
        name: {"size": len(content), "blake2b": hashlib.blake2b(content, digest_size=32).hexdigest()}
        for name, content in files.items()
    }
    plain = {"format": 1, "name": "packed", "arena": "1", "log_version": 2, "files": listed}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {**files, MANIFEST_NAME: manifest or json.dumps(plain).encode()}.items():
            file.writestr(name, content)
    return path


def told(path) -> str:
    report = verify(path, workers=1)
    assert not report.sound
    return "\n".join(map(str, report.findings))


@pytest.fixture
def files(archive):
    found = members(archive)
    del found[MANIFEST_NAME]
    return found


def test_a_bit_that_is_flipped_anywhere_is_found(archive, tmp_path):
    whole, path = archive.read_bytes(), tmp_path / "flipped.zip"
    unread = 0
    for place in range(0, len(whole), len(whole) // 150):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        if verify(path, workers=1).sound:
            assert members(path) == members(archive)
            unread += 1
    assert unread < 15  # times, modes and versions in headers
    for length in range(0, len(whole), len(whole) // 10):
        path.write_bytes(whole[:length])
        assert told(path)


def test_a_directory_that_is_said_to_lie_elsewhere_is_one_finding(archive, tmp_path):
    whole, path = archive.read_bytes(), tmp_path / "elsewhere.zip"
    start = len(whole) - 22 + 16  # where the end record says the directory begins, four bytes
    for bit in range(32):
        moved = bytearray(whole)
        moved[start + bit // 8] ^= 1 << bit % 8
        path.write_bytes(moved)
        assert "is not a sound archive" in told(path)


NAMES = (
    "../up.txt",
    "/etc/up.txt",
    "bots/../../up.txt",
    "a\\..\\b.txt",
    "C:up.txt",
    "a/./b.txt",
    "a\nb.txt",
    "folder/",
)


@pytest.mark.parametrize("name", NAMES)
def test_no_file_gets_out_of_the_folder_that_it_is_unpacked_in(files, tmp_path, name):
    assert "is no plain path of a file" in told(packed(tmp_path / "a.zip", {**files, name: b"out"}))
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_links_doubles_files_as_folders_and_strangers_are_refused(files, tmp_path):
    path = tmp_path / "a.zip"
    packed(path, files)
    link = zipfile.ZipInfo("plan2.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(link, "/etc/passwd")
    assert "plan2.json is no plain file" in told(path)
    packed(path, files)
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("plan.json", b"{}")
    assert "plan.json is in it twice" in told(path)
    assert "file as well as a folder" in told(packed(path, {**files, "plan.json/deep": b""}))
    packed(path, files)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("more.txt", b"")
    assert "more.txt is in only one of manifest and archive" in told(path)


def test_what_unpacks_to_far_more_than_there_is_is_not_unpacked(files, tmp_path):
    path = packed(tmp_path / "a.zip", {**files, "bomb": bytes(2**25)})
    assert "times its own size" in told(path)
    listed = {name: {"size": 1, "blake2b": "0" * 64} for name in files}
    assert "is larger than the manifest says" in told(packed(path, files, listed=listed))


MANIFESTS = {
    "no JSON": (b"{", "cannot be read"),
    "deep": (b"[" * 10**6, "cannot be read"),
    "another format": (b'{"format": 2}', "manifest.json: format"),
    "a list": (b"[]", "manifest.json"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_manifest_that_is_none_is_told(files, tmp_path, case):
    content, why = MANIFESTS[case]
    assert why in told(packed(tmp_path / "a.zip", files, content))


def test_sources_that_are_not_those_of_the_log_and_edited_boards_are_found(files, tmp_path):
    (name,) = [name for name in files if name.endswith("helper.py")]
    path = tmp_path / "a.zip"
    assert f"{name}: is not the source in the log" in told(packed(path, {**files, name: b"innocent = True\n"}))
    assert "bots/more.py: is not the source" in told(packed(path, {**files, "bots/more.py": b""}))
    left = {key: value for key, value in files.items() if key != name}
    assert f"{name}: is missing" in told(packed(path, left))
    board = files["epicycle_2p.csv"].replace(b"random", b"nobody")
    assert "epicycle_2p.csv: differs" in told(packed(path, {**files, "epicycle_2p.csv": board}))
    assert "has no matches.db" in told(packed(path, {"plan.json": b"{}"}))


def test_a_log_that_would_unpack_bots_elsewhere_is_neither_packed_nor_played_again(config, tmp_path):
    log = shutil.copy(api.find_log(config, home_of(config)), tmp_path / LOG_FILE)
    out = tmp_path / "out" / "out.py"
    files = {str(out): b"", "b.py": b""}
    key = hash_of(files)
    content = zlib.compress(json.dumps({name: content.hex() for name, content in files.items()}).encode())
    with contextlib.closing(sqlite3.connect(log)) as db, db:
        (old,) = db.execute("SELECT identity FROM bots WHERE class = 'Helped'").fetchone()
        new = bot_identity("Helped", key, "Helped", {})
        db.execute(
            "UPDATE bundles SET bundle = ?, files = ? WHERE bundle = (SELECT bundle FROM bots WHERE identity = ?)",
            (key, content, old),
        )
        db.execute("UPDATE bots SET bundle = ?, identity = ? WHERE identity = ?", (key, new, old))
        db.execute("UPDATE runs SET plan = replace(plan, ?, ?)", (old, new))
    with pytest.raises(ArenaError, match="is no plain path of a file"):
        make_archive(log, out=tmp_path / "a.zip")
    report = verify(log, workers=1, rerun=2, isolation="none")
    assert f"'{out}' is no plain path of a file" in "\n".join(map(str, report.findings))
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith(LOG_FILE)]


def test_a_file_that_could_unpack_to_any_size_at_once_is_not_read(files, tmp_path):
    names = [MANIFEST_NAME, "plan.json"]
    for name, way in itertools.product(names, (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)):
        with zipfile.ZipFile(packed(tmp_path / "a.zip", {}), "a", way) as file:
            file.NameToInfo.clear()
            file.filelist.clear()
            file.writestr(name, bytes(1000))
        assert f"{name} is packed otherwise than by DEFLATE" in told(tmp_path / "a.zip")


def test_names_that_are_too_long_and_passwords_are_told(files, tmp_path):
    assert "is no plain path" in told(packed(tmp_path / "a.zip", {**files, "n" * 300: b""}))
    path = packed(tmp_path / "a.zip", files)
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    assert f"{MANIFEST_NAME} is no plain file" in told(path)


# Playing again


def test_bots_of_an_archive_play_in_the_sandbox_or_not_at_all(archive, monkeypatch, capsys):
    monkeypatch.setattr("arena.isolation.bubblewrap.missing_requirements", lambda: "bubblewrap")
    assert run_command(["verify", str(archive), "--rerun", "2", "--workers", "1"]) == 2
    error = capsys.readouterr().err
    assert "for the sandbox, and this machine has none: bubblewrap" in error
    assert "--isolation process" in error
    assert run_command(["verify", str(archive), "--rerun", "2", "--workers", "1", "--isolation", "none"]) == 0
    assert "deterministic, in 2 matches" in capsys.readouterr().out


def test_matches_of_an_archive_are_the_same_in_the_sandbox(archive):
    report = verify(archive, workers=1, rerun=2)
    assert report.sound, report.findings
    assert [bot.deterministic for bot in report.bots] == [True, True]


def test_the_command_says_where_the_archive_is(config, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command(["archive", str(config), "--home", str(home_of(config))]) == 0
    assert "arena verify packed.zip" in capsys.readouterr().out
    assert run_command(["verify", "packed.zip", "--workers", "1"]) == 0
    assert "BLAKE2b-256 of its manifest" in capsys.readouterr().out


STOPS = """
import sys, time
from arena.verify import archive
from arena.cli import app as cli

def stop(*_):
    print("here", flush=True)
    time.sleep(1000)

archive.{function} = stop
cli.main()
"""


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("command", "function"), [("archive", "_pack"), ("verify", "unpack_member")])
def test_a_command_that_is_told_to_end_leaves_no_folder(config, archive, tmp_path, command, function, number):
    target = [str(config), "--home", str(home_of(config))] if command == "archive" else [str(archive)]
    run = subprocess.Popen(
        [sys.executable, "-c", STOPS.format(function=function), command, *target],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout.readline() == "here\n"
    assert os.listdir(tmp_path)
    run.send_signal(number)
    assert (run.communicate()[1], run.returncode) == ("error: interrupted\n", 130)
    assert os.listdir(tmp_path) == []
