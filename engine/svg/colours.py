"""Colours of drawings. Each has one purpose, so that a page may replace every colour of `PALETTE` by one of its own.

The seats' colours are a ladder of lightness, so that they are told apart in print without colour, and keep their
distance under each kind of colour blindness; `tests/engine/test_colours.py` holds both against limits.
"""

SEAT_COLOURS = ("#1C459A", "#EC9A1E", "#0C7743", "#D4589A", "#9AD6F7")  # by seat
SEAT_COLOUR_NAMES = ("Blue", "Orange", "Green", "Pink", "Sky")  # the same in words, for sentences
MARK = "#D55E00"  # vermilion: the last play, and nobody's colour
INK, FAINT, PAPER = "#222222", "#6A6A6A", "#FFFFFF"
BOARD, LINE, LAST, TO_MOVE = "#F6F3EC", "#B9B2A3", "#FBE9A9", "#EEEEEE"
RIM, GROUT = "#8A7B62", "#E2D9C7"  # what a board is framed with, and what lies between its cells
PIECE, COLD, DIM = "#9A948A", "#E1EBF1", "#5A6770"  # pieces of nobody; cells without a tile, and writing on them
SNOW = "#F7FAFC"  # blizzard
LIGHT, DARK = "#FEFEFE", "#232323"  # on a seat's colour
SEAT_INKS = (LIGHT, DARK, LIGHT, DARK, DARK)  # writing on each seat's colour
PALETTE = {
    "mark": MARK,
    "ink": INK,
    "faint": FAINT,
    "paper": PAPER,
    "board": BOARD,
    "line": LINE,
    "last": LAST,
    "to-move": TO_MOVE,
    "rim": RIM,
    "grout": GROUT,
    "piece": PIECE,
    "cold": COLD,
    "dim": DIM,
    "snow": SNOW,
    "light": LIGHT,
    "dark": DARK,
    **{f"seat-{seat}": colour for seat, colour in enumerate(SEAT_COLOURS)},
}
