"""`arena verify`: a sound log is sound, exported files agree with it, and matches are played again."""

import contextlib
import json
import os
import re
import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ArenaError, ConfigError
from arena.core.match_ids import DiceKind
from arena.match.referee import MAX_KILL_REPLAYS
from arena.match.replay import replay
from arena.match.result import final_hash
from arena.results.pages.report import Sameness
from arena.store import Store
from arena.store.locking import lock_log
from arena.tournament.tournament import Tournament
from arena.verify import blocks
from arena.verify.database import open_log
from arena.verify.exports import compare_files
from arena.verify.findings import Findings
from arena.verify.plans import read_contents
from arena.verify.reruns import chosen_blocks, rerun_plan
from arena.verify.verification import verify
from engine import load_game
from tests.arena.verify.logs import CONFIG, SECRET, changing, checked, columns, played, tables, texts
from tests.support.tournaments import home_of, write

MOODY = CONFIG.replace("b.py:Fragile", "b.py:Moody").replace(
    '[2, 3] }, { game = "magic_mids", players = 2, blocks = 1', "2"
)


def name_of(log: Path, table: str, where: str = "") -> str:
    """The id of the first match that a condition on a table is true of."""
    with Store.open(log) as store, contextlib.closing(sqlite3.connect(log)) as db:
        query = f"SELECT identity, lineup FROM {table} JOIN blocks USING (block) {where} LIMIT 1"
        return store.short_id(*db.execute(query).fetchone())


# Sound logs


@pytest.mark.parametrize("name", ["rounds", "adaptive", "duel"])
def test_a_log_is_sound_and_all_of_it_was_looked_at(logs, name):
    report = checked(logs[name])
    with contextlib.closing(sqlite3.connect(logs[name])) as db:
        matches, blocks = (db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("matches", "blocks"))
        rolls = sum(
            ply.expected is not None
            for (identity,) in db.execute("SELECT identity FROM blocks").fetchall()
            for match in Store.open(logs[name]).matches([identity])[identity]
            for ply in replay(match, match.keys)
        )
    assert report.sound, texts(report)
    assert (report.totals.matches, report.totals.blocks, report.totals.draws) == (matches, blocks, rolls)
    assert report.finished
    assert "plan.json" in report.compared
    assert name == "duel" or {"versions.json", "epicycle_3p.csv", "magic_mids_2p.parquet"} <= {*report.compared}


def test_the_tournaments_hold_what_is_to_be_checked(logs):
    with contextlib.closing(sqlite3.connect(logs["rounds"])) as db:
        assert db.execute("SELECT count(*) FROM seats WHERE cause = 'crash'").fetchone()[0] > 1
        assert db.execute("SELECT count(*) FROM matches WHERE typeof(moves) = 'blob'").fetchone()[0] > 0
        assert db.execute("SELECT min(dice), count(DISTINCT board) FROM blocks").fetchone() == (DiceKind.SECRET, 3)


@pytest.mark.system
def test_several_processes_find_what_one_finds_in_the_same_order(copy, monkeypatch):
    log = copy("rounds")
    with changing(log) as db:
        db.execute("UPDATE seats SET rank = 7 WHERE seat = 1")
    alone = checked(log)
    monkeypatch.setattr(blocks, "MAX_MATCHES_OF_ONE_PROCESS", 0)
    monkeypatch.setattr(blocks, "BLOCKS_PER_TASK", 2)
    assert verify(log, workers=2).as_dict() == alone.as_dict()
    assert alone.count > 20 == len(alone.findings)


def test_it_says_that_a_run_is_writing_and_never_writes_itself(logs, tmp_path):
    log = Path(shutil.copy(logs["rounds"], tmp_path / api.LOG_FILE))
    before = log.read_bytes()
    lock = lock_log(log)
    assert checked(log).running
    os.close(lock)
    assert not checked(log).running
    assert log.read_bytes() == before


