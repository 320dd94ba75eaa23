"""What a seat sees of Pyramid Punch: tiles and their fighters, where tiles lie to each other, and the fights."""

import numpy as np

from engine.kernel import kernel
from engine.observation import Block, ObservationSpec
from engine.pyramid_punch.rules import (
    FIGHT,
    FIGHTERS,
    FIGHTS,
    FIRST_TILES,
    MAX_PLAYERS,
    MOVES,
    OVER,
    PLACES,
    ROLL,
    ROTATIONS,
    on_table,
    stands,
)

VERSION = 1

ACTIONS = PLACES + 64 * MAX_PLAYERS


def spec(players, params):
    """Return the layout of the observations."""
    blocks = (
        Block(
            "tiles",
            (players, 4, 4),
            "fighters L M S stone by space, clockwise from top-left; zeros where none stands",
            seat_axes=1,
        ),
        Block("standing", (players, 4), "fighters that stand", seat_axes=1),
        Block("on_table", (players,), "tiles that lie on the table", seat_axes=1),
        Block("ranks", (players,), "rank of a seat that is out, by players - 1; 0 for others", seat_axes=1),
        Block(
            "offsets",
            (players, players, 2),
            "how far east and south the second tile lies from the first, d as d / (|d| + 4)",
            -1.0,
            seat_axes=2,
        ),
        Block("turn_of", (players,), "the seat whose turn it is, during its rolls too; zeros at the end", seat_axes=1),
        Block("phase", (5,), "arrange, place, fight, roll, move"),
        Block("own_fighter", (4,), "in a roll: the fighter of the seat whose turn it is"),
        Block("enemy_fighter", (players, 4), "in a roll: the fighter that it fights", seat_axes=1),
        Block("fought", (players, 4), "in a fight or roll: enemies still standing, fought this turn", seat_axes=1),
        Block("over", (1,), "1 after the end"),
        Block("turn", (1,), "turns completed since all tiles were placed, by max_turns"),
    )
    relative = np.array([[seen_action(action, seat, players) for action in range(ACTIONS)] for seat in range(players)])
    return ObservationSpec(VERSION, blocks, relative_actions=relative)


def seen_action(action, seat, players):
    """Return the number of an action for a seat that calls itself 0 and the next ones 1, 2, and so on."""

    def seen(tile):
        return (tile - seat) % players if tile < players else tile

    if action < FIGHTS:
        return action
    if action < ROTATIONS:
        enemy, pair = divmod(action - FIGHTS, 16)
        return FIGHTS + 16 * seen(enemy) + pair
    if action < MOVES:
        tile, turns = divmod(action - ROTATIONS, 3)
        return ROTATIONS + 3 * seen(tile) + turns
    if FIRST_TILES <= action < PLACES:
        return FIRST_TILES + seen(action - FIRST_TILES)
    first, size = (MOVES, 4) if action < FIRST_TILES else (PLACES, 16)
    tile, rest = divmod(action - first, 4 * size)
    number, how = divmod(rest, size)
    seen_tile, seen_anchor = seen(tile), seen(number + (number >= tile))
    return first + 4 * size * seen_tile + size * (seen_anchor - (seen_anchor > seen_tile)) + how


@kernel
def observe(state, seat, out):
    n = state.players
    out[:] = 0
    standing, lying, ranks = 16 * n, 20 * n, 21 * n
    offsets = 22 * n
    turn_of = offsets + 2 * n * n
    phase = turn_of + n
    enemy_fighter = phase + 9
    fought = enemy_fighter + 4 * n
    rest = fought + 4 * n
    for i in range(n):
        other = seat + i if seat + i < n else seat + i - n
        for bit in range(16):
            out[16 * i + bit] = state.tiles[other] >> bit & 1
        for fighter in range(FIGHTERS):
            out[standing + 4 * i + fighter] = stands(state, other, fighter)
            if state.phase == FIGHT or state.phase == ROLL:
                met = state.fought >> 4 * other + fighter & 1 == 1
                out[fought + 4 * i + fighter] = met and stands(state, other, fighter)
        out[lying + i] = on_table(state, other)
        out[ranks + i] = state.ranks[other] / (n - 1)
        out[turn_of + i] = other == state.seat and state.phase != OVER
        for j in range(n):
            second = seat + j if seat + j < n else seat + j - n
            if on_table(state, other) and on_table(state, second):
                out[offsets + 2 * (n * i + j)] = squashed(state.x[second] - state.x[other])
                out[offsets + 2 * (n * i + j) + 1] = squashed(state.y[second] - state.y[other])
    if state.phase != OVER:
        out[phase + state.phase] = 1
    if state.phase == ROLL:
        enemy = (state.fight >> 4) - seat
        out[phase + 5 + (state.fight >> 2 & 3)] = 1
        out[enemy_fighter + 4 * (enemy if enemy >= 0 else enemy + n) + (state.fight & 3)] = 1
    out[rest] = state.phase == OVER
    out[rest + 1] = state.turn / state.max_turns


@kernel
def squashed(distance):
    """Return a distance of any size within (-1, 1)."""
    return distance / (abs(distance) + 4)
