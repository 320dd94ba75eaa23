"""Commands where they run: without a terminal, without rights, without readers, and when Ctrl-C ends them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import subprocess

import pytest

from arena.cli.app import run_command
from tests.arena.cli.samples import BOTS, CONFIG, LONG, lines_of
from tests.support import tournaments
from tests.support.tournaments import ARENA, arena, home_of, log_of, write

CUT_OFF = r"^Interrupted: (0 of 30 matches are|every match in the log is) saved\."
"""The second where the machine had no time for the first."""


# Where it runs


@pytest.mark.system
def test_output_fits_the_width_that_the_terminal_says(here, played, monkeypatch, capsys):
    name = lines_of(played)[0]["match"]
    for columns, arguments in (
        (80, "run t.toml"),
        (80, "leaderboard t.toml"),
        (60, "leaderboard t.toml"),
        (60, "games"),
        (60, "games epicycle"),
        (60, "bots"),
        (60, "bots b.py:Low"),
        (60, "check b.py:Low --isolation none --game epicycle --players 2"),
        (80, "check b.py:Wrong --isolation none --game epicycle --players 2"),
        (60, "submit b.py:Low --name a_name_of_some_length --author Ann --isolation none"),
        (60, "bots"),
        (60, "bots a_name_of_some_length"),
        (60, "withdraw a_name_of_some_length"),
        (80, "match epicycle random random b.py:Low random random --show"),
        (60, f"replay {name} --audit"),
    ):
        monkeypatch.setenv("COLUMNS", str(columns))
        run_command(arguments.split())
        said = capsys.readouterr()
        assert said.out.strip()
        lines = [line for line in said.out.splitlines() if "arena match" not in line]  # to be copied whole
        assert max(map(len, lines)) <= columns, arguments


def test_a_label_is_printed_as_it_is_written(copy, monkeypatch, capsys):
    copy.write_text(CONFIG.replace(LONG, "(me) :smile: & me"))
    run_command(["run", "t.toml"])
    assert "(me) :smile: & me" in capsys.readouterr().out


def test_everything_works_from_an_empty_folder_without_a_terminal(tmp_path):
    matched = arena("match", "epicycle", "random", "random", folder=tmp_path)
    assert (matched.returncode, matched.stderr) == (0, "")
    searched = arena("replay", "00", folder=tmp_path)
    assert (searched.returncode, searched.stderr.count("\n")) == (2, 1)
    assert list(tmp_path.iterdir()) == []


def without_root_powers():
    """Even root asks for permission now (when tests run as root)."""
    library = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        library.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.system
def test_a_log_can_be_read_in_a_folder_that_cannot_be_written_to(copy):
    folder = log_of(copy).parent
    for leftover in (*folder.glob("*.db-*"), *folder.glob("*.lock")):
        leftover.unlink()
    before = sorted(path.name for path in folder.iterdir())
    folder.chmod(0o555)
    try:
        done = {
            command: subprocess.run(
                [*ARENA, command, "t.toml"], capture_output=True, text=True, preexec_fn=without_root_powers
            )
            for command in ("leaderboard", "export")
        }
    finally:
        folder.chmod(0o755)
    assert (done["leaderboard"].returncode, done["leaderboard"].stderr) == (0, "")
    assert LONG in done["leaderboard"].stdout
    assert done["export"].returncode == 1
    assert done["export"].stderr.count("\n") == 1
    assert "Permission denied" in done["export"].stderr
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.system
def test_a_reader_that_leaves_ends_no_command_with_a_traceback(here):
    read, pipe = os.pipe()
    os.close(read)
    for arguments in ("--help", "leaderboard t.toml", "leaderboard t.toml --format csv"):
        done = subprocess.run([*ARENA, *arguments.split()], stdout=pipe, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (0, ""), arguments
    os.close(pipe)


@pytest.mark.system
def test_a_run_goes_on_when_nobody_reads_its_output(tmp_path):
    config = write(tmp_path, CONFIG, BOTS)
    read, pipe = os.pipe()
    os.close(read)
    done = subprocess.run([*ARENA, "run", config, "--home", home_of(config)], stdout=pipe, stderr=pipe)
    os.close(pipe)
    assert done.returncode == 0
    assert tournaments.count(config) == len(lines_of(config)) == 30


@pytest.mark.system
def test_a_terminal_without_our_letters_gets_others(here):
    done = arena("leaderboard", "t.toml", "--players", 3, folder=here, PYTHONIOENCODING="ascii", COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    assert "rating ? 95 %" in done.stdout


# Ctrl-C


def test_ctrl_c_while_planning_ends_at_once_and_says_how_to_go_on(tmp_path):
    config = write(
        tmp_path, CONFIG, f"open({str(tmp_path / 'here')!r}, 'w').close()\nimport time\ntime.sleep(100)\n{BOTS}"
    )
    run = tournaments.start_arena("run", config, "--workers", 1, folder=tmp_path)
    tournaments.wait_until((tmp_path / "here").exists, "the bot's module is being loaded")
    tournaments.signal_group(run, signal.SIGINT)
    _, said = run.communicate(timeout=tournaments.PATIENCE)
    assert run.returncode == 130
    assert f"To go on:\n  arena run {config} --workers 1\n" in said
    assert "Traceback" not in said


@pytest.fixture
def stuck(tmp_path):
    """A run in which a bot does not come back, and its workers."""
    bots = BOTS.replace("while True:", f"open({str(tmp_path / 'here')!r}, 'w').close()\n        while True:")
    config = write(tmp_path, CONFIG.replace("Low", "Stuck"), bots)
    run = tournaments.start_arena("run", config, "--workers", 1, "--backend", "local", folder=tmp_path)
    tournaments.wait_until((tmp_path / "here").exists, "a bot is stuck")
    return run, tournaments.workers_of(run.pid)


def test_ctrl_c_cuts_off_a_match_that_does_not_end_soon(stuck):
    run, workers = stuck
    tournaments.signal_group(run, signal.SIGINT)
    _, said = run.communicate(timeout=tournaments.PATIENCE)
    assert run.returncode == 130
    assert re.search(CUT_OFF, said, re.MULTILINE)
    tournaments.wait_until(lambda: tournaments.gone(workers), "the workers have ended")


@pytest.mark.system
def test_ctrl_c_twice_drops_what_is_in_play(stuck):
    run, workers = stuck
    tournaments.signal_group(run, signal.SIGINT)
    for line in run.stderr:
        if line.startswith("Saving what is played."):
            break
    tournaments.signal_group(run, signal.SIGINT)
    _, said = run.communicate(timeout=tournaments.PATIENCE)
    assert run.returncode == 130
    assert re.search(CUT_OFF, said, re.MULTILINE)
    tournaments.wait_until(lambda: tournaments.gone(workers), "the workers have ended")


@pytest.mark.parametrize(
    "command",
    ["match epicycle b.py:Stuck random", pytest.param("check b.py:Stuck --isolation none", marks=pytest.mark.system)],
)
def test_ctrl_c_ends_other_commands_with_one_line(tmp_path, command):
    here = tmp_path / "here"
    write(tmp_path, CONFIG, BOTS.replace("while True:", f"open({str(here)!r}, 'w').close()\n        while True:"))
    run = tournaments.start_arena(*command.split(), folder=tmp_path)
    tournaments.wait_until(here.exists, "the bot is stuck")
    tournaments.signal_group(run, signal.SIGINT)
    _, said = run.communicate(timeout=tournaments.PATIENCE)
    assert (run.returncode, said) == (130, "error: interrupted\n")


# On a terminal


def test_a_terminal_sees_progress_and_then_the_boards_alone(tmp_path):
    config = write(tmp_path, CONFIG, BOTS)
    screen, code = on_a_terminal([*ARENA, "run", config, "--home", home_of(config), "--workers", "1"])
    assert code == 0, screen
    before, _, after = screen.rpartition("\x1b[?25h")  # the cursor comes back when the progress display ends
    assert "Getting ready" in before
    assert "/30 matches" in before
    assert "30 matches played" in after
    assert "/30 matches" not in after


def on_a_terminal(command):
    """All that a terminal of 80 columns gets, and the exit code."""
    import fcntl
    import pty
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "CI"):
        environment.pop(name, None)
    run = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True)
    os.close(slave)
    seen = b""
    with contextlib.suppress(OSError):  # how a terminal's end is told
        while data := os.read(master, 65536):
            seen += data
    os.close(master)
    return seen.decode(), run.wait(timeout=tournaments.PATIENCE)