def test_matches_of_an_earlier_plan_belong_to_it_and_an_unfinished_plan_may_lack_matches(logs, tmp_path):
    shutil.copytree(logs["rounds"].parents[2], tmp_path, dirs_exist_ok=True)
    seeded = SECRET.replace("seed = 7", "seed = 8").replace("[2, 3]", "2")
    log = played(tmp_path, seeded)
    report = checked(log)
    assert (report.sound, report.totals.earlier_blocks, report.runs) == (True, 3 * (3 + 1) + 3, 2)
    with changing(log) as db:
        db.execute("UPDATE runs SET finished = NULL WHERE run = 2")
        last = db.execute("SELECT max(block) FROM blocks").fetchone()[0]
        for table in tables(db):
            if "block" in columns(db, table):
                db.execute(f"DELETE FROM {table} WHERE block = ?", (last,))
    report = checked(log)
    assert report.sound, texts(report)
    assert not report.finished
    assert report.totals.planned - report.totals.present == 2


# Exports


def test_a_table_of_another_size_is_not_unpacked(tmp_path, monkeypatch):
    ours, theirs, again = (tmp_path / f"{n}.parquet" for n in range(3))
    pd.DataFrame({"mu": [0.0] * 9}).to_parquet(ours)
    pd.DataFrame({"mu": [0.0] * 9}).to_parquet(again, compression=None)
    pd.DataFrame({"mu": [0.0] * 10**6}).to_parquet(theirs)
    assert compare_files(again, ours) is Sameness.ALL
    monkeypatch.setattr(pd, "read_parquet", lambda file: pytest.fail("was unpacked"))
    assert compare_files(theirs, ours) is Sameness.NONE


