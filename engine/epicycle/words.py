"""Epicycle in sentences: what to play and take, what a play did and who fell, and how a match ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.epicycle.rules import SLOTS, offset_of
from engine.epicycle.text import ACTIONS, OUTCOMES, SIZES, hand_letters, pie_letters
from engine.replays import replay
from engine.words import MAX_LIST_CHARS, PLACES, Motion, Names, Sentence, counted, following, listed, placing

if TYPE_CHECKING:
    from engine.state import KernelState

SIZE_WORDS = {"S": "small", "M": "medium", "L": "large"}
ALLOWED, PLAY, REPETITION, THE_END = "§3 What is allowed", "§4 What a play does", "§5 Repetition", "§6 The end"
SET_UP = "§7 The random set-up"


# What to do now


def prompt(state: KernelState, names: Names, chosen: tuple[str, ...]) -> Sentence:
    """Return that the pie is dealt, which piece can be played, or which one can be taken for it."""
    if state.is_chance_node():
        return Sentence("Nine pieces are dealt into slots 0 to 8 at random.", section=SET_UP)
    chosen, parts = following(state.targets(), chosen)
    if chosen:
        letters, size = pie_letters(state.record), chosen[0][-1]
        pieces = [f"the {SIZE_WORDS[letters[int(part[-1])]]} piece in slot {part[-1]}" for part in parts]
        what = f"now take {listed(pieces, 'or')}, {away(SIZES.index(size) + 1)} from the gap"
        rest = hand_letters(int(state.record.hands), state.current_player()).replace(size, "", 1)
        if rest in {2 * letters[int(part[-1])] for part in parts}:
            what += f"; a {SIZE_WORDS[rest[0]]} one would be your third, and put you out"
    else:
        sizes = listed([f"a {SIZE_WORDS[part[-1]]}" for part in parts], "or")
        what = f"put {sizes} piece from hand into the gap"
    return Sentence(names.ask(state.current_player(), what), parts, section=ALLOWED)


def away(steps: int) -> str:
    """Return how far something is from the gap: `1 slot`, `2 slots`."""
    return counted(steps, "slot")


# What happened


def tell(before: KernelState, action: int, after: KernelState, names: Names) -> Sentence:
    """Return how the pie was dealt, or what was played and taken, and who fell."""
    stuck = [seat for seat in _fallen(before, after) if seat != before.current_player()]
    if before.is_chance_node():
        text = f"The pieces are dealt into slots 0 to 8: {' '.join(OUTCOMES[action])}"
        text = f"{text}{_out(stuck, names, MAX_LIST_CHARS - len(text) - 1)}."
        return Sentence(text, tuple(f"slot-{slot}" for slot in range(SLOTS - 1)), section=SET_UP)
    seat, size, (gap, slot, taken) = before.current_player(), ACTIONS[action][0], _slots(before, action)
    text = f"{names.does(seat, 'put')} a {SIZE_WORDS[size]} piece into the gap, slot {gap}"
    text += f", and {'take' if seat == names.you else 'takes'} the {SIZE_WORDS[taken]} one from slot {slot}"
    motions = [Motion(f"hand-{seat}-{size}", f"slot-{gap}")]
    if not hand_letters(int(after.record.hands), seat):
        text += f"; {names.does(seat, 'hold')} three alike and {'are' if seat == names.you else 'is'} out"
        motions.append(Motion(f"slot-{slot}", ""))
    else:
        motions.append(Motion(f"slot-{slot}", f"hand-{seat}-{taken}"))
    for other in stuck:
        letters = dict.fromkeys(hand_letters(int(before.record.hands), other))
        motions += [Motion(f"hand-{other}-{letter}", "") for letter in letters]
    text = names.begin(f"{text}{_out(stuck, names, MAX_LIST_CHARS - len(text) - 1)}.")
    return Sentence(text, (f"slot-{gap}", f"slot-{slot}"), tuple(motions), PLAY)


def _slots(before: KernelState, action: int) -> tuple[int, int, str]:
    """Return the gap, the slot of the piece taken, and that piece."""
    letters = pie_letters(before.record)
    gap = letters.index(".")
    slot = (gap + int(offset_of(action))) % SLOTS
    return gap, slot, letters[slot]


def _fallen(before: KernelState, after: KernelState) -> list[int]:
    hands = int(before.record.hands), int(after.record.hands)
    seats = range(before.game.players)
    return [seat for seat in seats if hand_letters(hands[0], seat) and not hand_letters(hands[1], seat)]


def _out(stuck: list[int], names: Names, room: int) -> str:
    """Return who cannot play and is out; of several only how many where their names take more letters than `room`."""
    if not stuck:
        return ""
    if len(stuck) > 1:
        text = f"; {len(stuck)} players have no legal play and are out"
        named = f"{text}: {names.all_of(stuck)}"
        return named if len(named) <= room else text
    return f"; {names.does(stuck[0], 'have')} no legal play and {'are' if stuck[0] == names.you else 'is'} out"


# How it ended


def verdict(state: KernelState, seat: int | None, names: Names) -> Sentence:
    """Return a seat's place and why: how it fell, how the last one fell, or what else ended the match."""
    ranks, params, causes = state.ranks(), state.game.params, _causes(state)
    placed = placing(ranks, seat, names)
    if seat is not None and ranks[seat] > 0:
        alike = f", holding three {causes.get(seat)} pieces" if causes.get(seat) else ", without a legal play"
        return Sentence(f"{placed}{alike if seat in causes else ''}.", section=PLAY)
    if state.ended == "normal":
        last = ranks.index(1)
        alike = f"held three {causes.get(last)} pieces" if causes.get(last) else "had no legal play"
        return Sentence(f"{placed}{f': {names.who(last)} {alike}' if last in causes else ''}.", section=PLAY)
    if state.ended == "repetition":
        text = f"{placed}: the same position came up for the {PLACES[int(params['repetition']) - 1]} time."
        return Sentence(text, section=REPETITION)
    cap = counted(int(params["max_turns"]), "play")
    return Sentence(f"{placed}: the match reached its cap of {cap}.", section=THE_END)


def _causes(state: KernelState) -> dict[int, str]:
    """Return by seat of which size it held three alike; empty for one that had no legal play.

    Seats are left out that fell before the position that the match began with.
    """
    causes = {}
    for before, action in replay(state):
        after = before.clone()
        after.apply_action(action)
        for seat in _fallen(before, after):
            causes[seat] = "" if seat != before.current_player() else SIZE_WORDS[_slots(before, action)[2]]
    return causes
