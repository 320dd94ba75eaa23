"""Draw games as SVG: seat colours that are told apart by every eye, and the shapes that board games need.

A part that stands for an action, or for a step of one, has a `data-part`; `State.targets` returns which. Parts of the
class `control` have no other purpose, and are transparent unless a page's style shows them. A page that shows drawings
in other colours, as for dark mode, replaces each colour of `PALETTE` by its value; so every colour has one purpose.
"""

from html import escape

SEAT_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")  # by seat, after Okabe and Ito
SEAT_COLOUR_NAMES = ("Blue", "Orange", "Green", "Pink", "Sky")  # the same in words, for sentences
MARK = "#D55E00"  # their vermilion: the last play, and nobody's colour
INK, FAINT, PAPER = "#222222", "#6A6A6A", "#FFFFFF"
BOARD, LINE, LAST, TO_MOVE = "#F6F3EC", "#B9B2A3", "#FBE9A9", "#EEEEEE"
PIECE, COLD, DIM = "#9A948A", "#E1EBF1", "#5A6770"  # pieces of nobody; cells without a tile, and writing on them
LIGHT, DARK = "#FEFEFE", "#232323"  # on a seat's colour
PALETTE = {
    "mark": MARK,
    "ink": INK,
    "faint": FAINT,
    "paper": PAPER,
    "board": BOARD,
    "line": LINE,
    "last": LAST,
    "to-move": TO_MOVE,
    "piece": PIECE,
    "cold": COLD,
    "dim": DIM,
    "light": LIGHT,
    "dark": DARK,
    **{f"seat-{seat}": colour for seat, colour in enumerate(SEAT_COLOURS)},
}
PYRAMID_SIZES = ((26, 30), (35, 41), (44, 52))  # width and height of a small, a medium and a large pyramid
SEAT_NAME = 52  # how far from its left end a seat's row has the name


def drawing(width: float, height: float, title: str, *inside: str) -> str:
    """Return a whole picture on white paper; the title is for screen readers and tooltips."""
    return element(
        "svg",
        element("title", escape(title)),
        element("rect", width=width, height=height, fill=PAPER),
        *inside,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_number(width)} {_number(height)}",
        width=width,
        height=height,
        role="img",
        font_family="Helvetica, Arial, sans-serif",
    )


def element(name: str, *inside: str, **attributes: object) -> str:
    """Return one element; `stroke_width=2` becomes `stroke-width="2"`, numbers are cut to two decimals."""
    written = "".join(f' {key.replace("_", "-")}="{_number(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def text(x: float, y: float, words: str, size: float = 14, **style: object) -> str:
    """Draw words on one line, from (x, y) on unless `text_anchor` says otherwise."""
    return element("text", escape(words), x=x, y=y, font_size=size, **{"fill": INK, **style})


def polygon(*corners: tuple[float, float], **style: object) -> str:
    """Draw a closed outline."""
    return element("polygon", points=" ".join(f"{_number(x)},{_number(y)}" for x, y in corners), **style)


def pyramid(x: float, base: float, size: int, fill: str, scale: float = 1, **style: object) -> str:
    """Draw a pyramid seen from the side, standing on `base` with its middle at `x`; size 0 to 2 has 1 to 3 pips."""
    width, height = (scale * length for length in PYRAMID_SIZES[size])
    left, right, top = (x - width / 2, base), (x + width / 2, base), (x, base - height)
    outline = {"fill": fill, "stroke": INK, "stroke_width": 1.5 * scale, "stroke_linejoin": "round"}
    shade = f"M{x:.1f} {base - height:.1f}L{x + width / 2:.1f} {base:.1f}h{-0.3 * width:.1f}Z"
    pip = {"cy": base - 7 * scale, "r": 3 * scale, "fill": LIGHT, "stroke": DARK, "stroke_width": scale}
    return element(
        "g",
        polygon(left, top, right, **outline),
        element("path", d=shade, fill_opacity=0.18),
        *(element("circle", cx=x + 9 * scale * (number - size / 2), **pip) for number in range(size + 1)),
        **style,
    )


def button(x: float, y: float, width: float, words: str, part: str, height: float = 26) -> str:
    """Draw a button for a choice that has no place on the board; it is seen only where drawings can be clicked."""
    return element(
        "g",
        element("rect", x=x, y=y, width=width, height=height, rx=6, fill=TO_MOVE, stroke=INK),
        text(x + width / 2, y + height / 2 + 5, words, 14, text_anchor="middle"),
        **control(part),
    )


def control(part: str) -> dict[str, object]:
    """Return the attributes of a part that is seen only where drawings can be clicked."""
    return {"class": "control", "data_part": part, "opacity": 0}


def seat_row(
    left: float,
    top: float,
    width: float,
    height: float,
    seat: int,
    *,
    to_move: bool,
    bold: bool = False,
    below: str = "",
    fill: str = INK,
) -> str:
    """Draw a seat's line in a panel: its colour, its name above some words, and a frame when it is to move."""
    middle = top + height / 2
    frame = element("rect", x=left, y=top, width=width, height=height, rx=8, fill=TO_MOVE, stroke=INK)
    arrow = element("path", d=f"M{left + 8} {middle - 7}l12 7l-12 7z", fill=INK)
    swatch = {"x": left + 26, "y": middle - 8, "width": 16, "height": 16, "rx": 3}
    style = {"font_weight": "bold" if bold or to_move else "normal", "fill": fill}
    return element(
        "g",
        *((frame, arrow) if to_move else ()),
        element("rect", **swatch, fill=SEAT_COLOURS[seat], stroke=INK),
        text(left + SEAT_NAME, middle + (-2 if below else 5), f"seat {seat}", 15, **style),
        text(left + SEAT_NAME, middle + 15, below, 13, **style) if below else "",
    )


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
