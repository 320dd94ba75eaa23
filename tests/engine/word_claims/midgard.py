"""What Midgard's sentences claim."""

import re

from tests.engine.reason_claims import cells as cells_of
from tests.engine.reason_claims import edges
from tests.engine.word_claims.common import compared, placed, row, whole

SIDES = {"sea": "s", "land": "l"}
TILES = 70


def neighbours(board, cell):
    return [near for near in edges(cell) if near in board]


def prompt(said):
    _, mover, flag = said.position.split(" ")
    if mover == "?":
        seeded = sum(letter == "*" for letter in cells_of(said.position).values()) - 1
        left = int(said.options.get("seeds", 6)) - seeded - 3
        follow = f"; {left} more follow" if left else ""
        assert said.text == f"Three cells are seeded with blizzard at random{follow}."
        return
    side = "sea" if mover == "s" else "land"
    who, tile, rest = whole(
        r"P(\d): drop a (sea|land) tile on an ice cell, one with no tile beside it(.*)\.", said.text
    )
    assert (tile, int(who)) == (side, "sl".index(mover))
    odin = said.options.get("variant") == "odin"
    too = ", or declare too that no ice is left: ice then counts as blizzard, and the match ends"
    expected = too if flag == "d" else ""
    other = f"P{1 - int(who)} declares"
    first = f", or declare that no ice is left: if {other} too, ice counts as blizzard and the match ends"
    assert rest == (expected or first * odin)
    board = cells_of(said.position)
    ice = {f"cell-{cell}" for cell, letter in board.items() if letter == "."}
    assert not any(board[near] in "sl" for part in ice for near in neighbours(board, part.removeprefix("cell-")))
    assert {*said.sentence.parts} == ice | ({"declare"} if odin else set())


def told(said):
    board, after = cells_of(said.position), cells_of(said.after)
    mover, flag = said.position.split(" ")[1:]
    if mover == "?":
        one, two, three = said.action.split("+")
        assert said.text == f"Blizzard is seeded on {one}, {two} and {three}."
        assert after[one] == after[two] == after[three] == "*"
        return
    seat = "sl".index(mover)
    filled = {cell for cell in board if board[cell] not in "sl" and after[cell] in "sl"} - {said.action}
    words, *rest = said.text.removesuffix(".").split("; ")
    assert rest == [f"P{each} has placed all {TILES} tiles" for each in (0, 1) if count(after, each) == TILES]
    cells = ([] if said.action == "declare" else [said.action]) + sorted(filled, key=list(board).index)
    assert said.sentence.parts == tuple(f"cell-{cell}" for cell in cells)
    assert said.motions == [("", f"cell-{cell}") for cell in cells]
    if said.action == "declare":
        if flag == "d":
            (shares,) = whole(rf"P{seat} declares too, which ends the match: (.*)", words)
            check_shares(shares, after, filled, empty(after))
        else:
            assert words == f"P{seat} declares that no ice is left" and not filled
        return
    tile, cell, what = whole(rf"P{seat} drops a (sea|land) tile on (\w\d+)(.*)", words)
    assert (SIDES[tile], cell) == (mover, said.action) and board[cell] == "." and after[cell] == mover
    if said.options.get("variant") == "odin":
        over = said.after.split(" ")[1] == "-"
        assert bool(what) == over
        if over:
            check_shares(what.removeprefix(" and leaves no ice: "), after, filled, empty(after))
        return
    board[cell] = mover
    for near in neighbours(board, cell):
        board[near] = "*" if board[near] == "." else board[near]
    beside = {frozenset(region(board, near)) for near in neighbours(board, cell) if board[near] == "*"}
    regions = {one for one in beside if all(board[near] != "." for each in one for near in neighbours(board, each))}
    assert filled <= {each for one in regions for each in one}
    if regions:
        check_enclosed(what, board, after, filled, regions, bool(rest))
    else:
        assert what == ""


