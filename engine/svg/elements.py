"""SVG elements as text: shapes, words, and parts that can be clicked wherever they are drawn."""

from __future__ import annotations

from html import escape

from engine.svg.colours import INK, PAPER, TO_MOVE

NARROW = 340
"""Width of a narrow drawing, which is made for a phone of 360 pixels: there a unit is a pixel."""
WIDE_LETTERS = frozenset("MWmw@%—…")
NARROW_LETTERS = frozenset("fijlrtI.,:;!|'()[]/ -")


def drawing(width: float, height: float, title: str, *inside: str) -> str:
    """Return a whole picture on white paper; the title is for screen readers and tooltips."""
    return element(
        "svg",
        element("title", escape(title)),
        element("rect", width=width, height=height, fill=PAPER),
        *inside,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        stroke_linejoin="round",
        font_family="Helvetica, Arial, sans-serif",
    )


def element(name: str, *inside: str, **attributes: object) -> str:
    """Return one element; `stroke_width=2` becomes `stroke-width="2"`, numbers are cut to two decimals."""
    written = "".join([f' {key.replace("_", "-")}="{number(value)}"' for key, value in attributes.items()])
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def text(x: float, y: float, words: str, size: float = 14, **style: object) -> str:
    """Draw words on one line, from (x, y) on unless `text_anchor` says otherwise."""
    return element("text", escape(words), x=x, y=y, font_size=size, **{"fill": INK, **style})


def polygon(*corners: tuple[float, float], **style: object) -> str:
    """Draw a closed outline."""
    return element("polygon", points=" ".join(f"{number(x)},{number(y)}" for x, y in corners), **style)


def part(name: str, x: float, y: float, width: float, height: float, *inside: str, **style: object) -> str:
    """Return a part: what is drawn for it, above an area without colour that takes clicks on all of its box."""
    area = element("rect", x=x, y=y, width=width, height=height, fill="none", pointer_events="all")
    return element("g", area, *inside, data_part=name, **style)


def untouched(*inside: str) -> str:
    """Return what is drawn above parts without taking their clicks."""
    return element("g", *inside, pointer_events="none") if any(inside) else ""


def button(x: float, y: float, width: float, words: str, part: str, height: float = 26) -> str:
    """Draw a button for a choice that has no place on the board; it is seen only where drawings can be clicked."""
    return element(
        "g",
        element("rect", x=x, y=y, width=width, height=height, rx=6, fill=TO_MOVE, stroke=INK),
        text(x + width / 2, y + height / 2 + 5, words, 14, text_anchor="middle"),
        **control(part),
    )


def control(part: str, label: str = "") -> dict[str, object]:
    """Return the attributes of a part that is seen only where drawings can be clicked.

    `label` is what it is called, where its name does not say it; players' tiles are `tile 0` and so on there.
    """
    return {"class": "control", "data_part": part, "opacity": 0, **({"data_label": label} if label else {})}


BOLD_WIDTH = 1.12
"""Of bold words, in widths of the same words in plain letters."""


def width_of(words: str, size: float) -> float:
    """Return about how wide words are in Helvetica, in units of the drawing; wide rather than narrow."""
    return size * sum(
        0.32 if letter in NARROW_LETTERS else 0.9 if letter in WIDE_LETTERS else 1.0 if letter > "\u2000" else 0.62
        for letter in words
    )


def fitted(words: str, room: float, size: float = 14, bold: bool = False) -> str:
    """Return words that fit into a width: all of them, or the first letters and an ellipsis; all on one line."""
    room = room / BOLD_WIDTH if bold else room
    plain = "".join(letter if letter.isprintable() else " " for letter in words)
    if width_of(plain, size) <= room:
        return plain
    while plain and width_of(f"{plain}…", size) > room:
        plain = plain[:-1]
    return f"{plain.rstrip()}…"


def wrapped(words: str, room: float, size: float = 14) -> list[str]:
    """Return words in lines that fit into a width; a word that is too long alone is cut."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return [fitted(line, room, size) for line in lines]


def number(value: object) -> str:
    """Return a value as attributes have it; a float without needless digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