def test_every_exported_file_that_differs_is_named(logs, tmp_path):
    log = Path(shutil.copy(logs["rounds"], tmp_path / api.LOG_FILE))
    api.export(log, out=tmp_path, what=("leaderboards", "crosstable", "matches"), formats=("csv", "json", "html"))
    api.export(log, out=tmp_path, what=("costs", "paper"), formats=("csv",))
    assert checked(log).sound
    edited = sorted(tmp_path.glob("*.*"), key=lambda path: path.name)
    edited = [path for path in edited if path.suffix in (".csv", ".json", ".html")]
    for path in edited:
        text = path.read_text()
        digit = re.search("[1-8]", text[len(text) // 2 :])
        at = len(text) // 2 + digit.start()
        path.write_text(text[:at] + str(int(text[at]) + 1) + text[at + 1 :])
    report = checked(log)
    assert [finding.file for finding in report.findings] == [path.name for path in edited[:20]]
    assert report.count == len(edited) == 3 * (2 * 3) + 3 + 2 + 3 + 1
    with changing(log) as db:
        db.execute("UPDATE runs SET finished = NULL")
    report = checked(log)
    assert edited[0].name in report.remarks[0]


def test_tables_of_boards_that_are_in_the_plan_no_more_are_named(logs, tmp_path):
    log = Path(shutil.copy(logs["rounds"], tmp_path / api.LOG_FILE))
    api.export(log, out=tmp_path, what=("leaderboards",), formats=("csv",))
    for name in ("nim_2p.csv", "nim_2p_costs.md", "notes.csv"):
        (tmp_path / name).touch()
    report = checked(log)
    assert report.sound
    assert report.remarks == ["of no board of the latest plan, and not compared: nim_2p.csv, nim_2p_costs.md"]


def test_a_log_into_which_nothing_has_been_played_is_not_damaged(tmp_path):
    with Store.create(tmp_path / api.LOG_FILE) as store:
        store.keep_key(bytes(32), "2026-01-01T00:00:00+00:00")
    report = checked(tmp_path / api.LOG_FILE)
    assert (report.sound, report.remarks, report.totals.matches) == (True, ["nothing has been played yet"], 0)


def test_an_exported_file_of_any_size_or_kind_is_not_waited_for_or_read_whole(tmp_path):
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    ours.write_text("a,b\n")
    with theirs.open("wb") as sparse:
        sparse.truncate(20 * 2**30)
    assert compare_files(theirs, ours) is Sameness.NONE
    theirs.unlink()
    os.mkfifo(theirs)
    assert compare_files(theirs, ours) is Sameness.NONE


# Playing again


def forge(log: Path) -> tuple[str, int]:
    """Replace the end of a match by moves that are as legal; its id, and the first ply that is another one."""
    with Store.open(log) as store, contextlib.closing(sqlite3.connect(log)) as db:
        query = (
            "SELECT identity FROM blocks JOIN boards USING (board) WHERE game = 'epicycle' AND block NOT IN "
            "(SELECT block FROM seats WHERE cause NOT NULL UNION SELECT block FROM matches WHERE notes NOT NULL)"
        )
        matches = [store.match(identity, 0) for (identity,) in db.execute(query).fetchall()]
        match = max(matches, key=lambda match: [ply.by for ply in replay(match)].count("bot"))
        name = store.short_id(match.identity, 0)
    plies = list(replay(match))
    ply = [ply.number for ply in plies if ply.by == "bot"][-2]
    state, told = plies[ply - 1].state, match.moves[ply]
    state.apply_action(next(action for action in state.legal_actions() if state.action_to_string(action) != told))
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    moves, start = [], load_game(match.game, match.players).new_initial_state()
    for action in state.history():
        moves.append(start.action_to_string(action))
        start.apply_action(action)
    with changing(log) as db:
        at = (match.identity,)
        block = "block = (SELECT block FROM blocks WHERE identity = ?) AND lineup = 0"
        new = (state.ended, len(moves), bytes.fromhex(final_hash(state)), " ".join(moves))
        db.execute(
            f"UPDATE matches SET ended = ?, plies = ?, final = ?, moves = ?, notes = NULL WHERE {block}", new + at
        )
        for seat, rank in enumerate(state.ranks()):
            db.execute(f"UPDATE seats SET rank = ? WHERE {block} AND seat = ?", (rank, *at, seat))
    return name, ply


def test_a_match_that_its_bots_did_not_play_is_found_when_it_is_played_again(copy):
    log = copy("rounds")
    name, ply = forge(log)
    assert checked(log).sound
    report = checked(log, rerun="all")
    assert [(finding.match, finding.text) for finding in report.findings] == [
        (name, f"differs from ply {ply + 1} on when it is played again")
    ]
    assert report.rerun == report.totals.matches


def test_other_evaluations_of_the_same_moves_are_no_difference(copy):
    log = copy("rounds")
    with changing(log) as db:
        found = db.execute("SELECT block, lineup, moves FROM estimates").fetchall()
        assert found
        for block, lineup, moves in found:
            text = re.sub(b"500", b"-7", zlib.decompress(moves))
            where = "WHERE (block, lineup) = (?, ?)"
            db.execute(f"UPDATE estimates SET moves = ? {where}", (zlib.compress(text), block, lineup))
    report = checked(log, rerun="all")
    assert report.sound and report.rerun == report.totals.matches, texts(report)


@pytest.mark.parametrize(
    ("moves", "dropped"),
    [(zlib.compress(b"999:1,-1:"), ""), (b"?", ""), ("text", ""), (b"", ""), (b"", "2:1"), (b"", "0:1,"), (b"", 5)],
)
def test_a_row_of_estimates_that_the_arena_does_not_write_is_named(copy, moves, dropped):
    log = copy("rounds")
    with changing(log) as db:
        at = db.execute("SELECT block, lineup FROM estimates").fetchone()
        db.execute("UPDATE estimates SET moves = ?, dropped = ? WHERE (block, lineup) = (?, ?)", (moves, dropped, *at))
        ((identity,),) = db.execute("SELECT hex(identity) FROM blocks WHERE block = ?", at[:1])
    found = {str(finding.match).partition("-")[0] for finding in checked(log).findings}
    assert found == {identity.lower()[:12]}


def test_a_bot_that_plays_otherwise_each_time_is_named_and_the_others_are_not_to_blame(tmp_path):
    report = checked(played(tmp_path, MOODY), rerun="all")
    assert report.sound, texts(report)
    verdicts = {bot.bot: bot for bot in report.bots}
    assert [verdicts[bot].deterministic for bot in ("random", "another", "Moody")] == [True, True, False]
    moody = verdicts["Moody"]
    stored, _ = api.find_match(None, moody.differing, home_of(tmp_path / "t.toml"))
    assert stored.bots[list(replay(stored))[moody.ply - 1].seat] == "Moody"


@pytest.mark.system
@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM"])
def test_a_match_that_was_forfeited_since_a_process_was_killed_is_not_compared(tmp_path, number):
    """Nothing tells whether the bot did it; here the log has it, and the second time there is nothing."""
    bot = f"""
import os, signal
from pathlib import Path
from bots import Bot

class Shot(Bot):
    def choose(self, state):
        shots = Path({str(tmp_path)!r}, "shots")
        shots.mkdir(exist_ok=True)
        if len(os.listdir(shots)) < {MAX_KILL_REPLAYS + 1}:
            Path(shots, str(os.getpid())).touch()
            os.kill(os.getpid(), signal.{number})
        return state.legal_actions()[0]
"""
    config = """
name = "rounds"
blocks = 2
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "random" }, { bot = "b.py:Shot", isolation = "process" }]
"""
    path = write(tmp_path, config, bot)
    log = api.run(path, home_of(path), workers=1, backend="local").folder / api.LOG_FILE
    with contextlib.closing(sqlite3.connect(log)) as connection:
        found = connection.execute("SELECT cause, detail FROM seats JOIN faults USING (block, lineup, seat)").fetchall()
    ((cause, detail),) = found
    assert cause == "crash" and detail.startswith(f"its process ended (killed by {number}")
    report = checked(log, rerun="all")
    assert report.sound, texts(report)
    assert [remark for remark in report.remarks if remark.startswith("1 of the matches played again depended on")]


def test_bots_for_another_version_of_the_base_api_are_not_played_again(logs, monkeypatch):
    monkeypatch.setattr("arena.registry.bundles.API_VERSION", 2)
    assert checked(logs["rounds"]).sound
    with pytest.raises(ConfigError, match="bot 'random' is for version 1 of the bot API, and installed is 2"):
        checked(logs["rounds"], rerun=1)


def test_a_sample_is_the_same_each_time_and_spread_over_boards_and_bots(logs):
    with closing(open_log(logs["rounds"])) as db:
        contents = read_contents(db, Findings())
    with Store.open(logs["rounds"]) as store:
        (logged,) = contents.plans
        tournament = Tournament(store)
        plan = rerun_plan("rerun", logged.resolved.schedule(), contents, None)
        samples = [chosen_blocks(tournament, plan, 6, seed) for seed in (1, *range(1, 9))]
        whole = chosen_blocks(tournament, plan, "all", 1)
    assert samples[0] == samples[1]
    assert any(sample != samples[0] for sample in samples)
    assert sum(plan.schedule.boards[block.board].players for block in samples[0]) == 7
    assert {block.board for block in samples[0]} == {0, 1, 2}
    assert {entry for block in samples[0] for entry in block.table} == {0, 1, 2}
    assert len(whole) == 15


# The command


def test_the_command_tells_what_it_found_in_80_columns(copy, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    log = copy("rounds")
    assert run_command(["verify", str(log), "--workers", "1"]) == 0
    assert "Sound." in capsys.readouterr().out.splitlines()
    with changing(log) as db:
        db.execute("UPDATE matches SET ended = 'won'")
    assert run_command(["verify", str(log), "--workers", "1"]) == 1
    out = capsys.readouterr().out
    assert "NOT SOUND: 33 findings." in out
    assert "... and 13 more." in out
    assert max(len(line) for line in out.splitlines() if line != f"{log}:") <= 80  # a path stays in one piece
    assert run_command(["verify", str(log), "--workers", "1", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["sound"], told["count"], told["matches"], len(told["findings"])) == (False, 33, 33, 20)
    assert told["findings"][0]["match"] == name_of(log, "matches", "ORDER BY block, lineup")


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"rerun": 0}, "rerun = 0: must be all, or at least 1"),
        ({"workers": 0}, "workers = 0: at least 1 is needed"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(copy, how, told):
    with pytest.raises(ConfigError, match=told):
        verify(copy("rounds"), **how)


def test_where_there_is_no_log_there_is_nothing_to_verify(tmp_path):
    with pytest.raises(ArenaError, match="no such match log"):
        verify(tmp_path / "none.db")


def test_what_bots_print_makes_no_difference_between_a_match_and_its_rerun(tmp_path):
    source = "import sys\nfrom bots import Bot\n\n\nclass Loud(Bot):\n    def choose(self, state):\n"
    (tmp_path / "loud.py").write_text(
        source + "        print('hello', file=sys.stderr)\n        return self.pick(state.legal_actions())\n"
    )
    loud = {"bot": f"{tmp_path / 'loud.py'}", "isolation": "process"}
    plan = {
        "name": "loud",
        "blocks": 1,
        "games": [{"game": "epicycle", "players": 2}],
        "bots": [loud, {"bot": "random"}],
    }
    api.run(plan, tmp_path, workers=1, backend="local")
    report = verify("loud", tmp_path, workers=1, rerun="all")
    assert report.sound, report.findings
    assert report.rerun == 2
