"""Results from elsewhere say on boards what their rows say, counted by hand, whatever the format of the file."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from arena import api
from arena.tournament.tournament import Tournament
from arena.transfer.foreign_results import import_results
from tests.arena.foreign.tables import by_match, expected, results, write

MARK = "(unverified foreign results)"


def digests(log):
    """Identity of the block, number, row and digest of every match, and the plan."""
    with sqlite3.connect(log) as db:
        rows = db.execute(
            "SELECT identity, round, lineup, m.digest FROM blocks JOIN matches m USING (block)"
        ).fetchall()
        return rows, json.loads(db.execute("SELECT plan FROM runs").fetchone()[0])


@pytest.mark.parametrize("seed", range(3))
def test_boards_count_what_the_rows_say(tmp_path, seed):
    rows = results(seed, games=("chess", "go"), players=(2, 3, 4), matches=40, places=seed == 1, seats=seed < 2)
    import_results(write(tmp_path / "r.csv", rows), home=tmp_path)
    leaderboards, crosstables = (found("r", home=tmp_path) for found in (api.leaderboard, api.crosstable))
    wanted = expected(rows)
    assert set(leaderboards) == set(crosstables) == {(game + MARK, players) for game, players in wanted}
    for (game, players), (of_bots, of_pairs) in wanted.items():
        board = leaderboards[game + MARK, players].set_index("bot")
        assert set(board.index) == set(of_bots)
        for bot, counts in of_bots.items():
            row = board.loc[bot]
            assert (row["matches"], row["wins"], row["ties"]) == (counts["matches"], counts["wins"], counts["ties"])
            assert row["mean_return"] == pytest.approx(counts["return"] / counts["matches"], abs=1e-4)
            assert row["distinct_matches"] == counts["matches"], "no match is taken for a copy"
        assert ("return_seat_0" in board) == (seed < 2), "seats that were not given are not told of"
        for pair in crosstables[game + MARK, players].itertuples():
            counts = of_pairs[pair.bot, pair.opponent]
            assert (pair.wins, pair.ties, pair.losses) == (counts[1], counts[0], counts[-1])
        assert len(crosstables[game + MARK, players]) == len(of_pairs) / 2


def test_returns_by_seat_are_those_of_the_rows(tmp_path):
    rows = results(4, players=(3,), matches=30)
    import_results(write(tmp_path / "r.csv", rows), home=tmp_path)
    (board,) = api.leaderboard("r", home=tmp_path).values()
    (shares,) = api.variance("r", home=tmp_path).values()
    by_seat = {seat: [] for seat in range(3)}
    of_bot = {}
    for seats in by_match(rows).values():
        for row in seats:
            beaten = [np.sign(row["score"] - other["score"]) for other in seats if other is not row]
            by_seat[row["seat"]].append(sum(beaten) / 2)
            of_bot.setdefault((row["bot"], row["seat"]), []).append(sum(beaten) / 2)
    found = shares[shares["statistic"] == "mean_return"].set_index("part")["value"]
    for seat, values in by_seat.items():
        assert found[f"seat {seat}"] == pytest.approx(np.mean(values), abs=1e-4)
    for (bot, seat), values in of_bot.items():
        assert board.set_index("bot").loc[bot, f"return_seat_{seat}"] == pytest.approx(np.mean(values), abs=1e-4)
    assert shares.loc[shares["statistic"] == "share", "value"].isna().all(), "blocks are no Latin squares"


def test_seats_may_be_counted_from_one(tmp_path):
    rows = results(4)
    import_results(write(tmp_path / "zero.csv", rows), game="chess", home=tmp_path)
    ones = [row | {"seat": row["seat"] + 1} for row in rows]
    import_results(write(tmp_path / "one.csv", ones), game="chess", home=tmp_path)
    assert digests(tmp_path / "zero" / "matches.db")[0] == digests(tmp_path / "one" / "matches.db")[0]


def test_place_one_is_best_whatever_the_score_says(tmp_path):
    rows = [
        {"match": 1, "bot": bot, "place": place, "score": score}
        for bot, place, score in zip("abc", (2, 1, 2), (70, 72, 71), strict=True)
    ]
    import_results(write(tmp_path / "golf.csv", rows), home=tmp_path)
    frame = api.matches("golf", "golf", 3, home=tmp_path)
    assert dict(zip(frame["bot"], frame["rank"], strict=True)) == {"a": 1, "b": 0, "c": 1}
    assert dict(zip(frame["bot"], frame["score"], strict=True)) == {"a": 70, "b": 72, "c": 71}


def test_the_same_rows_make_the_same_matches_in_every_format_and_order_of_columns(tmp_path):
    rows = results(1, games=("chess", "go"))
    made = {}
    for suffix in ("csv", "jsonl", "parquet"):
        import_results(write(tmp_path / f"{suffix}.{suffix}", rows), name=suffix, game="g", home=tmp_path)
        made[suffix] = digests(tmp_path / suffix / "matches.db")
    turned = [dict(reversed(row.items())) for row in rows]
    text = write(tmp_path / "x.csv", turned).read_text()
    (tmp_path / "tabs.csv").write_bytes(b"\xef\xbb\xbf" + text.replace(",", "\t").replace("\n", "\r\n").encode())
    import_results(tmp_path / "tabs.csv", game="g", home=tmp_path)
    made["tabs"] = digests(tmp_path / "tabs" / "matches.db")
    first = made["csv"]
    for matches, plan in made.values():
        assert matches == first[0]
        for key in ("foreign", "name"):
            plan = {**plan, key: first[1][key]}
        assert plan == first[1]


def test_the_same_file_imported_twice_makes_the_same_log(tmp_path):
    file = write(tmp_path / "r.csv", results(2))
    logs = [import_results(file, home=tmp_path / home).log for home in ("one", "other")]
    assert digests(logs[0]) == digests(logs[1])
    assert (logs[0].with_name("source.csv")).read_bytes() == file.read_bytes()


def test_rows_of_a_match_may_stand_anywhere(tmp_path):
    rows = results(3, players=(2,))
    apart = [*rows[::2], *rows[1::2]]  # the first bots of all matches, then the second ones
    for name, each in (("together", rows), ("apart", apart)):
        import_results(write(tmp_path / f"{name}.csv", each), game="g", home=tmp_path)
    assert digests(tmp_path / "together" / "matches.db")[0] == digests(tmp_path / "apart" / "matches.db")[0]


def test_blocks_are_the_file_s_and_each_match_is_one_without_them(tmp_path):
    rows = results(5, players=(2,), matches=30, blocks=7)
    without = [{name: value for name, value in row.items() if name != "block"} for row in rows]
    for name, each, blocks in (("with", rows, 7), ("without", without, 30)):
        import_results(write(tmp_path / f"{name}.csv", each), home=tmp_path)
        with Tournament.open(name, home=tmp_path) as tournament:
            played = tournament.counted(0)
        assert len(set(played.block.tolist())) == blocks and (np.diff(played.block) >= 0).all()
    pairs = {name: next(iter(api.crosstable(name, home=tmp_path).values())) for name in ("with", "without")}
    assert (pairs["without"]["blocks"] == pairs["without"]["matches"]).all()
    met = {(row["bot"], row["block"]) for row in rows}
    assert (pairs["with"]["blocks"] <= 7).all() and len(met) > 7


def test_power_compares_two_bots_by_the_blocks_in_which_they_met(tmp_path):
    rows = results(6, players=(2,), matches=60, blocks=8)
    import_results(write(tmp_path / "r.csv", rows), home=tmp_path)
    found = api.power("r", "bot 0", "bot 1", home=tmp_path).iloc[0]
    blocks = {}
    for seats in by_match(rows).values():
        of = {row["bot"]: row["score"] for row in seats}
        if set(of) == {"bot 0", "bot 1"}:
            difference = 2 * np.sign(of["bot 0"] - of["bot 1"])
            blocks.setdefault(seats[0]["block"], []).append(difference)
    assert found["blocks"] == len(blocks)
    assert found["difference"] == pytest.approx(np.mean([np.mean(each) for each in blocks.values()]))
    assert pd.isna(found["seconds_needed"])
