"""Standings beside a contest's log: read as they were written, and none where a file is cut off, damaged or hostile."""

from __future__ import annotations

import pytest

from arena.contest.standings import (
    ROUNDS_FILE,
    STANDINGS_FILE,
    OverallRow,
    Standings,
    latest_rounds,
    read_rounds,
    read_standings,
    write_standings,
)


def standings(number):
    rows = tuple(
        OverallRow(
            bot=f"b{bot}.1", rank=bot, rank_low=1, rank_high=2, score=1 / bot, low=0.0, high=1.0, matches=9, boards=1
        )
        for bot in (1, 2)
    )
    time = f"2026-05-01T00:00:{number:02}.000000Z"
    return Standings(season=1, round=number, time=time, bots=2, matches=9, boards=(), overall=rows)


def test_reads_what_was_written(tmp_path):
    for number in range(1, 6):
        write_standings(tmp_path, standings(number))
    assert read_standings(tmp_path) == standings(5)
    assert [each.round for each in read_rounds(tmp_path)] == [1, 2, 3, 4, 5]
    assert [each.round for each in read_rounds(tmp_path, 2)] == [4, 5]
    assert read_rounds(tmp_path)[0].ranks == {"b1.1": (1, 1.0), "b2.1": (2, 0.5)}


def test_a_round_that_is_written_again_counts_once(tmp_path):
    for number in (1, 2, 2):
        write_standings(tmp_path, standings(number))
    assert [each.round for each in read_rounds(tmp_path)] == [1, 2]


def test_a_line_that_a_kill_has_cut_off_is_left_out(tmp_path):
    write_standings(tmp_path, standings(1))
    with (tmp_path / ROUNDS_FILE).open("ab") as file:
        file.write(b'\n{"round": 2, "ranks": {"b1')
    write_standings(tmp_path, standings(3))
    assert [each.round for each in read_rounds(tmp_path)] == [1, 3]


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"round": 1}'])
def test_damaged_files_are_no_standings(tmp_path, content):
    (tmp_path / STANDINGS_FILE).write_bytes(content)
    (tmp_path / ROUNDS_FILE).write_bytes(content)
    assert read_standings(tmp_path) is None
    assert list(read_rounds(tmp_path)) == []


def test_no_files_are_no_standings(tmp_path):
    assert read_standings(tmp_path) is None
    assert list(read_rounds(tmp_path)) == []


def test_rounds_are_read_from_the_end_of_their_file(tmp_path, monkeypatch):
    for number in range(1, 8):
        write_standings(tmp_path, standings(number))
    whole = list(read_rounds(tmp_path))
    for size in (1, 7, 64, 200):
        monkeypatch.setattr("arena.contest.standings.READ_BYTES", size)
        assert list(read_rounds(tmp_path)) == whole
        assert [each.round for each in latest_rounds(tmp_path)] == [7, 6, 5, 4, 3, 2, 1]


def test_of_a_file_of_rounds_that_is_too_long_the_latest_are_read(tmp_path, monkeypatch):
    for number in range(1, 8):
        write_standings(tmp_path, standings(number))
    monkeypatch.setattr("arena.contest.standings.MAX_ROUNDS_BYTES", (tmp_path / ROUNDS_FILE).stat().st_size // 2)
    assert [each.round for each in read_rounds(tmp_path)] == [5, 6, 7]
    write_standings(tmp_path, standings(8))
    assert [each.round for each in read_rounds(tmp_path, 2)] == [7, 8]
