"""`arena backup` and `arena restore`: a whole home in one file, taken while it is in use."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from arena import api
from arena.accounts import OPERATOR, Accounts, Allowance
from arena.cli.app import run_command
from arena.core.errors import ArenaError
from arena.registry.submissions import source_path, stored_bundle, submitted
from arena.transfer.backup import MANIFEST_NAME, make_backup, restore_backup
from arena.verify.verification import verify
from tests.support.submissions import submit

BOTS = [{"bot": "random", "label": "a"}, {"bot": "random", "label": "b"}]
CONFIG = {"name": "cup", "blocks": 2, "games": [{"game": "epicycle", "players": 2}], "bots": BOTS}
BOT = "from bots import Bot\n\n\nclass Mine(Bot):\n    def choose(self, state):\n        return 0\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with a log, a submitted bot and accounts."""
    folder = tmp_path_factory.mktemp("backup")
    home = folder / "home"
    api.run(CONFIG, home=home, workers=1, backend="local")
    (folder / "mine.py").write_text(BOT)
    submit(str(folder / "mine.py"), "mine", "Ann", home)
    with Accounts.open(home) as accounts:
        accounts.contests.add("league", {"title": "League"}, OPERATOR)
        accounts.authors.add("Ann", "author", OPERATOR)
    (home / "cup" / "matches.lock").touch()
    (home / ".hidden").write_text("no part of it")
    (home / "link").symlink_to("/etc/passwd")
    return home


@pytest.fixture
def backup(home, tmp_path):
    return make_backup(tmp_path / "home.zip", home).path


