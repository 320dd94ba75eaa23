"""Drawings in both layouts: every part takes clicks where it is, and is large enough on a phone; names; pieces."""

import copy
import functools
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import vl_convert
from PIL import Image

import engine
from engine import ParameterError, State
from engine.epicycle import drawing as epicycle_drawing
from engine.svg import NARROW
from tests.engine.matches import tables, walk
from tests.engine.pictures import SVG, parts_of, pieces_of

WIDEST = {
    ("pyramid_punch", 5): [
        "LMSO@0,0/LMSO@1,0/LMSO@2,0/LMSO@3,0/LMSO@4,0 0 f 5",
        "LMSO@0,0/LMSO@1,0/x4/LMSO@3,0/LMSO@4,0 0 f 5",
    ]
}
"""Positions with tables as broad as there are."""
LEAST_TARGET, LEAST_LETTERS = 24, 11  # pixels
TABLES = [table[:2] for table in tables() if not table[2]]


def scale_of(root: ElementTree.Element) -> float:
    """Return how many pixels a unit of a narrow drawing has where it is shown as wide as it is meant to be."""
    return NARROW / float(root.get("viewBox", "").split()[2])


def taken(root: ElementTree.Element, names: dict[int, str]) -> np.ndarray:
    """Return for every pixel of a drawing the part that takes a click there, by its number.

    The drawing is painted anew: the shapes of each part in a colour of its own, above them what takes clicks and is no
    part, in black; what takes none is left out.
    """
    painted = copy.deepcopy(root)
    _paint(painted, "", True, {name: f"#{number:02x}00ff" for number, name in names.items()}, True)
    image = _image(ElementTree.tostring(painted, "unicode"), float(root.get("width", 0)))
    pixels = np.asarray(image.convert("RGB"))
    return np.where((pixels[:, :, 2] > 250) & (pixels[:, :, 1] < 5), pixels[:, :, 0], 0)