def check_enclosed(what, board, after, filled, regions, ran_out):
    words, _, why = what.removeprefix(" and encloses ").partition(": ")
    if len(regions) > 1 or ran_out:
        number, _, decided = whole(r"(\d+) regions?( \((.*)\))?", words)
        assert int(number) == len(regions) and ("regions" in words) == (len(regions) > 1)
        assert (decided is not None) == (len(regions) == 1)
        if decided is not None:
            around = [board[near] for cell in next(iter(regions)) for near in neighbours(board, cell)]
            assert decided == edges_in_words(around.count("s"), around.count("l"))
        if "(" in why:
            assert not ran_out
            check_outcomes(why, board, after, regions)
        else:
            check_shares(why, after, filled, sum(after[cell] not in "sl" for one in regions for cell in one))
        return
    (one,) = regions
    assert one == filled
    assert words == f"{len(one)} cells" if len(one) > 4 else set(row(words)) == one
    around = [board[near] for cell in one for near in neighbours(board, cell)]
    sea, land = around.count("s"), around.count("l")
    if sea == land:
        assert why == f"{sea} edge{'s' * (sea > 1)} each, so each side gets half"
        assert abs(sum(1 if after[cell] == "s" else -1 for cell in one)) == 0
        return
    most, least, _, winner = whole(r"(\d+) edges? to (\d+), so (it goes|they go) to P(\d)", why)
    assert sorted([sea, land]) == [int(least), int(most)] and all(after[cell] == "sl"[int(winner)] for cell in one)
    assert int(winner) == (0 if sea > land else 1) and ("it goes" in why) == (len(one) == 1)


def check_outcomes(words, board, after, regions):
    """Check `h4 goes to P0 (3 edges to 0), i2 and j2 are shared (2 edges each)`."""
    left = {*regions}
    for each in re.split(r"(?<=\)), ", words):
        which, verb, edges_told = whole(r"(.*) (goes to P\d|go to P\d|are shared) \((.*)\)", each)
        alike = [one for one in left if (which == f"{len(one)} cells" if len(one) > 4 else set(row(which)) == one)]
        left.remove(next(one for one in alike if outcome(board, after, one) == (verb, edges_told)))
    assert not left


def outcome(board, after, one):
    """Return what is to be told of a region, who gets it by which edges; regions of as many cells read the same."""
    around = [board[near] for cell in one for near in neighbours(board, cell)]
    sea, land = around.count("s"), around.count("l")
    decided = edges_in_words(sea, land)
    if sea == land:
        return "are shared", decided
    winner = 0 if sea > land else 1
    assert all(after[cell] == "sl"[winner] for cell in one)
    return f"{'goes' if len(one) == 1 else 'go'} to P{winner}", decided


def edges_in_words(sea, land):
    most = max(sea, land)
    return f"{most} edge{'s' * (most > 1)} " + ("each" if sea == land else f"to {min(sea, land)}")


def region(board, start):
    found = {start}
    while more := {near for cell in found for near in neighbours(board, cell) if board[near] == "*"} - found:
        found |= more
    return found


def empty(board):
    return sum(letter not in "sl" for letter in board.values())


def check_shares(words, after, filled, left):
    """Check `12 cells go to P0 and 9 to P1, 5 stay empty`."""
    words, _, stay = words.partition(", ")
    assert stay == (f"{left} stay{'s' * (left == 1)} empty" if left and filled else "")
    counts = {seat: sum(after[cell] == "sl"[seat] for cell in filled) for seat in (0, 1)}
    shares = [] if words == "no cell is filled" else row(words)
    claimed = [whole(r"(\d+)(?: cells? goe?s?)? to P(\d)", share) for share in shares]
    assert [(int(seat), int(number)) for number, seat in claimed] == [each for each in counts.items() if each[1]]


def count(board, seat):
    return sum(letter == "sl"[seat] for letter in board.values())


def verdict(said):
    board = cells_of(said.position)
    scores = [count(board, seat) for seat in (0, 1)]
    where, score, _, mine, theirs, why = whole(
        r"(.*?), (\d+ cells?.*?)(, (\d+) of the perimeter to (\d+))?: (.*)\.", said.text
    )
    placed(said, where)
    if scores[0] == scores[1]:
        rim = [cell for cell in board if len(neighbours(board, cell)) == 1]
        rims = [sum(board[cell] == side for cell in rim) for side in "sl"]
        seat = said.ranks.index(0) if said.seat is None else said.seat
        assert score == f"{scores[0]} cells each" and [int(mine), int(theirs)] == [rims[seat], rims[1 - seat]]
        assert (rims[seat] > rims[1 - seat]) == (said.ranks[seat] == 0)
    else:
        assert mine is None
        compared(said, scores, score.replace(" cells", "").replace(" cell", ""))
    if said.plies[-1][1] == "declare":
        assert why == "both declared that no ice was left" and said.plies[-2][1] == "declare"
    elif TILES in scores:
        assert why == f"P{scores.index(TILES)} has placed all {TILES} tiles"
    else:
        assert why == "no ice was left" and (said.options.get("variant") == "odin" or "." not in board.values())
