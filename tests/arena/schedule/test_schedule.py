"""The schedule: pure, lazy, balanced; ids that depend on what is played and on nothing else."""

import dataclasses
import hashlib
import itertools
import json
import math
import tracemalloc
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.core.limits import Limits
from arena.core.match_ids import DiceKind, match_id
from arena.plan.model import ResolvedPlan
from arena.schedule.kinds.duel import Duel
from arena.schedule.kinds.gauntlet import Gauntlet
from arena.schedule.kinds.round_robin import RoundRobin
from arena.schedule.seatings import base_orders
from arena.schedule.tables import choose_tables
from tests.support import samples
from tests.support.samples import board, entry

NAMES = ("alice", "bob", "carol", "dave", "erin", "frank", "grace")


def schedule(names=NAMES, players=(2,), blocks=3, **changes):
    return samples.schedule(names, players, blocks, **changes)


def by_content(plan):
    """Blocks by game, players, round and the bots' keys: (id, identity, keys by seat and line-up)."""
    return {
        (
            plan.boards[block.board].game,
            plan.boards[block.board].players,
            block.round,
            frozenset(plan.entries[place].key for place in block.table),
        ): (
            block.id,
            block.identity,
            [tuple(plan.entries[place].key for place in spec.seats) for spec in plan.matches(block)],
        )
        for block in plan.blocks()
    }


def ids(plan):
    return {content: found[0] for content, found in by_content(plan).items()}


def identities(plan):
    return {content: found[1] for content, found in by_content(plan).items()}


def test_the_same_plan_gives_the_same_blocks_whenever_it_is_asked():
    first, second = schedule(players=(2, 3)), schedule(players=(2, 3))
    assert list(first.blocks()) == list(second.blocks()) == list(first.blocks())


def test_all_ids_and_identities_are_different():
    blocks = list(schedule(players=(2, 3, 4), blocks=5).blocks())
    assert len({block.id for block in blocks}) == len({block.identity for block in blocks}) == len(blocks)
    assert {(len(block.id), len(block.identity)) for block in blocks} == {(16, 16)}


@pytest.mark.parametrize(
    ("permutations", "expected"),
    [(False, "551be3fbf4063111"), (True, "037b00d74567570d")],
)
def test_ids_and_line_ups_are_those_that_logs_already_hold(permutations, expected):
    """Another value here means that no match in any log would be found again."""
    plan = schedule(players=(2, 4), permutations=permutations)
    told = [(spec.id, spec.block.id.hex(), spec.seats) for block in plan.blocks() for spec in plan.matches(block)]
    assert hashlib.blake2b(json.dumps(told).encode(), digest_size=8).hexdigest() == expected


def test_blocks_come_round_by_round_and_board_by_board():
    plan = schedule(players=(2, 3))
    order = [(block.round, block.board) for block in plan.blocks()]
    assert order == sorted(order)
    assert order[0] == (0, 0)


def test_a_board_with_fewer_blocks_stops_while_others_go_on():
    entries = range(3)
    plan = schedule(NAMES[:3], boards=(board(2, entries, 1), board(3, entries, 4)))
    assert Counter(block.board for block in plan.blocks()) == {0: 3, 1: 4}


@pytest.mark.parametrize("permutations", [False, True])
def test_the_number_of_matches_is_known_before_they_are_made(permutations):
    plan = schedule(players=(2, 3, 4), permutations=permutations)
    assert plan.total_matches == sum(len(plan.matches(block)) for block in plan.blocks())


@settings(max_examples=25)
@given(names=st.permutations(NAMES))
def test_the_order_in_which_bots_are_listed_changes_nothing(names):
    assert by_content(schedule(names, players=(2, 3))) == by_content(schedule(players=(2, 3)))


@settings(max_examples=25)
@given(more=st.lists(st.text("abcdefgh:=,", min_size=1, max_size=8), unique=True, max_size=4))
def test_adding_bots_changes_no_block_that_was_there(more):
    before = by_content(schedule(players=(2, 4)))
    after = by_content(schedule((*more, *NAMES), players=(2, 4)))
    assert before.items() <= after.items()


def test_adding_blocks_boards_or_tables_changes_no_block_that_was_there():
    before = by_content(schedule(players=(3,), blocks=2))
    assert before.items() <= by_content(schedule(players=(2, 3, 4), blocks=2)).items()
    assert before.items() <= by_content(schedule(players=(3,), blocks=9)).items()
    fewer = by_content(schedule(players=(3,), blocks=2, scheduler=RoundRobin(max_tables=20)))
    assert fewer.items() <= before.items()
    assert len(fewer) == 40


