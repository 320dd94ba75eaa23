"""The bounds of games can be reached, where they are said to be."""

import itertools
import random
from collections.abc import Callable, Iterable

import pytest

import engine
from engine import Game, State
from engine.midgard.drops import most_drops
from engine.midgard.rules import CELLS, CENTRE, CENTRES, INTERIOR, NEIGHBOURS, ORBITS
from engine.midgard.text import CELL_NAMES
from engine.pyramid_punch import most_tiles_beside
from engine.pyramid_punch.rules import FIGHT, ROLL
from tests.engine.matches import plies

POINTS_DOWN = [cell for cell in range(CELLS) if CENTRES[cell][1] % 3 == 1]


def reached(end: State) -> bool:
    """Return whether a match was as long as any can be, actions and chance outcomes counted apart."""
    return end.is_terminal() and plies(end) == (end.game.max_game_length, end.game.max_chance_nodes)


# Epicycle


def never_twice(game: Game, seed: int) -> State:
    """Return a match up to the cap, found depth first: whatever ends it sooner is taken back."""
    rng = random.Random(seed)
    start = game.new_initial_state()
    while start.is_chance_node():
        start.apply_action(start.string_to_action("SMLSMLSML"))
    path = [(start, start.legal_actions())]
    while path:
        state, left = path[-1]
        if not left:
            path.pop()
            continue
        child = state.child(left.pop(rng.randrange(len(left))))
        if child.ended == "cap":
            return child
        if not child.is_terminal():
            path.append((child, child.legal_actions()))
    raise AssertionError("no such match")


@pytest.mark.parametrize("setup", ["standard", "random"])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_epicycle_reaches_its_cap_though_no_position_may_come_twice(players, setup):
    assert reached(never_twice(engine.load_game("epicycle", players, repetition=2, max_turns=400, setup=setup), 1))


@pytest.mark.chaos
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_epicycle_reaches_the_largest_cap_there_is(players):
    assert reached(never_twice(engine.load_game("epicycle", players, repetition=2, max_turns=10_000), 1))


# Magic Mids


def on_board(state: State) -> list[int]:
    """Return mids on the board, by seat."""
    return [int(mids).bit_count() for mids in state.record.mids]


def fullest_turns(game: Game, width: int, rng: random.Random) -> State:
    """Return a match of turns in which the mover places all but one mid after three blanks, and captures all others.

    Of the ways to place one mid more, those are kept that leave the fewest mids of others, the next seat's first.
    """
    states = [game.new_initial_state()]
    mids = sum(int(count) for count in game.new_initial_state().position.split(" ")[1].split("/")[0])
    for turn in range(game.params["max_turns"]):
        mover, following = turn % game.players, (turn + 1) % game.players
        last = turn == game.params["max_turns"] - 1
        for _ in range(mids - 1):
            found = {}
            for state in states:
                rolled = state.child(state.string_to_action("bbb"))
                for action in rolled.legal_actions():
                    child = rolled.child(action)
                    if not child.is_terminal():
                        counts = on_board(child)
                        rest = sum(counts) - counts[mover] + counts[following]
                        found.setdefault(child.position, (rest + 1.2 * rng.random(), len(found), child))
            states = [child for _, _, child in sorted(found.values())[:width]]
        if last:
            state = states[0].child(states[0].string_to_action("bbb"))
            return state.child(state.legal_actions()[0])
        states = [state.child(state.string_to_action("235")) for state in states]
    raise AssertionError("no turn")


@pytest.mark.parametrize(("players", "turns"), [(2, 1), (2, 2), (3, 3), (4, 5)])
def test_magic_mids_has_turns_that_place_all_mids_but_one_again_and_again(players, turns):
    game = engine.load_game("magic_mids", players, max_turns=turns)
    assert reached(fullest_turns(game, 12, random.Random(1)))


# Midgard


def dropped(game: Game, cells: Iterable[int], declaring: bool = False) -> State | None:
    """Return the state after drops on those cells; None when the match is over before them."""
    state = game.new_initial_state()
    for cell in cells:
        if declaring and not state.is_terminal():
            state.apply_action(CELLS)
        if state.is_terminal():
            return None
        state.apply_action(cell)
    return state


