"""Pyramid Punch: the state and the rules, section by section as in RULES.md.

Spaces and sides are numbered clockwise, spaces from top-left, sides from north: side s runs from space s to space
s + 1, and the tile beyond it faces with its spaces s + 3 and s + 2. A set of sides is four bits, a set of seats five.
"""

import itertools

import numpy as np

from engine.chance import below
from engine.kernel import kernel

# §1 What there is

LARGE, MEDIUM, SMALL, STONE = 0, 1, 2, 3  # a fighter; its pips are 3 less its number
FIGHTERS = 4
NORTH, EAST, SOUTH, WEST = 0, 1, 2, 3
SIDES = 4
PYRAMIDS = 0x7777  # every bit of a tile that a pyramid can have
MAX_PLAYERS = 5
MAX_FIGHTS = 8
MAX_OUTCOMES = 36
CHANCE, TERMINAL = -1, -4
ARRANGE, PLACE, FIGHT, ROLL, MOVE, OVER = 0, 1, 2, 3, 4, 5
RUNNING, NORMAL, CAP = 0, 1, 2
ENDINGS = ("", "normal", "cap")

# Where the numbers of the actions begin; a tile's four possible anchors are the other seats in order
ARRANGEMENTS = 0
FIGHTS = 6  # + 16 * enemy seat + 4 * own fighter + enemy fighter
ROTATIONS = 86  # + 3 * tile + quarter turns - 1
MOVES = 101  # + 16 * tile + 4 * anchor + side
FIRST_TILES = 181  # + tile
PLACES = 186  # + 64 * tile + 16 * anchor + 4 * side + quarter turns
MAX_ACTIONS = 72  # two tiles of five placed: three tiles, six places, four turnings

STATE = np.dtype(
    (
        np.record,
        [
            ("tiles", np.int64, (MAX_PLAYERS,)),  # four bits a space, one set by its fighter; 0 = none yet, or out
            ("x", np.int64, (MAX_PLAYERS,)),  # tiles to the east
            ("y", np.int64, (MAX_PLAYERS,)),  # tiles to the south
            ("table", np.int64),  # set of the seats whose tiles lie on the table
            ("beside", np.int64, (MAX_PLAYERS,)),  # set of the tiles fully adjacent to this one, as x and y tell
            ("phase", np.int64),
            ("seat", np.int64),  # the seat whose turn it is
            ("fights", np.int64, (MAX_FIGHTS,)),  # what the seat may still fight this turn, ascending, less FIGHTS
            ("num_fights", np.int64),
            ("fight", np.int64),  # the fight whose dice are to be rolled, less FIGHTS
            ("fought", np.int64),  # set of enemies fought this turn, bit 4 * seat + fighter
            ("turn", np.int64),  # turns completed since all tiles were placed
            ("players", np.int64),
            ("seats_in", np.int64),  # seats not eliminated
            ("ended", np.int64),  # index into ENDINGS
            ("ranks", np.int64, (MAX_PLAYERS,)),  # final rank by seat, 0 while in
            ("max_turns", np.int64),
            ("cap_draws", np.int64),  # 1 = the seats still in tie at the cap
        ],
    )
)
WORDS = STATE.itemsize // 8


def state_dtype(params):
    """Return the record of one state, the same for all options."""
    return STATE


def pack_tile(fighters):
    """Return the `tiles` entry of four fighters clockwise from top-left, None where a space is empty."""
    return sum(1 << 4 * space + fighter for space, fighter in enumerate(fighters) if fighter is not None)


def _pairs():
    """Return, by the bits of two spaces, own << 4 | enemy: 4 * own fighter + enemy fighter, -1 when one is empty."""
    pairs = np.full(256, -1, np.int64)
    for own, enemy in itertools.product(range(FIGHTERS), repeat=2):
        pairs[1 << own + 4 | 1 << enemy] = 4 * own + enemy
    return pairs


def _contacts():
    """Return the other tile's sides where fighters touch, by the occupied spaces of both, moved << 4 | other."""
    contacts = np.zeros(256, np.int64)
    for moved, other, side in itertools.product(range(16), range(16), range(SIDES)):
        first = other >> side & 1 and moved >> (side + 3) % 4 & 1
        second = other >> (side + 1) % 4 & 1 and moved >> (side + 2) % 4 & 1
        contacts[moved << 4 | other] |= bool(first or second) << side
    return contacts


