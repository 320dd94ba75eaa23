"""Magic Mids in sentences: what to place, what a roll allows, what a placement captured, and how a match ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.magic_mids import text as notation
from engine.magic_mids.rules import BOARD, COLUMNS, PLACEMENTS, ROWS, SQUARES, THREE_BLANKS
from engine.words import MAX_LIST_CHARS, Motion, Names, Sentence, counted, following, listed, margin, placing

if TYPE_CHECKING:
    from engine.state import KernelState

SIZE_WORDS = {"S": "small", "M": "medium", "L": "large"}
FACE_WORDS = {"b": "blank", "a": "ace"}
THE_ROLL, PLACEMENT, CAPTURE, THE_END = "§3 The roll", "§4 Placing", "§5 Capture", "§6 The end"


# What to do now


def prompt(state: KernelState, names: Names, chosen: tuple[str, ...]) -> Sentence:
    """Return who rolls, what is to be placed where, or where the mid chosen goes."""
    if state.is_chance_node():
        text = names.begin(f"{names.does(state.rolling_seat(), 'roll')} three dice.")
        return Sentence(text, section=THE_ROLL)
    chosen, parts = following(state.targets(), chosen)
    squares = _squares_by_size(state)
    if chosen:
        size = chosen[0][-1]
        what = f"now choose {_where(state, squares[size])} for the {SIZE_WORDS[size]} mid"
    else:
        (found,) = {*map(tuple, squares.values())}  # sizes that one roll allows go to the same squares
        what = f"place {a_mid(squares)} from hand on {_where(state, list(found))}"
        if state.record.roll == THREE_BLANKS:
            what += ", then roll again if the match goes on"
    return Sentence(names.ask(state.current_player(), what), parts, section=PLACEMENT)


def _squares_by_size(state: KernelState) -> dict[str, list[str]]:
    """Return the squares that each size may be placed on."""
    found: dict[str, list[str]] = {}
    for action in state.legal_actions():
        name = notation.ACTIONS[action]
        found.setdefault(name[0], []).append(name[1:])
    return found


def a_mid(sizes: dict[str, list[str]] | str) -> str:
    """Return `a small mid`, `a small or a medium mid`."""
    return f"{listed([f'a {SIZE_WORDS[size]}' for size in sizes], 'or')} mid"


def _where(state: KernelState, squares: list[str]) -> str:
    """Return `any free square` or `a free square of column 3 or 5`."""
    cells = notation.board_cells(state.record)
    free = [square for square, cell in zip(notation.SQUARE_NAMES, cells, strict=True) if cell == notation.FREE]
    if squares == free:
        return "any free square"
    return f"a free square of column {listed(sorted({square[1] for square in squares}), 'or')}"


# What happened


def tell(before: KernelState, action: int, after: KernelState, names: Names) -> Sentence:
    """Return what a roll shows and allows, or what was placed and captured."""
    told = _told_roll if before.is_chance_node() else _told_mid
    return told(before, action, after, names)


def _told_roll(before: KernelState, roll: int, after: KernelState, names: Names) -> Sentence:
    faces, seat = notation.OUTCOMES[roll], before.rolling_seat()
    rolled = f"{names.does(seat, 'roll')} {listed([FACE_WORDS.get(face, face) for face in faces])}"
    if roll == THREE_BLANKS:
        text = f"{rolled}: any mid goes to any free square, and another roll follows."
        return Sentence(names.begin(text), _hand_parts(seat, notation.SIZE_LETTERS), section=THE_ROLL)
    columns = _columns(roll)
    if not columns:
        text = f"{rolled}: no two dice agree, so nothing is placed{_next(after, names)}."
        return Sentence(names.begin(text), section=THE_ROLL)
    (headers,) = set(columns.values())
    where = "any column" if headers == notation.HEADERS else f"column {listed(headers, 'or')}"
    allowed = f"{a_mid(''.join(columns))} in {where}"
    text = f"{rolled}{_blanks(faces)}: {allowed}"
    if not after.is_terminal() and after.current_player() == seat:
        return Sentence(names.begin(f"{text}."), _hand_parts(seat, "".join(columns)), section=THE_ROLL)
    text = f"{text}, but {_why_not(before, headers)}{_next(after, names)}."
    return Sentence(names.begin(text), _hand_parts(seat, "".join(columns)), section=PLACEMENT)


def _columns(roll: int) -> dict[str, str]:
    """Return by size the headers of the columns in which a roll allows it."""
    allowed = int(PLACEMENTS[roll])
    squares = {size: allowed >> SQUARES * number & BOARD for number, size in enumerate(notation.SIZE_LETTERS)}
    return {
        size: "".join(notation.HEADERS[column] for column in range(COLUMNS) if found >> column & 1)
        for size, found in squares.items()
        if found
    }


def _blanks(faces: str) -> str:
    """Return what the blanks of a roll stand for: `, the blank as 3 or 5`."""
    blanks = faces.count("b")
    if not blanks:
        return ""
    copied = dict.fromkeys(FACE_WORDS.get(face, face) for face in faces if face != "b")
    return f", the {'blank' if blanks == 1 else 'blanks'} as {listed([*copied], 'or')}"


def _why_not(before: KernelState, headers: str) -> str:
    """Return why nothing that the roll allows can be placed."""
    cells = notation.board_cells(before.record)
    free = {name[1] for name, cell in zip(notation.SQUARE_NAMES, cells, strict=True) if cell == notation.FREE}
    if free.isdisjoint(headers):
        return f"column {headers} is full" if len(headers) == 1 else f"columns {listed(headers)} are full"
    return "no such mid is left in hand"


def _next(after: KernelState, names: Names) -> str:
    return "" if after.is_terminal() else f"; {names.does(after.rolling_seat(), 'be')} next"


def _hand_parts(seat: int, sizes: str) -> tuple[str, ...]:
    return tuple(f"hand-{seat}-{size}" for size in sizes)


class Caught(NamedTuple):
    """A mid that was captured: whose, which, where, and where the mid flanks it that was there before."""

    owner: int
    size: str
    square: str
    flank: str


def _told_mid(before: KernelState, action: int, after: KernelState, names: Names) -> Sentence:
    seat, name = before.current_player(), notation.ACTIONS[action]
    size, square = name[0], name[1:]
    caught = _captures(before, action, after)
    placed = f"{names.does(seat, 'place')} a {SIZE_WORDS[size]} mid on {square}"
    parts = [f"cell-{square}"]
    motions = [Motion(f"hand-{seat}-{size}", f"cell-{square}")]
    for each in caught:
        parts += [f"cell-{each.square}", f"cell-{each.flank}"]
        motions.append(Motion(f"cell-{each.square}", f"hand-{each.owner}-{each.size}"))
    if caught:
        placed += f" and {'capture' if seat == names.you else 'captures'} {_captured(before, size, caught, names)}"
    section = CAPTURE if caught else PLACEMENT
    return Sentence(names.begin(f"{placed}."), tuple(dict.fromkeys(parts)), tuple(motions), section)


def _captures(before: KernelState, action: int, after: KernelState) -> list[Caught]:
    """Return what a placement captures, in the order of squares."""
    cells, placed = notation.board_cells(before.record), action % SQUARES
    found = []
    for lost in notation.captures(after.record):
        middle = lost % SQUARES
        (row, column), (to_row, to_column) = divmod(placed, COLUMNS), divmod(middle, COLUMNS)
        far = (2 * to_row - row) % ROWS, (column + 2 * (to_column - column)) % COLUMNS
        flank = notation.SQUARE_NAMES[COLUMNS * far[0] + far[1]]
        found.append(Caught(int(cells[middle][0]), cells[middle][1], notation.SQUARE_NAMES[middle], flank))
    return sorted(found, key=lambda each: each.square)


def _captured(before: KernelState, size: str, caught: list[Caught], names: Names) -> str:
    """Return what was captured, and with which mids as far as there is room; of one the powers too.

    Of many only whose they were.
    """
    mids = [f"{names.whose(each.owner)} {SIZE_WORDS[each.size]} mid on {each.square}" for each in caught]
    if len(caught) == 1:
        cells = notation.board_cells(before.record)
        flank = cells[notation.SQUARE_NAMES.index(caught[0].flank)][1]
        power = {letter: pips for pips, letter in enumerate(notation.SIZE_LETTERS, start=1)}
        powers = f"{power[size]} and {power[flank]} against {power[caught[0].size]}"
        return f"{mids[0]}, between it and {caught[0].flank} ({powers})"
    if len(caught) == 2:
        return listed([f"{mid} (with the mid on {each.flank})" for mid, each in zip(mids, caught, strict=True)])
    between = f", between it and {listed([each.flank for each in caught])}"
    if len(caught) == 3:
        return listed(mids) + (between if len(listed(mids)) < MAX_LIST_CHARS - 2 * len(between) else "")
    owners = listed([names.who(owner) for owner in sorted({each.owner for each in caught})])
    return f"{len(caught)} mids of {owners}, on {listed([each.square for each in caught])}{between}"


# How it ended


def verdict(state: KernelState, seat: int | None, names: Names) -> Sentence:
    """Return a seat's place, by how many mids, and the rule that ended the match."""
    ranks, params = state.ranks(), state.game.params
    scores = [sum(cell[0] == str(each) for cell in notation.board_cells(state.record)) for each in range(len(ranks))]
    placed = placing(ranks, seat, names) + margin(ranks, scores, seat, "mid", "on the board")
    if state.ended == "normal":
        winner = ranks.index(0)
        why = f"{names.does(winner, 'have')} no mid left in hand"
        if params["losers"] == "tied" and seat not in (None, winner) and state.game.players > 2:
            why += ", and the others tie"
        return Sentence(f"{placed}: {why}.", section=THE_END)
    if state.ended == "full board":
        why = "no free square was left"
    else:
        why = f"the match reached its cap of {counted(int(params['max_turns']), 'turn')}"
    draw = ", which is a draw" if params["full_board"] == "draw" else ""
    return Sentence(f"{placed}: {why}{draw}.", section=THE_END)
