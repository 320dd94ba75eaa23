"""Midgard: the state and the rules, section by section as in RULES.md.

A set of cells is two words of 62 bits, `low` and `high`: in board order cell n is bit n of `low` or n - 62 of `high`.
"""

import numpy as np

from engine.chance import below
from engine.kernel import kernel

# §1 What there is

SEA, LAND = 0, 1
TILES = 70  # each player's
CELLS = 124
DECLARE = CELLS  # actions below it drop a tile on the cell of that number
MAX_ACTIONS = CELLS + 1
MAX_OUTCOMES = 32
CHANCE, TERMINAL = -1, -4
RUNNING, NORMAL = 0, 1
ENDINGS = ("", "normal")
ROW_LENGTHS = (1, 5, 7, 9, 11, 13, 15, 17, 19, 19, 8)
WORD = 62  # cells a word
FULL = (1 << WORD) - 1


def state_dtype(params):
    """Return the record of one state; blizzard is what is neither ice nor tile."""
    return np.dtype(
        (
            np.record,
            [
                ("ice", np.int64, (2,)),  # the set of ice cells: low, high
                ("tiles", np.int64, (2, 2)),  # by seat, the set of cells with its tiles: low, high
                ("hand", np.int64, (2,)),  # tiles left, by seat
                ("seat", np.int64),  # seat to move, CHANCE or TERMINAL
                ("odin", np.int64),  # 1 = nothing is enclosed before the end (§6)
                ("declared", np.int64),  # 1 = the other seat has just declared that no ice is left
                ("to_pick", np.int64),  # orbits that chance has still to pick (§8)
                ("picked", np.int64),  # 32 bits: the orbits picked so far
                ("ended", np.int64),  # index into ENDINGS
            ],
        )
    )


STATE_WORDS = state_dtype({}).itemsize // 8


def _centres():
    """Return every cell's centre: half edges to the right of the apex, and thirds of a row's height below it."""
    centres = []
    for row, length in enumerate(ROW_LENGTHS):
        for number in range(1, length + 1):
            if row == 10:
                centres.append((2 * number - 9, 3 * row + 1))
            else:
                x = number - (length + 1) // 2
                points_up = (row + x) % 2 == 0
                centres.append((x, 3 * row + 1 + points_up))
    return tuple(centres)


def _neighbours():
    """For every cell those that share an edge with it: their centres are as near as centres can be."""
    return tuple(
        tuple(n for n, (u, v) in enumerate(CENTRES) if 3 * (u - x) ** 2 + (v - y) ** 2 == 4) for x, y in CENTRES
    )


