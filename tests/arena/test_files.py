"""What a process leaves of its own when it is killed is removed by the next one, and what is in use is not."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import pytest

from arena.files import own_folder, whole_file, write_file

LEAVES = """
import os, signal, sys
from pathlib import Path
from arena.files import own_folder, whole_file

with own_folder(sys.argv[1], ".import-") as folder, whole_file(Path(sys.argv[1], "a.csv")) as file:
    (folder / "deep").mkdir(mode=0)
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_one_at_work(folder):
    assert subprocess.run([sys.executable, "-c", LEAVES, str(folder)]).returncode == -signal.SIGKILL


def test_what_a_killed_process_left_is_removed_by_the_next_one_that_does_the_same(tmp_path):
    kill_one_at_work(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    with own_folder(tmp_path, ".import-") as folder:
        write_file(tmp_path / "a.csv", [b"whole"])
        assert sorted(tmp_path.iterdir()) == [folder, tmp_path / "a.csv"]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.csv", b"whole")]


def test_what_others_are_at_work_on_is_left_alone(tmp_path):
    (tmp_path / ".import-of-mine").mkdir()
    with own_folder(tmp_path, ".import-") as first, whole_file(tmp_path / "a.csv") as file:
        with own_folder(tmp_path, ".import-") as second:
            assert first.is_dir() and second.is_dir() and first != second
        write_file(tmp_path / "a.csv", [b"second"])
        file.write(b"first")
    assert (tmp_path / "a.csv").read_bytes() == b"first"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".import-of-mine", "a.csv"]


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left_of_it(tmp_path):
    def full():
        with whole_file(tmp_path / "a.csv") as file:
            os.write(file.fileno(), b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=rf"No space left on device: '{tmp_path}/a\.csv'"):
        full()
    assert list(tmp_path.iterdir()) == []
