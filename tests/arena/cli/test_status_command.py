"""`arena status`: where tournaments stand, from another terminal, while they run and afterwards."""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys

import pytest

from arena.cli.app import APPENDING_COMMANDS, run_command
from arena.core.command import COMMAND, Command
from arena.results.run_status import run_status, run_statuses
from arena.store import Store, read_writer
from arena.tournament.disqualification import in_plan
from arena.tournament.tournament import Tournament
from tests.support.samples import all_matches, begin, fill, finished, row, schedule
from tests.support.tournaments import count, home_of, start_arena, wait_until, write

PLAN = schedule(["alice", "bob", "carol"], players=(2, 3), blocks=4)
CONFIG = """
name = "small"
seed = 3
blocks = 40
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "random" }, { bot = "b.py:Nap" }]
"""
BOTS = """
import time

from bots import Bot


class Nap(Bot):
    def choose(self, state):
        time.sleep(0.1)
        return self.rng.choice(state.legal_actions())
"""


@pytest.fixture
def log(tmp_path):
    return tmp_path / "sample" / "matches.db"


def test_matches_whole_blocks_and_forfeits_are_counted_by_board(log):
    fill(log, PLAN, leave_out=[0, 5, 6, 30])
    with Store.open(log) as store:
        there = store.finished([block.identity for block in PLAN.blocks()])
        total, forfeits = store.totals()
    found = run_status(log)
    for index, board in enumerate(found.boards):
        sizes = [len(there.get(block.identity, ())) for block in PLAN.blocks_of(index)]
        assert (board.matches, board.blocks) == (sum(sizes), sizes.count(board.players))
        assert board.planned == PLAN.budget(index)
    assert found.matches == total and sum(board.forfeits for board in found.boards) == forfeits
    assert (found.state, found.planned) == ("not complete", PLAN.total_matches)
    assert found.workers == {"host": (1, total)}


def test_what_an_older_plan_has_left_in_the_log_does_not_count(log):
    fill(log, schedule(["alice", "bob", "carol", "dave"], players=(2, 3), blocks=5))
    with Store.create(log) as store:
        begin(store, PLAN)
    found = run_status(log)
    assert (found.state, found.matches) == ("complete", PLAN.total_matches)


def test_blocks_that_a_disqualified_bot_has_left_are_not_planned(log):
    plan = schedule(["alice", "bob", "carol"], blocks=6, forfeit_limit=4)
    with Store.create(log) as store:
        run = begin(store, plan)
        forfeits = [[1, None, "crash", 0], [0, None, None, None]]
        for spec in all_matches(plan):
            if spec.block.round < 2 and 0 in spec.seats:
                seats = forfeits if spec.seats[0] == 0 else forfeits[::-1]
                store.add(plan, [finished(spec, row(spec.lineup, [0, 1])._replace(seats=seats))], run)
            elif spec.block.round < 2:
                store.add(plan, [finished(spec, row(spec.lineup, [0, 1]))], run)
        out = Tournament(store, plan).disqualified(0)
    assert out
    kept = [block for block in plan.blocks() if in_plan(out, block.round, block.table)]
    board = run_status(log).boards[0]
    assert board.planned == 2 * len(kept) < plan.total_matches
    assert board.disqualified == {"alice": out[0] + 1}


def test_a_finished_plan_is_complete_and_one_that_was_extended_is_not(log):
    fill(log, PLAN)
    assert run_status(log).state == "complete"
    with Store.create(log) as store:
        begin(store, schedule(["alice", "bob", "carol"], players=(2, 3), blocks=5))
    assert run_status(log).state == "not complete"


def test_a_lock_that_is_held_means_running_and_its_text_is_not_believed(log):
    fill(log, PLAN)
    lock = log.with_suffix(".lock")
    assert read_writer(log)[0] is False
    with Store.create(log):
        running, writer = read_writer(log)
        assert running and writer.pid == os.getpid()
        assert run_status(log).state == "running"
        for text in ("", "{", '{"pid": "x"}', "[" * 99999, '{"pid": 1, "host": "\\u001b", "started": ""}', "\xff" * 9):
            lock.write_text(text)
            assert read_writer(log) == (True, None)
        assert run_status(log).state == "running"
    assert read_writer(log)[0] is False
    lock.unlink()
    assert read_writer(log) == (False, None)


def test_a_lock_that_is_no_file_or_names_another_program_is_not_followed(log):
    fill(log, PLAN, leave_out=[0])
    lock = log.with_suffix(".lock")
    told = {"pid": 1, "host": "h", "started": "2026-01-01", "command": "curl run there", "folder": "/"}
    lock.write_text(json.dumps(told))
    assert run_status(log).resume == ""
    lock.write_text(json.dumps({**told, "command": "arena run x.toml"}))
    assert run_status(log).resume == "cd / && arena run x.toml"
    lock.unlink()
    lock.mkdir()
    assert read_writer(log) == (False, None)
    lock.rmdir()
    os.mkfifo(lock)
    assert read_writer(log) == (False, None)


