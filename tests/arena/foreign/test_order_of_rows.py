"""Leaderboards of foreign results are the same in whatever order a file has its rows."""

import csv

import numpy as np
import pytest

from arena import api
from arena.transfer.foreign_results import import_results
from tests.support.worlds import ranks_of


def write(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def made_up(players, matches=80, seats=False):
    """Rows of matches of eight bots with ties."""
    rng = np.random.default_rng(players)
    entries = np.array([rng.permutation(8)[:players] for _ in range(matches)])
    places = 1 + ranks_of(rng.normal(-0.4 * entries, 1), 0.3)
    return [
        {"match": number, "block": number // 3, "bot": f"bot {bot}", "place": place} | ({"seat": seat} if seats else {})
        for number, (bots, found) in enumerate(zip(entries.tolist(), places.tolist(), strict=True))
        for seat, (bot, place) in enumerate(zip(bots, found, strict=True))
    ]


@pytest.mark.parametrize(("players", "seats"), [(2, False), (2, True), (3, False), (4, True)])
def test_no_order_of_rows_changes_a_bit_of_a_leaderboard(tmp_path, players, seats):
    rows = made_up(players, seats=seats)
    rng, texts = np.random.default_rng(1), set()
    by_winner = sorted(rows, key=lambda row: (row["place"], row["bot"]))
    for number, order in enumerate([rows, rows[::-1], by_winner, [rows[at] for at in rng.permutation(len(rows))]]):
        import_results(write(tmp_path / f"{number}.csv", order), home=tmp_path / "home")
        (board,) = api.leaderboard(str(number), home=tmp_path / "home").values()
        assert board["trueskill_mu"].notna().all()
        texts.add(board.to_csv())
    assert len(texts) == 1


def test_thousands_of_bots_are_taken_and_rated(tmp_path):
    rng = np.random.default_rng(1)
    pairs = np.concatenate([rng.permutation(1200).reshape(-1, 2) for _ in range(2)])
    rows = [
        {"match": number, "bot": f"bot {bot:04}", "place": place + 1}
        for number, bots in enumerate(pairs.tolist())
        for place, bot in enumerate(bots)
    ]
    import_results(write(tmp_path / "many.csv", rows), home=tmp_path)
    (board,) = api.leaderboard("many", home=tmp_path).values()
    assert len(board) == 1200
    assert board["rating_ci_low"].notna().all()
