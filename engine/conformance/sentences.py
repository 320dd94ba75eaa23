"""A check of what a game says in sentences: prompts, what happened, verdicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from xml.etree import ElementTree

from engine.conformance.matches import choices
from engine.conformance.probe import Probe, expect, refused, unchanged
from engine.errors import UnsupportedError
from engine.game import State, shown
from engine.words import MAX_SENTENCE_CHARS, Motion, Names, Sentence, following, max_name_chars

MAX_TOLD_ACTIONS = 12
"""Actions of one state of which it is asked what they do."""
STRANGE_PARTS = ("", "nothing", "hand-99-S", "\0\n<&>", "9" * 400)


def sentences(probe: Probe) -> str | None:
    players, count = probe.game.players, 0
    long = tuple(str(seat) + "m" * (max_name_chars(players) - 1) for seat in range(players))
    readers = (None, Names(long), Names(long, players - 1))
    for state in probe.stops(24):
        with unchanged("prompt, tell or verdict", state):
            drawn = _drawn(state)  # drawing takes most of this check's time, and knows no names
            count += _told(state, readers, drawn)
            for names in readers:
                count += _prompts(state, names, drawn) + _verdicts(state, names, drawn)
    return f"{count:,} sentences"


def _prompts(state: State, names: Names | None, drawn: Collection[str] | None) -> int:
    targets = state.targets()
    begun = {parts[:length] for parts in (targets or {}).values() for length in range(len(parts))} or {()}
    for chosen in sorted(begun)[:MAX_TOLD_ACTIONS]:
        said = state.prompt(names, chosen)
        _in_form("prompt()", said, drawn)
        expect(
            {*said.parts} == {*following(targets, chosen)[1]},
            f"prompt() after {shown(chosen)} speaks of {shown(said.parts)}, not of what can be clicked",
        )
        for part in STRANGE_PARTS:
            _in_form(f"prompt() after {shown(part)}", state.prompt(names, (*chosen, part)), drawn)
    return len(begun)


def _told(state: State, readers: Sequence[Names | None], drawn: Collection[str] | None) -> int:
    possible = [] if state.is_terminal() else choices(state)
    possible = possible[:: max(1, len(possible) // MAX_TOLD_ACTIONS)]
    for action in possible:
        after = state.child(action)
        later = _drawn(after)
        for names in readers:
            said = state.tell(action, names, after)
            _in_form("tell()", said, None if drawn is None or later is None else {*drawn, *later})
            for motion in said.motions:
                expect(isinstance(motion, Motion), f"tell() has a motion {shown(motion)}, which is no Motion")
                expect(not drawn or motion.source in {*drawn, ""}, f"no part {shown(motion.source)} was in the drawing")
                expect(not later or motion.target in {*later, ""}, f"no part {shown(motion.target)} is in the drawing")
    return len(possible) * len(readers)


def _verdicts(state: State, names: Names | None, drawn: Collection[str] | None) -> int:
    seats: Iterable[int | None] = (None, *range(state.game.players))
    if not state.is_terminal():
        refused("verdict() of a running match", UnsupportedError, state.verdict, 0, names)
        return 0
    for seat in seats:
        _in_form("verdict()", state.verdict(seat, names), drawn)
    return state.game.players + 1


def _in_form(what: str, said: object, drawn: Collection[str] | None) -> None:
    """Raise `Broken` for what is no short sentence, or speaks of parts that are not drawn."""
    expect(isinstance(said, Sentence), f"{what} returns {shown(said)}, which is no Sentence")
    assert isinstance(said, Sentence)
    text = said.text
    fits = type(text) is str and text.isprintable() and text.endswith(".") and len(text) <= MAX_SENTENCE_CHARS
    expect(fits, f"{what} is no sentence of at most {MAX_SENTENCE_CHARS} letters: {shown(text)}")
    missing = [part for part in said.parts if drawn is not None and part not in drawn]
    expect(not missing, f"{what} speaks of {shown(missing[:1])}, which the drawing does not have")


def _drawn(state: State) -> set[str] | None:
    """Return the parts of the drawing; None for a game that draws nothing."""
    try:
        text = state.svg()
    except UnsupportedError:
        return None
    return {part for node in ElementTree.fromstring(text).iter() if (part := node.get("data-part"))}
