"""What reasons claim, by game: each claim is held against the text of the position by naive code."""

import re

import engine
from tests.engine import naive_magic_mids as mids
from tests.engine.naive_pyramid_punch import STEPS, Table, beside, connected_pairs, legal_moves

PIPS = {"S": 1, "M": 2, "L": 3}
SIZES = {"small": "S", "medium": "M", "large": "L"}
CLAIMS = {name: [] for name in engine.game_names()}


def claim(game, pattern):
    """Register how what a reason says is checked: `check(position, parts before, part, *groups of the pattern)`."""

    def register(check):
        CLAIMS[game].append((re.compile(pattern), check))

    return register


def far(pie, slot):
    """Return how far a slot is from the gap, looked for step by step both ways."""
    return next(steps for steps in range(10) for way in (1, -1) if pie[(slot + way * steps) % 10] == ".")


class Pie:
    """A position of Epicycle."""

    def __init__(self, position):
        self.pie, hands, self.seat, _ = position.split(" ")
        self.hand = hands.split("/")[int(self.seat)]

    def takes(self, size):
        """Return the slots from which playing a size takes a piece."""
        return [n for n in range(10) if far(self.pie, n) == PIPS[size] and self.pie[n] != size]


@claim("epicycle", r"That piece belongs to P(.); P(.) is to move\.")
def _(position, before, part, owner, seat):
    return part.split("-")[1] == owner != seat == Pie(position).seat


@claim(
    "epicycle", r"Both pieces (.) slots? from the gap, in slots (.) and (.), are (\w+) too: a piece of another size .*"
)
def _(position, before, part, steps, one, two, size):
    at = Pie(position)
    reached = [slot for slot in range(10) if far(at.pie, slot) == int(steps)]
    size = SIZES[size]
    alike = at.pie[int(one)] == at.pie[int(two)] == size
    return part == f"hand-{at.seat}-{size}" and reached == [int(one), int(two)] and alike and PIPS[size] == int(steps)


@claim("epicycle", r"Slot (.) is the gap: choose the piece in hand that goes there\.")
def _(position, before, part, slot):
    return (before, part) == ((), f"slot-{slot}") and Pie(position).pie[int(slot)] == "."


@claim("epicycle", r"Slot (.) is (.) slots from the gap, and no piece has more than 3 pips\.")
def _(position, before, part, slot, steps):
    return part == f"slot-{slot}" and far(Pie(position).pie, int(slot)) == int(steps) > 3


@claim(
    "epicycle",
    r"Only a (\w+) piece takes from slot (.), (.) slots? from the gap, "
    r"and (P. holds none|the piece there is \w+ too)\.",
)
def _(position, before, part, size, slot, steps, why):
    at = Pie(position)
    same = why == f"the piece there is {size} too" and at.pie[int(slot)] == SIZES[size]
    size = SIZES[size]
    none = why == f"P{at.seat} holds none" and size not in at.hand
    return part == f"slot-{slot}" and PIPS[size] == int(steps) == far(at.pie, int(slot)) and (none or same)


@claim("epicycle", r"Choose a (\w+) piece in hand first: it takes from slot (.), (.) slots? from the gap\.")
def _(position, before, part, size, slot, steps):
    at = Pie(position)
    size = SIZES[size]
    return (before, part) == ((), f"slot-{slot}") and size in at.hand and int(slot) in at.takes(size)


@claim("epicycle", r"Slot (.) is the gap, into which the (\w+) piece goes: choose the piece to take\.")
def _(position, before, part, slot, size):
    return part == f"slot-{slot}" and Pie(position).pie[int(slot)] == "." and before[0][-1] == SIZES[size]


@claim("epicycle", r"A (\w+) piece takes one exactly (.) slots? from the gap; slot (.) is (.) slots? from it\.")
def _(position, before, part, size, wanted, slot, steps):
    size = SIZES[size]
    played = part == f"slot-{slot}" and before[0][-1] == size
    return played and int(wanted) == PIPS[size] != int(steps) == far(Pie(position).pie, int(slot))


