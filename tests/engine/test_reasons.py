"""Why a part of a drawing cannot be clicked: there is a reason for each, and what it claims is true of the position.

Every reason has to match one of the claims of `reason_claims`, which naive code holds against the position's text.
"""

import itertools
import re
from functools import cache
from xml.etree import ElementTree

import pytest

import engine
from arena.registry.rules import rules_of
from engine.words import Reason
from tests.engine.matches import tables, walk
from tests.engine.naive_pyramid_punch import Table
from tests.engine.reason_claims import CLAIMS, place_of
from tests.engine.word_claims.common import labels


@cache
def headings(name):
    """The headings of the rules of a game."""
    return set(re.findall(r"^## (.*)$", rules_of(name), re.MULTILINE))


def parts_of(state):
    return {part for node in ElementTree.fromstring(state.svg()).iter() if (part := node.get("data-part"))}


def clicks(state, most_begun=6):
    """Yield (parts before, part, whether it can be clicked) for every part of the drawing, after some beginnings."""
    sequences = [*(state.targets() or {}).values()]
    begun = sorted({parts[:length] for parts in sequences for length in range(len(parts))})
    for before in begun[:: 1 + len(begun) // most_begun]:
        following = {parts[len(before)] for parts in sequences if parts[: len(before)] == before}
        for part in sorted(parts_of(state)):
            yield before, part, part in following


def decisions(game):
    """Yield states of a random match at which somebody is to move."""
    for ply, state in enumerate(walk(game, 1)):
        if state.current_player() >= 0 and (ply < 10 or ply % 7 == 0):
            yield state


def in_position(state, part):
    """Return a part as the position counts places: from the lowest tile, not from the first one placed."""
    if not part.startswith("place-"):
        return part
    x, y = place_of(part)
    lowest = min(Table(state.position).place)
    return f"place-{x - state.record.x[lowest]},{y - state.record.y[lowest]}"


def checked(state, before, part):
    """Return a reason when what it claims is true; fail otherwise."""
    why = state.why_illegal((*before, part), labels(state.game.players))
    assert why is not None, f"{state.position}: no reason for {part} after {before}"
    found = [(check, match) for pattern, check in CLAIMS[state.game.name] if (match := pattern.fullmatch(why))]
    assert len(found) == 1, why
    assert not isinstance(why, Reason) or why.section in headings(state.game.name), why
    ((check, match),) = found
    before, part = tuple(in_position(state, each) for each in before), in_position(state, part)
    assert check(state.position, before, part, *match.groups()), f"{state.position}, {part} after {before}: {why}"
    return why


@pytest.mark.parametrize(("name", "players", "options"), tables())
def test_every_part_that_cannot_be_clicked_has_a_true_reason_and_no_other_part_has_one(name, players, options):
    for state in decisions(engine.load_game(name, players, **options)):
        for before, part, can in clicks(state):
            if can:
                assert state.why_illegal((*before, part)) is None
            else:
                checked(state, before, part)


@pytest.mark.parametrize(("name", "players", "options"), tables())
def test_actions_have_their_parts_and_those_that_are_not_legal_true_reasons_or_none(name, players, options):
    for state in itertools.islice(decisions(engine.load_game(name, players, **options)), 0, None, 3):
        targets = state.targets()
        for action in {*targets, *range(0, state.game.num_distinct_actions, 3)}:
            parts = state.parts(action) or ()
            assert parts == targets.get(action, parts)
            begun = {one[:length] for one in targets.values() for length in range(len(one) + 1)}
            known = next((length for length in range(len(parts)) if parts[: length + 1] not in begun), 0)
            if state.why_illegal(parts) is not None:
                checked(state, parts[:known], parts[known])
            else:
                assert action in targets or name == "pyramid_punch"


SELDOM = {
    "Column a is full.": ("connect_four", 2, "x....../o....../x.o..../oxo.x../xxxox.x/ooxooox 1"),
    "Every enemy beside P0's small fighter was fought this turn already, and each is fought once.": (
        *("pyramid_punch", 5),
        "LSMO@0,0/SOML@1,0/LO.M@0,-1/LMOS@1,-1/LMOS@0,-2 0 f:1S 0",
    ),
    "P1's tile and P2's tile lie apart and can go nowhere, so a tile must be rotated: none may be moved.": (
        *("pyramid_punch", 4),
        "x2/L...@0,0/M...@-1,1/x3 2 m 21",
    ),
    "P0's tile may not leave P1's tile, which would then lie apart.": (
        *("pyramid_punch", 5),
        "LMSO@0,0/LMSO@1,0/LMSO@5,0/LMSO@6,0/x4 0 m 20",
    ),
}


@pytest.mark.parametrize("why", SELDOM)
def test_reasons_that_random_matches_seldom_give_are_true_as_well(why):
    name, players, position = SELDOM[why]
    state = engine.load_game(name, players).state_from_position(position)
    assert why in {checked(state, before, part) for before, part, can in clicks(state, 100) if not can}


def test_only_the_first_part_in_vain_is_explained_and_none_after_a_whole_action():
    state = engine.load_game("epicycle", 2).new_initial_state()
    whole = state.targets()[state.legal_actions()[0]]
    alone = state.why_illegal(("hand-1-S",))
    assert alone == state.why_illegal(("hand-1-S", *whole)) == "That piece belongs to Orange; Blue is to move."
    assert state.why_illegal(()) is state.why_illegal(whole) is state.why_illegal((*whole, "slot-9")) is None


def test_nothing_is_explained_where_nothing_can_be_clicked():
    waiting = engine.load_game("epicycle", 2, setup="random").new_initial_state()
    over = engine.load_game("epicycle", 2).state_from_position("SMLSMLSML. SML/SML - 500")
    assert waiting.why_illegal(("slot-1",)) is over.why_illegal(("slot-1",)) is None


def test_a_game_without_targets_or_reasons_explains_nothing(monkeypatch):
    state = engine.load_game("connect_four", 2).state_from_position(SELDOM["Column a is full."][2])
    monkeypatch.setattr(type(state), "reason", engine.State.reason)
    assert state.why_illegal(("column-a",)) is None
    monkeypatch.setattr(type(state), "targets", engine.State.targets)
    assert state.why_illegal(("column-a",)) is None
