"""What Magic Mids' sentences claim."""

from tests.engine import naive_magic_mids as naive
from tests.engine.word_claims.common import compared, placed, row, whole

SIZES = {"small": "S", "medium": "M", "large": "L"}
FACES = {"blank": "b", "ace": "a", "2": "2", "3": "3", "4": "4", "5": "5"}
STOCK = {2: 15, 3: 11, 4: 8}


def sizes_of(words):
    """Return the sizes of `a small or a medium mid`."""
    return {SIZES[word.removeprefix("a ")] for word in row(words.removesuffix(" mid"), "or")}


def squares_of(board, words):
    """Return the squares of `any free square` or `a free square of column 3 or 5`."""
    free = {naive.ROWS[r] + naive.HEADERS[c] for r in range(5) for c in range(4) if (r, c) not in board}
    if words == "any free square":
        return free
    columns = row(words.removeprefix("a free square of column "), "or")
    assert {square[1] for square in free}.issuperset(columns)
    return {square for square in free if square[1] in columns}


def prompt(said):
    fields = said.position.split(" ")
    if fields[3] == "-":
        assert said.text == f"P{fields[2]} rolls three dice."
        return
    board, _, seat, roll, _ = naive.read(said.position)
    legal = naive.legal(said.position)
    if said.chosen:
        who, where, size = whole(r"P(\d): now choose (.*) for the (\w+) mid\.", said.text)
        assert said.chosen == (f"hand-{who}-{SIZES[size]}",)
        claimed = {SIZES[size] + square for square in squares_of(board, where)}
        assert claimed == {action for action in legal if action[0] == SIZES[size]}
    else:
        who, what, where, again = whole(
            r"P(\d): place (.*) from hand on (.*?)(, then roll again if the match goes on)?\.", said.text
        )
        assert {size + square for size in sizes_of(what) for square in squares_of(board, where)} == legal
        assert bool(again) == (roll == "bbb")
    assert int(who) == seat


def told(said):
    if said.position.split(" ")[3] == "-":
        told_roll(said)
    else:
        told_mid(said)


def told_roll(said):
    rows, hands, seat, _, turn = said.position.split(" ")
    who, shown, blanks, rest = whole(r"P(\d) rolls (.*?)(?:, the (blanks? as .*?))?: (.*)\.", said.text)
    assert who == seat and "".join(FACES[face] for face in row(shown)) == said.action
    body, _, after = rest.partition("; ")
    over = said.after.split(" ")[2] == "-"
    allowed = naive.placements(said.action)
    if said.action == "bbb":
        assert (body, blanks, after) == ("any mid goes to any free square, and another roll follows", None, "")
        return
    assert blanks is None or blanks.startswith("blanks") == (said.action.count("b") > 1)
    copied = {FACES[face] for face in row(blanks.split(" as ")[1], "or")} if blanks else set()
    assert copied == (set(said.action) - {"b"} if "b" in said.action else set())
    if not allowed:
        assert body == "no two dice agree, so nothing is placed"
        assert after == ("" if over else f"P{(int(seat) + 1) % said.players} is next")
        return
    what, where, _, why = whole(r"(.* mid) in (.*?)(, but (.*))?", body)
    columns = naive.HEADERS if where == "any column" else row(where.removeprefix("column "), "or")
    assert {size + column for size in sizes_of(what) for column in columns} == allowed
    rolled = f"{rows} {hands} {seat} {said.action} {turn}"
    board, held, _, _, _ = naive.read(rolled)
    if why is None:
        assert naive.legal(rolled) and said.after == rolled and not after
        return
    assert not naive.legal(rolled)
    assert after == ("" if over else f"P{(int(seat) + 1) % said.players} is next")
    full = [column for column in columns if all((r, naive.HEADERS.index(column)) in board for r in range(5))]
    if why == "no such mid is left in hand":
        assert not any(held[int(seat)][size] for size in sizes_of(what))
    else:
        said_full, _ = whole(r"columns? ([^a-z]*(and .)?) (?:is|are) full", why)
        assert set(row(said_full)) == set(full) == set(columns)