@claim("epicycle", r"The piece in slot (.) is (\w+) like the one played: a piece of another size must be taken\.")
def _(position, before, part, slot, size):
    return part == f"slot-{slot}" and before[0][-1] == SIZES[size] == Pie(position).pie[int(slot)]


@claim("epicycle", r"The (\w+) piece is chosen already: choose the piece to take\.")
def _(position, before, part, size):
    return before[0][-1] == SIZES[size] and Pie(position).takes(part[-1])


@claim("epicycle", r"P(.) holds no (\w+) piece\.")
def _(position, before, part, seat, size):
    size = SIZES[size]
    return part == f"hand-{seat}-{size}" and seat == Pie(position).seat and size not in Pie(position).hand


def mids_in(words):
    """Return the sizes of `a small or a medium mid`."""
    return {SIZES[word] for word in re.findall("small|medium|large", words)}


def rolled(position, roll, words, size=None):
    """Return whether what a reason says of a roll, `a small or a medium mid in column 2 or 5`, is all it allows."""
    sizes, _, columns = words.partition(" mid in ")
    headers = "2345" if columns == "every column" else re.findall("[2-5]", columns)
    said = {each + column for each in mids_in(sizes) for column in headers}
    allowed = {use for use in mids.placements(mids.read(position)[3]) if size is None or use[0] == size}
    faces = [{"b": "blank", "a": "ace"}.get(face, face) for face in mids.read(position)[3]]
    return roll == f"{faces[0]}, {faces[1]} and {faces[2]}" and said == allowed


@claim("magic_mids", r"Those mids belong to P(.); P(.) is to move\.")
def _(position, before, part, owner, seat):
    return part.split("-")[1] == owner != seat == str(mids.read(position)[2])


@claim("magic_mids", r"P(.) has no (\w+) mid left in hand\.")
def _(position, before, part, seat, size):
    _, hands, mover, _, _ = mids.read(position)
    size = SIZES[size]
    return part == f"hand-{seat}-{size}" and int(seat) == mover and hands[mover][size] == 0


@claim("magic_mids", r"The roll of (.*) allows (.*), and no (\w+) one\.")
def _(position, before, part, roll, words, size):
    allowed = {use[0] for use in mids.placements(mids.read(position)[3])}
    return rolled(position, roll, words) and part[-1] == SIZES[size] not in allowed


@claim("magic_mids", r"The (\w+) mid is chosen already: choose the square it goes to\.")
def _(position, before, part, size):
    return before[0][-1] == SIZES[size] and part[-1] in {action[0] for action in mids.legal(position)}


@claim("magic_mids", r"(..) holds P(.)'s mid: a mid goes to a free square\.")
def _(position, before, part, square, seat):
    board = mids.read(position)[0]
    return part == f"cell-{square}" and board["abcde".index(square[0]), int(square[1]) - 2][0] == seat


@claim("magic_mids", r"The roll of (.*) allows (.*), not in column (.)\.")
def _(position, before, part, roll, words, column):
    return rolled(position, roll, words, before[0][-1]) and part[-1] == column and column not in words


@claim("magic_mids", r"The roll of (.*) allows (.*), and nothing in column (.)\.")
def _(position, before, part, roll, words, column):
    return rolled(position, roll, words) and part[-1] == column and column not in words


@claim("magic_mids", r"Choose (.*) in hand first, then the square (..)\.")
def _(position, before, part, sizes, square):
    able = {action[0] for action in mids.legal(position) if action[1:] == square}
    return (before, part) == ((), f"cell-{square}") and able == mids_in(sizes)


def cells(position):
    """Return Midgard's board as {name of a cell: its letter}."""
    rows = position.split(" ")[0].split("/")
    return {f"{'abcdefghijk'[row]}{n}": letter for row, line in enumerate(rows) for n, letter in enumerate(line, 1)}