def _orbits():
    """Return the interior cells but the centre, in threes that turn into each other about the centre."""
    x0, y0 = CENTRES[CENTRE]
    orbits = set()
    for cell in INTERIOR:
        orbit = [cell]
        for _ in range(2):
            x, y = CENTRES[orbit[-1]]
            u, v = x - x0, y - y0
            orbit.append(CENTRES.index((x0 - (u + v) // 2, y0 + (3 * u - v) // 2)))
        orbits.add(tuple(sorted(orbit)))
    return tuple(sorted(orbits))


def cell_set(cells):
    """Return the two words of a set of cells."""
    bits = sum(1 << cell for cell in set(cells))
    return bits & FULL, bits >> WORD


def cells_of(words):
    """Return the cells of a set, in board order."""
    bits = int(words[0]) | int(words[1]) << WORD
    return [cell for cell, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]


def _set_table(sets):
    """Return a table of sets, one a cell; 128 rows, so that `cell & 127` tells the compiler: no index is negative."""
    table = np.zeros((128, 2), np.int64)
    for cell, cells in enumerate(sets):
        table[cell] = cell_set(cells)
    return table


CENTRES = _centres()
NEIGHBOURS = _neighbours()
CENTRE = CENTRES.index((0, 20))
PERIMETER = tuple(cell for cell in range(CELLS) if len(NEIGHBOURS[cell]) == 1)
INTERIOR = tuple(cell for cell in range(CELLS) if cell not in PERIMETER and cell != CENTRE)
ORBITS = _orbits()

BOARD_LOW, BOARD_HIGH = cell_set(range(CELLS))
RIM_LOW, RIM_HIGH = cell_set(PERIMETER)
SELF = _set_table([cell] for cell in range(CELLS))
NEAR = _set_table(NEIGHBOURS)
BESIDE = np.array(  # the same as numbers, 127 for none
    [(*cells, 127, 127, 127, 127)[:4] for cells in (*NEIGHBOURS, (), (), (), ())]
)
CLOSED = SELF | NEAR  # what a drop takes from the ice
SEEDED = np.array([cell_set(orbit) for orbit in ORBITS])


def set_up(state, players, params):
    """Fill a blank record with the start position; in Loki with a number, with the wait for the seeds."""
    seeds = params["seeds"] if params["variant"] == "loki" else "0"
    by_chance = seeds.isdecimal()
    blizzard = [CENTRE] if by_chance else [CENTRE, *map(cell_number, seeds.split("+"))]
    state.ice = cell_set(set(range(CELLS)) - set(blizzard))
    state.hand = TILES
    state.odin = params["variant"] == "odin"
    state.to_pick = int(seeds) // 3 if by_chance else 0
    state.seat = CHANCE if state.to_pick else SEA


def cell_number(name):
    """Return the number of a cell such as `g8`; raises `ValueError` for anything else."""
    row, number = "abcdefghijk".index(name[:1] or "?"), name[1:]
    if not (number.isdecimal() and number == str(int(number)) and 1 <= int(number) <= ROW_LENGTHS[row]):
        raise ValueError(f"{name} is no cell")
    return sum(ROW_LENGTHS[:row]) + int(number) - 1


# Sets of cells


@kernel
def bit_count(word):
    """Return how many bits are set; LLVM makes this the one instruction for it."""
    bits = np.uint64(word)
    bits -= bits >> np.uint64(1) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + (bits >> np.uint64(2) & np.uint64(0x3333333333333333))
    bits = bits + (bits >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(bits * np.uint64(0x0101010101010101) >> np.uint64(56))


@kernel
def count(low, high):
    return bit_count(low) + bit_count(high)


@kernel
def first_cell(low, high):
    """Return the first cell, in board order, of a set that is not empty."""
    word = low if low else high
    return bit_count((word & -word) - 1) + (0 if low else WORD)


@kernel
def list_cells(low, high, cells):
    """Write the cells of a set in board order; return how many there are."""
    n = 0
    while low:
        cells[n] = bit_count((low & -low) - 1)
        low &= low - 1
        n += 1
    while high:
        cells[n] = WORD + bit_count((high & -high) - 1)
        high &= high - 1
        n += 1
    return n


@kernel
def nth_bit(word, n):
    """Return the place of a word's n-th set bit, counted from 0."""
    place = 0
    for half in (32, 16, 8, 4, 2, 1):
        below_half = bit_count(word & (1 << half) - 1)
        in_upper = n >= below_half
        n -= below_half * in_upper
        place += half * in_upper
        word >>= half * in_upper
    return place


@kernel
def tiles_low(state):
    return state.tiles[SEA, 0] | state.tiles[LAND, 0]


@kernel
def tiles_high(state):
    return state.tiles[SEA, 1] | state.tiles[LAND, 1]


@kernel
def blizzard_low(state):
    return BOARD_LOW & ~(state.ice[0] | tiles_low(state))


@kernel
def blizzard_high(state):
    return BOARD_HIGH & ~(state.ice[1] | tiles_high(state))


# §2 Whose turn it is


@kernel
def current_player(state):
    return state.seat


@kernel
def rolling_seat(state):
    return np.int64(-1)  # the only chance nodes are Loki's seeds, which are nobody's roll


# §3 What is allowed


@kernel
def legal_actions(state, actions):
    """Write the legal actions, ascending; return how many there are."""
    n = list_cells(state.ice[0], state.ice[1], actions)
    if state.odin:
        actions[n] = DECLARE
        n += 1
    return n


@kernel
def random_action(state, rng, actions):
    """Return a legal action, all equally likely."""
    low, high = state.ice[0], state.ice[1]
    in_low = bit_count(low)
    cells = in_low + bit_count(high)
    n = below(rng, cells + state.odin)
    if n == cells:
        return np.int64(DECLARE)
    return nth_bit(low, n) if n < in_low else WORD + nth_bit(high, n - in_low)


# §4 What a drop does


@kernel
def apply_action(state, action):
    if action == DECLARE:
        declare(state)
    else:
        drop(state, action)


@kernel
def drop(state, cell):
    seat = state.seat
    place(state, cell, seat)
    state.ice[0] &= ~CLOSED[cell & 127, 0]
    state.ice[1] &= ~CLOSED[cell & 127, 1]
    state.declared = 0
    state.seat = 1 - seat
    if state.odin == 0 and state.hand[seat & 1] > 0:
        terraform_enclosed(state, cell, seat)
    if no_ice(state) or out_of_tiles(state):
        finish(state, seat)


@kernel
def place(state, cell, seat):
    state.tiles[seat & 1, 0] |= SELF[cell & 127, 0]
    state.tiles[seat & 1, 1] |= SELF[cell & 127, 1]
    state.hand[seat & 1] -= 1


@kernel
def no_ice(state):
    return state.ice[0] | state.ice[1] == 0


@kernel
def out_of_tiles(state):
    return state.hand[SEA] == 0 or state.hand[LAND] == 0


# §5 Enclosure


@kernel
def terraform_enclosed(state, cell, mover):
    """Resolve the regions that a drop on `cell` has enclosed: only those of the cells beside it can be."""
    ice_low, ice_high = state.ice[0], state.ice[1]
    among_low, among_high = blizzard_low(state), blizzard_high(state)
    todo_low = todo_high = 0
    for side in range(3):
        near = BESIDE[cell & 127, side] & 127
        off_ice = (NEAR[near, 0] & ice_low | NEAR[near, 1] & ice_high) - 1 >> 63  # all bits set when off, else none
        todo_low |= SELF[near, 0] & off_ice
        todo_high |= SELF[near, 1] & off_ice
    enclosed_low = enclosed_high = 0
    while todo_low | todo_high:
        start = first_cell(todo_low, todo_high)
        low, high, _ = survey(state, start, among_low, among_high, ice_low, ice_high)
        enclosed_low |= low
        enclosed_high |= high
        todo_low &= ~(low | SELF[start & 127, 0])
        todo_high &= ~(high | SELF[start & 127, 1])
    resolve_regions(state, enclosed_low, enclosed_high, mover)


@kernel
def survey(state, start, among_low, among_high, ice_low, ice_high):
    """Return the region of `start` within a set of cells, and sea's lead in influence on it.

    Influence counts border edges, not border tiles. Nothing (0, 0, 0) as soon as a cell is seen to be beside ice.
    """
    low, high = SELF[start & 127, 0], SELF[start & 127, 1]
    todo_low, todo_high = low, high
    lead = 0
    while todo_low | todo_high:
        cell = first_cell(todo_low, todo_high)
        near_low, near_high = NEAR[cell & 127, 0], NEAR[cell & 127, 1]
        if near_low & ice_low | near_high & ice_high:
            return 0, 0, 0
        lead += count(near_low & state.tiles[SEA, 0], near_high & state.tiles[SEA, 1])
        lead -= count(near_low & state.tiles[LAND, 0], near_high & state.tiles[LAND, 1])
        near_low &= among_low & ~low
        near_high &= among_high & ~high
        low |= near_low
        high |= near_high
        todo_low = (todo_low | near_low) & ~SELF[cell & 127, 0]
        todo_high = (todo_high | near_high) & ~SELF[cell & 127, 1]
    return low, high, lead


@kernel
def resolve_regions(state, low, high, mover):
    """Terraform a set of cells region by region, in the order of their first cells, while both hands last."""
    while low | high and not out_of_tiles(state):
        region_low, region_high, lead = survey(state, first_cell(low, high), low, high, 0, 0)
        low &= ~region_low
        high &= ~region_high
        if lead == 0:
            share(state, region_low, region_high, mover)
        else:
            fill(state, region_low, region_high, SEA if lead > 0 else LAND)


@kernel
def fill(state, low, high, seat):
    """Give a region to the seat, as far as its hand goes, in board order."""
    size = count(low, high)
    if size <= state.hand[seat & 1]:
        state.tiles[seat & 1, 0] |= low
        state.tiles[seat & 1, 1] |= high
        state.hand[seat & 1] -= size
        return
    while state.hand[seat & 1] > 0:
        cell = first_cell(low, high)
        place(state, cell, seat)
        low &= ~SELF[cell & 127, 0]
        high &= ~SELF[cell & 127, 1]


@kernel
def share(state, low, high, mover):
    """Share out a tied region in turns, perimeter cells first, in board order, until a hand is empty."""
    seat = mover
    while low | high and not out_of_tiles(state):
        rim_low, rim_high = low & RIM_LOW, high & RIM_HIGH
        cell = first_cell(rim_low, rim_high) if rim_low | rim_high else first_cell(low, high)
        place(state, cell, seat)
        low &= ~SELF[cell & 127, 0]
        high &= ~SELF[cell & 127, 1]
        seat = 1 - seat


# §6 Odin


@kernel
def declare(state):
    """Declare that no ice is left; the match ends when the other seat has just declared so too."""
    seat = state.seat
    if state.declared:
        nothing_dropped = tiles_low(state) | tiles_high(state) == 0
        finish(state, SEA if nothing_dropped else seat)  # who declares second made the last drop
    else:
        state.declared = 1
        state.seat = 1 - seat


# §7 The end


@kernel
def finish(state, mover):
    """End the match; Odin resolves all regions now, ice that is left counting as blizzard."""
    if state.odin:
        state.ice[0] = state.ice[1] = 0
        resolve_regions(state, blizzard_low(state), blizzard_high(state), mover)
    state.declared = 0
    state.seat = TERMINAL
    state.ended = NORMAL


@kernel
def scores(state, out):
    """Write the number of cells that each seat owns."""
    out[SEA] = TILES - state.hand[SEA]
    out[LAND] = TILES - state.hand[LAND]


@kernel
def perimeter_cells(state, seat):
    return count(state.tiles[seat, 0] & RIM_LOW, state.tiles[seat, 1] & RIM_HIGH)


@kernel
def ranks(state, out):
    """Write ranks: more cells win, then more perimeter cells."""
    lead = state.hand[LAND] - state.hand[SEA]
    if lead == 0:
        lead = perimeter_cells(state, SEA) - perimeter_cells(state, LAND)
    out[SEA] = lead < 0
    out[LAND] = lead > 0


@kernel
def ended(state):
    return state.ended


# §8 Loki


@kernel
def chance_outcomes(state, outcomes, weights):
    """Write the orbits not yet picked, all equally likely."""
    n = 0
    for orbit in range(MAX_OUTCOMES):
        if state.picked >> orbit & 1 == 0:
            outcomes[n] = orbit
            weights[n] = 1
            n += 1
    return n


@kernel
def sample_chance(state, rng):
    skip = below(rng, MAX_OUTCOMES - bit_count(state.picked))
    orbit = 0
    while skip > 0 or state.picked >> orbit & 1:
        skip -= state.picked >> orbit & 1 == 0
        orbit += 1
    return orbit


@kernel
def apply_chance(state, outcome):
    state.ice[0] &= ~SEEDED[outcome, 0]
    state.ice[1] &= ~SEEDED[outcome, 1]
    state.picked |= 1 << outcome
    state.to_pick -= 1
    if state.to_pick == 0:
        state.seat = SEA


# Bookkeeping


@kernel
def used_words(state):
    return STATE_WORDS


@kernel
def random_finish(state, rng, actions):
    """Play uniformly at random to the end; return (decisions, plies). `actions` holds the drops, unless in Odin.

    Filling an enclosed region changes nothing outside it, so regions can wait until no ice is left; but if a hand is
    then empty the match ended earlier, and is played again by the rules. A tied region's halves may lie otherwise than
    by the rules, its first cell going to the seat that dropped last of all; no result of real play depends on that.
    """
    seeds = state.to_pick
    for _ in range(seeds):
        apply_chance(state, sample_chance(state, rng))
    if state.odin or state.seat == TERMINAL:
        decisions = finish_by_the_rules(state, rng, actions)
        return decisions, seeds + decisions
    drops = drop_at_random(state.ice[0], state.ice[1], rng, actions)
    if not resolve_at_once(state, actions, drops):
        drops = replay(state, actions)
    return drops, seeds + drops


@kernel
def finish_by_the_rules(state, rng, actions):
    decisions = 0
    while state.seat != TERMINAL:
        apply_action(state, random_action(state, rng, actions))
        decisions += 1
    return decisions


@kernel
def drop_at_random(ice_low, ice_high, rng, actions):
    """Write random drops until no ice is left; return how many.

    The ice cells are taken in a random order, passing over those that an earlier drop has closed.
    """
    cells = list_cells(ice_low, ice_high, actions)
    drops = 0
    for i in range(cells):
        j = i + below(rng, cells - i)
        cell = actions[j]
        actions[j] = actions[i]
        is_ice = (SELF[cell & 127, 0] & ice_low | SELF[cell & 127, 1] & ice_high) != 0
        ice_low &= ~(CLOSED[cell & 127, 0] * is_ice)
        ice_high &= ~(CLOSED[cell & 127, 1] * is_ice)
        actions[drops] = cell
        drops += is_ice
    return drops


@kernel
def resolve_at_once(state, drops, n):
    """Make `n` drops that leave no ice, then resolve all regions; return False, unchanged, when a hand runs out."""
    sea_low, sea_high = state.tiles[SEA, 0], state.tiles[SEA, 1]
    land_low, land_high = state.tiles[LAND, 0], state.tiles[LAND, 1]
    sea_hand, land_hand = state.hand[SEA], state.hand[LAND]
    seat = state.seat
    for i in range(n):
        place(state, drops[i], seat)
        seat = 1 - seat
    low, high = BOARD_LOW & ~tiles_low(state), BOARD_HIGH & ~tiles_high(state)
    if state.hand[SEA] > 0 and state.hand[LAND] > 0:
        resolve_regions(state, low, high, 1 - seat)
    if state.hand[SEA] > 0 and state.hand[LAND] > 0:
        state.ice[0] = state.ice[1] = 0
        finish(state, 1 - seat)
        return True
    state.tiles[SEA, 0], state.tiles[SEA, 1] = sea_low, sea_high
    state.tiles[LAND, 0], state.tiles[LAND, 1] = land_low, land_high
    state.hand[SEA], state.hand[LAND] = sea_hand, land_hand
    return False


@kernel
def replay(state, drops):
    """Make drops by the rules until the match ends; return how many it took."""
    n = 0
    while state.seat != TERMINAL:
        apply_action(state, drops[n])
        n += 1
    return n
