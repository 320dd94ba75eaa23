"""Games and positions of Midgard for its tests."""

from hypothesis import strategies as st

import engine
from engine.midgard import rules
from tests.engine import midgard_matches
from tests.engine.midgard_matches import SPECS

seeds = st.integers(0, 2**32 - 1)
specs = st.sampled_from(SPECS)
START = midgard_matches.START


def load(spec="midgard"):
    return engine.load_game(spec, 2)


def letters(state):
    return state.position.split(" ")[0].replace("/", "")


def position(cells, mover="s", flag="-"):
    """Return a position string from letters in board order."""
    rows, left = [], cells
    for length in rules.ROW_LENGTHS:
        rows.append(left[:length])
        left = left[length:]
    return f"{'/'.join(rows)} {mover} {flag}"
