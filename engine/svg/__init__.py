"""Draw games as SVG: colours that are told apart by every eye, and the shapes that board games need.

A part that stands for an action, or for a step of one, has a `data-part`; `State.targets` returns which. It takes
clicks in its whole box (`part`); what lies above parts without being one takes none (`untouched`). Parts of the class
`control` have no other purpose, and are transparent unless a page's style shows them.

A piece has a `data-piece`: `KIND@PLACE`, as `0-S@b3`, where pieces of a kind are alike, and `KIND` alone for one of its
kind. No two pieces of a drawing have the same, and a piece that stays where it is keeps its own. So a page that shows
two positions after each other knows which pieces have moved.

A page that shows drawings in other colours, as for dark mode, replaces each colour of `PALETTE` by its value; so every
colour has one purpose. A narrow drawing is `NARROW` units wide.
"""

from engine.svg.colours import (
    BOARD,
    COLD,
    DARK,
    DIM,
    FAINT,
    GROUT,
    INK,
    LAST,
    LIGHT,
    LINE,
    MARK,
    PALETTE,
    PAPER,
    PIECE,
    RIM,
    SEAT_COLOUR_NAMES,
    SEAT_COLOURS,
    SEAT_INKS,
    SNOW,
    TO_MOVE,
)
from engine.svg.elements import (
    NARROW,
    button,
    control,
    drawing,
    element,
    fitted,
    number,
    part,
    polygon,
    text,
    untouched,
    width_of,
    wrapped,
)
from engine.svg.pyramids import FILL_OPACITY, PYRAMID_SIZES, lying, mini, pyramid, stack
from engine.svg.things import SEAT_NAME, SPOTS, bar, die, headline, seat_row, spots, stone, swatch

__all__ = [
    "BOARD",
    "COLD",
    "DARK",
    "DIM",
    "FAINT",
    "FILL_OPACITY",
    "GROUT",
    "INK",
    "LAST",
    "LIGHT",
    "LINE",
    "MARK",
    "NARROW",
    "PALETTE",
    "PAPER",
    "PIECE",
    "PYRAMID_SIZES",
    "RIM",
    "SEAT_COLOURS",
    "SEAT_COLOUR_NAMES",
    "SEAT_INKS",
    "SEAT_NAME",
    "SNOW",
    "SPOTS",
    "TO_MOVE",
    "bar",
    "button",
    "control",
    "die",
    "drawing",
    "element",
    "fitted",
    "headline",
    "lying",
    "mini",
    "number",
    "part",
    "polygon",
    "pyramid",
    "seat_row",
    "spots",
    "stack",
    "stone",
    "swatch",
    "text",
    "untouched",
    "width_of",
    "wrapped",
]
