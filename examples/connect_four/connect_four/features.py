"""Connect four: features of a state for learning."""

import numpy as np

from connect_four.rules import BOARD, BOTTOM, COLUMNS, HEIGHT, ROWS, STEPS
from engine.kernel import kernel

VALUES = 3  # of a cell: empty, a stone of the seat to move, the other's
CELLS = COLUMNS * ROWS
LONGEST = 9  # cells of a pattern
SHAPES = (
    *([(right, up) for right in range(width) for up in range(height)] for width, height in ((4, 2), (2, 4), (3, 3))),
    [(right, 0) for right in range(COLUMNS)],
    [(0, up) for up in range(ROWS)],
    *([(place, slope * place) for place in range(length)] for length in (4, 5, 6) for slope in (1, -1)),
)


def _patterns():
    """Return the cells of every pattern, and where its features begin; a pattern and its mirror image share them.

    A cell is 6 * column + row; a pattern is filled up in front with the number CELLS, for which no cell stands.
    """
    listed, starts, known, end = [], [], {}, 0
    for shape in SHAPES:
        for column in range(COLUMNS):
            for row in range(ROWS):
                places = [(column + right, row + up) for right, up in shape]
                if not all(0 <= x < COLUMNS and 0 <= y < ROWS for x, y in places):
                    continue
                if len(shape) in (4, 5) and not _whole_diagonal(places):
                    continue
                mirrored = [(COLUMNS - 1 - x, y) for x, y in places]
                same = frozenset(mirrored) in known
                order = known[frozenset(mirrored)][1] if same else places
                start = known[frozenset(mirrored)][0] if same else end
                end += 0 if same else VALUES ** len(shape)
                cells = [(COLUMNS - 1 - x, y) for x, y in order] if same else places
                known[frozenset(cells)] = start, cells
                numbers = [ROWS * x + y for x, y in cells]
                listed.append([CELLS] * (LONGEST - len(shape)) + numbers)
                starts.append(start)
    return np.array(listed), np.array(starts), end


def _whole_diagonal(places):
    """Return whether a diagonal begins and ends at the edge of the board."""
    (x, y), (u, v) = places[0], places[-1]
    outside = (x - 1, y - (1 if v > y else -1)), (u + 1, v + (1 if v > y else -1))
    return not any(0 <= a < COLUMNS and 0 <= b < ROWS for a, b in outside)


PATTERNS, STARTS, THREATS_START = _patterns()
HIGHEST = ROWS + 1  # the lowest threat of a column is in row 0 to 5, or there is none
THREATS = 2 * HIGHEST**3  # by seat, height of the column, lowest threat of either side
BALANCE_START = THREATS_START + COLUMNS * THREATS
MANY = 3  # threats of a kind that count
ACTIVE = len(PATTERNS) + COLUMNS + 1 + CELLS + 1  # the last ones are scratch


def feature_count(players):
    """Return how many features there are: of patterns, of threats by column, of threats in odd and even rows."""
    return BALANCE_START + 2 * (MANY + 1) ** 4


@kernel
def features(state, seat, active):
    """Write the patterns, and the threats of every column and of all; return how many features there are."""
    patterns = STARTS.size
    cells = active[patterns + COLUMNS + 1 :]
    mine, theirs = state.stones[seat], state.stones[1 - seat]
    for column in range(COLUMNS):
        for row in range(ROWS):
            bit = HEIGHT * column + row
            cells[ROWS * column + row] = (mine >> bit & 1) + 2 * (theirs >> bit & 1)
    cells[CELLS] = 0
    for pattern in range(patterns):
        code = 0
        for i in range(LONGEST):
            code = VALUES * code + cells[PATTERNS[pattern, i]]
        active[pattern] = STARTS[pattern] + code
    free = BOARD & ~(mine | theirs)
    own, others = completing(mine) & free, completing(theirs) & free
    n = patterns
    for column in range(COLUMNS):
        shift = HEIGHT * column
        height = rows_below((mine | theirs) + BOTTOM >> shift)
        kind = (seat * HIGHEST + height) * HIGHEST + rows_below(own >> shift)
        active[n] = THREATS_START + THREATS * column + kind * HIGHEST + rows_below(others >> shift)
        n += 1
    code = seat
    for rows in ODD_ROWS, EVEN_ROWS:
        code = (code * (MANY + 1) + several(own & rows)) * (MANY + 1) + several(others & rows)
    active[n] = BALANCE_START + code
    return np.int64(n + 1)


ODD_ROWS, EVEN_ROWS = BOTTOM * 0b010101, BOTTOM * 0b101010


@kernel
def rows_below(column):
    """Return how many cells of a column lie below the lowest one of a set, all six where it has none."""
    rows = 0
    while rows < ROWS and column >> rows & 1 == 0:
        rows += 1
    return rows


@kernel
def several(cells):
    """Return how many cells a set has, three if there are more."""
    found = 0
    while cells and found < MANY:
        cells &= cells - 1
        found += 1
    return found


@kernel
def completing(stones):
    """Return the cells that complete four in a line with the stones."""
    found = stones << 1 & stones << 2 & stones << 3
    for step in STEPS[1:]:
        above, below = stones >> step & stones >> 2 * step, stones << step & stones << 2 * step
        found |= above & (stones << step | stones >> 3 * step) | below & (stones >> step | stones << 3 * step)
    return found