def told_mid(said):
    board, _, seat, _, _ = naive.read(said.position)
    who, size, square, _, list_of_caught = whole(r"P(\d) places a (\w+) mid on (..)( and captures (.*))?\.", said.text)
    assert (int(who), SIZES[size] + square) == (seat, said.action)
    placed_at = naive.ROWS.index(square[0]), naive.HEADERS.index(square[1])
    board[placed_at] = f"{seat}{SIZES[size]}"
    lost = naive.captured(board, *placed_at, said.options.get("capture_power") == "each")
    fallen = {naive.ROWS[r] + naive.HEADERS[c]: board[r, c] for r, c in lost}
    assert caught_in(list_of_caught, board, placed_at) == fallen
    assert said.sentence.parts[0] == f"cell-{square}" and {f"cell-{each}" for each in fallen} < {
        *said.sentence.parts,
        "",
    }
    assert said.motions == [
        (f"hand-{seat}-{SIZES[size]}", f"cell-{square}"),
        *((f"cell-{each}", f"hand-{fallen[each][0]}-{fallen[each][1]}") for each in sorted(fallen)),
    ]


def caught_in(words, board, placed_at):
    """Return the captured mids that are told of, by square; checks the powers where they are told."""
    if not words:
        return {}
    if words[0].isdigit():
        number, owners, squares, flanks = whole(r"(\d) mids of (.*), on (.*), between it and (.*)", words)
        found = {each: board[naive.ROWS.index(each[0]), naive.HEADERS.index(each[1])] for each in row(squares)}
        assert len(found) == int(number) and {f"P{mid[0]}" for mid in found.values()} == set(row(owners))
        assert row(flanks) == [beyond(each, board, placed_at) for each in row(squares)]
        return found
    words, _, powers = words.partition(", between it and ")
    found, flanks = {}, {}
    for each in row(words):
        owner, size, square, _, flank = whole(r"P(\d)'s (\w+) mid on (..)( \(with the mid on (..)\))?", each)
        found[square] = owner + SIZES[size]
        flanks[square] = flank
    for square, flank in flanks.items():
        assert (flank is not None) == (len(found) == 2)
        assert flank is None or flank == beyond(square, board, placed_at)
    if len(found) == 3:
        assert row(powers) == [beyond(each, board, placed_at) for each in found]
    elif powers:
        flank, near, far, prey = whole(r"(..) \((.) and (.) against (.)\)", powers)
        ((square, mid),) = found.items()
        assert flank == beyond(square, board, placed_at)
        end = naive.ROWS.index(flank[0]), naive.HEADERS.index(flank[1])
        pips = [naive.SIZES.index(letter) + 1 for letter in (board[placed_at][1], board[end][1], mid[1])]
        assert [int(near), int(far), int(prey)] == pips
    else:
        assert len(found) == 2
    return found


def beyond(square, board, placed_at):
    """Return the square behind one that was captured, seen from the mid placed; the mover has a mid there."""
    steps = naive.ROWS.index(square[0]) - placed_at[0], naive.HEADERS.index(square[1]) - placed_at[1]
    end = (placed_at[0] + 2 * steps[0]) % 5, (placed_at[1] + 2 * steps[1]) % 4
    assert board[end][0] == board[placed_at][0]
    return naive.ROWS[end[0]] + naive.HEADERS[end[1]]


def verdict(said):
    rows, hands, _, _, turn = said.position.split(" ")
    left = [sum(map(int, hand)) for hand in hands.split("/")]
    where, score, why = whole(r"(.*?)(?:, (\d+ mids? on the board.*?))?: (.*)\.", said.text)
    placed(said, where)
    compared(
        said,
        [STOCK[said.players] - each for each in left],
        score and score.replace("mids", "mid").replace(" mid on the board", ""),
    )
    draw = ", which is a draw" * (said.options.get("full_board") == "draw")
    if 0 in left:
        others = said.options.get("losers") == "tied" and said.players > 2 and said.seat not in (None, left.index(0))
        assert why == f"P{left.index(0)} has no mid left in hand" + ", and the others tie" * others
    elif "." not in rows:
        assert why == f"no free square was left{draw}"
    else:
        cap = said.options.get("max_turns", 2000)
        assert int(turn) == cap
        assert why == f"the match reached its cap of {cap:,} turn{'s' * (cap > 1)}{draw}"