def edges(name):
    """Return the cells that may share an edge with a cell, from the notation's page; some may not exist."""
    row, n = name[0], int(name[1:])
    if row == "k":
        return {f"j{2 * n + 1}"}
    found = {f"{row}{n - 1}", f"{row}{n + 1}"}
    up, down = chr(ord(row) - 1), chr(ord(row) + 1)
    if row == "a":
        return found | {"b3"}
    if row == "b" and n == 3:
        found.add("a1")
    if row == "j":
        return found | ({f"k{(n - 1) // 2}"} if n % 2 else {f"i{n}"})
    if n % 2 == 0:
        return found | {f"{down}{n + 1 if row != 'i' else n}"}
    return found | {f"{up}{n - 1}"}


@claim("midgard", r"(.*) holds a tile of (sea|land): tiles are dropped on ice\.")
def _(position, before, part, cell, side):
    return part == f"cell-{cell}" and cells(position)[cell] == side[0]


@claim("midgard", r"(.*) is blizzard, beside the tiles? on (.*): tiles are dropped on ice\.")
def _(position, before, part, cell, names):
    board = cells(position)
    tiles = {near for near in edges(cell) if board.get(near, ".") in "sl"}
    return part == f"cell-{cell}" and board[cell] == "*" and tiles == set(re.findall(r"[a-k]\d+", names))


@claim("midgard", r"g8 is the centre, blizzard from the start: tiles are dropped on ice\.")
def _(position, before, part):
    return part == "cell-g8" and cells(position)["g8"] == "*"


@claim("midgard", r"(.*) is seeded with blizzard from the start: tiles are dropped on ice\.")
def _(position, before, part, cell):
    board = cells(position)
    lone = not any(board.get(near, ".") in "sl" for near in edges(cell))
    return part == f"cell-{cell}" != "cell-g8" and board[cell] == "*" and lone


def tiles_apart(table):
    return {tile for tile in table.place if not list(beside(table.place, table.place[tile]))}


def moves(table, tiles):
    return {move for tile in tiles for move in legal_moves(table, tile)}


def place_of(part):
    return tuple(map(int, part.partition("-")[2].split(",")))


def places_of(table, moves):
    """Return the places to which moves such as `2>0E` lead."""
    places = ((table.place[int(move[2])], STEPS[move[3]]) for move in moves)
    return {f"place-{x + right},{y + down}" for (x, y), (right, down) in places}


def facing(table):
    """Return (own fighter, (enemy seat, fighter)) for all of the mover's fighters that stand beside an enemy."""
    return [(own, enemy) for (seat, own), enemy in table.contacts(table.place) if seat == table.seat]


def fought(table):
    return {(int(enemy[0]), enemy[1]) for enemy in table.phase.partition(":")[2].split(",") if enemy}


def fighter_in(words):
    """Return the seat and the letter of `P1's large fighter`."""
    seat, word = re.fullmatch(r"P(.)'s (\w+)(?: fighter)?", words).groups()
    return int(seat), {**SIZES, "stone": "O"}[word]


def fighter_of(part):
    _, seat, letter = part.split("-")
    return int(seat), letter


@claim("pyramid_punch", r"P(.) chooses an arrangement now: tiles are placed when everybody has chosen\.")
def _(position, before, part, seat):
    return Table(position).phase == "a" and Table(position).seat == int(seat)


@claim("pyramid_punch", r"P(.)'s tile lies on the table already: choose one that is still to be placed\.")
def _(position, before, part, tile):
    table = Table(position)
    return table.phase == "p" and int(tile) in table.place and part.split("-")[1] == tile


@claim("pyramid_punch", r"A whole tile is placed: choose P(.)'s tile itself\.")
def _(position, before, part, tile):
    table = Table(position)
    return table.phase == "p" and fighter_of(part)[0] == int(tile) in set(table.seats) - set(table.place)


@claim("pyramid_punch", r"Choose a tile first, then its place beside another one, then how far it is turned\.")
def _(position, before, part):
    return Table(position).phase == "p" and not before and part.split("-")[0] in ("place", "turn")


