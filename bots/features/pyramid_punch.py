"""Pyramid Punch: features of a state for learning."""

import numpy as np

from engine.kernel import kernel
from engine.pyramid_punch.rules import (
    FIGHT,
    FIGHTERS,
    MAX_PLAYERS,
    PLACE,
    ROLL,
    STONE,
    lowest,
    on_table,
    pairs_facing,
)

SETS = 1 << STONE  # of the pyramids that a seat may have left, none when it is out
EDGES = (FIGHTERS * FIGHTERS + 1) ** 2  # what faces each other across an edge: two pairs, each maybe empty
CONTACTS = EDGES * SETS * SETS
STATUSES = 4  # of an edge of the own tile: the other seat fights now, the own does, the other moves first, the own does
ROLES = 3  # in a roll: attacker, attacked, bystander
ROLLS = ROLES * FIGHTERS * FIGHTERS * SETS**3
MOST_EDGES = 5  # that five tiles can have between them
ACTIVE = 2 + MAX_PLAYERS + MOST_EDGES + MAX_PLAYERS  # the last ones are scratch


def feature_count(players):
    """Return how many features there are: of what is left by seat, of edges, of a roll, of seats that are out."""
    material = players * SETS**players + players * players * SETS * SETS
    return material + (STATUSES + 2) * CONTACTS + ROLLS + players


@kernel
def features(state, seat, active):
    """Write what every seat has left, what faces what, and the fight to be rolled; return how many features."""
    players = state.players
    rolls = players * SETS**players + players * players * SETS * SETS + (STATUSES + 2) * CONTACTS
    if state.ranks[seat] > 0:
        active[0] = rolls + ROLLS + state.ranks[seat]
        return np.int64(1)
    left = active[ACTIVE - MAX_PLAYERS :]
    for other in range(players):
        left[other] = pyramids_left(state, other)
    n = list_material(state, seat, left, active)
    n = list_edges(state, seat, left, active, n)
    if state.phase == ROLL:
        enemy = state.fight >> 4
        role = 0 if seat == state.seat else 1 if seat == enemy else 2
        sets = (left[seat] * SETS + left[state.seat]) * SETS + left[enemy]
        active[n] = rolls + (sets * FIGHTERS * FIGHTERS + (state.fight & 15)) * ROLES + role
        n += 1
    return n


@kernel
def pyramids_left(state, seat):
    """Return the set of pyramids that a seat has: all before it has arranged, none when it is out."""
    tile = state.tiles[seat]
    if tile == 0:
        return SETS - 1 if state.ranks[seat] == 0 else 0
    return (tile | tile >> 4 | tile >> 8 | tile >> 12) & SETS - 1


@kernel
def turns_before(state, seat):
    """Return how many seats that are in move before this one, 0 for the seat that moves."""
    turns, other = 0, state.seat
    while other != seat:
        turns += state.ranks[other] == 0
        other = other + 1 if other + 1 < state.players else 0
    return turns


@kernel
def list_material(state, seat, left, active):
    """Write what all seats have left, the others sorted, and the own with each other's; return how many features."""
    players = state.players
    wait = turns_before(state, seat)
    code = wait * SETS + left[seat]
    for most in range(SETS - 1, -1, -1):
        for other in range(players):
            if other != seat and left[other] == most:
                code = code * SETS + most
    active[0] = code
    n = 1
    start = players * SETS**players
    for other in range(players):
        if other != seat and state.ranks[other] == 0:
            waits = players * wait + turns_before(state, other)
            active[n] = start + (waits * SETS + left[seat]) * SETS + left[other]
            n += 1
    return n


@kernel
def list_edges(state, seat, left, active, n):
    """Write what faces what across every edge between two tiles; return the new count of features."""
    players = state.players
    start = players * SETS**players + players * players * SETS * SETS
    for tile in range(players if state.phase >= PLACE else 0):
        others = state.beside[tile] >> tile + 1 << tile + 1
        while others != 0 and on_table(state, tile):
            other = lowest(others)
            others &= others - 1
            first, second = tile, other
            if other == seat or (tile != seat and other == state.seat):
                first, second = other, tile
            kind = edge_kind(state, seat, first, second)
            code = edge_code(state, first, second)
            active[n] = start + ((kind * SETS + left[first]) * SETS + left[second]) * EDGES + code
            n += 1
    return n


@kernel
def edge_kind(state, seat, first, second):
    """Return an edge's status, or when it is not the own one's 4 where the mover fights across it now, else 5."""
    fighting = state.phase in (FIGHT, ROLL)
    if first != seat:
        return STATUSES if fighting and first == state.seat else STATUSES + 1
    if fighting and state.seat in (first, second):
        return 1 if first == state.seat else 0
    return 2 if turns_before(state, second) < turns_before(state, first) else 3


@kernel
def edge_code(state, first, second):
    """Return a number for the pairs that face each other across an edge, without those fought this turn."""
    code = 0
    fighting = state.phase in (FIGHT, ROLL)
    for pair in pairs_facing(state, first, second):
        fought = False
        if fighting and pair >= 0 and first == state.seat:
            fought = state.fought >> 4 * second + (pair & 3) & 1 == 1
        elif fighting and pair >= 0 and second == state.seat:
            fought = state.fought >> 4 * first + (pair >> 2) & 1 == 1
        code = code * (FIGHTERS * FIGHTERS + 1) + (0 if fought else 1 + pair)
    return code