def _seat_sets():
    """Return for every set of seats its lowest member, and at 8 * set + n the n-th."""
    lowest, nth = np.zeros(32, np.int64), np.zeros(32 * 8, np.int64)
    for seats in range(1, 32):
        members = [seat for seat in range(MAX_PLAYERS) if seats >> seat & 1]
        lowest[seats] = members[0]
        nth[8 * seats : 8 * seats + len(members)] = members
    return lowest, nth


STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # (x, y) from a place to the next one north, east, south, west
STEP_X, STEP_Y = np.array(STEPS).T.copy()
ARRANGED = np.array([pack_tile((LARGE, *others)) for others in itertools.permutations((MEDIUM, SMALL, STONE))])
PAIRS = _pairs()
CONTACTS = _contacts()
LOWEST, NTH = _seat_sets()


def set_up(state, players, params):
    """Fill a blank record with the start position: nothing arranged yet."""
    state.players = state.seats_in = players
    state.max_turns = params["max_turns"]
    state.cap_draws = params["cap_ranking"] == "draw"


# §2 Whose turn it is


@kernel
def current_player(state):
    if state.phase == ROLL:
        return np.int64(CHANCE)
    return state.seat if state.phase != OVER else np.int64(TERMINAL)


@kernel
def rolling_seat(state):
    return state.seat if state.phase == ROLL else np.int64(-1)


@kernel
def on_table(state, seat):
    return state.table >> seat & 1 == 1


@kernel
def lowest(seats):
    """Return the lowest member of a set of seats."""
    return LOWEST[seats & 31] & 7  # the masks here and below only tell the compiler that no index is negative


@kernel
def next_seat_in(state, seat):
    seat = seat + 1 if seat + 1 < state.players else 0
    while not on_table(state, seat):
        seat = seat + 1 if seat + 1 < state.players else 0
    return seat


@kernel
def legal_actions(state, actions):
    """Write the legal actions, ascending; return how many there are."""
    if state.phase == MOVE:
        return list_rotations_and_moves(state, actions)
    if state.phase == FIGHT:
        return list_fights(state, actions)
    if state.phase == PLACE:
        return list_places(state, actions)
    return list_arrangements(actions)


@kernel
def apply_action(state, action):
    if state.phase == MOVE:
        rotate_or_move(state, action)
    elif state.phase == FIGHT:
        state.fight = action - FIGHTS
        state.phase = ROLL
    elif state.phase == PLACE:
        place(state, action)
    else:
        arrange(state, action)


# §3 Arranging


@kernel
def list_arrangements(actions):
    for i in range(ARRANGED.size):
        actions[i] = ARRANGEMENTS + i
    return np.int64(ARRANGED.size)


@kernel
def arrange(state, action):
    state.tiles[state.seat] = ARRANGED[action - ARRANGEMENTS]
    state.seat += 1
    if state.seat == state.players:
        state.seat = 0
        state.phase = PLACE


# §4 Placing


@kernel
def anchor_number(tile, anchor):
    """Return the anchor's place among the seats other than the tile's."""
    return anchor - (anchor > tile)


@kernel
def anchor_seat(tile, number):
    return number + (number >= tile)


@kernel
def side_towards(state, tile, other):
    """Return the side of a tile beyond which the other one lies; -1 when it does not lie beside it."""
    return side_of(state.x[other] - state.x[tile], state.y[other] - state.y[tile])


@kernel
def side_of(east, south):
    """Return the side of a place beyond which a place so far to the east and south lies; -1 when they are apart."""
    if abs(east) + abs(south) != 1:
        return -1
    return 2 - east if east != 0 else 1 + south


@kernel
def neighbours_at(state, tile, anchor, side, to_meet):
    """Return the tiles that this one would lie beside on a side of the anchor; 0 where it cannot go by this name.

    That is where a tile lies, where the anchor would not be the lowest of those tiles, and with `to_meet` where no
    fighters would be adjacent.
    """
    x, y = state.x[anchor] + STEP_X[side], state.y[anchor] + STEP_Y[side]
    fighters = occupied_spaces(state.tiles[tile]) << 4
    found = np.int64(1 << anchor)
    contact = CONTACTS[fighters | occupied_spaces(state.tiles[anchor])] >> side & 1
    left = state.table & ~(1 << anchor)
    while left != 0:
        other = lowest(left)
        left &= left - 1
        east, south = x - state.x[other], y - state.y[other]
        apart = abs(east) + abs(south)
        if apart == 0 or (apart == 1 and other < anchor and other != tile):
            return np.int64(0)
        if apart == 1 and other != tile:
            found |= 1 << other
            contact |= CONTACTS[fighters | occupied_spaces(state.tiles[other])] >> (side_of(east, south) & 3) & 1
    return found if contact or not to_meet else np.int64(0)