def test_what_only_adds_to_a_log_leaves_it_to_the_run_before_to_go_on(log):
    fill(log, PLAN, leave_out=[0])
    for command, resumes in [
        ("arena merge a.db b.db", ""),
        ("arena run --fresh x.toml", "arena run x.toml"),
        ("arena merge a.db b.db", "arena run x.toml"),
        ("arena compare greedy random", "arena compare greedy random"),
        ("arena import matches.jsonl", "arena compare greedy random"),
        ("pytest run", ""),
        ("arena import matches.jsonl", ""),
    ]:
        words = command.split()
        token = COMMAND.set(Command(command, words[1:2] in APPENDING_COMMANDS))
        Store.create(log).close()
        COMMAND.reset(token)
        assert run_status(log).resume == resumes
    lock = log.with_suffix(".lock")
    for before in ([1, 2], "abc", {"a": 1}, ["arena run \x1b", "/"], ["arena '", "/"], None):
        lock.write_text(json.dumps(json.loads(lock.read_text()) | {"before": before}))
        assert read_writer(log) == (False, None)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET plan = replace(hex(zeroblob(50000)), '0', '[')",
        "UPDATE runs SET plan = json_remove(plan, '$.name')",
        "UPDATE runs SET plan = json_remove(plan, '$.boards[0]')",
        "UPDATE timings SET worker = CAST(x'ff80' AS TEXT)",
        "UPDATE runs SET plan = json_set(plan, '$.name', char(27, 155)); UPDATE timings SET worker = char(27) || 'h:1'",
    ],
)
def test_a_hostile_log_is_told_of_in_printable_lines(log, capsys, change):
    fill(log, PLAN)
    with contextlib.closing(sqlite3.connect(log)) as db:
        db.executescript(change)
    run_command(["status", str(log)])
    told = capsys.readouterr()
    assert all(line.isprintable() for line in (told.out + told.err).splitlines())


def test_looking_at_a_lock_keeps_no_run_from_starting(log):
    fill(log, PLAN)
    looking = "import sys, time\nfrom pathlib import Path\nfrom arena.store import read_writer\n"
    looking += "print(flush=True)\nwhile True: read_writer(Path(sys.argv[1]))"
    with subprocess.Popen([sys.executable, "-c", looking, str(log)], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            for _ in range(20):
                Store.create(log).close()
        finally:
            process.kill()


def test_it_works_where_nothing_can_be_written(log):
    fill(log, PLAN)
    os.chmod(log.parent, stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert run_status(log).matches == PLAN.total_matches
    finally:
        os.chmod(log.parent, stat.S_IRWXU)


@pytest.mark.parametrize(("last", "known"), [((0, 0), False), ((3, 0), False), ((1, 1), True), ((3, 1), True)])
def test_no_time_left_is_told_until_every_board_has_played_more_than_its_first_round(last, known, log):
    """The first round of a board compiles its code."""
    later = [number for number, spec in enumerate(all_matches(PLAN)) if spec.block.round > last[spec.block.board]]
    fill(log, PLAN, leave_out=later)
    with Store.create(log):
        found = run_status(log)
        assert found.state == "running" and (found.seconds_left is not None) == known
        if known:
            with Store.open(log) as store:
                usual = [store.board(board.game, board.players).usual_seconds() for board in found.boards]
            left = [(board.planned - board.matches) * each for board, each in zip(found.boards, usual, strict=True)]
            assert found.seconds_left == pytest.approx(sum(left))


def test_a_run_is_seen_running_then_interrupted_with_the_command_that_goes_on(tmp_path, capsys, monkeypatch):
    config = write(tmp_path, CONFIG, BOTS)
    run = start_arena("run", config.name, "--home", "reports", "--workers", 1, "--quiet", folder=tmp_path)
    wait_until(lambda: count(config) >= 5, "more than a round of matches is in the log")
    watch = start_arena("status", "small", "--watch", "--home", "reports", folder=tmp_path)
    seen = run_status("small", home_of(config))
    assert seen.state == "running" and 0 < seen.matches < 80 == seen.planned
    assert seen.writer.pid == run.pid and seen.rate > 0 and seen.seconds_left > 0 and not seen.resume
    assert re.match(r"running, \d+ of 80 matches, .*/s, left \d:\d\d:\d\d$", watch.stdout.readline())
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    assert watch.communicate()[0].splitlines()[-1].startswith("interrupted, ")

    again = "arena run t.toml --home reports --workers 1 --quiet"
    assert run_status("small", home_of(config)).resume == f"cd {tmp_path} && {again}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for arguments in (["small"], []):
        assert run_command(["status", *arguments, "--home", "reports"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[-1] == f"  {again}" and all(len(line) <= 80 for line in lines)
    assert run_command(["status", "small", "--json", "--home", "reports"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["state"], data["planned"], data["resume"]) == ("interrupted", 80, again)


def test_the_list_names_logs_that_cannot_be_read_and_goes_on(tmp_path, capsys):
    fill(tmp_path / "good" / "matches.db", PLAN)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "matches.db").write_bytes(b"no log" * 999)
    bad, good = run_statuses(tmp_path)
    assert "bad" in str(bad) and good.matches == PLAN.total_matches
    assert run_command(["status", "--home", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert "complete" in told.out and told.err.startswith("warning: ")
    assert run_command(["status", "--home", str(tmp_path / "none")]) == 0
    assert f"No tournament under {tmp_path}/none yet" in " ".join(capsys.readouterr().out.split())


def test_logs_of_one_plan_in_several_folders_are_told_apart_by_names_that_commands_take(log, tmp_path):
    fill(log, PLAN)
    for copy in ("merged", "compare/again"):
        shutil.copytree(log.parent, tmp_path / copy)
    names = [found.name for found in run_statuses(tmp_path)]
    assert sorted(names) == ["compare/again", "merged", "sample"]
    assert {run_status(name, tmp_path).log.parent for name in names} == {tmp_path / name for name in names}