def some_order(cells: Iterable[int], play: Callable[[list[int]], State | None]) -> State:
    """Return the state after the cells in some random order in which nobody runs out of tiles before the last one."""
    rng, listed = random.Random(1), sorted(cells)
    return next(end for end in (play(rng.sample(listed, len(listed))) for _ in range(200)) if end is not None)


@pytest.mark.parametrize("variant", ["standard", "mere_mortal", "odin"])
def test_midgard_has_room_for_69_drops_and_odin_for_as_many_declarations(variant):
    game = engine.load_game("midgard", variant=variant)
    assert len(POINTS_DOWN) == 69
    assert reached(some_order(POINTS_DOWN, lambda cells: dropped(game, cells, variant == "odin")))


def test_odin_may_also_end_with_two_declarations():
    game = engine.load_game("midgard", variant="odin")
    state = dropped(game, POINTS_DOWN[:68], declaring=True)
    state.apply_action(CELLS)
    assert not state.is_terminal()
    state.apply_action(CELLS)
    assert reached(state)


def seeded(game: Game, orbits: Iterable[tuple[int, ...]]) -> State:
    """Return the start of a match in Loki after chance has picked those orbits."""
    state = game.new_initial_state()
    for orbit in orbits:
        state.apply_action(ORBITS.index(orbit))
    return state