@kernel
def occupied_spaces(tile):
    """Return the set of a tile's spaces where a fighter stands, one bit each."""
    tile |= tile >> 2
    tile = (tile | tile >> 1) & 0x1111
    return tile * 0x1248 >> 12 & 15


@kernel
def list_places(state, actions):
    if state.table == 0:
        for tile in range(state.players):
            actions[tile] = FIRST_TILES + tile
        return state.players
    count = 0
    for tile in range(state.players):
        for anchor in range(state.players):
            if not on_table(state, tile) and on_table(state, anchor):
                first = PLACES + 64 * tile + 16 * anchor_number(tile, anchor)
                for side in range(SIDES):
                    if neighbours_at(state, tile, anchor, side, False) != 0:
                        for i in range(4):
                            actions[count] = first + 4 * side + i
                            count += 1
    return count


@kernel
def turned(tile, turns):
    """Return a tile's fighters after quarter turns clockwise."""
    return (tile << 4 * turns | tile >> 16 - 4 * turns) & 0xFFFF


@kernel
def lay(state, tile, anchor, side):
    """Put the tile beyond that side of the anchor."""
    state.x[tile] = state.x[anchor] + STEP_X[side]
    state.y[tile] = state.y[anchor] + STEP_Y[side]
    state.table |= 1 << tile
    note_neighbours(state, tile)


@kernel
def note_neighbours(state, tile):
    """Bring `beside` up to date after the tile has come, moved or gone."""
    state.beside[tile] = 0
    present = state.table >> tile & 1
    left = state.table & ~(1 << tile)
    while left != 0:
        other = lowest(left)
        left &= left - 1
        touching = present & (side_towards(state, tile, other) >= 0)
        state.beside[tile] |= touching << other
        state.beside[other] = state.beside[other] & ~(1 << tile) | touching << tile


@kernel
def place(state, action):
    if action < PLACES:
        state.table = 1 << action - FIRST_TILES
    else:
        choice = action - PLACES
        tile = choice >> 6
        lay(state, tile, anchor_seat(tile, choice >> 4 & 3), choice >> 2 & 3)
        state.tiles[tile] = turned(state.tiles[tile], choice & 3)
    state.seat += 1
    if state.seat == state.players:
        begin_turn(state, 0)


# §5 Fighting


@kernel
def begin_turn(state, seat):
    state.seat = seat
    state.fought = 0
    count = np.int64(0)
    left = state.beside[seat]
    while left != 0:
        count = meet(state, seat, lowest(left), count)
        left &= left - 1
    state.num_fights = count
    state.phase = FIGHT if count > 0 else MOVE


@kernel
def fighter_on(tile, space):
    """Return the fighter's bit on a space, spaces counted on round the tile."""
    return tile >> 4 * (space & 3) & 15


@kernel
def pairs_facing(state, seat, enemy):
    """Return the two pairs of `PAIRS` across the edge between two tiles side by side."""
    side = side_towards(state, seat, enemy)
    mine, theirs = state.tiles[seat], state.tiles[enemy]
    first = PAIRS[fighter_on(mine, side) << 4 | fighter_on(theirs, side + 3)]
    return first, PAIRS[fighter_on(mine, side + 1) << 4 | fighter_on(theirs, side + 2)]


@kernel
def meet(state, seat, enemy, count):
    """Add the fights with an enemy whose tile lies beside the mover's, ascending; return the new count."""
    first, second = pairs_facing(state, seat, enemy)
    state.fights[count & 7] = 16 * enemy + min(first, second)
    count += min(first, second) >= 0
    state.fights[count & 7] = 16 * enemy + max(first, second)
    return count + (max(first, second) >= 0)


@kernel
def list_fights(state, actions):
    for i in range(state.num_fights):
        actions[i] = FIGHTS + state.fights[i]
    return state.num_fights


@kernel
def chance_outcomes(state, outcomes, weights):
    for i in range(MAX_OUTCOMES):
        outcomes[i] = i
        weights[i] = 1
    return np.int64(MAX_OUTCOMES)


@kernel
def sample_chance(state, rng):
    return below(rng, MAX_OUTCOMES)


@kernel
def apply_chance(state, outcome):
    """Decide the fight: 6 * (mover's die - 1) + enemy's die - 1; then go on with what is left to fight."""
    enemy, own, theirs = state.fight >> 4, state.fight >> 2 & 3, state.fight & 3
    die = outcome // 6
    margin = (die - own) - (outcome - 6 * die - theirs)
    state.fought |= 1 << 4 * enemy + theirs
    if margin != 0:
        knock_out(state, enemy if margin > 0 else state.seat, theirs if margin > 0 else own)
    if state.seats_in == 1 or not on_table(state, state.seat):
        end_turn(state)
    else:
        strike_out_fights(state)
        state.phase = FIGHT if state.num_fights > 0 else MOVE


