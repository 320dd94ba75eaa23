"""The numbers of Epicycle's rulebook (§10), solved and counted on the naive engine's graph of the game for two."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

import engine
from tests.engine import naive_epicycle as naive
from tests.engine.matches import walk


@pytest.fixture(scope="module")
def graph() -> tuple[list[naive.Table], list[list[tuple[int, bool]]]]:
    """All tables for two, and the plays of each: the number of the next table, or -1 and whether the mover won."""
    first = naive.start(2)
    numbers, tables, rows = {first: 0}, [first], []
    for table in tables:
        row = []
        for text in naive.plays(table, table.seat):
            after = naive.play(table, text)
            if after.seat is None:
                row.append((-1, table.seat not in after.out))
            else:
                if after not in numbers:
                    numbers[after] = len(tables)
                    tables.append(after)
                row.append((numbers[after], False))
        rows.append(row)
    return tables, rows


def solve(rows: list[list[tuple[int, bool]]]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the tables won and lost for the seat to move, each with the plies to the end under best play."""
    won: dict[int, int] = {}
    lost: dict[int, int] = {}
    for plies in itertools.count(1):
        new_won = [
            i for i, row in enumerate(rows) if i not in won and any(wins or after in lost for after, wins in row)
        ]
        new_lost = [
            i
            for i, row in enumerate(rows)
            if i not in lost and i not in won and all(after in won or (after < 0 and not wins) for after, wins in row)
        ]
        if not new_won and not new_lost:
            return won, lost
        won |= dict.fromkeys(new_won, plies)
        lost |= dict.fromkeys(new_lost, plies)
    raise AssertionError("the count of plies has no end")


def test_the_game_for_two_has_as_many_positions_wins_and_losses_as_the_rulebook_says(graph):
    tables, rows = graph
    won, lost = solve(rows)
    assert (len(tables), len(won), len(lost)) == (78_822, 4_622, 930)
    assert 0 not in won and 0 not in lost
    assert max(won.values()) == 9


def test_random_play_wins_and_lasts_as_the_rulebook_says(graph):
    tables, rows = graph
    size = len(tables)
    edges = [(i, after, 1 / len(row)) for i, row in enumerate(rows) for after, _ in row if after >= 0]
    source, target, chance = (np.array(column) for column in zip(*edges, strict=True))
    step = csr_array((chance, (source, target)), shape=(size, size))
    wins_now = np.array(
        [
            sum((wins == (table.seat == 0)) for after, wins in row if after < 0) / len(row)
            for table, row in zip(tables, rows, strict=True)
        ]
    )
    win, length = np.zeros(size), np.zeros(size)
    for _ in range(1000):
        win, length = wins_now + step @ win, 1 + step @ length
    assert (round(win[0], 5), round(length[0], 4)) == (0.43420, 10.8732)


def test_compiled_random_playouts_win_and_last_as_the_rulebook_says():
    game = engine.load_game("epicycle", 2, repetition=0, max_turns=10_000)
    playouts = engine.random_playouts(game, 400_000, seed=20)
    assert playouts.ended == {"normal": 400_000}
    assert 1 - playouts.rank_sums[0] / 400_000 == pytest.approx(0.43420, abs=0.004)
    assert playouts.plies / 400_000 == pytest.approx(10.8732, abs=0.05)


def test_three_seats_fall_in_every_order():
    orders = set()
    for seed in range(400):
        *_, last = walk(engine.load_game("epicycle", 3, repetition=0), seed)
        orders.add(tuple(last.ranks()))
    assert orders == set(itertools.permutations(range(3)))
