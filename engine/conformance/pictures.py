"""Checks of SVG drawings and of the parts that a click on them may reach."""

from __future__ import annotations

from xml.etree import ElementTree

from engine.conformance.probe import NotApplicableError, Probe, expect, same, unchanged
from engine.errors import UnsupportedError
from engine.game import State, shown
from engine.words import Reason

SVG = "http://www.w3.org/2000/svg"
MAX_REASON_CHARS = 200
MAX_FIRST_PARTS = 8
"""First parts of actions in one state after which every part is tried."""
NAME = "<script src='x'>&\x00\u202e\ud800"
"""What a player may be called."""
STRANGE_PARTS = ("", "-", "nothing", "cell-", "hand-99-S", "slot-x", "place-1,", "\0\n<&>", "9" * 400)


def svg(probe: Probe) -> str:
    longest = 0
    for state in probe.stops(14):
        try:
            text = state.svg()
        except UnsupportedError:
            raise NotApplicableError("it has no drawing") from None
        _check_picture(text, "svg()")
        same("the drawing of a clone", state.clone().svg(), text)
        same("picture()", state.picture(), text)
        _check_picture(state.picture(names=[NAME] * state.game.players), "picture() with names")
        narrow = state.picture(narrow=True)
        _check_picture(narrow, "picture(narrow=True)")
        same("the parts of the narrow drawing", _named(narrow, "data-part"), _named(text, "data-part"))
        same("the pieces of the narrow drawing", _named(narrow, "data-piece"), _named(text, "data-piece"))
        longest = max(longest, len(text))
    return f"up to {longest:,} letters"


def _check_picture(text: str, what: str) -> None:
    """Raise `Broken` for what is no SVG document, loads something, or has two pieces of one id."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        expect(False, f"{what} is not well formed: {error}")
    same(f"the outermost element of {what}", root.tag, f"{{{SVG}}}svg")
    expect(len(root.get("viewBox", "").split()) == 4, f"{what} has no viewBox of four numbers")
    for element in root.iter():
        tag = str(element.tag).rpartition("}")[2]
        expect(tag not in ("script", "image", "foreignObject"), f"{what} holds <{tag}>")
    expect(text.count("http") == text.count(f'xmlns="{SVG}"') == 1, f"{what} names an address")
    pieces = [piece for element in root.iter() if (piece := element.get("data-piece"))]
    twice = {piece for piece in pieces if pieces.count(piece) > 1}
    expect(not twice, f"{what} has two pieces {min(twice, default='')}")


def _named(text: str, attribute: str) -> list[str]:
    """Return the different values of an attribute in a drawing."""
    return sorted({value for node in ElementTree.fromstring(text).iter() if (value := node.get(attribute))})


def targets(probe: Probe) -> None:
    for state in probe.walk(6):
        found = state.targets()
        if found is None and state.current_player() >= 0:
            raise NotApplicableError("its drawings cannot be clicked")
        if found is None:
            continue
        expect(state.current_player() >= 0, "targets() where nobody is to move")
        same("actions with targets", list(found), state.legal_actions())
        sequences = list(found.values())
        beginnings = {parts[:length] for parts in sequences for length in range(1, len(parts))}
        expect(len({*sequences}) == len(sequences), "two actions have the same targets")
        expect(beginnings.isdisjoint(sequences), "the targets of an action are the first ones of another")
        missing = {part for sequence in sequences for part in sequence} - _parts(state)
        expect(not missing, f"the drawing has no part {min(missing, default='')}")


def reasons(probe: Probe) -> str | None:
    tried = given = 0
    for state in probe.stops(15):
        sequences = [*(state.targets() or {}).values()]
        begun = sorted({parts[:length] for parts in sequences for length in range(len(parts))})[:MAX_FIRST_PARTS]
        with unchanged("reasons", state):
            for before in begun:
                following = {parts[len(before)] for parts in sequences if parts[: len(before)] == before}
                for part in sorted(_parts(state)):
                    why = state.why_illegal((*before, part))
                    _sentence(why, (*before, part))
                    expect(part not in following or why is None, f"{shown(part)} can be clicked, but: {shown(why)}")
                    tried, given = tried + (part not in following), given + (why is not None)
                for part in STRANGE_PARTS:
                    _sentence(state.why_illegal((*before, part)), (*before, part))
        expect(sequences or state.why_illegal(("nothing",)) is None, "a reason where there is nothing to click")
    if not given:
        raise NotApplicableError("it gives no reasons" if tried else "nothing in its drawings is in vain")
    return f"for {given:,} of {tried:,} clicks in vain"


def _parts(state: State) -> set[str]:
    return {part for node in ElementTree.fromstring(state.svg()).iter() if (part := node.get("data-part"))}


def _sentence(why: object, parts: tuple[str, ...]) -> None:
    """Raise `Broken` for a reason that is no sentence in one line."""
    if why is not None:
        expect(type(why) in (str, Reason), f"the reason of {shown(parts)} is no text: {shown(why)}")
        assert isinstance(why, str)
        fits = why.isprintable() and why.endswith(".") and len(why) <= MAX_REASON_CHARS
        expect(fits, f"the reason of {shown(parts)} is no sentence of at most {MAX_REASON_CHARS} letters: {shown(why)}")
        section = why.section if isinstance(why, Reason) else ""
        known = type(section) is str and section.isprintable()
        expect(known, f"the reason of {shown(parts)} names a section that is no heading: {shown(section)}")
