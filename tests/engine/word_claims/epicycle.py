"""What Epicycle's sentences claim."""

from tests.engine import naive_epicycle as naive
from tests.engine.word_claims.common import PLACES, placed, row, whole

SIZES = {"small": "S", "medium": "M", "large": "L"}
PIPS = {"S": 1, "M": 2, "L": 3}


def read(position):
    """Return (ten letters of the pie, hands by seat, the seat to move)."""
    pie, hands, seat, _ = position.split(" ")
    return pie, ["" if hand[0] == "x" else hand for hand in hands.split("/")], seat


def table(position):
    """Return the naive table of a running position."""
    pie, hands, seat = read(position)
    gap = pie.index(".")
    out = tuple(other for other, hand in enumerate(hands) if not hand)
    return naive.Table(pie[gap + 1 :] + pie[:gap], tuple("".join(sorted(hand)) for hand in hands), int(seat), out)


def prompt(said):
    pie, _, seat = read(said.position)
    if seat == "-":
        assert said.text == "Nine pieces are dealt into slots 0 to 8 at random." and pie == "." * 10
        return
    legal, gap = naive.plays(table(said.position), int(seat)), pie.index(".")
    if not said.chosen:
        who, sizes = whole(r"P(\d): put (.*) piece from hand into the gap\.", said.text)
        assert {SIZES[size.removeprefix("a ")] for size in row(sizes, "or")} == {play[0] for play in legal}
    else:
        warning = r"(?:; a (\w+) one would be your third, and put you out)?"
        who, pieces, steps, third = whole(rf"P(\d): now take (.*), (\d) slots? from the gap{warning}\.", said.text)
        played = said.chosen[0][-1]
        assert int(steps) == PIPS[played]
        claimed = {whole(r"the (\w+) piece in slot (\d)", piece) for piece in row(pieces, "or")}
        slots = {(gap + naive.REACH[play]) % 10 for play in legal if play[0] == played}
        assert {int(slot) for _, slot in claimed} == slots
        assert all(pie[int(slot)] == SIZES[size] for size, slot in claimed)
        out = {play: int(seat) in naive.play(table(said.position), play).out for play in legal if play[0] == played}
        fatal = {pie[(gap + naive.REACH[play]) % 10] for play, falls in out.items() if falls}
        assert fatal == ({SIZES[third]} if third else set())
    assert who == seat


def fallen(before, after):
    return [seat for seat, hand in enumerate(read(before)[1]) if hand and not read(after)[1][seat]]


def told(said):
    pie, hands, seat = read(said.position)
    words, *rest = said.text.removesuffix(".").split("; ")
    out = fallen(said.position, said.after)
    if seat == "-":
        assert words == f"The pieces are dealt into slots 0 to 8: {' '.join(said.action)}"
        assert said.after.startswith(said.action + ".")
        assert naive.start(said.players, said.action).out == tuple(out)
        stuck = out
    else:
        naive_after = naive.play(table(said.position), said.action)
        assert set(naive_after.out) == {*out, *table(said.position).out}
        who, size, gap, taken, slot = whole(
            r"P(\d) puts a (\w+) piece into the gap, slot (\d), and takes the (\w+) one from slot (\d)", words
        )
        assert (who, SIZES[size]) == (seat, said.action[0]) and pie[int(gap)] == "."
        assert int(slot) == (int(gap) + naive.REACH[said.action]) % 10 and pie[int(slot)] == SIZES[taken]
        stuck = [other for other in out if other != int(seat)]
        alike = hands[int(seat)].replace(SIZES[size], "", 1) == SIZES[taken] * 2
        assert alike == (int(seat) in out)
        if alike:
            assert rest.pop(0) == f"P{seat} holds three alike and is out"
        assert said.motions[:2] == [
            (f"hand-{seat}-{SIZES[size]}", f"slot-{gap}"),
            (f"slot-{slot}", "" if alike else f"hand-{seat}-{SIZES[taken]}"),
        ]
        assert said.motions[2:] == [
            (f"hand-{one}-{letter}", "") for one in stuck for letter in dict.fromkeys(hands[one])
        ]
        assert said.sentence.parts == (f"slot-{gap}", f"slot-{slot}")
    if len(stuck) == 1:
        assert rest == [f"P{stuck[0]} has no legal play and is out"]
    elif stuck:
        (words,) = rest
        number, names = whole(r"(\d) players have no legal play and are out: (.*)", words)
        assert int(number) == len(stuck) and row(names) == [f"P{one}" for one in stuck]
    else:
        assert rest == []


def verdict(said):
    where, why = whole(r"(.*?)(?:: (.*)|, (?:holding|without) .*)?\.", said.text)
    placed(said, where)
    ranks = said.ranks
    if said.seat is not None and ranks[said.seat] > 0:
        size = fate(said, said.seat)
        how = f"holding three {size} pieces" if size else "without a legal play"
        assert said.text == f"{where}, {how}."
    elif said.ended == "normal":
        last = ranks.index(1)
        size = fate(said, last)
        assert why == (f"P{last} held three {size} pieces" if size else f"P{last} had no legal play")
    elif said.ended == "repetition":
        count = said.options.get("repetition", 3)
        assert why == f"the same position came up for the {PLACES[count - 1]} time"
        assert occurrences(said) == count
    else:
        cap = said.options.get("max_turns", 500)
        assert why == f"the match reached its cap of {cap} play{'s' * (cap > 1)}"
        assert int(said.position.split(" ")[3]) == cap


def fate(said, seat):
    """Return of which size a seat held three when it fell, looked for in the match; empty when it was stuck."""
    positions = [*(position for position, _ in said.plies), said.position]
    for (before, action), after in zip(said.plies, positions[1:], strict=True):
        if seat in fallen(before, after):
            pie, hands, mover = read(before)
            if mover == "-" or int(mover) != seat:
                return ""
            taken = pie[(pie.index(".") + naive.REACH[action]) % 10]
            assert hands[seat].replace(action[0], "", 1) == taken * 2
            return next(word for word, size in SIZES.items() if size == taken)
    raise AssertionError(f"seat {seat} did not fall")


def occurrences(said):
    """Return how often the last position has been seen, with the seat that would have moved."""
    last = table_key(said.position, following_seat(said))
    seen = [table_key(position, read(position)[2]) for position, _ in said.plies if position[0] != "." * 10]
    return 1 + seen.count(last)


def table_key(position, seat):
    pie, hands, _ = read(position)
    gap = pie.index(".")
    return pie[gap:] + pie[:gap], tuple(hands), str(seat)


def following_seat(said):
    hands, mover = read(said.position)[1], int(read(said.plies[-1][0])[2])
    return next(
        seat % said.players for seat in range(mover + 1, mover + 1 + said.players) if hands[seat % said.players]
    )