def refusal(call, *arguments):
    with pytest.raises(ArenaError) as error:
        call(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_restored_home_has_the_same_matches_bots_and_accounts(home, backup, tmp_path):
    restored = restore_backup(backup, tmp_path / "new" / "home")
    assert restored.home == tmp_path / "new" / "home"
    assert verify("cup", restored.home, workers=1).sound
    assert submitted(restored.home) == submitted(home)
    newest = submitted(home)["mine"].newest
    assert stored_bundle(newest, restored.home).hash == newest.hash
    with Accounts.open(home) as before, Accounts.open(restored.home) as after:
        assert after.authors.all() == before.authors.all()
        assert after.database.audit() == before.database.audit()
    missing = {"cup/matches.lock", ".hidden", "link"}
    assert files_below(restored.home) == {
        name for name in files_below(home) - missing if not name.endswith(("-wal", "-shm", ".lock"))
    }


def test_a_backup_and_its_accounts_are_for_their_owner_alone(backup, tmp_path):
    restored = restore_backup(backup, tmp_path / "new").home
    for path in (backup, restored / "arena.db"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_backup_overwrites_nothing_and_is_not_put_into_the_home(home, backup, tmp_path):
    before = backup.read_bytes()
    assert "is there already" in refusal(make_backup, backup, home)
    assert backup.read_bytes() == before
    (tmp_path / "link.zip").symlink_to(tmp_path / "nowhere")
    assert "is there already" in refusal(make_backup, tmp_path / "link.zip", home)
    assert "is in the home" in refusal(make_backup, home / "home.zip", home)
    assert "no folder" in refusal(make_backup, tmp_path / "no" / "home.zip", home)
    assert "no such folder" in refusal(make_backup, tmp_path / "other.zip", tmp_path / "no")


def test_a_home_that_holds_something_is_not_restored_into(backup, tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    assert restore_backup(backup, there).home == there
    before = files_below(there)
    assert "is not empty" in refusal(restore_backup, backup, there)
    assert files_below(there) == before
    (tmp_path / "file").touch()
    assert "is a file" in refusal(restore_backup, backup, tmp_path / "file")
    assert "no such file" in refusal(restore_backup, tmp_path / "no.zip", tmp_path / "new")


def test_a_backup_taken_while_others_write_has_the_source_of_every_version_and_whole_transactions(home, tmp_path):
    busy = tmp_path / "busy"
    restore_backup(make_backup(tmp_path / "first.zip", home).path, busy)
    stop = threading.Event()
    usual = Allowance(10_000, 10_000)

    def hand_in() -> None:
        with Accounts.open(busy) as accounts:
            accounts.contests.join("league", "a1", OPERATOR)
            for number in range(10_000):
                if stop.is_set():
                    return
                hash = f"{number:032x}"
                source_path(hash, busy).write_bytes(b"source")
                accounts.submissions.hand_in("league", "a1", f"bot {number}", (hash, "m", "C"), usual)

    writer = threading.Thread(target=hand_in)
    writer.start()
    try:
        backups = [make_backup(tmp_path / f"{number}.zip", busy).path for number in range(5)]
    finally:
        stop.set()
        writer.join()
    counts = []
    for number, path in enumerate(backups):
        restored = restore_backup(path, tmp_path / f"restored {number}").home
        with Accounts.open(restored) as accounts:
            versions = [
                version
                for bot in accounts.submissions.bots("league")
                for version in accounts.submissions.versions(bot.id)
            ]
            audit = accounts.database.audit("league", most=100_000)
        assert len(versions) == sum(row.action == "hand in" for row in audit)
        assert all(source_path(version.bundle, restored).is_file() for version in versions)
        counts.append(len(versions))
    assert counts == sorted(counts) and counts[-1] > counts[0]


def test_a_database_that_cannot_be_read_is_kept_as_it_is_and_named(home, tmp_path, capsys):
    spoiled = tmp_path / "spoiled"
    restore_backup(make_backup(tmp_path / "first.zip", home).path, spoiled)
    log = spoiled / "cup" / "matches.db"
    log.write_bytes(log.read_bytes()[:100] + bytes(3_000))
    assert run_command(["backup", str(tmp_path / "second.zip"), "--home", str(spoiled)]) == 1
    assert "cup/matches.db" in capsys.readouterr().out
    restored = restore_backup(tmp_path / "second.zip", tmp_path / "again").home
    assert (restored / "cup" / "matches.db").read_bytes() == log.read_bytes()


STOPS = """
import sys, time
from arena.transfer import backup
from arena.cli import app as cli

def stop(*_):
    print("here", flush=True)
    time.sleep(1000)

backup.{function} = stop
cli.main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(("command", "function"), [("backup", "add_member"), ("restore", "unpack_member")])
def test_what_is_interrupted_leaves_nothing_or_what_the_next_one_removes(
    home, backup, tmp_path, command, function, number
):
    where = tmp_path / "where"
    where.mkdir()
    given = ["backup", str(where / "new.zip"), "--home", str(home)]
    if command == "restore":
        given = ["restore", str(backup), "--home", str(where / "new")]
    run = subprocess.Popen(
        [sys.executable, "-c", STOPS.format(function=function), *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert run.stdout.readline() == b"here\n"
    run.send_signal(number)
    run.communicate()
    assert all(name.startswith(".") for name in os.listdir(where))
    if number == signal.SIGTERM:
        assert os.listdir(where) == []
    assert run_command(given) == 0
    assert len(os.listdir(where)) == 1


# Hostile archives


def forged(backup: Path, change) -> Path:
    """Return a backup whose members a function has changed."""
    with zipfile.ZipFile(backup) as archive:
        members = {info.filename: (info, archive.read(info)) for info in archive.infolist()}
    manifest = json.loads(members[MANIFEST_NAME][1])
    content = {name: data for name, (_, data) in members.items() if name != MANIFEST_NAME}
    change(content, manifest)
    out = backup.with_name("forged.zip")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
        archive.writestr(MANIFEST_NAME, json.dumps(manifest))
    return out


def with_file(name, data=b"x", size=None):
    def change(content, manifest):
        content[name] = data
        digest = hashlib.blake2b(data, digest_size=32).hexdigest()
        manifest["files"][name] = {"size": len(data) if size is None else size, "blake2b": digest}

    return change


def database(script: str) -> bytes:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(script)
        return db.serialize()


FORGERIES = {
    "a path that leads out": (with_file("../out"), "is no plain path"),
    "an absolute path": (with_file("/tmp/out"), "is no plain path"),
    "a hidden file": (with_file("cup/.bashrc"), "is no file of a backup"),
    "a journal": (with_file("arena.db-journal"), "is no file of a backup"),
    "a file that is a folder": (with_file("cup"), "is in it twice, or a file as well as a folder"),
    "a file that is larger than said": (with_file("big", bytes(1000), 10), "is larger than the manifest says"),
    "a file that is smaller than said": (with_file("big", b"x", 10), "is not the file that the manifest says"),
    "more than the disk has room for": (with_file("big", b"x", 2**62), "would be 4,6"),
    "a file without an entry": (
        lambda content, manifest: content.update(new=b""),
        "in only one of manifest and archive",
    ),
    "another format": (lambda content, manifest: manifest.update(format=2), "format"),
    "accounts that are no database": (with_file("arena.db", b"no database"), "is not a database"),
    "accounts with other tables": (
        with_file("arena.db", database("CREATE TABLE authors (a); PRAGMA user_version = 1;")),
        "its tables are not those of a home's database",
    ),
}


@pytest.mark.parametrize("case", FORGERIES)
def test_a_forged_backup_is_refused_and_leaves_nothing(backup, tmp_path, case):
    change, told = FORGERIES[case]
    path = forged(backup, change)
    said = refusal(restore_backup, path, tmp_path / "new" / "home")
    assert "is not a sound backup" in said and told in said
    assert {entry.name for entry in tmp_path.iterdir()} == {"home.zip", "forged.zip"}


def test_what_is_no_archive_or_another_one_is_refused(backup, tmp_path):
    (tmp_path / "text.zip").write_text("no archive")
    assert "is not a sound backup" in refusal(restore_backup, tmp_path / "text.zip", tmp_path / "new")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
    assert "none of `arena backup`" in refusal(restore_backup, tmp_path / "other.zip", tmp_path / "new")
    cut = tmp_path / "cut.zip"
    cut.write_bytes(backup.read_bytes()[:-200])
    assert "is not a sound backup" in refusal(restore_backup, cut, tmp_path / "new")
    damaged = bytearray(backup.read_bytes())
    damaged[len(damaged) // 2] ^= 255
    cut.write_bytes(damaged)
    assert "is not a sound backup" in refusal(restore_backup, cut, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_links_in_an_archive_are_refused(backup, tmp_path):
    def add_link(content, manifest):
        with_file("way", b"/etc")(content, manifest)

    path = forged(backup, add_link)
    packed = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(packed) as archive, zipfile.ZipFile(tmp_path / "links.zip", "w") as out:
        for info in archive.infolist():
            if info.filename == "way":
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            out.writestr(info, archive.read(info.filename))
    assert "is no plain file" in refusal(restore_backup, tmp_path / "links.zip", tmp_path / "new")


def test_the_commands_say_what_they_did(home, tmp_path, capsys):
    out, new = tmp_path / "home.zip", tmp_path / "new"
    assert run_command(["backup", str(out), "--home", str(home), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["backup"] == str(out) and said["files"] > 3 and said["damaged"] == []
    assert run_command(["restore", str(out), "--home", str(new)]) == 0
    assert str(new) in capsys.readouterr().out
    assert run_command(["restore", str(out), "--home", str(new)]) == 2
    assert "is not empty" in capsys.readouterr().err
