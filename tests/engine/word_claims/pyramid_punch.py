"""What Pyramid Punch's sentences claim."""

import re

from tests.engine import naive_pyramid_punch as naive
from tests.engine.word_claims.common import compared, placed, row, whole

FIGHTERS = {"large fighter": "L", "medium fighter": "M", "small fighter": "S", "stone": "O"}
SIZES = {"large": "L", "medium": "M", "small": "S", "stone": "O"}
PIPS = {"L": 3, "M": 2, "S": 1, "O": 0}
SIDES = {"above": "N", "to the right of": "E", "below": "S", "to the left of": "W"}
WHOSE = r"(P\d's|your|their own)"


def owner(words, seat):
    """Return whose something is: `P2's`, or of the seat that is spoken to or acts."""
    return int(words[1]) if words[0] == "P" else seat


def tiles_of(words, seat):
    return {owner(whole(rf"{WHOSE} tile", each)[0], seat) for each in row(words, "or")}


def prompt(said):
    table = naive.Table(said.position)
    if "!" in table.phase:
        own, enemy, theirs = whole(r".*!(.)x(.)(.)", table.phase)
        one, two, mine, pips, other, their_pips = whole(
            r"P(\d) and P(\d) roll a die each: (.*) \(\+(\d)\) against (.*) \(\+(\d)\)\.", said.text
        )
        assert (int(one), two, FIGHTERS[mine], FIGHTERS[other]) == (table.seat, enemy, own, theirs)
        assert (int(pips), int(their_pips)) == (PIPS[own], PIPS[theirs])
        return
    who, words = whole(r"P(\d): (.*)\.", said.text)
    assert int(who) == table.seat
    {"a": asked_to_arrange, "p": asked_to_place, "f": asked_to_fight, "m": asked_to_move}[table.phase[0]](
        said, table, words
    )


def asked_to_arrange(said, table, words):
    assert words == "choose how your four fighters stand on your tile"


def asked_to_place(said, table, words):
    left = set(table.seats) - set(table.place)
    if not table.place:
        assert words == "choose the tile to place first, anybody's"
    elif not said.chosen:
        kind, tiles = whole(r"choose (a|the last) tile to place, (.*)", words)
        assert tiles_of(tiles, table.seat) == left and (kind == "a") == (len(left) > 1)
    else:
        pattern = ("now choose a place beside another tile for (.*)", "now choose how far (.*) is turned clockwise")
        (tile,) = whole(pattern[len(said.chosen) - 1], words)
        assert tiles_of(tile, table.seat) == {int(said.chosen[0][-1])} <= left


def asked_to_fight(said, table, words):
    fights = [*naive.legal_fights(table)]
    if not said.chosen:
        owns, due = whole(
            "attack with (.*); (1 fight is|[0-9]+ fights are) due before a tile is rotated or moved", words
        )
        assert due == ("1 fight is" if len(fights) == 1 else f"{len(fights)} fights are")
        assert {FIGHTERS[own.removeprefix("your ")] for own in row(owns, "or")} == {fight[0] for fight in fights}
        return
    enemies, own = whole(r"now attack (.*) with your (.*)", words)
    assert said.chosen == (f"fighter-{table.seat}-{FIGHTERS[own]}",)
    claimed = {whole(r"P(\d)'s (.*)", each) for each in row(enemies, "or")}
    assert {f"{FIGHTERS[own]}x{seat}{FIGHTERS[fighter]}" for seat, fighter in claimed} == {
        fight for fight in fights if fight[0] == FIGHTERS[own]
    }


def asked_to_move(said, table, words):
    legal = naive.legal_turns(table)
    apart = {tile for tile in table.place if not list(naive.beside(table.place, table.place[tile]))}
    moved, rotated = {int(each[0]) for each in legal if ">" in each}, {int(each[0]) for each in legal if "r" in each}
    if said.chosen:
        tile = int(said.chosen[0][-1])
        if tile not in moved:
            (said_tile,) = whole("now choose how far (.*) is rotated clockwise", words)
        else:
            said_tile, rotates = whole("now choose a new place for (.*?)(, or how far it is rotated)?", words)
            assert bool(rotates) == (tile in rotated)
        assert tiles_of(said_tile, table.seat) == {tile}
    elif not apart:
        assert words == "choose a tile to rotate or to move, anybody's" and rotated == set(table.place)
    elif not moved:
        assert words == "choose a tile to rotate, anybody's, as none that lies apart can be moved"
        assert rotated == set(table.place)
    else:
        tiles, lies = whole("choose (.*), which (lies?) apart and must be moved", words)
        assert tiles_of(tiles, table.seat) == moved <= apart and not rotated
        assert (lies == "lies") == (len(moved) == 1)


