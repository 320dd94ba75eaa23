"""Seasons in a log: played in any number of pieces they are the same, and verification finds what was falsified."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from arena import api
from arena.contest.rounds import Rounds
from arena.core.adjudication import AdjudicationRules
from arena.core.errors import StoreError
from arena.schedule.ladder_rounds import Departed
from arena.store import EventRow, Store
from arena.store.digests import MATCH_TABLES
from arena.store.plan_deltas import pack_plan, unpack_plan
from arena.tournament.seasons import Season, event_row, read_event
from arena.tournament.tournament import Tournament
from arena.transfer.merging import merge
from arena.verify.archive import make_archive
from arena.web.catalog import LogCatalog
from tests.arena.contest.seasons import OPTIONS, bots_of, joining, ladder_of, play_season, scripted
from tests.arena.verify.logs import changing, checked, texts
from tests.support.rows import rows_of

KEY = b"k" * 32


@pytest.fixture(scope="module")
def bots() -> dict[str, Any]:
    return bots_of()


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory, bots: dict[str, Any]) -> Path:
    """The log of a whole season."""
    log = tmp_path_factory.mktemp("season") / "matches.db"
    with Store.create(log) as store:
        store.keep_key(KEY, "2026-01-01T00:00:00+00:00")
    play_season(log, bots)
    return log


@pytest.fixture
def copied(season: Path, tmp_path: Path) -> Path:
    (tmp_path / "season").mkdir()
    return Path(shutil.copy(season, tmp_path / "season" / "matches.db"))


def content(log: Path) -> dict[str, Any]:
    """What follows from the plans: matches, events, and the plan of every round."""
    with Store.open(log) as store:
        plans = list(dict.fromkeys(plan for _, plan in store.runs.by_number()))
        rows = rows_of(log, "SELECT identity, lineup, m.digest FROM blocks JOIN matches m USING (block)")
        return {"plans": plans, "events": store.runs.events(), "matches": sorted(rows)}


def test_a_season_is_sound_and_reads_like_a_tournament(season: Path) -> None:
    report = checked(season)
    assert report.sound
    assert not report.findings
    assert report.finished
    assert report.totals.planned == report.totals.present
    assert report.totals.matches > report.totals.present, "matches of the bot that left stay in the log"
    boards = api.leaderboard(season)
    assert {*boards[("epicycle", 2)]["bot"]} == {"b1.1", "b3.1", "b4.1", "b5.1"}
    with Tournament.open(season) as tournament:
        assert tournament.is_complete()
        kept = Season.read(tournament.store, tournament.plan)
        assert sum(kept.tallies[0].results.values()) == len(tournament.counted(0).rows)


def test_a_season_played_in_pieces_is_the_same(season: Path, bots: dict[str, Any], tmp_path: Path) -> None:
    log = tmp_path / "matches.db"
    with Store.create(log) as store:
        store.keep_key(KEY, "2026-01-01T00:00:00+00:00")
    for rounds in range(1, 6):
        play_season(log, bots, rounds, ends=False)
        with contextlib.closing(sqlite3.connect(log)) as db, db:  # as a kill leaves it: without the last results
            db.execute("PRAGMA foreign_keys = ON")
            lost = "SELECT block FROM timings WHERE run = (SELECT max(run) FROM timings) AND block % 3 < 2"
            blocks = [block for (block,) in db.execute(f"{lost} GROUP BY block")]
            for table in (*MATCH_TABLES, "blocks"):
                db.executemany(f"DELETE FROM {table} WHERE block = ?", [(block,) for block in blocks])
        with Store.create(log) as store:
            playing = Rounds("contests/sample/season-1", store, ladder_of(placement=2))
            assert not playing.is_complete
            assert playing.number == rounds
            started = store.runs.plan_starts()[-1]
            assert playing.play(playing.season.schedule, [], bots, OPTIONS).complete
            assert store.runs.plan_starts()[-1] == started
            assert playing.is_complete
            assert store.runs.latest_run()[0] > rounds, "a run that goes on with a round has a row of its own"
    assert content(log) == content(season)
    assert checked(log).sound


def test_a_contest_of_other_rules_asks_for_another_season(copied: Path) -> None:
    with Store.create(copied) as store, pytest.raises(StoreError, match="begin another season"):
        Rounds("contests/sample/season-1", store, ladder_of(placement=3))


def test_matches_of_a_season_are_adjudicated_and_verified_and_other_rules_are_another_season(
    bots: dict[str, Any], tmp_path: Path
) -> None:
    log, rules = tmp_path / "matches.db", AdjudicationRules(certainty=50)
    play_season(log, bots, 2, ends=False, adjudication=rules)
    assert checked(log).sound
    with Store.create(log) as store, pytest.raises(StoreError, match="begin another season"):
        Rounds("contests/sample/season-1", store, ladder_of(placement=2))
    with changing(log) as db:
        count = db.execute("UPDATE matches SET ended = 'normal' WHERE ended = 'adjudicated by certainty'").rowcount
    assert count > 0
    assert "certainty" in texts(checked(log))


def test_the_season_can_be_archived_when_it_has_ended_and_the_archive_is_sound(
    copied: Path, bots: dict[str, Any], tmp_path: Path
) -> None:
    archive = make_archive(copied, out=tmp_path / "season.zip")
    assert checked(archive).sound
    open_log = tmp_path / "open.db"
    play_season(open_log, bots, 1, ends=False)
    with pytest.raises(StoreError, match="not disclosed"):
        make_archive(open_log, out=tmp_path / "open.zip")


def test_exports_follow_the_latest_round_and_merging_is_refused(copied: Path, tmp_path: Path) -> None:
    assert api.export(copied, out=tmp_path / "out", what=["leaderboards", "matches"], formats=["csv"])
    assert checked(copied).sound
    with pytest.raises(StoreError, match="each of which follows from the one before: nothing is merged"):
        merge([copied], tmp_path / "merged.db")


def spoil_plan(db: sqlite3.Connection, run: int) -> None:
    """Give a table of a round one block more."""
    with Store.open(Path(db.execute("PRAGMA database_list").fetchone()[2])) as store:
        plans = dict(store.runs.by_number())
    before = plans[run]
    data = json.loads(before)
    tables = data["scheduler"]["fields"]["boards"][0]["tables"]
    tables[min(tables)] += 1
    plans[run] = json.dumps(data, sort_keys=True)
    if run + 1 not in plans:
        db.execute("UPDATE runs SET plan = ? WHERE run = ?", (plans[run], run))
        run, plans[run - 1] = run - 1, plans[run - 1]
    else:
        db.execute("UPDATE runs SET plan = ? WHERE run = ?", (pack_plan(plans[run], plans[run + 1]), run))
        run -= 1
    if run in plans:
        db.execute("UPDATE runs SET plan = ? WHERE run = ?", (pack_plan(plans[run], plans[run + 1]), run))


def swap_ranks(db: sqlite3.Connection) -> None:
    """Turn the result of a match of the first round around, by somebody who cannot change its moves."""
    block, lineup = db.execute("SELECT block, lineup FROM seats WHERE rank = 1 ORDER BY block LIMIT 1").fetchone()
    db.execute("UPDATE seats SET rank = 1 - rank WHERE block = ? AND lineup = ? AND rank < 2", (block, lineup))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda db: db.execute("DELETE FROM events WHERE round = 2"), "does not follow from the round before"),
        (lambda db: db.execute("UPDATE events SET label = 'b3.1' WHERE kind = 'left'"), "does not follow"),
        (lambda db: db.execute("UPDATE events SET round = 9 WHERE kind = 'left'"), "events of round 9"),
        (lambda db: db.execute("UPDATE events SET kind = 'gone' WHERE kind = 'left'"), "cannot be read"),
        (lambda db: db.execute("UPDATE events SET data = '[]' WHERE round = 2"), "cannot be read"),
        (lambda db: spoil_plan(db, 2), "plan of run 2 does not follow"),
        (lambda db: spoil_plan(db, 5), "plan of run 5 does not follow"),
        (lambda db: db.execute("UPDATE runs SET plan = x'00' WHERE run = 1"), "cannot be unpacked"),
        (swap_ranks, "rank"),
    ],
)
def test_what_was_falsified_is_found(copied: Path, spoil: Any, told: str) -> None:
    with changing(copied) as db:
        spoil(db)
    report = checked(copied)
    assert report.sound is False
    assert told in texts(report)


def test_a_match_missing_from_a_round_that_is_over_is_found(copied: Path) -> None:
    with changing(copied) as db:
        for table in ("matches", "seats", "timings"):
            db.execute(f"DELETE FROM {table} WHERE block = 1 AND lineup = 1")
    assert "of the round of run 1 are missing" in texts(checked(copied))


def test_an_erased_source_is_said_and_the_log_stays_sound(copied: Path) -> None:
    ((bundle,),) = rows_of(copied, "SELECT bundle FROM bots WHERE spec = 'greedy'")
    with Store.create(copied) as store:
        store.erase_sources([bundle])
    report = checked(copied)
    assert report.sound
    assert any(remark.startswith("source erased: the source of one bot was removed") for remark in report.remarks)


def test_rounds_are_refused_after_contradicting_events(copied: Path, bots: dict[str, Any]) -> None:
    with Store.create(copied) as store:
        playing = Rounds("contests/sample/season-1", store, ladder_of(placement=2))
        with pytest.raises(ValueError, match="is not there"):
            playing.next([Departed("b2.1")])
        schedule = playing.next([Departed("b1.1")])
        assert schedule is not None
        with pytest.raises(StoreError, match="has ended"):
            playing.play(schedule, [], bots, OPTIONS)


def test_events_read_back(bots: dict[str, Any]) -> None:
    for events in scripted(bots):
        for event in events:
            assert read_event(event_row(3, event)) == event
    with pytest.raises(StoreError, match="is not as the arena writes it"):
        read_event(event_row(3, joining(bots, "b1.1"))._replace(label="b9.1"))
    with pytest.raises(StoreError, match="cannot be read"):
        read_event(EventRow(1, "left", "b1.1", "{"))


@pytest.mark.parametrize("plan", ["", "{}", '{"a": 1, "b": 2}', '{"b": 2, "a": 1, "a": 1, "c": [1, 2, 3, 1]}'])
def test_packed_plans_unpack(plan: str) -> None:
    following = '{"a": 1, "b": 2, "c": [1, 2, 3]}'
    assert unpack_plan(pack_plan(plan, following), following) == plan
    with pytest.raises(StoreError):
        unpack_plan(pack_plan(plan, following)[:-2], following)


def test_while_a_season_is_played_its_newest_round_is_in_the_plan(bots: dict[str, Any], tmp_path: Path) -> None:
    name = "contests/sample/season-1"
    log = tmp_path / name / "matches.db"
    log.parent.mkdir(parents=True)
    with contextlib.closing(LogCatalog(tmp_path)) as catalog, Store.create(log) as store:
        rounds = Rounds(name, store, ladder_of(placement=2))
        for events in scripted(bots):
            schedule = rounds.next(events)
            assert schedule is not None
            rounds.play(schedule, events, bots, OPTIONS)
            playing = catalog.log(name)
            assert playing.is_running()
            planned, (_, view) = catalog.planned(playing), catalog.view(playing)
            labels = {entry.label for entry in schedule.entries}
            assert len(planned) == view.total > 0
            for number in range(view.total):
                seats = view.seat["entry"][view.seat["match"] == number]
                assert planned[number] == (labels >= {view.label(entry) for entry in seats})
