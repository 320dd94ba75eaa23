"""The SVG helpers, and what Epicycle draws with them."""

from xml.etree import ElementTree

import pytest

import engine
from engine import State
from engine.svg import LAST, MARK, SEAT_COLOURS, drawing, element, pyramid, text

NAMESPACE = "{http://www.w3.org/2000/svg}"


def parse(inside: str) -> ElementTree.Element:
    """The tree of a drawing that holds it."""
    return ElementTree.fromstring(drawing(10, 10, "title", inside))


def fills(state: State) -> list[str]:
    """The fills of all polygons of a state's drawing."""
    root = ElementTree.fromstring(state.svg())
    return [polygon.attrib["fill"] for polygon in root.iter(f"{NAMESPACE}polygon")]


def words(state: State) -> set[str]:
    """All texts of a state's drawing."""
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


def test_seats_have_colours_of_their_own():
    assert len({*SEAT_COLOURS, MARK}) == 6


def test_every_piece_is_drawn_once_in_its_owners_colour():
    state = engine.load_game("epicycle", 5).state_from_position("SSMLLMSLM. x4/SML/x3/MML/SSL 1 77")
    drawn = fills(state)
    assert [drawn.count(colour) for colour in SEAT_COLOURS] == [0, 3, 0, 3, 3]
    pips = sum(1 for _ in ElementTree.fromstring(state.svg()).iter(f"{NAMESPACE}circle")) - 1  # the rim
    assert pips == (6 + 7 + 5) + (3 * 1 + 3 * 2 + 3 * 3)
    assert {"out, rank 4", "out, rank 3", "turn 77, seat 1 to move"} <= words(state)


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
    assert {"over: cap", "500 plays, ranks [0, 0]"} <= words(over)
    waiting = engine.load_game("epicycle", 2, setup="random").new_initial_state()
    assert "before the deal" in words(waiting)
    assert set(fills(waiting)) & set(SEAT_COLOURS) == set(SEAT_COLOURS[:2])