@claim("pyramid_punch", r"P(.)'s tile is chosen: choose its place beside another tile, then how far it is turned\.")
def _(position, before, part, tile):
    return Table(position).phase == "p" and before == (f"tile-{tile}",)


@claim("pyramid_punch", r"P(.)'s tile has its place: choose how far it is turned\.")
def _(position, before, part, tile):
    return Table(position).phase == "p" and before[0] == f"tile-{tile}" and len(before) == 2


@claim("pyramid_punch", r"Fights come before tiles are rotated or moved: choose (the enemy that .* fights|one of .*)\.")
def _(position, before, part, words):
    table = Table(position)
    first = words == f"one of P{table.seat}'s fighters, then an enemy beside it" and not before
    then = before and fighter_in(words.removeprefix("the enemy that ").removesuffix(" fights")) == fighter_of(before[0])
    return table.phase[0] == "f" and not part.startswith("fighter") and (first or then)


@claim("pyramid_punch", r"(.*) is chosen already: choose the enemy that it fights\.")
def _(position, before, part, own):
    table = Table(position)
    fresh = {mine for mine, enemy in facing(table) if enemy not in fought(table)}
    return fighter_of(before[0]) == fighter_in(own) and fighter_of(part)[0] == table.seat and part[-1] in fresh


@claim("pyramid_punch", r"Every enemy beside (.*) was fought this turn already, and each is fought once\.")
def _(position, before, part, own):
    table = Table(position)
    seat, letter = fighter_in(own)
    met = {enemy for mine, enemy in facing(table) if mine == letter}
    return fighter_of(part) == (seat, letter) and seat == table.seat and met and met <= fought(table)


@claim("pyramid_punch", r"(.*) stands beside no enemy\.")
def _(position, before, part, own):
    table, (seat, letter) = Table(position), fighter_in(own)
    return fighter_of(part) == (seat, letter) and seat == table.seat and letter not in dict(facing(table))


@claim("pyramid_punch", r"(P.*) was fought this turn already, and each enemy is fought once\.")
def _(position, before, part, fighter):
    return fighter_of(part) == fighter_in(fighter) and fighter_in(fighter) in fought(Table(position))


@claim("pyramid_punch", r"(.*) stands beside none of P(.)'s fighters\.")
def _(position, before, part, fighter, mover):
    table, enemy = Table(position), fighter_in(fighter)
    met = {other for _, other in facing(table)}
    return fighter_of(part) == enemy and enemy[0] != table.seat == int(mover) and enemy not in met


@claim("pyramid_punch", r"(.*) does not stand beside (.*): who fights must share an edge\.")
def _(position, before, part, fighter, own):
    apart = (before[0][-1], fighter_of(part)) not in facing(Table(position))
    return apart and fighter_of(before[0]) == fighter_in(own) and fighter_of(part) == fighter_in(fighter)


@claim("pyramid_punch", r"Choose (.*) first: it stands beside (.*)\.")
def _(position, before, part, owns, fighter):
    table, enemy = Table(position), fighter_in(fighter)
    able = {(table.seat, mine) for mine, other in facing(table) if other == enemy}
    return not before and fighter_of(part) == enemy and able == {*map(fighter_in, re.split(", | or ", owns))}


@claim("pyramid_punch", r"No fight is left in this turn: choose a whole tile, not a fighter\.")
def _(position, before, part):
    return Table(position).phase == "m" and part.startswith("fighter") and not before


@claim("pyramid_punch", r"Choose a tile first: (.*) may be moved there\.")
def _(position, before, part, tiles):
    table = Table(position)
    all_moves = moves(table, tiles_apart(table) or table.place)
    able = {move[0] for move in all_moves if part in places_of(table, [move])}
    return not before and able == set(re.findall(r"P(.)'s tile", tiles))


