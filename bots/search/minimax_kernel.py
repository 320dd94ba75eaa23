"""Template: depth-first search of a game tree with alpha-beta cuts, the dice averaged; see `bots.search.minimax`.

The searching seat maximises its value, every other seat minimises it. A value is the seat's return, a little smaller
in size the later the match ends, or at the horizon the evaluation, which is always smaller in size than a return of
1 or -1. At a chance node the mean is bounded by what outcomes not yet looked at are worth at least and at most, -1
and 1, which gives windows for the outcomes and cuts (Star1).

The stack is an array of frames, one a node on the way from the root to where the search stands, so a search can be
interrupted at any node and resumed.
"""

from typing import NamedTuple

import numpy as np

RULES = ("current_player", "legal_actions", "apply_action", "chance_outcomes", "apply_chance", "ranks", "used_words")
OPTIONAL = ()

ROLLS, TERMINAL = -1, -4  # in place of a seat to move
MAX, CHANCE, MIN = 1, 0, -1  # kinds of nodes
LOWER, EXACT, UPPER = 1, 2, 3  # what the value in an entry is to the node's value
TO_THE_END = 1000  # the depth of an entry to which no horizon has contributed
EVALUATION = 1 - 2.0**-10  # an evaluation of 1 counts less than any win
DELAY = 2.0**-18  # what a decision more on the way to it takes off a return
TABLE_MOVE, KILLER_MOVE = 1e15, 1e14  # priorities above all counts of the history

SEARCH = np.dtype(
    (
        np.record,
        [
            ("seat", np.int64),  # the seat that searches
            ("depth", np.int64),  # decisions looked ahead
            ("ply", np.int64),  # the frame where the search stands; 0 is the root
            ("nodes", np.int64),  # states visited
            ("generation", np.int64),  # the entries of the table that count
        ],
    )
)
FRAME = np.dtype(
    (
        np.record,
        [
            ("kind", np.int64),
            ("seat", np.int64),  # the seat to move; looked at by max^n alone
            ("depth", np.int64),  # decisions looked ahead from here, this one included
            ("count", np.int64),  # actions, or outcomes that differ
            ("next", np.int64),  # how many of them have been taken up
            ("alpha", np.float64),  # values outside the window from alpha to beta change nothing at the root
            ("beta", np.float64),
            ("value", np.float64),  # the best so far; at a chance node the mean or a bound of it
            ("best", np.int64),  # the action it belongs to, -1 = none yet
            ("whole", np.int64),  # 1 = no horizon has contributed to the value
            ("least", np.float64),  # alpha and beta as they were at first
            ("most", np.float64),
            ("key", np.uint64),
            ("weighed", np.float64),  # at a chance node: weights times values of the outcomes looked at
            ("left", np.float64),  # weights of the outcomes not yet looked at
            ("total", np.float64),  # all weights
            ("weight", np.float64),  # of the outcome that is being looked at
        ],
    )
)
ENTRY = np.dtype(
    (
        np.record,
        [
            ("key", np.uint64),
            ("value", np.float64),
            ("generation", np.int64),
            ("depth", np.int32),
            ("bound", np.int32),
            ("best", np.int64),
        ],
    )
)


def outcome_key(state, outcome):
    """Return the outcome itself, in games whose heuristics do not say which outcomes are alike."""
    return outcome


class Memory(NamedTuple):
    """Arrays of a search, the rows of those in two dimensions by ply."""

    search: np.ndarray  # uint64: SEARCH
    frames: np.ndarray  # uint64: FRAME by ply
    table: np.ndarray  # uint64: ENTRY by the last bits of a key; a power of 2 of them, or none
    states: np.ndarray  # (plies, words) uint64: the states on the way from the root
    moves: np.ndarray  # (plies, actions) int64: actions or outcomes
    priority: np.ndarray  # (plies, actions) float64: the highest first, then values; weights of outcomes
    killers: np.ndarray  # (plies, 2) int64: moves that cut off others lately
    history: np.ndarray  # (2, actions) float64: how often actions cut off others, of MIN and of MAX
    counts: np.ndarray  # (outcomes,) int64: weights as the rules have them
    keys: np.ndarray  # (outcomes,) int64: what tells outcomes apart
    place: np.ndarray  # (players,) int64: final ranks
    valued: tuple[np.ndarray, np.ndarray]  # the `memory` of what values states


