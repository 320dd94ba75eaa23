"""Drawing games as SVG: seat colours that every eye tells apart, and the few shapes that board games need."""

from html import escape

SEAT_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")  # by seat, after Okabe and Ito
MARK = "#D55E00"  # their vermilion: the last play, and nobody's colour
INK, FAINT, PAPER = "#222222", "#777777", "#FFFFFF"
BOARD, LINE, LAST = "#F6F3EC", "#B9B2A3", "#FBE9A9"
PYRAMID_SIZES = ((26, 30), (35, 41), (44, 52))  # width and height of a small, a medium and a large pyramid


def drawing(width: float, height: float, title: str, *inside: str) -> str:
    """A whole picture on white paper; the title is for screen readers and tooltips."""
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
    """One element; `stroke_width=2` becomes `stroke-width="2"`, numbers are cut to two decimals."""
    written = "".join(f' {key.replace("_", "-")}="{_number(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def text(x: float, y: float, words: str, size: float = 14, **style: object) -> str:
    """Words on one line, from (x, y) on unless `text_anchor` says otherwise."""
    return element("text", escape(words), x=x, y=y, font_size=size, **{"fill": INK, **style})


def polygon(*corners: tuple[float, float], **style: object) -> str:
    """A closed outline."""
    return element("polygon", points=" ".join(f"{_number(x)},{_number(y)}" for x, y in corners), **style)


def pyramid(x: float, base: float, size: int, fill: str) -> str:
    """A pyramid seen from the side, standing on `base` with its middle at `x`; size 0 to 2 has 1 to 3 pips."""
    width, height = PYRAMID_SIZES[size]
    left, right, top = (x - width / 2, base), (x + width / 2, base), (x, base - height)
    pips = (
        element("circle", cx=x + 9 * (pip - size / 2), cy=base - 7, r=3, fill=PAPER, stroke=INK)
        for pip in range(size + 1)
    )
    shade = polygon(right, top, (x + width / 5, base), fill="#000000", fill_opacity=0.18)
    outline = polygon(left, top, right, fill="none", stroke=INK, stroke_width=1.5, stroke_linejoin="round")
    return element("g", polygon(left, top, right, fill=fill), shade, outline, *pips)


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