@claim("pyramid_punch", r"Choose a tile first, then how far it is rotated\.")
def _(position, before, part):
    table = Table(position)
    return not before and part.startswith("turn-") and not (tiles_apart(table) and moves(table, tiles_apart(table)))


@claim(
    "pyramid_punch", r"No tile may go there: it must meet another tile's fighters and may leave no tiles disconnected\."
)
def _(position, before, part):
    table = Table(position)
    return not before and not tiles_apart(table) and part not in places_of(table, moves(table, table.place))


@claim(
    "pyramid_punch",
    r"P(.)'s tile is chosen: choose (its new place|how far it is rotated|its new place or how far it is rotated)\.",
)
def _(position, before, part, tile, words):
    table = Table(position)
    bound = bool(tiles_apart(table) and moves(table, tiles_apart(table)))
    may_move = bool(moves(table, [int(tile)])) and (bound or not tiles_apart(table))
    said = "its new place" in words, "how far" in words
    return table.phase == "m" and before == (f"tile-{tile}",) and said == (may_move, not bound)


MUST = r"(.*) lies? apart, so (?:it|one of them) must be moved"


@claim("pyramid_punch", MUST + r"(, not rotated|, but not to that place|: no other tile may be)\.")
def _(position, before, part, tiles, words):
    table = Table(position)
    apart = tiles_apart(table)
    able = moves(table, apart)
    claims = {
        "turn": words == ", not rotated",
        "place": words == ", but not to that place" and part not in places_of(table, able),
        "tile": words.endswith("may be") and int(part[-1]) not in apart,
    }
    return apart == {int(tile) for tile in re.findall("P([0-4])'s tile", tiles)} and able and claims[part.split("-")[0]]


@claim("pyramid_punch", r"(.*) lies? apart and can go nowhere, so a tile must be rotated: none may be moved\.")
def _(position, before, part, tiles):
    table = Table(position)
    apart = tiles_apart(table)
    return (
        apart == {int(tile) for tile in re.findall("P([0-4])'s tile", tiles)}
        and not moves(table, apart)
        and part.startswith("place-")
    )


def moved(position, before, part):
    """Return a table, the tile chosen, and where all tiles lie when it is moved to a place."""
    table, tile = Table(position), int(before[0][-1])
    return table, tile, {**table.place, tile: place_of(part)}


@claim("pyramid_punch", r"P(.)'s tile lies there\.")
def _(position, before, part, tile):
    return Table(position).place[int(tile)] == place_of(part)


@claim("pyramid_punch", r"No tile but P(.)'s tile lies beside that place\.")
def _(position, before, part, tile):
    table, chosen, _ = moved(position, before, part)
    return {seat for seat, _ in beside(table.place, place_of(part))} == {chosen} == {int(tile)}


@claim("pyramid_punch", r"No fighter on P(.)'s tile would stand beside a fighter of another tile there\.")
def _(position, before, part, tile):
    table, chosen, after = moved(position, before, part)
    return chosen == int(tile) and not any(chosen == one[0] for one, _ in table.contacts(after))


@claim("pyramid_punch", r"P(.)'s tile may not leave P(.)'s tile, which would then lie apart\.")
def _(position, before, part, tile, other):
    table, chosen, after = moved(position, before, part)
    left = not list(beside(after, after[int(other)]))
    return chosen == int(tile) and left and int(other) not in tiles_apart(table)


@claim("pyramid_punch", r"P(.)'s tile may not go there: tiles that are connected now would not be any more\.")
def _(position, before, part, tile):
    table, chosen, after = moved(position, before, part)
    lost = connected_pairs(table.place) - connected_pairs(after)
    return chosen == int(tile) and any(chosen not in pair for pair in lost)


@claim("connect_four", r"Column (.) is full\.")
def _(position, before, part, column):
    return part == f"column-{column}" and position.split("/")[0]["abcdefg".index(column)] != "."


@claim("pig", r"There is nothing to hold: a turn begins with a roll\.")
def _(position, before, part):
    return part == "pot" and position.split(" ")[1] == "0"
