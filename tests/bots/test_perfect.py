"""Perfect knows two-player Epicycle: the solution, its file, and the play that follows from it."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import engine
from bots import make_bot
from bots.cautious import Cautious
from bots.greedy import Greedy
from bots.random_bot import Random
from bots.search import perfect_solver
from bots.search.perfect import Perfect
from bots.search.perfect_kernel import ILLEGAL, LOST, POSITIONS, WON
from bots.search.perfect_solver import Counts, compute, solve
from tests.bots.matches import decisions, immediate_returns, play_match, random_walk
from tests.bots.random_play import children, random_play

EPICYCLE = engine.load_game("epicycle", players=2)
ENDLESS = engine.load_game("epicycle(repetition=0)", players=2)
DEALT = engine.load_game("epicycle(setup=random)", players=2)
START = EPICYCLE.new_initial_state()
DEALS = [DEALT.new_initial_state().child(outcome) for outcome, _ in DEALT.new_initial_state().chance_outcomes()]

PLAYER = (Perfect, {})


def value_for_seat_0(state):
    return state.returns()[0] if state.is_terminal() else solve().look_up(state).value * (1, -1)[state.current_player()]


# The facts of the rules page


def test_the_reachable_positions_are_as_many_as_the_rules_page_says():
    assert solve().counts() == Counts(positions=78_822, won=4_622, lost=930, drawn=73_270, longest=9)


def test_the_start_is_a_draw():
    assert (solve().look_up(START).value, solve().look_up(START).depth) == (0, 0)


def test_the_random_set_ups_are_worth_what_the_rules_page_says():
    assert Counter(map(value_for_seat_0, DEALS)) == {0: 1_604, 1: 68, -1: 8}
    assert sum(deal.is_terminal() for deal in DEALS) == 6


def test_random_play_from_the_start_wins_and_lasts_as_the_rules_page_says():
    win, plies = random_play()
    number = solve().number(START)
    assert win[number] == pytest.approx(0.43420, abs=5e-6)
    assert plies[number] == pytest.approx(10.8732, abs=5e-5)


# The solution


def test_every_play_of_every_kind_of_position_leads_where_the_rules_lead():
    links = children()
    for state in decisions(ENDLESS, 1000):
        seat, legal = state.current_player(), state.legal_actions()
        row = links[solve().number(state)]
        assert np.flatnonzero(row != ILLEGAL).tolist() == legal
        for action in legal:
            child = state.child(action)
            if child.is_terminal():
                assert row[action] == (WON if child.returns()[seat] > 0 else LOST)
            else:
                assert row[action] == solve().number(child)


def test_values_and_depths_follow_from_those_one_ply_later():
    """A certificate for the whole table: by induction over depth what is won or lost is so, and a draw can be kept."""
    table, links = solve(), children()
    value, depth = np.zeros(POSITIONS + 3, np.int64), np.zeros(POSITIONS + 3, np.int64)
    value[:POSITIONS], depth[:POSITIONS] = table.value, table.depth
    value[[WON, LOST]] = -1, 1  # of the seat that would be next
    legal = links != ILLEGAL
    exists = legal.any(axis=1)
    worth = np.where(legal, -value[links], -2)  # of each play for the seat that makes it
    assert (table.value[exists] == worth.max(axis=1)[exists]).all()
    assert not table.value[~exists].any() and (table.play[~exists] == -1).all()
    won, lost = exists & (table.value == 1), exists & (table.value == -1)
    assert (table.depth[won] == 1 + np.where(worth == 1, depth[links], 99).min(axis=1)[won]).all()
    assert (table.depth[lost] == 1 + np.where(legal, depth[links], -1).max(axis=1)[lost]).all()
    assert not table.depth[~won & ~lost].any()


def test_short_wins_and_losses_agree_with_search_by_way_of_the_state():
    found = Counter()
    for state in (state for seed in range(300) for state in random_walk(ENDLESS, seed)):
        entry = solve().look_up(state)
        value, depth = search(state, 4)
        found[value] += 1
        if value or entry.depth in range(1, 5):
            assert (entry.value, entry.depth) == (value, depth)
    assert found[1] > 20 and found[-1] > 20


def search(state, plies):
    """Return (value for the seat to move, plies to the end) when decided within so many plies, else (0, 0)."""
    if plies == 0:
        return 0, 0
    results = []
    for action in state.legal_actions():
        child = state.child(action)
        if child.is_terminal():
            results.append((int(child.returns()[state.current_player()]), 1))
        else:
            value, depth = search(child, plies - 1)
            results.append((-value, depth + 1))
    best = max(value for value, _ in results)
    depths = [depth for value, depth in results if value == best]
    return best, {1: min(depths), 0: 0, -1: max(depths)}[best]


def test_all_positions_are_covered_not_only_those_reachable_from_the_start():
    assert 2 * (solve().play >= 0).sum() > solve().counts().positions
    assert all(solve().look_up(deal).play in deal.legal_actions() for deal in DEALS if not deal.is_terminal())


def test_in_the_whole_table_plays_keep_the_value_and_win_as_fast_or_lose_as_slowly_as_the_depth_says():
    table, links = solve(), children()
    value, depth = (np.append(array.astype(np.int64), [0, 0, 0]) for array in (table.value, table.depth))
    value[[WON, LOST]] = -1, 1  # of the seat that would be next
    numbers = np.flatnonzero(table.play >= 0)
    following = links[numbers, table.play[numbers]]
    assert (following != ILLEGAL).all()
    assert (value[following] == -value[numbers]).all()
    decided = value[numbers] != 0
    assert (depth[following][decided] == depth[numbers][decided] - 1).all()


# The file


@pytest.fixture
def computed(monkeypatch):
    """How often a solution was asked for that was not in the file; it is given without being worked out again."""
    calls, table = [], solve()
    monkeypatch.setattr(perfect_solver, "compute", lambda: calls.append(1) or table)
    return calls


@pytest.fixture
def empty_cache(computed, monkeypatch, tmp_path):
    """A cache folder without a solution."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path))
    solve.cache_clear()
    yield tmp_path
    solve.cache_clear()


