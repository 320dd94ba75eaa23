"""Drawings of states for the terminal and for pages, of what OpenSpiel writes."""

from __future__ import annotations

import re

MAX_LINE_CHARS = 80
"""Letters in a line of a drawing."""
MIN_BOARD_ROWS = 4
TERMINAL_COLOUR = re.compile("\x1b\\[[0-9;]*[A-Za-z]")
"""What colours letters in terminals."""
FEN_CELL = re.compile(r"\+?[A-Za-z]~?|[0-9]{1,2}")
"""A piece, perhaps promoted, or a number of empty squares, in a board as chess writes it."""


def as_drawing(text: str) -> str:
    """Return a text in printable lines of at most `MAX_LINE_CHARS` letters, without the colours of terminals."""
    lines = [
        "".join(letter if letter.isprintable() else "?" for letter in line.expandtabs(4)).rstrip()
        for line in TERMINAL_COLOUR.sub("", text).splitlines()
    ]
    return "\n".join(
        line[at : at + MAX_LINE_CHARS] for line in lines for at in range(0, max(len(line), 1), MAX_LINE_CHARS)
    ).strip("\n")


def with_board(text: str) -> str:
    """Return a text that is a line in chess's notation of boards (FEN) below the board; any other as it is."""
    ranks = text.strip().partition(" ")[0].partition("[")[0].split("/")
    rows = []
    for rank in ranks:
        cells = FEN_CELL.findall(rank)
        if "".join(cells) != rank:
            return text
        rows.append([each for cell in cells for each in (["."] * int(cell) if cell.isdigit() else [cell])])
    if len(rows) < MIN_BOARD_ROWS or len({len(row) for row in rows}) != 1 or not rows[0]:
        return text
    return "\n".join("".join(f"{cell:>3}" for cell in row) for row in rows) + f"\n\n{text}"