def search_on(memory, limit):
    """Go on until the root's value is known or `limit` states have been visited; return whether it is known."""
    # arrays are taken out of the tuple once: in the loop that would cost a fifth of the time
    _, _, _, states, moves, priority, killers, history, counts, keys, place, valued = memory
    search = memory.search.view(SEARCH)[0]
    frames = memory.frames.view(FRAME)
    table = memory.table.view(ENTRY)
    while True:
        ply = search.ply
        frame = frames[ply]
        if frame.next == frame.count or frame.alpha >= frame.beta:
            if ply == 0:
                return True
            if frame.kind != CHANCE:
                remember(table, frame, search.generation)
                credit(frame, killers[ply], history)
            value, whole = frame.value, frame.whole
            search.ply = ply - 1
        elif search.nodes >= limit:
            return False
        else:
            settled, value, whole = descend(
                search, frames, table, states, moves, priority, killers, history, counts, keys, place, valued
            )
            if not settled:
                continue
        parent = frames[search.ply]
        priority[search.ply, parent.next - 1] = value
        take(parent, value, whole, moves[search.ply, parent.next - 1])


def follow(memory, action, line):
    """Write an action of the root and the replies that the table knows, up to the next roll; return how many plies."""
    generation = memory.search.view(SEARCH)[0].generation
    table, words, moves = memory.table.view(ENTRY), memory.states[1], memory.moves[1]
    state = words.view(STATE)[0]
    copy_state(memory.states[0], words)
    line[0] = action
    for count in range(1, line.size):
        apply_action(state, line[count - 1])
        if current_player(state) < 0:
            return count
        key = hashed(words, used_words(state), count)
        entry = table[np.int64(key & np.uint64(table.size - 1))]
        if entry.generation != generation or entry.key != key or not is_legal(state, entry.best, moves):
            return count
        line[count] = entry.best
    return line.size


def is_legal(state, action, moves):
    """Return whether an action is legal; list all that are in `moves`."""
    found = False
    for i in range(legal_actions(state, moves)):
        found |= moves[i] == action
    return found


def descend(search, frames, table, states, moves, priority, killers, history, counts, keys, place, valued):
    """Visit the most promising state below; return whether its value is known at once, the value, if it is whole."""
    ply = search.ply
    frame = frames[ply]
    bring_forward(moves[ply], priority[ply], frame.next, frame.count)
    who, depth = visit_next(search, frame, states, moves, priority)
    state = states[ply + 1].view(STATE)[0]
    if who == TERMINAL:
        return True, worth(state, search.seat, place) * delayed(search, depth), 1
    if depth < (CHANCE_HORIZON if who == ROLLS else 1):
        return True, assess(state, search.seat, valued) * EVALUATION, 0
    child = frames[ply + 1]
    child.depth = depth
    child.next = 0
    child.best = -1
    child.whole = 1
    set_window(child, frame)
    if who == ROLLS:
        open_chance(child, state, moves[ply + 1], priority[ply + 1], counts, keys)
    else:
        child.kind = MAX if who == search.seat else MIN
        child.value = -2.0 * child.kind
        child.key = hashed(states[ply + 1], used_words(state), search.depth - depth)
        known, hint = recall(table, child, search.generation)
        if known:
            return True, child.value, child.whole
        child.count = legal_actions(state, moves[ply + 1])
        rank_moves(child, moves[ply + 1], priority[ply + 1], killers[ply + 1], history, hint)
    search.ply = ply + 1
    return False, 0.0, 0


def visit_next(search, frame, states, moves, priority):
    """Make the frame's next move on a copy of its state; return (who is to move there, decisions to look ahead)."""
    ply = search.ply
    copy_state(states[ply], states[ply + 1])
    state = states[ply + 1].view(STATE)[0]
    if frame.kind == CHANCE:
        frame.weight = priority[ply, frame.next]
        apply_chance(state, moves[ply, frame.next])
    else:
        apply_action(state, moves[ply, frame.next])
    frame.next += 1
    search.nodes += 1
    who = current_player(state)
    return who, frame.depth - (1 if who == ROLLS or frame.kind != CHANCE else 0)


def delayed(search, depth):
    """Return the factor of a return when the match ends with `depth` decisions left to look ahead."""
    return 1.0 - DELAY * (search.depth - depth)


def bring_forward(moves, priority, first, count):
    """Swap the move of the highest priority, of equals the first, to the place `first`."""
    best = first
    for i in range(first + 1, count):
        if priority[i] > priority[best]:
            best = i
    moves[first], moves[best] = moves[best], moves[first]
    priority[first], priority[best] = priority[best], priority[first]


def worth(state, seat, place):
    """Return the seat's return."""
    ranks(state, place)
    return (points_of(place, seat) + 1 - place.size) / (place.size - 1)