def told(said):
    table, after = naive.Table(said.position), naive.Table(said.after)
    if "!" in table.phase:
        told_dice(said, table, after)
    elif table.phase == "a":
        who, words = whole(r"P(\d) arranges the fighters, clockwise: (.*)\.", said.text)
        letters = "".join(SIZES[word] for word in words.split(", "))
        assert int(who) == table.seat and letters == said.action == after.spaces[table.seat]
    elif table.phase[0] == "f":
        who, own, enemy, theirs = whole(r"P(\d)'s (.*) attacks P(\d)'s (.*)\.", said.text)
        theirs = SIZES[theirs.removesuffix(" one")] if theirs.endswith(" one") else FIGHTERS[theirs]
        assert int(who) == table.seat and said.action == f"{FIGHTERS[own]}x{enemy}{theirs}"
        assert said.sentence.parts == (f"fighter-{who}-{FIGHTERS[own]}", f"fighter-{enemy}-{theirs}")
    else:
        told_tile(said, table, after)


def told_tile(said, table, after):
    who, verb, whose, how = whole(rf"P(\d) (places|moves|rotates) {WHOSE} tile (.*)\.", said.text)
    tile = owner(whose, table.seat)
    assert int(who) == table.seat and said.action[0] == str(tile) and (whose == "their own") == (tile == table.seat)
    assert said.sentence.parts == (f"tile-{tile}",)
    if verb == "rotates":
        (degrees,) = whole(r"by (\d+)° clockwise", how)
        assert after.spaces[tile] == turned(table.spaces[tile], int(degrees) // 90) and degrees != "0"
        parts = sorted(f"fighter-{tile}-{letter}" for letter in table.spaces[tile].replace(".", ""))
        assert sorted(said.motions) == [(part, part) for part in parts]
        return
    assert said.motions == [(f"tile-{tile}", f"tile-{tile}")]
    assert (verb == "places") == (tile not in table.place)
    if how == "first":
        assert not table.place and after.place == {tile: (0, 0)}
        return
    side, anchor, degrees = whole(rf"({'|'.join(SIDES)}) (.*?)(?:, turned by (\d+)° clockwise)?", how)
    assert degrees != "0" and after.spaces[tile] == turned(table.spaces[tile], int(degrees or 0) // 90)
    beside = owner(anchor, table.seat)
    (x, y), (east, south) = after.place[beside], naive.STEPS[SIDES[side]]
    assert after.place[tile] == (x + east, y + south) and beside != tile


def turned(spaces, quarters):
    return spaces[-quarters:] + spaces[:-quarters] if quarters else spaces


def told_dice(said, table, after):
    own, enemy, theirs = whole(r".*!(.)x(.)(.)", table.phase)
    who, die, plus, total, other, their_die, their_plus, their_total, what = whole(
        r"P(\d) rolls (\d) \+ (\d) = (\d), P(\d) (\d) \+ (\d) = (\d): (.*)\.", said.text
    )
    assert said.action == f"{die}-{their_die}" and (int(who), other) == (table.seat, enemy)
    assert (int(plus), int(their_plus)) == (PIPS[own], PIPS[theirs])
    sums = int(die) + PIPS[own], int(their_die) + PIPS[theirs]
    assert sums == (int(total), int(their_total))
    assert said.sentence.parts == (f"fighter-{who}-{own}", f"fighter-{enemy}-{theirs}")
    if sums[0] == sums[1]:
        assert what == "a tie, and both stay" and after.spaces == table.spaces and said.motions == []
        return
    loser, letter = (int(enemy), theirs) if sums[0] > sums[1] else (table.seat, own)
    whose, fighter, out = whole(r"P(\d)'s (.*) falls(, the last pyramid, and P\d is out)?", what)
    assert (int(whose), FIGHTERS[fighter]) == (loser, letter)
    gone = table.spaces[loser].replace(letter, ".")
    if out:
        assert not set(gone) & set("LMS") and loser not in after.place and f"P{loser} is out" in out
    else:
        assert after.spaces[loser] == gone
    assert said.motions == [(f"fighter-{loser}-{letter}", ""), *([(f"tile-{loser}", "")] if out else [])]


def verdict(said):
    tiles, _, _, turn = said.position.split(" ")
    pyramids = [
        0 if tile[0] == "x" else sum(tile.partition("@")[0].count(each) for each in "LMS") for tile in tiles.split("/")
    ]
    where, score, why = whole(r"(.*?)(?:, (\d+ pyramids?.*?))?: (.*)\.", said.text)
    placed(said, where)
    compared(said, pyramids, score and re.sub(" pyramids?", "", score))
    if said.seat is not None and not pyramids[said.seat]:
        assert why == f"P{said.seat}'s last pyramid fell"
    elif said.ended == "normal":
        assert why == "nobody else has a pyramid left" and sum(map(bool, pyramids)) == 1
    else:
        cap = said.options.get("max_turns", 100)
        draw = ", which is a draw" * (said.options.get("cap_ranking") == "draw")
        assert int(turn) == cap and why == f"the match reached its cap of {cap} turn{'s' * (cap > 1)}{draw}"