@kernel
def stands(state, seat, fighter):
    return state.tiles[seat] & 0x1111 << fighter != 0


@kernel
def strike_out_fights(state):
    """Keep the fights between two who stand, against an enemy not yet fought."""
    kept = 0
    for i in range(state.num_fights):
        fight = state.fights[i]
        enemy, own, theirs = fight >> 4, fight >> 2 & 3, fight & 3
        fresh = state.fought >> 4 * enemy + theirs & 1 == 0
        state.fights[kept] = fight
        kept += fresh & stands(state, state.seat, own) & stands(state, enemy, theirs)
    state.num_fights = kept


# §6 Elimination


@kernel
def knock_out(state, seat, fighter):
    """Take the fighter out; with its last pyramid the tile leaves too, and the seat is out."""
    state.tiles[seat] &= ~(0x1111 << fighter)
    if state.tiles[seat] & PYRAMIDS == 0:
        state.tiles[seat] = 0
        state.table &= ~(1 << seat)
        state.seats_in -= 1
        state.ranks[seat] = state.seats_in
        note_neighbours(state, seat)


# §7 Rotating and moving


@kernel
def list_rotations_and_moves(state, actions):
    """Write what may be rotated or moved: a single tile must be moved if it can be, otherwise any tile may."""
    single = single_tiles(state)
    if single == 0:
        return list_moves(state, state.table, actions, list_rotations(state, actions))
    count = list_moves(state, single, actions, 0)
    return count if count > 0 else list_rotations(state, actions)


@kernel
def single_tiles(state):
    """Return the set of tiles on the table with no tile beside them."""
    single = np.int64(0)
    for tile in range(state.players):
        single |= (on_table(state, tile) and state.beside[tile] == 0) << tile
    return single


@kernel
def list_rotations(state, actions):
    count = 0
    for tile in range(state.players):
        if on_table(state, tile):
            for i in range(3):
                actions[count] = ROTATIONS + 3 * tile + i
                count += 1
    return count


@kernel
def list_moves(state, tiles, actions, count):
    """Write the moves of a set of tiles from `actions[count]` on; return the new count."""
    for tile in range(state.players):
        if tiles >> tile & 1 == 0:
            continue
        for anchor in range(state.players):
            if anchor != tile and on_table(state, anchor):
                for side in range(SIDES):
                    if may_move(state, tile, anchor, side):
                        actions[count] = MOVES + 16 * tile + 4 * anchor_number(tile, anchor) + side
                        count += 1
    return count


@kernel
def may_move(state, tile, anchor, side):
    """Return whether the tile may move to that side of the anchor."""
    found = neighbours_at(state, tile, anchor, side, True)
    if found == 0 or state.beside[tile] & ~found == 0:
        return found != 0
    groups = groups_held(state, tile)
    while groups & 31 & found != 0:
        groups >>= 5
    return groups == 0


@kernel
def groups_held(state, tile):
    """Return the groups that a move of the tile must touch again, five bits each; 0 when nothing hangs by it.

    These are the groups it joins when there are several, or its only neighbour when that has no other. Of two tiles
    left, either can only go to the other.
    """
    held = np.int64(0)
    if state.seats_in == 2:
        return held
    left = state.beside[tile]
    while left != 0:
        group = group_without(state, lowest(left), tile)
        left &= ~group
        if held == 0 and left == 0 and group & group - 1 != 0:
            return held
        held = held << 5 | group
    return held


@kernel
def group_without(state, start, tile):
    """Return the set of tiles that hang together with `start` when the tile is taken away."""
    group = np.int64(1 << start)
    new = group
    while new != 0:
        found = state.beside[lowest(new)] & ~(group | 1 << tile)
        group |= found
        new = new & new - 1 | found
    return group


@kernel
def rotate_or_move(state, action):
    if action < MOVES:
        choice = action - ROTATIONS
        tile = choice // 3
        state.tiles[tile] = turned(state.tiles[tile], choice - 3 * tile + 1)
    else:
        choice = action - MOVES
        tile = choice >> 4
        lay(state, tile, anchor_seat(tile, choice >> 2 & 3), choice & 3)
    end_turn(state)


# §8 The end


@kernel
def end_turn(state):
    state.turn += 1
    if state.seats_in == 1:
        finish(state, NORMAL)
    elif state.turn >= state.max_turns:
        finish(state, CAP)
    else:
        begin_turn(state, next_seat_in(state, state.seat))


