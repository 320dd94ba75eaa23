"""The SVG helpers, what all games draw with them, and what Epicycle does."""

from xml.etree import ElementTree

import pytest

import engine
from engine import State
from engine.svg import LAST, MARK, PYRAMID_SIZES, SEAT_COLOURS, drawing, element, pyramid, seat_row, text
from tests.engine.matches import tables, walk

NAMESPACE = "{http://www.w3.org/2000/svg}"


def parse(inside: str) -> ElementTree.Element:
    """Return the tree of a drawing that holds it."""
    return ElementTree.fromstring(drawing(10, 10, "title", inside))


def fills(state: State) -> list[str]:
    """Return the fills of all polygons of a state's drawing."""
    root = ElementTree.fromstring(state.svg())
    return [polygon.attrib["fill"] for polygon in root.iter(f"{NAMESPACE}polygon")]


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
    corners = root.find(f".//{NAMESPACE}polygon").attrib["points"].split()
    assert [corner.split(",")[1] for corner in corners].count("50") == 2
    assert "fill" in root.find(f".//{NAMESPACE}polygon").attrib


@pytest.mark.parametrize("scale", [0.5, 1, 2])
def test_a_scaled_pyramid_is_as_much_larger_in_both_directions_and_stands_on_the_same_base(scale):
    outline = parse(pyramid(100, 50, 2, SEAT_COLOURS[0], scale)).find(f".//{NAMESPACE}polygon")
    corners = [tuple(map(float, corner.split(","))) for corner in outline.attrib["points"].split()]
    (left, right), (top, base) = ((min(axis), max(axis)) for axis in zip(*corners, strict=True))
    assert (right - left, base - top) == tuple(scale * length for length in PYRAMID_SIZES[2])
    assert (left + right, base) == (200, 50)


def test_a_seats_row_is_framed_only_when_it_is_to_move_and_holds_its_colour_and_words():
    for to_move in (False, True):
        root = parse(seat_row(0, 0, 100, 50, 3, to_move=to_move, below="rank 1"))
        rectangles = list(root.iter(f"{NAMESPACE}rect"))[1:]  # the paper
        assert len(rectangles) == 1 + to_move
        assert rectangles[-1].attrib["fill"] == SEAT_COLOURS[3]
        assert [node.text for node in root.iter(f"{NAMESPACE}text")] == ["seat 3", "rank 1"]


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
    pips = sum(1 for _ in ElementTree.fromstring(state.svg()).iter(f"{NAMESPACE}circle")) - 1  # the rim
    assert pips == (6 + 7 + 5) + (3 * 1 + 3 * 2 + 3 * 3)
    assert {"out, place 5", "out, place 4", "turn 77, seat 1 to move"} <= words(state)


def test_the_last_play_is_marked_and_only_when_there_was_one():
    game = engine.load_game("epicycle", 2)
    state = game.new_initial_state()
    assert LAST not in state.svg() and MARK not in state.svg()
    state.apply_action(state.string_to_action("S-"))
    assert state.svg().count(f'fill="{LAST}"') == 1
    assert "last play S-" in words(state)
    assert LAST not in game.state_from_position(state.position).svg()


def test_the_end_and_the_wait_for_the_deal_are_told():
    over = engine.load_game("epicycle", 2).state_from_position("SMLSMLSML. SML/SML - 500")
    assert {"over: cap", "500 plays, places [1, 1]"} <= words(over)
    waiting = engine.load_game("epicycle", 2, setup="random").new_initial_state()
    assert "before the deal" in words(waiting)
    assert set(fills(waiting)) & set(SEAT_COLOURS) == set(SEAT_COLOURS[:2])