def test_a_gauntlet_plays_the_blocks_that_the_round_robin_plays():
    gauntlet = by_content(schedule(players=(2, 3), scheduler=Gauntlet(challenger="dave")))
    whole = by_content(schedule(players=(2, 3)))
    assert gauntlet == {content: found for content, found in whole.items() if "dave" in content[3]}
    assert len(gauntlet) == 3 * (6 + math.comb(6, 2))


def test_labels_are_no_part_of_ids():
    renamed = [entry(name, label=f"the great {name}") for name in NAMES]
    assert by_content(schedule(renamed, players=(2, 3))) == by_content(schedule(players=(2, 3)))


def test_a_changed_bot_changes_the_identities_of_its_blocks_and_no_dice():
    changed = [entry("alice", identity="alice@" + "f" * 32), *NAMES[1:]]
    before, after = schedule(players=(2, 3)), schedule(changed, players=(2, 3))
    assert ids(before) == ids(after)
    differing = {content for content, found in identities(before).items() if identities(after)[content] != found}
    assert differing == {content for content in ids(before) if "alice" in content[3]}


def changed_board(**changes):
    plan = schedule()
    return dataclasses.replace(plan, boards=(dataclasses.replace(plan.boards[0], **changes),))


def guests(**changes):
    """The same bots, but that none of them is trusted."""
    return schedule([entry(name, trusted=False) for name in NAMES], **changes)


@pytest.mark.parametrize(
    ("plan", "new_dice"),
    [
        (schedule(seed=6), True),
        (changed_board(params='{"setup": "random"}'), True),
        (changed_board(rules_version=2), False),
        (changed_board(opening=3), False),
        (schedule(limits=Limits(61.0, 300.0)), False),
        (schedule(limits=Limits(60.0, 301.0)), False),
        (schedule(permutations=True), False),
        (guests(keys=("aa",)), False),
        (guests(keys=("aa",), secret_dice=DiceKind.COMMON), False),
    ],
    ids=["seed", "options", "rules", "opening", "move limit", "preparation limit", "line-ups", "secret", "common"],
)
def test_whatever_decides_results_is_part_of_identities(plan, new_dice):
    before, after = schedule(), plan
    assert not set(identities(before).values()) & set(identities(after).values())
    same = set(ids(before).values()) & set(ids(after).values())
    assert not same if new_dice else len(same) == len(ids(before))


def test_games_and_numbers_of_players_have_dice_of_their_own():
    plan = schedule(NAMES[:3], boards=(board(2, range(3)), board(2, range(3), game="other"), board(3, range(3))))
    blocks = list(plan.blocks())
    assert len({block.id for block in blocks}) == len(blocks)


def test_which_bot_sits_where_in_the_base_order_is_part_of_the_identity():
    """Two bots of one key cannot trade places unseen."""
    twins = [entry("alice", identity="alice@" + digit * 32) for digit in "12"]
    first, second = schedule(twins), schedule(twins[::-1])
    assert ids(first) == ids(second)
    assert set(identities(first).values()).isdisjoint(identities(second).values())


def test_a_match_is_called_by_its_block_and_line_up():
    plan = schedule(players=(3,))
    block = next(plan.blocks())
    assert [spec.id for spec in plan.matches(block)] == [f"{block.identity.hex()}-{turn}" for turn in range(3)]
    assert match_id(b"\x0f" * 16, 2) == "0f" * 16 + "-2"
    assert [spec.seats for spec in plan.matches(block)] == [plan.seats(block, turn) for turn in range(3)]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_rotations_give_every_bot_every_seat_once_in_a_block(players):
    plan = schedule(players=(players,))
    for block in itertools.islice(plan.blocks(), 30):
        matches = plan.matches(block)
        assert len(matches) == players
        for seat in range(players):
            assert sorted(spec.seats[seat] for spec in matches) == sorted(block.table)


