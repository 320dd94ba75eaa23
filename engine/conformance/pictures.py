"""Checks of SVG drawings and of the parts that a click on them may reach."""

from __future__ import annotations

from xml.etree import ElementTree

from engine.conformance.probe import NotApplicableError, Probe, expect, same
from engine.errors import UnsupportedError

SVG = "http://www.w3.org/2000/svg"


def svg(probe: Probe) -> str:
    longest = 0
    for state in probe.stops(14):
        try:
            text = state.svg()
        except UnsupportedError:
            raise NotApplicableError("it has no drawing") from None
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            expect(False, f"svg() is not well formed: {error}")
        same("the outermost element", root.tag, f"{{{SVG}}}svg")
        expect(len(root.get("viewBox", "").split()) == 4, "the drawing has no viewBox of four numbers")
        for element in root.iter():
            tag = str(element.tag).rpartition("}")[2]
            expect(tag not in ("script", "image", "foreignObject"), f"the drawing holds <{tag}>")
        expect(text.count("http") == text.count(f'xmlns="{SVG}"') == 1, "the drawing names an address")
        same("the drawing of a clone", state.clone().svg(), text)
        longest = max(longest, len(text))
    return f"up to {longest:,} letters"


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
        parts = {node.get("data-part") for node in ElementTree.fromstring(state.svg()).iter()}
        missing = {part for sequence in sequences for part in sequence} - {*parts}
        expect(not missing, f"the drawing has no part {min(missing, default='')}")
