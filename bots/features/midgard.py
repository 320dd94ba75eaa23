"""Midgard: features of a state for learning."""

import numpy as np

from engine.kernel import kernel
from engine.midgard.rules import (
    CELLS,
    CENTRES,
    LAND,
    NEAR,
    SEA,
    SELF,
    WORD,
    blizzard_high,
    blizzard_low,
    count,
    first_cell,
    survey,
)

VALUES = 4  # of a cell: ice, blizzard, own tile, opposing tile
AROUND = 6  # cells that meet at a corner
NO_CELL = 127


def _corners():
    """Return the cells around each corner at which five or six meet, and by corner the number of its class.

    Corners that turn or flip into each other with the board are of one class, and the cells are listed alike. A cell
    that is not there is NO_CELL.
    """
    around = [(0, -2), (-1, -1), (1, -1), (-1, 1), (1, 1), (0, 2)]
    cells = {centre: cell for cell, centre in enumerate(CENTRES)}
    corners = {(x + u, y + v) for x, y in CENTRES for u, v in around if (y + v) % 3 == 0}
    listed, classes, class_of = [], {}, []
    for x, y in sorted(corners):
        centres = [(x + u, y + v) for u, v in around]
        if sum(centre in cells for centre in centres) < AROUND - 1:
            continue
        images = [[image(centre, turn, flip) for centre in centres] for turn in range(3) for flip in range(2)]
        seen = min(images, key=sorted)
        listed.append([cells.get(centres[i], NO_CELL) for i in sorted(range(AROUND), key=seen.__getitem__)])
        class_of.append(classes.setdefault(tuple(sorted(seen)), len(classes)))
    return np.array(listed), np.array(class_of), len(classes)


def image(centre, turn, flip):
    """Return where a cell's centre comes to lie when the board is flipped and turned about its middle by thirds."""
    x, y = centre
    u, v = (-x if flip else x), y - 20
    for _ in range(turn):
        u, v = -(u + v) // 2, (3 * u - v) // 2
    return u, v + 20


CORNERS, CLASS_OF, CLASSES = _corners()
CODES = VALUES**AROUND
LARGEST, WIDEST, MOST_OPEN = 15, 8, 4  # region's size, lead in border edges and edges to ice, where more is the same
PHASES = 16  # by ice cells left, in eights
LEADS = 2 * CELLS + 1

ANYWHERE_START = 0
CLASS_START = ANYWHERE_START + CODES
REGION_START = CLASS_START + CLASSES * CODES
LEAD_START = REGION_START + (LARGEST + 1) * (2 * WIDEST + 1) * (MOST_OPEN + 1)
PROSPECT_START = LEAD_START + LEADS * PHASES
DECLARED = PROSPECT_START + LEADS * PHASES
MOST_REGIONS = 60
ACTIVE = 2 * len(CORNERS) + MOST_REGIONS + 3 + 128  # the last ones are scratch


def feature_count(players):
    """Return how many features there are: of corners, of regions, and how the match stands."""
    return DECLARED + 1


@kernel
def features(state, seat, active):
    """Write what lies around every corner, what every blizzard region is like, and leads; return how many features."""
    cells = active[ACTIVE - 128 :]
    list_values(state, seat, cells)
    n = 0
    for corner in range(CLASS_OF.size):
        code = 0
        for i in range(AROUND):
            code = VALUES * code + cells[CORNERS[corner, i]]
        active[n] = ANYWHERE_START + code
        active[n + 1] = CLASS_START + CODES * CLASS_OF[corner] + code
        n += 2
    sign = 1 if seat == SEA else -1
    lead = sign * (state.hand[LAND] - state.hand[SEA])
    prospect = lead
    most = n + MOST_REGIONS
    low, high = blizzard_low(state), blizzard_high(state)
    while low | high:
        region_low, region_high, edges = survey(state, first_cell(low, high), low, high, 0, 0)
        openings = edges_to_ice(state, region_low, region_high)
        size = count(region_low, region_high)
        edges *= sign
        prospect += size if edges > 0 else -size if edges < 0 else 0
        if n < most:
            kind = min(size, LARGEST) * (2 * WIDEST + 1) + min(max(edges, -WIDEST), WIDEST) + WIDEST
            active[n] = REGION_START + kind * (MOST_OPEN + 1) + min(openings, MOST_OPEN)
            n += 1
        low &= ~region_low
        high &= ~region_high
    phase = count(state.ice[0], state.ice[1]) >> 3
    active[n] = LEAD_START + PHASES * (lead + CELLS) + phase
    active[n + 1] = PROSPECT_START + PHASES * (prospect + CELLS) + phase
    n += 2
    if state.declared:
        active[n] = DECLARED
        n += 1
    return n


@kernel
def list_values(state, seat, cells):
    """Write the value of every cell as the seat sees it, and 0 where no cell is."""
    cells[CELLS:] = 0
    for word in range(2):
        ice, own, other = state.ice[word], state.tiles[seat & 1, word], state.tiles[1 - seat & 1, word]
        for bit in range(WORD):
            taken = (own | other) >> bit & 1
            cells[WORD * word + bit] = (1 - (ice >> bit & 1)) + taken + (other >> bit & 1)


@kernel
def edges_to_ice(state, low, high):
    """Return how many edges a set of cells shares with ice."""
    edges = 0
    while low | high:
        cell = first_cell(low, high)
        edges += count(NEAR[cell & 127, 0] & state.ice[0], NEAR[cell & 127, 1] & state.ice[1])
        low &= ~SELF[cell & 127, 0]
        high &= ~SELF[cell & 127, 1]
    return edges
