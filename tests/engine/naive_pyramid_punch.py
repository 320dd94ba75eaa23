"""Pyramid Punch's legal actions recomputed slowly from a position string: spaces on a grid, searches, no tables."""

from itertools import permutations, product

STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))


class Table:
    """The tiles of a position: `spaces` and `place` by seat."""

    def __init__(self, position):
        tiles, seat, self.phase, _ = position.split(" ")
        self.seat = int(seat) if seat != "-" else None
        self.spaces, self.place, self.seats = {}, {}, []
        for number, text in enumerate(tiles.split("/")):
            if "@" in text:
                self.seats.append(number)
                self.spaces[number], _, where = text.partition("@")
                if where != "-":
                    self.place[number] = tuple(map(int, where.split(",")))

    def fighters(self, places):
        """Return {space on a grid twice as fine: (seat, fighter)}."""
        found = {}
        for seat, (x, y) in places.items():
            for letter, (dx, dy) in zip(self.spaces[seat], CORNERS, strict=True):
                if letter != ".":
                    found[2 * x + dx, 2 * y + dy] = (seat, letter)
        return found

    def contacts(self, places):
        """Return ordered pairs of fighters of different seats on spaces that share an edge."""
        found = self.fighters(places)
        for (x, y), one in found.items():
            for dx, dy in STEPS.values():
                other = found.get((x + dx, y + dy))
                if other is not None and other[0] != one[0]:
                    yield one, other


def beside(places, place):
    """Return the tiles that a place touches, lowest first, each with the side of it on which the place lies."""
    for seat, (x, y) in sorted(places.items()):
        for side, (dx, dy) in STEPS.items():
            if (x + dx, y + dy) == place:
                yield seat, side


def connected_pairs(places):
    """Return pairs of tiles that hang together."""
    pairs = {(a, b) for a in places for b, _ in beside(places, places[a])}
    while True:
        more = {(a, d) for (a, b), (c, d) in product(pairs, pairs) if b == c and a != d} - pairs
        if not more:
            return pairs
        pairs |= more


def candidates(places):
    """Return free places beside a tile."""
    around = {(x + dx, y + dy) for x, y in places.values() for dx, dy in STEPS.values()}
    return around - set(places.values())


def legal_moves(table, tile):
    others = {seat: place for seat, place in table.place.items() if seat != tile}
    before = {pair for pair in connected_pairs(table.place) if tile not in pair}
    lonely_before = {seat for seat in others if not list(beside(table.place, table.place[seat]))}
    for place in candidates(others) - {table.place[tile]}:
        after = {**others, tile: place}
        if not any(tile == one[0] for one, _ in table.contacts(after)):
            continue
        if not before <= connected_pairs(after):
            continue
        if {seat for seat in others if not list(beside(after, after[seat]))} - lonely_before:
            continue
        anchor, side = next(beside(others, place))
        yield f"{tile}>{anchor}{side}"


def legal_fights(table):
    fought = {tuple(enemy) for enemy in table.phase.partition(":")[2].split(",") if enemy}
    for (seat, own), (enemy, theirs) in table.contacts(table.place):
        if seat == table.seat and (str(enemy), theirs) not in fought:
            yield f"{own}x{enemy}{theirs}"


def legal_places(table):
    for tile in set(table.seats) - set(table.place):
        if not table.place:
            yield f"{tile}@*"
        for place in candidates(table.place):
            anchor, side = next(beside(table.place, place))
            yield from (f"{tile}@{anchor}{side}/{turns}" for turns in range(4))


def legal_turns(table):
    rotations = {f"{tile}r{turns}" for tile in table.place for turns in (1, 2, 3)}
    single = [tile for tile in table.place if not list(beside(table.place, table.place[tile]))]
    moves = {move for tile in single or table.place for move in legal_moves(table, tile)}
    return (moves or rotations) if single else moves | rotations


def legal_actions(position):
    """Return the legal actions of a decision node, in notation."""
    table = Table(position)
    if table.phase == "a":
        return {"L" + "".join(others) for others in permutations("MSO")}
    if table.phase == "p":
        return set(legal_places(table))
    return set(legal_fights(table)) if table.phase[0] == "f" else legal_turns(table)
