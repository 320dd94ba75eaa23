"""Files of one's own are whole or not there; files that anybody may have made are opened once and never waited for."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.app import run_command
from arena.core.files import atomic_file, read_regular, temporary_folder, write_file

LEAVES = """
import os, signal, sys
from pathlib import Path
from arena.core.files import temporary_folder, atomic_file

with temporary_folder(sys.argv[1], ".import-") as folder, atomic_file(Path(sys.argv[1], "a.csv")) as file:
    (folder / "deep").mkdir(mode=0)
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_one_at_work(folder):
    assert subprocess.run([sys.executable, "-c", LEAVES, str(folder)]).returncode == -signal.SIGKILL


def test_what_a_killed_process_left_is_removed_by_the_next_one_that_does_the_same(tmp_path):
    kill_one_at_work(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    with temporary_folder(tmp_path, ".import-") as folder:
        write_file(tmp_path / "a.csv", [b"whole"])
        assert sorted(tmp_path.iterdir()) == [folder, tmp_path / "a.csv"]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.csv", b"whole")]


def test_what_others_are_at_work_on_is_left_alone(tmp_path):
    (tmp_path / ".import-of-mine").mkdir()
    with temporary_folder(tmp_path, ".import-") as first, atomic_file(tmp_path / "a.csv") as file:
        with temporary_folder(tmp_path, ".import-") as second:
            assert first.is_dir() and second.is_dir() and first != second
        write_file(tmp_path / "a.csv", [b"second"])
        file.write(b"first")
    assert (tmp_path / "a.csv").read_bytes() == b"first"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".import-of-mine", "a.csv"]


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left_of_it(tmp_path):
    def full():
        with atomic_file(tmp_path / "a.csv") as file:
            os.write(file.fileno(), b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=rf"No space left on device: '{tmp_path}/a\.csv'"):
        full()
    assert list(tmp_path.iterdir()) == []


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [make_pipe, make_folder, make_link_to_a_device])
def test_what_is_no_regular_file_is_refused_at_once(make, tmp_path):
    make(tmp_path / "file")
    with pytest.raises(OSError, match=f"Not a regular file|Is a directory.*{tmp_path}/file"):
        read_regular(tmp_path / "file", 100)


def test_of_a_file_no_more_than_the_limit_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_regular(path, 100) == b"x" * 100
    with pytest.raises(ValueError, match="more than 99 bytes"):
        read_regular(path, 99)
    with path.open("wb") as sparse:
        sparse.truncate(20 * 2**30)
    with pytest.raises(ValueError, match="more than 2 MiB"):
        read_regular(path, 2**21)


def test_a_file_whose_size_says_nothing_is_read_up_to_the_limit():
    assert b"Name" in read_regular("/proc/self/status", 2**16)
    with pytest.raises(ValueError, match="more than 3 bytes"):
        read_regular("/proc/self/status", 3)


def test_below_a_folder_no_part_of_a_path_may_be_a_link(tmp_path):
    top = tmp_path / "top"
    (top / "real").mkdir(parents=True)
    (top / "real" / "file").write_bytes(b"own")
    (top / "folder").symlink_to("real")
    (top / "real" / "link").symlink_to("file")
    (tmp_path / "shortcut").symlink_to(top)
    assert read_regular("real/file", 10, tmp_path / "shortcut") == b"own"
    for path in ("folder/file", "real/link"):
        with pytest.raises(OSError, match="Is a link, or below one"):
            read_regular(path, 10, top)
    assert read_regular(top / "folder" / "link", 10) == b"own"


def test_reading_leaves_no_descriptor_open(tmp_path):
    before = os.listdir("/proc/self/fd")
    make_pipe(tmp_path / "pipe")
    (tmp_path / "file").touch()
    for name in ("pipe", "file", "missing", "file/below", "no/file"):
        for below in (None, tmp_path):
            try:
                read_regular(tmp_path / name if below is None else name, 0, below)
            except OSError as error:
                assert error.filename == str(tmp_path / name)
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize("linked", [False, True])
def test_a_device_or_pipe_is_not_replaced_by_a_file(tmp_path, linked):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    named = pipe
    if linked:
        named = tmp_path / "link"
        named.symlink_to(pipe)
    with pytest.raises(OSError, match="is a device, a pipe or a socket") as error:
        write_file(named, [b"a page"])
    assert error.value.filename == str(named)
    assert pipe.is_fifo() and named.is_symlink() == linked and len(list(tmp_path.iterdir())) == 1 + linked


def test_no_output_takes_the_place_of_a_database(tmp_path, capsys):
    log = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(log)) as database:
        database.execute("CREATE TABLE matches (moves)")
    before = log.read_bytes()
    assert run_command(["run", "configs/smoke.toml", "--home", str(tmp_path), "--quiet", "--workers", "1"]) == 0
    capsys.readouterr()
    home = ["--home", str(tmp_path)]
    for command in (
        ["archive", "smoke", "--out", str(log), *home],
        ["match", "epicycle", "random", "random", "--html", str(log)],
        ["check-game", "epicycle", "--out", str(log)],
    ):
        assert run_command(command) != 0
        (line,) = capsys.readouterr().err.splitlines()
        assert line.endswith(f"{log}: is a database, which would be lost; name another file")
        assert log.read_bytes() == before


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        ("match epicycle random random --html", ".html"),
        ("replay {file} --html", ".html"),
        ("replay {file} --png", ".png"),
        ("replay {file} --gif", ".gif"),
        ("archive smoke --out", ".zip"),
        ("check-game epicycle --out", ".html"),
    ],
)
def test_no_output_takes_the_place_of_a_file_of_another_kind(tmp_path, capsys, command, ending):
    file = tmp_path / "mine.py"
    file.write_text("my bot")
    assert run_command([*command.format(file=file).split(), str(file)]) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"{file}: exists and is not a {ending} file; it would be lost, so name another file")
    assert file.read_text() == "my bot"


def test_an_output_takes_the_place_of_an_earlier_one_of_whatever_name(tmp_path):
    for _ in range(2):
        assert run_command(["match", "epicycle", "random", "random", "--html", str(tmp_path / "page")]) == 0
    (tmp_path / "empty.txt").touch()
    assert run_command(["match", "epicycle", "random", "random", "--html", str(tmp_path / "empty.txt")]) == 0
