"""The SVG helpers, what all games draw with them, and what Epicycle does."""

import itertools
import re
from xml.etree import ElementTree

import pytest

import engine
from engine import State
from engine.svg import (
    LAST,
    MARK,
    PIECE,
    PYRAMID_SIZES,
    SEAT_COLOURS,
    drawing,
    element,
    fitted,
    lying,
    pyramid,
    seat_row,
    stack,
    text,
    width_of,
    wrapped,
)
from tests.engine.matches import tables, walk
from tests.engine.pictures import SVG, fill_of, pieces_of

NAMESPACE = f"{{{SVG}}}"


def parse(inside: str) -> ElementTree.Element:
    """Return the tree of a drawing that holds it."""
    return ElementTree.fromstring(drawing(10, 10, "title", inside))


def fills(state: State) -> list[str]:
    """Return the fills of all pieces of a state's drawing."""
    return [fill_of(piece) for piece in pieces_of(state.svg()).values()]


def outline(root: ElementTree.Element) -> list[tuple[float, float]]:
    """Return the corners of a pyramid's outline, where its drawing has them."""
    placed = root.find(f".//{NAMESPACE}g[@transform]")
    x, y, scale = (*map(float, re.findall(r"-?[0-9.]+", placed.get("transform"))), 1.0)[:3]
    numbers = [float(each) for each in re.findall(r"-?[0-9.]+", placed.find(f"{NAMESPACE}path").get("d"))]
    return [(x + scale * across, y + scale * down) for across, down in zip(numbers[::2], numbers[1::2], strict=True)]


def words(state: State) -> set[str | None]:
    """Return all texts of a state's drawing."""
    return {node.text for node in ElementTree.fromstring(state.svg()).iter(f"{NAMESPACE}text")}


def test_words_are_escaped_and_numbers_are_short():
    root = parse(text(1 / 3, 2.0, "a < b & 'c'", fill_opacity=0.5))
    node = root.find(f"{NAMESPACE}text")
    assert (node.text, node.attrib["x"], node.attrib["y"], node.attrib["fill-opacity"]) == (
        "a < b & 'c'",
        "0.33",
        "2",
        "0.5",
    )
    assert ElementTree.fromstring(drawing(1, 1, "<&>")).find(f"{NAMESPACE}title").text == "<&>"
    assert element("rect", x=10, height=100.0) == '<rect x="10" height="100"/>'


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_pyramid_has_as_many_pips_as_its_size_and_stands_on_its_base(size):
    root = parse(pyramid(100, 50, size, SEAT_COLOURS[0]))
    assert len(list(root.iter(f"{NAMESPACE}circle"))) == size + 1
    assert max(y for _, y in outline(root)) == 50
    assert root.find(f".//{NAMESPACE}path").attrib["fill"] == SEAT_COLOURS[0]


@pytest.mark.parametrize("scale", [0.5, 1, 2])
def test_a_scaled_pyramid_is_as_much_larger_in_both_directions_and_stands_on_the_same_base(scale):
    corners = outline(parse(pyramid(100, 50, 2, SEAT_COLOURS[0], scale)))
    (left, right), (top, base) = ((min(axis), max(axis)) for axis in zip(*corners, strict=True))
    assert (right - left, base - top) == tuple(scale * length for length in PYRAMID_SIZES[2])
    assert (left + right, base) == (200, 50)


def test_a_lying_pyramid_points_where_it_is_turned():
    corners = outline(parse(lying(100, 50, 2, SEAT_COLOURS[0])))
    assert max(corners)[0] - min(corners)[0] == pytest.approx(PYRAMID_SIZES[2][1], abs=1)
    assert "rotate(90)" in lying(0, 0, 2, SEAT_COLOURS[0], angle=90)


def test_stacked_pyramids_stand_above_each_other_and_the_edge_of_each_is_seen():
    root = parse(stack(100, 50, 1, SEAT_COLOURS[0], 1, ["first", "second", "third"]))
    groups = root.findall(f".//{NAMESPACE}g[@data-piece]")
    assert [group.get("data-piece") for group in groups] == ["first", "second", "third"]
    bases = [max(y for _, y in outline(group)) for group in groups]
    assert bases == sorted(bases, reverse=True) and bases[0] == 50
    assert len(list(root.iter(f"{NAMESPACE}circle"))) == 2  # the pips of the one on top


def test_words_are_cut_and_wrapped_to_fit():
    assert fitted("short", 100) == "short"
    cut = fitted("a name that is much too long", 80)
    assert cut.endswith("…") and width_of(cut, 14) <= 80
    assert fitted("one\nline\x00", 200) == "one line "
    lines = wrapped("several words that need more than a line", 100)
    assert " ".join(lines) == "several words that need more than a line" and len(lines) > 1
    assert all(width_of(line, 14) <= 100 for line in lines)


def test_a_seats_row_is_framed_only_when_it_is_to_move_and_holds_its_colour_and_words():
    for to_move in (False, True):
        root = parse(seat_row(0, 0, 100, 50, 3, to_move=to_move, below="rank 1"))
        rectangles = list(root.iter(f"{NAMESPACE}rect"))[1:]  # the paper
        assert len(rectangles) == 1 + to_move
        assert rectangles[-1].attrib["fill"] == SEAT_COLOURS[3]
        assert [node.text for node in root.iter(f"{NAMESPACE}text")] == ["3", "seat 3", "rank 1"]


