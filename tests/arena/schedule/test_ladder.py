"""Rounds of a ladder follow from the round before, its results and events, and from nothing else."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.plan.model import ResolvedPlan
from arena.schedule.kinds.ladder import Ladder
from arena.schedule.ladder_blocks import RoundRules, _Round
from arena.schedule.ladder_rounds import Departed, Retired, has_news, new_blocks, next_round, template
from arena.schedule.ladder_tally import BoardTally
from tests.support.ladders import World, empty, joined, labelled


def world_of(bots: int, players: int = 2, seed: int = 0, **rules: object) -> World:
    skills = {labelled(number): 25.0 - 20.0 * number / bots for number in range(bots)}
    return World(empty([players], **rules), skills, seed)


def ladder_of(world: World) -> Ladder:
    assert isinstance(world.schedule.scheduler, Ladder)
    return world.schedule.scheduler


@settings(max_examples=40, deadline=None)
@given(
    bots=st.integers(1, 12),
    players=st.integers(2, 5),
    budget=st.none() | st.integers(1, 30),
    floor=st.integers(0, 3),
    placement=st.integers(1, 6),
    seed=st.integers(0, 999),
)
def test_rounds_keep_their_rules(
    bots: int, players: int, budget: int | None, floor: int, placement: int, seed: int
) -> None:
    world = world_of(bots, players, seed, budget=budget, floor=floor, placement=placement)
    chance, waiting = random.Random(seed), [labelled(number) for number in range(bots)]
    played: Counter[str] = Counter()
    for _ in range(6):
        joining = [waiting.pop() for _ in range(chance.randint(0, len(waiting)))]
        present = [entry.label for entry in world.schedule.entries]
        leaving = [label for label in present if chance.random() < 0.1]
        world.play([*map(joined, joining), *map(Departed, leaving)])
        there = [entry.label for entry in world.schedule.entries]
        assert there == sorted({*present, *joining} - {*leaving})
        blocks: Counter[str] = Counter()
        for table, count in world.new[0].items():
            assert len({*table}) == len(table) == players
            assert {*table} <= {*there}
            blocks.update(dict.fromkeys(table, count))
        assert all(there[entry] for table in world.schedule.tables[0] for entry in table)
        most = len(there) if budget is None else budget
        assert sum(world.new[0].values()) <= max(most, -(-floor * len(there) // players) + floor)
        for label in leaving:
            del played[label]
        if len(there) >= players:
            assert all(blocks[label] >= floor for label in there)
            total = sum(world.new[0].values())
            short = [label for label in there if played[label] + blocks[label] < placement]
            assert not short or total + players + floor * (1 + len(there)) >= most, "placement comes before doubt"
        played = Counter({label: played[label] + blocks[label] for label in there})


def test_a_round_is_a_pure_function_of_results_and_events_in_any_order() -> None:
    world = world_of(9, 3)
    world.play([joined(labelled(number)) for number in range(8)])
    world.play()
    events = [joined(labelled(8)), Departed(labelled(2)), Retired(labelled(4))]
    first = next_round(world.schedule, world.tallies, events)
    turned = BoardTally()
    for name in ("results", "matches", "forfeits"):
        of_world = getattr(world.tallies[0], name)
        getattr(turned, name).update(dict(reversed([*of_world.items()])))
    again = next_round(world.schedule, [turned], events[::-1])
    assert first == again
    assert ResolvedPlan.of("season", first).as_json() == ResolvedPlan.of("season", again).as_json()
    assert next_round(world.schedule, world.tallies, events) == first


def test_a_plan_of_a_round_reads_back_and_knows_the_blocks_it_adds() -> None:
    world = world_of(6, 2)
    world.play([joined(labelled(number)) for number in range(6)])
    before = world.schedule
    world.play([Departed(labelled(0))])
    plan = ResolvedPlan.of("season", world.schedule)
    assert plan.schedule() == world.schedule
    assert ResolvedPlan.read(plan.model_dump(), "plan") == plan
    since = new_blocks(before, world.schedule, 0)
    assert sum(world.schedule.counts(0)) - sum(since) == sum(world.new[0].values())
    assert new_blocks(None, world.schedule, 0) == (0,) * len(since)
    assert template(world.schedule) == empty()


def test_the_blocks_of_a_table_keep_their_ids_from_round_to_round() -> None:
    world = world_of(5, 2)
    world.play([joined(labelled(number)) for number in range(5)])
    before = {block.id for block in world.schedule.blocks()}
    world.play([])
    assert before < {block.id for block in world.schedule.blocks()}


def test_a_bot_that_forfeits_too_often_is_suspended_and_its_results_stay() -> None:
    world = world_of(5, 2, forfeit_limit=6)
    world.faulty = {labelled(0)}
    world.play([joined(labelled(number)) for number in range(5)])
    while not ladder_of(world).suspended:
        world.play()
    assert ladder_of(world).suspended == (labelled(0),)
    assert all(labelled(0) not in table for table in world.new[0])
    matches = world.tallies[0].matches[labelled(0)]
    world.play()
    assert world.tallies[0].matches[labelled(0)] == matches > 0
    assert world.ranking()[-1] == labelled(0)
    world.play([Departed(labelled(0))])
    assert not ladder_of(world).suspended


def test_a_retired_bot_plays_no_more_and_its_results_stay() -> None:
    world = world_of(4)
    world.play([joined(labelled(number)) for number in range(4)])
    world.play([Retired(labelled(1))])
    assert ladder_of(world).retired == (labelled(1),)
    assert all(labelled(1) not in table for table in world.new[0])
    assert world.tallies[0].matches[labelled(1)]


def test_bots_play_on_their_boards_alone() -> None:
    world = World(empty([2, 3]), {labelled(number): 0.0 for number in range(6)})
    world.play([joined(labelled(number), [number % 2] if number < 4 else [0, 1]) for number in range(6)])
    names = [{label for table in tables for label in table} for tables in world.new]
    assert names == [{labelled(number) for number in (0, 2, 4, 5)}, {labelled(number) for number in (1, 3, 4, 5)}]


def test_a_ladder_of_settled_bots_rests_until_somebody_joins() -> None:
    world = world_of(4, max_blocks=12)
    world.play([joined(labelled(number)) for number in range(3)])
    for _ in range(20):
        before = world.schedule
        world.play()
    assert not has_news(before, world.schedule)
    assert not world.new[0]
    before = world.schedule
    world.play([joined(labelled(3))])
    assert has_news(before, world.schedule)
    assert all(labelled(3) in table for table in world.new[0])


def test_nightly_gives_every_table_as_many_blocks() -> None:
    world = world_of(5, 2, mode="nightly", nightly_blocks=3, max_blocks=24)
    world.play([joined(labelled(number)) for number in range(5)])
    assert len(world.new[0]) == 10
    assert {*world.new[0].values()} == {3}
    world.play()
    assert sum(world.new[0].values()) == 30
    world.play()
    assert not world.new[0]
    choice = world_of(12, 3, mode="nightly", max_tables=40)
    choice.play([joined(labelled(number)) for number in range(12)])
    counts = Counter(label for table in choice.new[0] for label in table)
    assert len(choice.new[0]) == 40
    assert max(counts.values()) - min(counts.values()) <= 2


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([joined("b0000.1")], "joins, and is there"),
        ([Departed("b0009.1")], "leaves, and is not there"),
        ([Departed("b0000.1"), Retired("b0000.1")], "two events"),
        ([joined("two words")], "no label"),
        ([joined("b0009.1", [1])], "board that is not there"),
    ],
)
def test_events_that_contradict_a_round_are_refused(events: list[object], told: str) -> None:
    world = world_of(2)
    world.play([joined(labelled(number)) for number in range(2)])
    with pytest.raises(ValueError, match=told):
        next_round(world.schedule, world.tallies, events)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"suspended": ["x"]}, "no bot x"),
        ({"boards": []}, "not those of the plan"),
        ({"boards": [{"game": "epicycle", "players": 2, "tables": {"b0001.1 b0000.1": 1}}]}, "no table"),
        ({"boards": [{"game": "epicycle", "players": 2, "tables": {"b0000.1 b0000.1": 1}}]}, "no table"),
        ({"boards": [{"game": "epicycle", "players": 2, "tables": {"b0000.1": 1}}]}, "no table"),
        ({"boards": [{"game": "epicycle", "players": 2, "tables": {"b0000.1 b0009.1": 1}}]}, "no table"),
    ],
)
def test_a_plan_whose_tables_are_none_is_refused(change: dict[str, object], told: str) -> None:
    world = world_of(2)
    world.play([joined(labelled(number)) for number in range(2)])
    data = ResolvedPlan.of("season", world.schedule).model_dump()
    data["scheduler"]["fields"] |= change
    with pytest.raises(ValueError, match=told):
        ResolvedPlan.model_validate(data)


def test_known_bots_come_out_in_the_right_order_with_fewer_matches_than_a_round_robin() -> None:
    """Forty bots, a step of half a beta apart; the round robin has to have as many blocks between neighbours."""
    bots = 40
    world = World(empty([2]), {labelled(number): 60.0 - 2.1 * number for number in range(bots)}, seed=3)
    world.play([joined(labelled(number)) for number in range(bots)])
    for _ in range(60):
        world.play()
    found = world.ranking()
    wrong = sum(abs(place - found.index(labelled(place))) for place in range(bots)) / bots
    assert wrong < 1.0
    neighbours = [
        sum(
            times
            for placed, times in world.tallies[0].results.items()
            if {label for _, label in placed} == {one, other}
        )
        for one, other in zip(map(labelled, range(bots - 1)), map(labelled, range(1, bots)), strict=True)
    ]
    round_robin = bots * (bots - 1) / 2 * sum(neighbours) / len(neighbours)
    assert world.matches < round_robin / 3


@given(
    st.tuples(
        st.integers(2, 5), st.integers(1, 12), st.integers(0, 4), st.integers(1, 80), st.sampled_from([3, 9, 99])
    ),
    st.integers(5, 30),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_what_the_floor_may_still_take_is_known_without_counting(
    numbers: tuple[int, int, int, int, int], bots: int, chance: random.Random
) -> None:
    rules, labels = RoundRules(*numbers), [labelled(number) for number in range(bots)]
    played = Counter(tuple(sorted(chance.sample(labels, rules.players))) for _ in range(chance.randrange(60)))
    giving = _Round(rules, labels, played)
    for _ in range(40):
        lacking = [rules.floor - giving.load[label] for label in giving.open if giving.load[label] < rules.floor]
        assert giving._reserve() == -(-sum(lacking) // rules.players) + max(lacking, default=0)
        giving._give(chance.sample(labels, rules.players))


def test_a_round_of_thousands_keeps_its_budget() -> None:
    world = world_of(2000)
    world.play([joined(labelled(number)) for number in range(2000)])
    world.play()
    after = next_round(world.schedule, world.tallies, [])
    assert sum(after.counts(0)) - sum(world.schedule.counts(0)) == 2000


MATCHES = st.lists(
    st.permutations(["b1.1", "b2.1", "b3.1", "b4.1"])
    .map(lambda labels: tuple(labels[:3]))
    .flatmap(lambda labels: st.tuples(st.just(labels), st.permutations([0, 1, 2]), st.tuples(*[st.booleans()] * 3))),
    max_size=30,
)


@given(MATCHES, st.sets(st.sampled_from(["b1.1", "b2.1", "b3.1", "b4.1"])))
def test_a_tally_without_a_bot_is_that_of_the_matches_without_it(matches: list, gone: set[str]) -> None:
    tally, other = BoardTally(), BoardTally()
    for labels, ranks, forfeited in matches:
        tally.add(labels, ranks, forfeited)
        if gone.isdisjoint(labels):
            other.add(labels, ranks, forfeited)
    tally.remove(gone)
    assert (tally.results, tally.matches, tally.forfeits) == (other.results, other.matches, other.forfeits)