def same(one, other):
    return all(np.array_equal(one_array, vars(other)[name]) for name, one_array in vars(one).items())


def solve_again():
    solve.cache_clear()
    return solve()


def only_file(folder: Path) -> Path:
    [path] = folder.rglob("*.npz")
    return path


def test_the_solution_in_the_file_is_the_one_that_is_computed():
    assert same(solve(), compute())


def test_the_solution_is_computed_once_and_then_read_from_a_small_file(empty_cache, computed):
    table = solve()
    assert same(table, solve_again())
    assert len(computed) == 1
    assert only_file(empty_cache).stat().st_size < 250_000
    assert not list(empty_cache.rglob("*.part"))


def test_a_damaged_file_is_made_again(empty_cache, computed):
    table = solve()
    sound = only_file(empty_cache).read_bytes()
    middle = len(sound) // 2
    flipped = sound[:middle] + bytes([sound[middle] ^ 0xFF]) + sound[middle + 1 :]
    for times, damaged in enumerate([b"", sound[:-1], sound[:middle], flipped, b"no archive", b"PK" * 500], start=2):
        only_file(empty_cache).write_bytes(damaged)
        assert same(table, solve_again())
        assert len(computed) == times
        assert only_file(empty_cache).read_bytes() == sound


def test_no_flipped_byte_of_the_file_gets_into_the_solution(empty_cache):
    table = solve()
    sound = bytearray(only_file(empty_cache).read_bytes())
    for place in range(0, len(sound), len(sound) // 100):
        sound[place] ^= 0x55
        only_file(empty_cache).write_bytes(sound)
        sound[place] ^= 0x55
        found = perfect_solver._read(only_file(empty_cache))
        assert found is None or same(table, found)


def test_a_change_of_rules_or_solver_makes_the_file_another_one(monkeypatch, tmp_path):
    version = perfect_solver._version()
    assert version == perfect_solver._version()
    for module in (perfect_solver.rules, perfect_solver.perfect_kernel, perfect_solver):
        changed = tmp_path / "changed.py"
        changed.write_text(Path(module.__file__).read_text() + "# another text\n")
        with monkeypatch.context() as patch:
            patch.setattr(module, "__file__", str(changed))
            assert perfect_solver._version() != version


def test_a_file_that_cannot_be_written_costs_only_the_next_process_its_time(empty_cache, computed, monkeypatch):
    monkeypatch.setattr(perfect_solver.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    assert solve().counts().positions == 78_822
    assert not list(empty_cache.rglob("*.npz")) and not list(empty_cache.rglob("*.part"))
    solve_again()
    assert len(computed) == 2


SOLVE = """
import time
from bots.search import perfect_solver
compute = perfect_solver.compute
def slowly():
    print("computed")
    time.sleep(0.5)
    return compute()
perfect_solver.compute = slowly
perfect_solver.kernels()
print("ready", flush=True)
input()
print(perfect_solver.solve().counts())
"""


def test_of_two_processes_that_start_at_once_one_computes_and_both_know_the_same(empty_cache):
    warm = {"NUMBA_CACHE_DIR": numba.config.CACHE_DIR, "ARENA_CACHE": str(empty_cache)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([sys.executable, "-c", SOLVE], env=os.environ | warm, **pipes) for _ in range(2)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120)[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(map(len, said)) == [1, 2]  # one of them says that it has computed
    assert said[0][-1] == said[1][-1] == str(solve().counts())


# The play


def test_a_win_in_one_is_taken_and_a_loss_in_one_avoided():
    wins = losses = 0
    for state in decisions(EPICYCLE, 1500):
        returns = immediate_returns(state)
        choice = make_bot(Perfect, EPICYCLE, state.current_player(), 1).choose(state)
        if 1.0 in returns.values():
            wins += 1
            assert returns[choice] == 1.0
        elif -1.0 in returns.values() and set(returns.values()) != {-1.0}:
            losses += 1
            assert returns[choice] != -1.0
    assert wins > 10 and losses > 100


def test_among_plays_that_keep_a_draw_the_first_with_the_most_losing_replies_is_made():
    found = 0
    for state in decisions(ENDLESS, 400):
        if solve().look_up(state).value:
            continue
        losing_replies = {}
        for action in state.legal_actions():
            child = state.child(action)
            if not child.is_terminal() and solve().look_up(child).value == 0:
                seat = child.current_player()
                ends = immediate_returns(child)
                losing_replies[action] = sum(
                    ends[reply] == -1.0 or (ends[reply] is None and solve().look_up(child.child(reply)).value == 1)
                    for reply in child.legal_actions()
                )
                assert seat != state.current_player()
        most = max(losing_replies.values())
        found += min(losing_replies.values()) < most
        expected = min(action for action, count in losing_replies.items() if count == most)
        assert make_bot(Perfect, ENDLESS, state.current_player(), 1).choose(state) == expected
    assert found > 50


def test_against_itself_every_set_up_ends_as_its_value_and_depth_say():
    for deal in DEALS:
        if deal.is_terminal():
            continue
        entry = solve().look_up(deal)
        final = play_match(DEALT, [PLAYER, PLAYER], 1, start=deal.clone())
        assert final.returns()[0] == entry.value
        assert (final.ended == "normal") == (entry.value != 0)
        if entry.value:
            assert len(final.history()) - len(deal.history()) == entry.depth


@pytest.mark.parametrize("seat", [0, 1])
def test_no_opponent_whatever_can_beat_it_from_the_start(seat):
    """All replies of the opponent are followed, and the positions that they lead to are never lost."""
    links, table = children(), solve()
    to_move, fresh = 0, np.array([table.number(START)])
    seen = np.zeros((2, POSITIONS), bool)
    while fresh.size:
        seen[to_move, fresh] = True
        if to_move == seat:
            following = links[fresh, table.play[fresh]]
            assert not (following == LOST).any() and (table.value[fresh] >= 0).all()
        else:
            following = links[fresh].ravel()
            assert not (following == WON).any() and (table.value[fresh] <= 0).all()
        to_move = 1 - to_move
        following = np.unique(following[following >= 0])
        fresh = following[~seen[to_move, following]]
    assert 1000 < seen.sum() < table.counts().positions


@pytest.mark.parametrize("opponent", [Random, Greedy, Cautious, Perfect], ids=lambda kind: kind.name)
def test_ten_thousand_matches_from_the_start_are_never_lost(opponent):
    """2,500 matches against each of four, from either seat in turn."""
    results = Counter()
    for seed in range(1250):
        for seat in (0, 1):
            line_up = [(opponent, {}), (opponent, {})]
            line_up[seat] = PLAYER
            results[play_match(EPICYCLE, line_up, seed).returns()[seat]] += 1
    assert results.total() == 2500
    assert results[-1.0] == 0
    if opponent is Random:
        assert results[1.0] > 2400
    if opponent is Perfect:
        assert results[0.0] == 2500