@pytest.mark.parametrize(("name", "players", "options"), tables())
def test_every_game_draws_its_seats_and_no_others_in_the_seats_colours(name, players, options):
    *_, last = walk(engine.load_game(name, players, **options), 5)
    for state in (last.game.new_initial_state(), last):
        assert [colour in state.svg() for colour in SEAT_COLOURS] == [seat < players for seat in range(5)]


@pytest.mark.parametrize(("name", "players"), [table[:2] for table in tables() if not table[2]])
def test_every_game_marks_the_last_action_and_nothing_before_the_first(name, players):
    states = walk(engine.load_game(name, players), 5)
    assert MARK not in next(states).svg()
    assert any(MARK in state.svg() for state, _ in zip(states, range(8), strict=False))


def test_seats_have_colours_of_their_own():
    assert len({*SEAT_COLOURS, MARK}) == 6


def test_every_piece_is_drawn_once_in_its_owners_colour():
    state = engine.load_game("epicycle", 5).state_from_position("SSMLLMSLM. x4/SML/x3/MML/SSL 1 77")
    drawn = fills(state)
    assert [drawn.count(colour) for colour in SEAT_COLOURS] == [0, 3, 0, 3, 3]
    assert drawn.count(PIECE) == 9
    pips = sum(1 for _ in ElementTree.fromstring(state.svg()).iter(f"{NAMESPACE}circle")) - 2  # rim and ground
    assert pips == (6 + 7 + 5) + (3 * 1 + 3 * 2 + 3 * 3)
    assert {"out, place 5", "out, place 4", "turn 78, seat 1 to move"} <= words(state)


@pytest.mark.parametrize(("game", "players"), [("epicycle", 2), ("magic_mids", 2), ("pyramid_punch", 2)])
def test_turns_are_counted_from_1_and_one_by_one(game, players):
    numbers = [
        int(number)
        for state in walk(engine.load_game(game, players), 1)
        for word in words(state)
        for number in re.findall(r"^turn (\d+)", word or "")
    ]
    assert numbers[0] == 1 and {after - before for before, after in itertools.pairwise(numbers)} <= {0, 1}
    assert numbers[-1] > 1


def test_the_last_play_is_marked_and_only_when_there_was_one():
    game = engine.load_game("epicycle", 2)
    state = game.new_initial_state()
    assert LAST not in state.svg() and MARK not in state.svg()
    state.apply_action(state.string_to_action("S-"))
    assert state.svg().count(f'fill="{LAST}"') == 1
    assert "last: small piece into slot 9" in words(state)
    assert LAST not in game.state_from_position(state.position).svg()


def test_the_end_and_the_wait_for_the_deal_are_told():
    over = engine.load_game("epicycle", 2).state_from_position("SMLSMLSML. SML/SML - 500")
    assert {"over after 500 plays (longest length)", "first: seat 0 and seat 1"} <= words(over)
    same = over.picture(names=("greedy", "greedy"))
    assert "first: greedy (Blue) and greedy (Orange)" in same, "players who read the same go by their colours"
    for name in ("epicycle", "magic_mids", "pyramid_punch"):
        start = engine.load_game(name, 2).new_initial_state()
        assert "greedy (Blue) to " in start.picture(names=("greedy", "greedy")), name
        assert "greedy to " in start.picture(names=("greedy", "uct")), name
    waiting = engine.load_game("epicycle", 2, setup="random").new_initial_state()
    assert "before the deal" in words(waiting)
    assert set(fills(waiting)) & set(SEAT_COLOURS) == set(SEAT_COLOURS[:2])


ALGEBRA = re.compile(r"(?<!\S)([SML][+-]|[SML][a-e][2-5]|[SMLO]x\d[SMLO]|\d(@|>|r)\S+|roll \S+|[1-6]-[1-6])(?!\S)")
"""Actions and rolls as positions and logs write them."""


@pytest.mark.parametrize(("name", "players", "options"), tables())
def test_drawings_say_what_happened_in_words_not_in_notation(name, players, options):
    for state in walk(engine.load_game(name, players, **options), 5):
        for narrow in (False, True):
            picture = ElementTree.fromstring(state.picture(narrow=narrow))
            said = [node.text or "" for node in picture.iter(f"{NAMESPACE}text")]
            assert not [each for each in said if ALGEBRA.search(each)], said


@pytest.mark.parametrize(("name", "players", "options"), tables())
def test_with_short_names_no_words_of_a_drawing_are_cut(name, players, options):
    names = ["you", *(f"bot {seat}" for seat in range(1, players))]
    for ply, state in enumerate(walk(engine.load_game(name, players, **options), 5)):
        for narrow in (False, True) if ply < 12 or ply % 5 == 0 else ():
            picture = ElementTree.fromstring(state.picture(names=names, narrow=narrow))
            said = [node.text or "" for node in picture.iter(f"{NAMESPACE}text")]
            assert not [each for each in said if re.search(r".…$", each)], said
