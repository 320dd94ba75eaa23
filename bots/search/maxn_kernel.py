"""Template: depth-first search of a game tree in which every seat maximises its own value (max^n), the dice averaged.

A node has a value for each seat, in `values[ply]`, which stand in place of the table. Of actions worth the same to the
seat that moves, another seat is taken to choose the one that is worst for the seat that searches. Nothing can be cut
off, so there is no window, no table and no order but at the root; all else is as in `bots.search.minimax_kernel`, from
which the open names come.
"""

from bots.search.minimax_kernel import CHANCE, EVALUATION, FRAME, MAX, ROLLS, SEARCH, TERMINAL

RULES = ("legal_actions",)
OPTIONAL = ()


def search_on(memory, limit):
    """Go on until the root's values are known or `limit` states have been visited; return whether they are known."""
    search = memory.search.view(SEARCH)[0]
    frames = memory.frames.view(FRAME)
    _, _, values, states, moves, priority, _, _, counts, keys, place, valued = memory
    while True:
        ply = search.ply
        if frames[ply].next == frames[ply].count:
            if ply == 0:
                return True
            search.ply = ply - 1
        elif search.nodes >= limit:
            return False
        elif not descend(search, frames, values, states, moves, priority, counts, keys, place, valued):
            continue
        ply = search.ply
        parent = frames[ply]
        take(parent, values[ply], values[ply + 1], moves[ply, parent.next - 1], search.seat)
        priority[ply, parent.next - 1] = values[ply + 1, search.seat]


def descend(search, frames, values, states, moves, priority, counts, keys, place, valued):
    """Visit the next state below; return whether its values are known at once."""
    ply = search.ply
    frame = frames[ply]
    if ply == 0:
        bring_forward(moves[0], priority[0], frame.next, frame.count)
    who, depth = visit_next(search, frame, states, moves, priority)
    state = states[ply + 1].view(STATE)[0]
    if who == TERMINAL:
        for seat in range(place.size):
            values[ply + 1, seat] = worth(state, seat, place) * delayed(search, depth)
        return True
    if depth < (CHANCE_HORIZON if who == ROLLS else 1):
        for seat in range(place.size):
            values[ply + 1, seat] = assess(state, seat, valued) * EVALUATION
        frames[0].whole = 0
        return True
    child = frames[ply + 1]
    child.depth = depth
    child.next = 0
    if who == ROLLS:
        open_chance(child, state, moves[ply + 1], priority[ply + 1], counts, keys)
        values[ply + 1] = 0.0
    else:
        child.kind = MAX
        child.seat = who
        child.value = -2.0
        child.count = legal_actions(state, moves[ply + 1])
    search.ply = ply + 1
    return False


def take(frame, values, child, move, searcher):
    """Update a node's values by those of a child."""
    if frame.kind == CHANCE:
        for seat in range(values.size):
            values[seat] += child[seat] * frame.weight / frame.total
        return
    value = child[frame.seat]
    worse_for_searcher = frame.seat != searcher and child[searcher] < values[searcher]
    if value > frame.value or (value == frame.value and worse_for_searcher):
        frame.value = value
        frame.best = move
        for seat in range(values.size):
            values[seat] = child[seat]