@pytest.mark.parametrize("players", [3, 4, 5])
def test_over_a_cycle_of_rounds_every_bot_sits_behind_every_other_equally_often(players):
    rounds = math.factorial(players - 1)
    plan = schedule(NAMES[:players], players=(players,), blocks=rounds)
    behind, at_distance = Counter(), Counter()
    for block in plan.blocks():
        for spec in plan.matches(block):
            for seat, who in enumerate(spec.seats):
                behind[spec.seats[seat - 1], who] += 1
                for distance in range(1, players):
                    at_distance[spec.seats[seat - distance], who, distance] += 1
    assert set(behind.values()) == {rounds * players // (players - 1)}
    assert len(behind) == players * (players - 1)
    assert len(set(at_distance.values())) == 1


def test_rounds_walk_through_the_cyclic_orders_and_begin_again():
    plan = schedule(NAMES[:4], players=(4,), blocks=7)
    orders = [block.table for block in plan.blocks()]
    assert len(set(orders)) == 6
    assert orders[6] == orders[0]
    assert {order[0] for order in orders} == {0}
    assert [len(base_orders(players)) for players in (2, 3, 4, 5)] == [1, 2, 6, 24]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_permutations_play_every_order_once(players):
    plan = schedule(players=(players,), permutations=True)
    for block in itertools.islice(plan.blocks(), 30):
        seats = [spec.seats for spec in plan.matches(block)]
        assert sorted(seats) == sorted(itertools.permutations(block.table))


def test_a_round_robin_plays_every_set_of_bots_once_a_round():
    plan = schedule(players=(3,), blocks=2)
    tables = Counter((block.round, frozenset(block.table)) for block in plan.blocks())
    assert set(tables.values()) == {1}
    assert len(tables) == 2 * math.comb(len(NAMES), 3)


def test_bots_that_are_not_on_a_board_do_not_play_there():
    plan = schedule(boards=(board(2, [0, 2, 5]), board(3, [1, 3, 4, 6])))
    playing = {0: set(), 1: set()}
    for block in plan.blocks():
        playing[block.board] |= set(block.table)
    assert playing == {0: {0, 2, 5}, 1: {1, 3, 4, 6}}


def test_a_sampled_gauntlet_gives_the_others_equal_shares():
    plan = schedule(players=(3,), scheduler=Gauntlet(challenger=NAMES[2], max_tables=6))
    tables = plan.tables[0]
    assert len(tables) == 6
    assert all(2 in table for table in tables)
    counts = Counter(place for table in tables for place in table if place != 2)
    assert len(counts) == 6
    assert max(counts.values()) - min(counts.values()) <= 2


@st.composite
def choices(draw):
    count = draw(st.integers(2, 24))
    size = draw(st.integers(2, min(count, 5)))
    return count, size, draw(st.integers(1, min(math.comb(count, size) + 1, 400)))


@given(choices())
@example((24, 5, 400))
@example((7, 3, 34))
@example((6, 5, 3))
@example((24, 2, 260))
def test_a_choice_of_tables_is_balanced(choice):
    count, size, most = choice
    tables = choose_tables(count, size, most)
    assert len(tables) == min(most, math.comb(count, size))
    assert len(set(tables)) == len(tables)
    assert all(len(set(table)) == size and list(table) == sorted(table) for table in tables)
    assert all(0 <= place < count for table in tables for place in table)
    appearances = [sum(place in table for table in tables) for place in range(count)]
    assert max(appearances) - min(appearances) <= 2
    met = Counter(pair for table in tables for pair in itertools.combinations(table, 2))
    counts = [met[pair] for pair in itertools.combinations(range(count), 2)]
    assert max(counts) - min(counts) <= 2


@given(choices())
def test_a_choice_of_tables_is_always_the_same(choice):
    assert choose_tables.__wrapped__(*choice) == choose_tables(*choice)


def test_a_choice_out_of_astronomically_many_sets_does_not_list_them():
    tables = choose_tables(200, 5, 100)  # out of 2.5 thousand million
    counts = Counter(place for table in tables for place in table)
    assert len(tables) == 100
    assert max(counts[place] for place in range(200)) - min(counts[place] for place in range(200)) <= 2


def test_too_few_bots_make_no_table():
    assert choose_tables(2, 3, 10) == choose_tables(0, 2, 10) == ()


def test_a_plan_of_a_million_matches_is_walked_through_in_little_memory():
    names = [f"bot {number}" for number in range(10)]
    plan = schedule(names, players=(4, 5), blocks=10_000_000)
    assert plan.total_matches > 10**9
    walk = (spec for block in plan.blocks() for spec in plan.matches(block))
    next(walk)
    tracemalloc.start()
    try:
        last = next(itertools.islice(walk, 60_000, None))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert last.block.round > 20
    assert peak < 200_000


def test_a_plan_of_a_million_matches_has_a_million_different_ones():
    plan = schedule(NAMES[:5], players=(5,), blocks=8_334, permutations=True)
    assert plan.total_matches == 1_000_080
    assert len({block.identity for block in plan.blocks()}) == 8_334


def test_a_schedule_is_read_back_from_its_plan():
    plan = schedule(players=(2, 3), scheduler=Gauntlet(challenger=NAMES[3]), permutations=True)
    resolved = ResolvedPlan.read(json.loads(samples.resolved(plan).as_json()), "plan")
    assert resolved.schedule() == plan
    assert list(resolved.schedule().blocks()) == list(plan.blocks())


@given(st.text("ab=,./\\ ()\0é_+-1", max_size=30))
def test_a_boards_slug_is_a_file_name(options):
    slug = board(2, [0, 1], game=f"game({options})").slug
    assert "/" not in slug
    assert "\0" not in slug
    assert not slug.startswith(".")


def duels(players, fillers, blocks=24, **changes):
    """Alice against Bob, with fillers named by their places in NAMES."""
    boards = (board(players, range(len(NAMES)), blocks),)
    return schedule(boards=boards, scheduler=Duel(bots=NAMES[:2], fillers=[NAMES[i] for i in fillers]), **changes)


@pytest.mark.parametrize(
    ("players", "fillers"), [(2, [2]), (3, [2]), (3, [2, 3, 4]), (4, [0, 5]), (5, [2, 3, 4, 5, 6])]
)
def test_in_a_duel_two_bots_take_turns_in_one_seat_and_nobody_else_moves(players, fillers):
    plan = duels(players, fillers)
    seats = Counter()
    for number, block in enumerate(plan.blocks()):
        first, second = (spec.seats for spec in plan.matches(block))
        assert [seat for seat in range(players) if first[seat] != second[seat]] == [number % players]
        assert (first[number % players], second[number % players]) == (0, 1)
        assert set(first) - {0} <= set(fillers)
        seats[number % players] += 1
    assert len(set(seats.values())) == 1 or 24 % players
    assert plan.total_matches == 2 * number + 2 == 48


@pytest.mark.parametrize(
    ("players", "fillers"), [(3, range(2, 7)), (4, range(2, 7)), (3, [2, 3]), (5, [2, 3, 4]), (4, range(2, 6))]
)
def test_over_a_turn_for_each_filler_all_sit_in_every_seat_equally_often(players, fillers):
    plan = duels(players, fillers, blocks=4 * players * len(fillers))
    seats = [(block.round, *who) for block in plan.blocks() for who in enumerate(plan.matches(block)[0].seats)]
    for start in range(0, 4 * players * len(fillers), players * len(fillers)):
        rounds = range(start, start + players * len(fillers))
        counts = Counter((seat, who) for number, seat, who in seats if number in rounds and who != 0)
        assert len(counts) == players * len(fillers)
        assert set(counts.values()) == {players - 1}


@pytest.mark.parametrize(("players", "fillers"), [(3, [2, 3]), (4, range(2, 7)), (5, range(1, 7)), (4, range(2, 6))])
def test_with_enough_fillers_none_sits_twice_at_a_table_and_neighbours_change(players, fillers):
    plan = duels(players, fillers, blocks=200)
    assert all(len(set(block.table[2:])) == players - 1 for block in plan.blocks())
    neighbours = {pair for block in plan.blocks() for pair in itertools.pairwise(block.table[2:])}
    assert len(neighbours) > len(fillers) or players == 3


def test_a_duels_dice_depend_on_its_two_bots_and_the_round_alone():
    plan = duels(3, [2, 3])
    assert ids_in_order(plan) == ids_in_order(duels(3, [4]))
    assert ids_in_order(plan)[:5] == ids_in_order(duels(3, [2, 3], blocks=5))
    assert set(ids_in_order(plan)).isdisjoint(block.id for block in schedule(players=(3,), blocks=24).blocks())
    others = {block.identity for block in duels(3, [4]).blocks()}
    assert others.isdisjoint(block.identity for block in plan.blocks())


def ids_in_order(plan):
    return [block.id for block in plan.blocks()]


def test_a_duel_is_read_back_from_its_plan():
    plan = duels(4, [0, 2, 3])
    resolved = ResolvedPlan.read(json.loads(samples.resolved(plan).as_json()), "plan")
    assert resolved.schedule() == plan