@kernel
def finish(state, ending):
    state.phase = OVER
    state.ended = ending


@kernel
def pyramids_standing(state, seat):
    standing = 0
    for pyramid in range(STONE):
        standing += stands(state, seat, pyramid)
    return standing


@kernel
def scores(state, out):
    for seat in range(state.players):
        out[seat] = pyramids_standing(state, seat)


@kernel
def ranks(state, out):
    """Write ranks: those out as they went; of those still in at the cap more pyramids rank ahead, unless all tie."""
    for seat in range(state.players):
        out[seat] = state.ranks[seat]
        if on_table(state, seat) and state.ended == CAP and state.cap_draws == 0:
            for other in range(state.players):
                out[seat] += pyramids_standing(state, other) > pyramids_standing(state, seat)


@kernel
def ended(state):
    return state.ended


# Bookkeeping and random play


@kernel
def used_words(state):
    """Return how many 64-bit words of the record hold the state: all of them."""
    return np.int64(WORDS)


@kernel
def random_member(seats, size, rng):
    """Return a random seat of a set of that size."""
    return nth_member(seats, below(rng, size))


@kernel
def nth_member(seats, n):
    return NTH[(8 * seats + n) & 255] & 7


@kernel
def random_action(state, rng, actions):
    """Return a legal action, all equally likely."""
    if bound_to_singles(state):
        return actions[below(rng, legal_actions(state, actions))]
    action = candidate(state, rng)
    while not is_allowed(state, action):
        action = candidate(state, rng)
    return action


@kernel
def bound_to_singles(state):
    return state.phase == MOVE and state.seats_in < state.players and single_tiles(state) != 0


@kernel
def candidate(state, rng):
    """Return an action of the phase, all equally likely, perhaps not allowed; not for a seat bound to single tiles."""
    if state.phase == MOVE:
        return candidate_turn(state, rng)
    if state.phase == FIGHT:
        return FIGHTS + state.fights[below(rng, state.num_fights)]
    if state.phase == ARRANGE:
        return ARRANGEMENTS + below(rng, ARRANGED.size)
    if state.table == 0:
        return FIRST_TILES + below(rng, state.players)
    return candidate_place(state, rng)


@kernel
def candidate_place(state, rng):
    unplaced = (1 << state.players) - 1 - state.table
    tile = random_member(unplaced, state.players - state.seat, rng)
    anchor = random_member(state.table, state.seat, rng)
    return PLACES + 64 * tile + 16 * anchor_number(tile, anchor) + below(rng, 16)


@kernel
def candidate_turn(state, rng):
    tile = random_member(state.table, state.seats_in, rng)
    choice = below(rng, 4 * state.seats_in - 1)
    if choice < 3:
        return ROTATIONS + 3 * tile + choice
    anchor = nth_member(state.table & ~(1 << tile), choice - 3 >> 2)
    return MOVES + 16 * tile + 4 * anchor_number(tile, anchor) + (choice - 3 & 3)


@kernel
def is_allowed(state, action):
    """Return whether a candidate is a legal action."""
    if MOVES <= action < FIRST_TILES:
        choice = action - MOVES
        tile = choice >> 4
        anchor = anchor_seat(tile, choice >> 2 & 3)
        return may_move(state, tile, anchor, choice & 3)
    if action >= PLACES:
        choice = action - PLACES
        tile = choice >> 6
        return neighbours_at(state, tile, anchor_seat(tile, choice >> 4 & 3), choice >> 2 & 3, False) != 0
    return True


@kernel
def random_finish(state, rng, actions):
    """Play at random to the end, turn by turn; return (decisions, plies)."""
    decisions = rolls = 0
    while state.phase <= PLACE:
        action = candidate(state, rng)
        while not is_allowed(state, action):
            action = candidate(state, rng)
        apply_action(state, action)
        decisions += 1
    if state.phase == ROLL:
        apply_chance(state, sample_chance(state, rng))
        rolls += 1
    while state.phase != OVER:
        while state.phase == FIGHT:
            state.fight = state.fights[below(rng, state.num_fights)]
            apply_chance(state, sample_chance(state, rng))
            decisions += 1
            rolls += 1
        if bound_to_singles(state):
            apply_action(state, random_action(state, rng, actions))
            decisions += 1
        elif state.phase == MOVE:
            action = candidate_turn(state, rng)
            while not is_allowed(state, action):
                action = candidate_turn(state, rng)
            rotate_or_move(state, action)
            decisions += 1
    return decisions, decisions + rolls