def set_window(child, frame):
    """Set a child's window: below a chance node, what it must be worth for the mean to lie in the node's window."""
    if frame.kind == CHANCE:
        rest = frame.left - frame.weight
        child.alpha = max(-1.0, (frame.alpha * frame.total - frame.weighed - rest) / frame.weight)
        child.beta = min(1.0, (frame.beta * frame.total - frame.weighed + rest) / frame.weight)
        if child.alpha >= child.beta:  # rounding has closed a window that is as good as closed
            child.alpha, child.beta = -1.0, 1.0
    else:
        child.alpha, child.beta = frame.alpha, frame.beta
    child.least, child.most = child.alpha, child.beta


def take(frame, value, whole, move):
    """Update a node's value by that of a child."""
    if frame.kind == CHANCE:
        frame.whole &= whole
        frame.weighed += frame.weight * value
        frame.left -= frame.weight
        least, most = (frame.weighed - frame.left) / frame.total, (frame.weighed + frame.left) / frame.total
        frame.value = most if most <= frame.alpha else least
        if most <= frame.alpha or least >= frame.beta:
            frame.next = frame.count
        return
    frame.whole &= whole
    if frame.kind * value > frame.kind * frame.value:
        frame.value = value
        frame.best = move
        if frame.kind == MAX:
            frame.alpha = max(frame.alpha, value)
        else:
            frame.beta = min(frame.beta, value)
        if frame.alpha >= frame.beta:
            frame.whole = whole  # a cut needs no other child


# Chance nodes


def open_chance(frame, state, outcomes, weights, counts, keys):
    """List the outcomes that play differently; their weights are their priorities."""
    frame.kind = CHANCE
    frame.value = frame.weighed = frame.total = 0.0
    frame.count = 0
    for i in range(chance_outcomes(state, outcomes, counts)):
        key = outcome_key(state, outcomes[i])
        j = 0 if SOME_ALIKE else frame.count
        while j < frame.count and keys[j] != key:
            j += 1
        if j == frame.count:
            outcomes[j], keys[j], weights[j] = outcomes[i], key, 0.0
            frame.count += 1
        weights[j] += counts[i]
        frame.total += counts[i]
    frame.left = frame.total


# Decision nodes


def rank_moves(frame, moves, priority, killers, history, hint):
    """Set priorities: the move that the table knows, those that cut elsewhere at this ply, those that often cut."""
    side = 1 if frame.kind == MAX else 0
    for i in range(frame.count):
        move = moves[i]
        priority[i] = history[side, move]
        if move == hint:
            priority[i] = TABLE_MOVE
        elif move == killers[0] or move == killers[1]:
            priority[i] = KILLER_MOVE


def credit(frame, killers, history):
    """Remember a move that cut off the others."""
    if frame.alpha >= frame.beta and frame.best >= 0:
        history[1 if frame.kind == MAX else 0, frame.best] += frame.depth * frame.depth
        if killers[0] != frame.best:
            killers[1] = killers[0]
            killers[0] = frame.best


# The table of what is known of states, each at its distance from the root


def hashed(words, count, distance):
    """Return 64 bits that depend on all of the state and its distance from the root."""
    key = np.uint64(distance) + np.uint64(0x9E3779B97F4A7C15)
    for i in range(count):
        key = (key ^ words[i]) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ key >> np.uint64(32)) * np.uint64(0x94D049BB133111EB)
        key ^= key >> np.uint64(29)
    return key


def recall(table, frame, generation):
    """Return (whether the table settles the node within its window, the move it knows or -1); set the node's value."""
    if table.size == 0:
        return False, -1
    entry = table[np.int64(frame.key & np.uint64(table.size - 1))]
    if entry.generation != generation or entry.key != frame.key:
        return False, -1
    if entry.depth >= frame.depth and (
        entry.bound == EXACT
        or (entry.bound == LOWER and entry.value >= frame.beta)
        or (entry.bound == UPPER and entry.value <= frame.alpha)
    ):
        frame.value = entry.value
        frame.whole = 1 if entry.depth == TO_THE_END else 0
        return True, entry.best
    return False, entry.best


def remember(table, frame, generation):
    """Write the node's value to the table, unless another one from a deeper search stands in its place."""
    if table.size == 0:
        return
    entry = table[np.int64(frame.key & np.uint64(table.size - 1))]
    depth = TO_THE_END if frame.whole else frame.depth
    if entry.generation == generation and entry.key != frame.key and entry.depth > depth:
        return
    entry.key = frame.key
    entry.value = frame.value
    entry.generation = generation
    entry.depth = depth
    entry.bound = UPPER if frame.value <= frame.least else LOWER if frame.value >= frame.most else EXACT
    entry.best = frame.best