def box_of(root: ElementTree.Element, part: str) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of where a part would take clicks if it were alone, the last two excluded."""
    only = _pruned(root, part)
    _paint(only, "", True, {part: "#0100ff"}, False)
    return _box(ElementTree.tostring(only, "unicode"), float(root.get("width", 0)))


@functools.cache  # most parts are drawn alike in several positions
def _box(svg: str, width: float) -> tuple[int, int, int, int]:
    found = _image(svg, width).getchannel("A").getbbox()
    assert found is not None, svg
    return found


def _pruned(node: ElementTree.Element, part: str) -> ElementTree.Element:
    """Return a copy of a node with nothing in it but what is of a part: such a drawing is soon painted."""
    copied = ElementTree.Element(node.tag, node.attrib)
    for child in node:
        if child.get("data-part") == part:
            copied.append(copy.deepcopy(child))
        elif len(inner := _pruned(child, part)):
            copied.append(inner)
    return copied


def _image(svg: str, width: float) -> Image.Image:
    return Image.open(io.BytesIO(vl_convert.svg_to_png(svg, scale=min(1, 400 / width))))


def _paint(node: ElementTree.Element, colour: str, filled: bool, colours: dict[str, str], others: bool) -> None:
    """Give a node and what is in it the colour of its part; leave out what takes no clicks."""
    part = node.get("data-part")
    colour = colours.get(part, "#000000" if others else "") if part else colour
    filled = node.get("pointer-events") == "all" or node.get("fill", "" if filled else "none") != "none"
    for child in list(node):
        if child.get("pointer-events") == "none" or child.tag in (f"{{{SVG}}}title", f"{{{SVG}}}text"):
            node.remove(child)
        else:
            _paint(child, colour, filled, colours, others)
    for attribute in ("opacity", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "rx"):
        node.attrib.pop(attribute, None)
    if not len(node):
        node.set("fill", (colour or ("#000000" if others else "none")) if filled else "none")
        node.set("shape-rendering", "crispEdges")


def decisions(name: str, players: int) -> list[State]:
    """Return positions of a match in which somebody decides: one of each kind of decision, and one from the middle."""
    found = [state.clone() for state in walk(engine.load_game(name, players), 3) if state.current_player() >= 0]
    kinds: dict[tuple[str, ...], State] = {}
    for state in found:
        parts = next(iter((state.targets() or {}).values()))
        kinds.setdefault(tuple(re.sub("[0-9].*", "", part) for part in parts), state)
    return [
        *kinds.values(),
        found[len(found) // 2],
        *map(engine.load_game(name, players).state_from_position, WIDEST.get((name, players), ())),
    ]


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize(("name", "players"), TABLES)
def test_every_part_takes_the_click_in_the_middle_of_its_box(name, players, narrow):
    for state in decisions(name, players):
        svg = state.picture(narrow=narrow)
        root, names = ElementTree.fromstring(svg), dict(enumerate(sorted(parts_of(svg)), 1))
        numbers = taken(root, names)
        wrong = []
        for part in names.values():
            left, top, right, bottom = box_of(root, part)
            middle = (top + bottom - 1) // 2, (left + right - 1) // 2
            places = len(re.findall(f'data-part="{re.escape(part)}"', svg))
            if places == 1 and names.get(int(numbers[middle])) != part:
                wrong.append(part)
            if narrow:
                size = min(right - left, bottom - top)
                if size < LEAST_TARGET - 1:
                    wrong.append(f"{part}: {size} pixels")
        assert wrong == [], state.position


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_letters_in_a_narrow_drawing_can_be_read(name, players):
    for number, state in enumerate(walk(engine.load_game(name, players), 3)):
        if number % 5 == 0:
            root = ElementTree.fromstring(state.picture(narrow=True))
            sizes = [float(node.get("font-size", LEAST_LETTERS)) for node in root.iter()]
            assert min(sizes) * scale_of(root) >= LEAST_LETTERS, state.position


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize(("name", "players"), TABLES)
def test_pips_are_large_enough_to_be_counted(name, players, narrow):
    for state in decisions(name, players):
        root = ElementTree.fromstring(state.picture(narrow=narrow))
        parents = {child: parent for parent in root.iter() for child in parent}
        for part in (node for node in root.iter() if node.get("data-part")):
            for pip in part.iter(f"{{{SVG}}}circle"):
                shrunk, node = 1.0, parents[pip]
                while node is not part:
                    scaled = re.search(r"scale\(([0-9.]+)\)", node.get("transform", ""))
                    shrunk, node = shrunk * float(scaled[1] if scaled else 1), parents[node]
                assert 2 * float(pip.get("r", 0)) * shrunk * (scale_of(root) if narrow else 1) >= 2.3


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize(("name", "players"), TABLES)
def test_players_are_called_by_their_names_whatever_these_are(name, players, narrow):
    state = engine.load_game(name, players).new_initial_state()
    names = [f"<b>&{seat}" for seat in range(players)]
    words = " ".join(ElementTree.fromstring(state.picture(names=names, narrow=narrow)).itertext())
    assert all(each in words for each in names) and "seat 0" not in words
    long = state.picture(names=["a name that goes on and on, " * 9 + "to its end"] * players, narrow=narrow)
    assert "a name" in long and "to its end" not in long
    with pytest.raises(ParameterError, match=rf"{players} players have {players} names, not 1"):
        state.picture(names=["alone"])


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_piece_that_stays_keeps_its_id_and_few_change_theirs(name, players):
    before: set[str] | None = None
    for state in walk(engine.load_game(name, players), 3):
        now = {*pieces_of(state.picture())}
        if before is not None and len(state.history()) > 1:
            assert len(before - now) <= 12, state.position
        before = now


def test_a_piece_moves_from_the_hand_to_the_board_under_the_name_of_its_kind():
    state = engine.load_game("magic_mids", 2).state_from_position("/".join(["........"] * 5) + " 555/555 0 bbb 0")
    before = {*pieces_of(state.picture())}
    after = {*pieces_of(state.child(state.string_to_action("Sa2")).picture())}
    assert (before - after, after - before) == ({"0-S@hand.4"}, {"0-S@a2"})


def test_a_game_with_one_drawing_gives_it_for_every_screen(monkeypatch):
    monkeypatch.delattr(epicycle_drawing, "picture")
    monkeypatch.setattr(epicycle_drawing, "svg", lambda state: f"<svg>{state.position}</svg>", raising=False)
    state = engine.load_game("epicycle", 2).new_initial_state()
    assert state.svg() == state.picture(narrow=True, names=["one", "two"]) == "<svg>SMLSMLSML. SML/SML 0 0</svg>"
