"""Tournaments with faults, made up: who forfeits where, and the rule of disqualification straight from its words."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import partial

from arena.match.result import SeatRow
from arena.schedule.kinds.gauntlet import Gauntlet
from arena.schedule.kinds.round_robin import RoundRobin
from arena.store import Store
from tests.support.samples import all_matches, begin, board, entry, finished, row, schedule

WINNER = 2
"""Entry of the bot that `sample` benches."""
CAUSES = ("crash", "timeout", "illegal_action")


def rule(plan, forfeits):
    """The matches that stay in the plan, and who is disqualified on each board, straight from the rule's words.

    `forfeits` has the seats that forfeit, by match id.
    """
    stay, boards = [], []
    by_round = defaultdict(list)
    for spec in all_matches(plan):
        by_round[spec.block.board, spec.block.round].append(spec)
    for index, shape in enumerate(plan.boards):
        played, out = [], {}
        for number in range(shape.blocks):
            played += [spec for spec in by_round[index, number] if not set(spec.seats) & set(out)]
            for who in set(shape.entries) - set(out):
                mine = [spec for spec in played if who in spec.seats]
                lost = [spec for spec in mine if spec.seats.index(who) in forfeits[spec.id]]
                if (
                    plan.forfeit_limit
                    and len(lost) >= plan.forfeit_limit
                    and Fraction(len(lost), len(mine)) >= Fraction(1, 10)
                ):
                    out[who] = number
        stay += played
        boards.append(out)
    return stay, boards


def random_plan(rng):
    names = [f"bot {number}" for number in range(rng.randint(2, 5))]
    by_key = range(len(names))
    boards = tuple(
        board(players, by_key, rng.randint(1, 9), game=game, params=params)
        for players, game, params in (
            (2, "epicycle", "{}"),
            (3, "epicycle", "{}"),
            (2, "epicycle(setup=random)", '{"setup": 1}'),
        )
        if players <= len(names) and rng.random() < 0.7
    )
    return schedule(
        names,
        boards=boards or (board(2, by_key, 5),),
        forfeit_limit=rng.choice([0, 1, 2, 3, 3, 5, 9]),
        permutations=rng.random() < 0.2,
        scheduler=rng.choice(
            [
                kind(max_tables=most)
                for kind in (RoundRobin, RoundRobin, partial(Gauntlet, challenger=names[0]))
                for most in (3, 100)
            ]
        ),
    )


def random_falls(plan, rng):
    """Who forfeits in each match: some bots often, some now and then, some never."""
    weak = [rng.choice([0.0, 0.0, 0.05, 0.12, 0.5, 1.0]) for _ in plan.entries]
    return {
        spec.id: {seat: rng.choice(CAUSES) for seat, who in enumerate(spec.seats) if rng.random() < weak[who]}
        for spec in all_matches(plan)
    }


def result_of(spec, forfeits, rng=None):
    """The match's row: seats that forfeited lose, the others tie."""
    lost = forfeits[spec.id]
    seats = [
        SeatRow(int(seat in lost), None, lost.get(seat), 2 if seat in lost else None) for seat in range(len(spec.seats))
    ]
    seconds = rng.choice([0.0001, 0.001, 0.1]) if rng else 0.25
    return row(spec.lineup, [], seats=seats, details={seat: "broken" for seat in lost}, seconds=seconds)


def fill_with(path, plan, forfeits, kept):
    """A log of the kept matches, as a run of the plan would have left it."""
    with Store.create(path) as store:
        store.add(plan, [finished(spec, result_of(spec, forfeits)) for spec in kept], begin(store, plan))


def sample(after, blocks=6):
    """Three bots, of which `winner` forfeits all its matches in every other round, the first one included."""
    names = [entry("alice"), entry("bob", label="Bob"), entry("winner")]
    plan = schedule(names, players=(2,), blocks=blocks, forfeit_limit=after)
    forfeits = {spec.id: {} for spec in all_matches(plan)}
    for spec in all_matches(plan):
        if WINNER in spec.seats and spec.block.round % 2 == 0:
            forfeits[spec.id] = {spec.seats.index(WINNER): "crash"}
    return plan, forfeits


def fill_winning(path, plan, forfeits):
    """A log of every match, also of those that leave the plan; `winner` wins all that it does not forfeit."""
    made = []
    for spec in all_matches(plan):
        result = result_of(spec, forfeits)
        if WINNER in spec.seats and not forfeits[spec.id]:
            ranks = [int(who != WINNER) for who in spec.seats]
            result = result._replace(
                seats=[seat._replace(rank=rank) for rank, seat in zip(ranks, result.seats, strict=True)]
            )
        made.append(finished(spec, result))
    with Store.create(path) as store:
        store.add(plan, made, begin(store, plan))