@pytest.mark.parametrize("seeds", [0, 6, 51, 54, 57, 69])
def test_loki_has_room_for_as_many_drops_as_it_tells(seeds):
    game = engine.load_game("midgard", variant="loki", seeds=str(seeds))
    corners = [cell for cell in range(CELLS) if cell not in POINTS_DOWN and len(NEIGHBOURS[cell]) == 1]
    beside_corners = {NEIGHBOURS[cell][0] for cell in corners}
    order = sorted(ORBITS, key=lambda orbit: (orbit[0] in POINTS_DOWN, orbit[0] not in beside_corners))
    picked = order[: seeds // 3]
    ice = set(range(CELLS)) - {CENTRE, *itertools.chain(*picked)}
    drops = {cell for cell in ice if cell in POINTS_DOWN or not ice & set(NEIGHBOURS[cell])}

    def play(cells: list[int]) -> State | None:
        state = seeded(game, picked)
        for cell in cells:
            if state.is_terminal():
                return None
            state.apply_action(cell)
        return state

    assert reached(some_order(drops, play))


def test_seeds_by_name_leave_room_for_the_largest_set_of_cells_without_neighbours():
    assert most_drops([]) == 69
    assert most_drops(CELL_NAMES[cell] for cell in INTERIOR) == 27
    assert engine.load_game("midgard(variant=loki,seeds=f6+f7+f8)").max_game_length == 68
    rng = random.Random(1)
    for count in (3, 40, 80):
        seeds = rng.sample(INTERIOR, count)
        assert most_drops(CELL_NAMES[cell] for cell in seeds) == largest_set(set(range(CELLS)) - {CENTRE, *seeds})


def largest_set(cells: set[int]) -> int:
    """Return the most of these cells without neighbours, by linear programming, exact on a bipartite graph."""
    from scipy.optimize import linprog

    order = sorted(cells)
    edges = [(a, b) for a in order for b in NEIGHBOURS[a] if b in cells and a < b]
    rows = [[float(cell in edge) for cell in order] for edge in edges] or [[0.0] * len(order)]
    return round(-linprog([-1] * len(order), A_ub=rows, b_ub=[1] * len(rows), bounds=(0, 1)).fun)


# Pyramid Punch

STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
Table = tuple[tuple[int, int], ...]


def beside(place: tuple[int, int]) -> list[tuple[int, int]]:
    return [(place[0] + x, place[1] + y) for x, y in STEPS]


def hangs_together(table: Table) -> bool:
    todo, left = [table[0]], set(table[1:])
    while todo:
        found = left.intersection(beside(todo.pop()))
        left -= found
        todo += found
    return not left


def from_first(table: Table) -> Table:
    return tuple((x - table[0][0], y - table[0][1]) for x, y in table)


def tables_of(players: int) -> list[Table]:
    """Return every table of connected tiles, the mover's first, in the other seats' order."""
    shapes: set[frozenset[tuple[int, int]]] = {frozenset({(0, 0)})}
    for _ in range(players - 1):
        shapes = {shape | {new} for shape in shapes for old in shape for new in beside(old) if new not in shape}
    return sorted({from_first(order) for shape in shapes for order in itertools.permutations(shape)})


def after_a_turn(table: Table) -> set[Table]:
    """Return the tables that one move, or none, leads to, seen by the next seat."""
    found = {from_first(table[1:] + table[:1])}
    for i in range(len(table)):
        others = table[:i] + table[i + 1 :]
        for place in {place for other in others for place in beside(other)} - set(table):
            moved = (*table[:i], place, *table[i + 1 :])
            if hangs_together(moved):
                found.add(from_first(moved[1:] + moved[:1]))
    return found


@pytest.mark.parametrize("players", [2, 3, 4, pytest.param(5, marks=pytest.mark.chaos)])
def test_the_most_tiles_beside_the_mover_in_pyramid_punch_are_those_of_all_tables(players):
    tables = tables_of(players)
    number = {table: i for i, table in enumerate(tables)}
    ahead = [[number[later] for later in after_a_turn(table)] for table in tables]
    now = [len(set(table) & set(beside(table[0]))) for table in tables]
    best = [0] * len(tables)
    for turns in range(1, 8):
        best = [here + max(best[later] for later in then) for here, then in zip(now, ahead, strict=True)]
        assert max(best) == most_tiles_beside(players, turns)


def always_tied(game: Game, width: int, rng: random.Random) -> State:
    """Return a match whose fights all tie; every other decision keeps the states with the most fights so far."""
    states = [game.new_initial_state()]
    while not states[0].is_terminal():
        found: dict[str, tuple[float, int, State]] = {}
        for state in states:
            legal = state.legal_actions()
            for action in rng.sample(legal, min(len(legal), 40)):
                child = fought_out(state.child(action))
                length = len(child.history())
                found.setdefault(child.position, (-length - rng.random() / 2, len(found), child))
        states = [state for _, _, state in sorted(found.values(), key=lambda entry: entry[:2])[:width]]
    return states[0]


def fought_out(state: State) -> State:
    """Return the state with its fights tied, one after another."""
    while state.record.phase in (FIGHT, ROLL):
        state.apply_action(tie(state) if state.is_chance_node() else state.legal_actions()[0])
    return state


def tie(state: State) -> int:
    """Return the roll that ties the fight at hand."""
    pips = {"L": 3, "M": 2, "S": 1, "O": 0}
    own, enemy = state.game.text.ACTIONS[state.history()[-1]].split("x")
    lead = pips[own] - pips[enemy[-1]]
    return state.string_to_action(f"{max(1, 1 - lead)}-{max(1, 1 + lead)}")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_pyramid_punch_has_as_many_fights_as_it_tells(players):
    game = engine.load_game("pyramid_punch", players, max_turns=2)
    assert reached(always_tied(game, 30, random.Random(1)))


# Returns


@pytest.mark.parametrize("players", range(2, 11))
def test_returns_of_reversed_ranks_are_exact_negatives_and_none_is_minus_zero(players):
    for ranks in itertools.islice(all_ranks(players), 3000):
        returns = engine.returns_from_ranks(ranks)
        reverse = [sum(other > rank for other in ranks) for rank in ranks]
        assert [-value for value in engine.returns_from_ranks(reverse)] == returns
        assert "-0.0" not in map(str, returns)
        assert sum(round(value * (players - 1)) for value in returns) == 0
        assert abs(sum(returns)) < 1e-15 * players


def all_ranks(players: int) -> Iterable[list[int]]:
    """Return ranks of seats, some tied, without order."""
    rng = random.Random(players)
    for _ in range(300):
        strengths = [rng.randrange(players) for _ in range(players)]
        yield [sum(other < strength for other in strengths) for strength in strengths]


def test_tied_losers_of_magic_mids_lose_no_more_than_the_game_tells():
    game = engine.load_game("magic_mids(full_board=draw,losers=tied)", 4)
    assert (game.min_utility, game.max_utility) == (-1 / 3, 1.0)
    assert engine.returns_from_ranks([1, 0, 1, 1]) == [-1 / 3, 1.0, -1 / 3, -1 / 3]
    assert engine.load_game("magic_mids(losers=tied)", 4).min_utility == -1
