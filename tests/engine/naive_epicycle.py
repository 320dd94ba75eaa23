"""Epicycle once more, from the rulebook alone and without regard to speed, to hold the engine against.

A table is (pie read clockwise from the gap, hands, seat to move, seats out in order of falling); a hand is a sorted
text such as `LMS`, empty when its seat is out. The seat is None when one seat is left.
"""

from typing import NamedTuple

REACH = {"S+": 1, "S-": -1, "M+": 2, "M-": -2, "L+": 3, "L-": -3}  # where the piece taken stands, from the gap


class Table(NamedTuple):
    pie: str
    hands: tuple[str, ...]
    seat: int | None
    out: tuple[int, ...]


def start(players: int, pie: str = "SMLSMLSML") -> Table:
    """Return the table before the first turn."""
    return begin_turn(Table(pie, ("LMS",) * players, None, ()), 0)


def plays(table: Table, seat: int) -> list[str]:
    """Return the legal plays of a seat, in the order of their numbers."""
    hand, ring = table.hands[seat], "." + table.pie
    return [text for text, at in REACH.items() if text[0] in hand and ring[at] != text[0]]


def play(table: Table, text: str) -> Table:
    """Return the table after a play of the seat to move."""
    pie, hands, seat, out = table
    at = REACH[text] % 10
    ring = text[0] + pie
    hand = "".join(sorted(hands[seat].replace(text[0], "", 1) + ring[at]))
    table = Table(ring[at + 1 :] + ring[:at], (*hands[:seat], hand, *hands[seat + 1 :]), seat, out)
    if hand[0] == hand[2]:
        table = fall(table, seat)
    return begin_turn(table, seat + 1)


def begin_turn(table: Table, seat: int) -> Table:
    """Return the table with the next seat to move that is in and can move; seats that cannot fall on the way."""
    while True:
        seat %= len(table.hands)
        if len(table.out) == len(table.hands) - 1:
            return table._replace(seat=None)
        if table.hands[seat]:
            if plays(table, seat):
                return table._replace(seat=seat)
            table = fall(table, seat)
        seat += 1


def fall(table: Table, seat: int) -> Table:
    """Take a seat out with its pieces."""
    return table._replace(hands=(*table.hands[:seat], "", *table.hands[seat + 1 :]), out=(*table.out, seat))


def ranks(table: Table) -> list[int]:
    """Return final ranks if the match ended here."""
    last = len(table.hands) - 1
    return [last - table.out.index(seat) if seat in table.out else 0 for seat in range(len(table.hands))]
