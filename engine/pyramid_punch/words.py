"""Pyramid Punch in sentences: every kind of decision, what fights and moves did, and how a match ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.pyramid_punch.rules import ARRANGE, FIGHT, FIGHTERS, FIGHTS, MOVES, PLACE, STONE, on_table, stands
from engine.pyramid_punch.text import ACTIONS, LETTERS, OUTCOMES
from engine.words import Motion, Names, Sentence, counted, following, listed, margin, placing

if TYPE_CHECKING:
    from engine.state import KernelState

FIGHTER_WORDS = {"L": "large fighter", "M": "medium fighter", "S": "small fighter", "O": "stone"}
SIZE_WORDS = {"L": "large", "M": "medium", "S": "small", "O": "stone"}
SIDE_WORDS = {"N": "above", "E": "to the right of", "S": "below", "W": "to the left of"}
ARRANGING, PLACING, FIGHTING = "§3 Arranging", "§4 Placing", "§5 Fighting"
ELIMINATION, MOVING, THE_END = "§6 Elimination", "§7 Rotating and moving", "§8 The end"


# What to do now


def prompt(state: KernelState, names: Names, chosen: tuple[str, ...]) -> Sentence:
    """Return what is to be arranged, placed, fought, rolled, rotated or moved, step by step."""
    if state.is_chance_node():
        return _rolling(state, names)
    chosen, parts = following(state.targets(), chosen)
    phase, seat = state.record.phase, state.current_player()
    named = names.spoken_to(seat)
    if phase == ARRANGE:
        what, section = "choose how your four fighters stand on your tile", ARRANGING
    elif phase == PLACE:
        what, section = _to_place(state, named, chosen, parts), PLACING
    elif phase == FIGHT:
        what, section = _to_fight(state, named, chosen, parts), FIGHTING
    else:
        what, section = _to_move(state, named, chosen, parts), MOVING
    return Sentence(names.ask(seat, what), parts, section=section)


def _rolling(state: KernelState, names: Names) -> Sentence:
    seat, (own, enemy, theirs) = state.rolling_seat(), _fight(FIGHTS + int(state.record.fight))
    sides = f"{_with_pips(own)} against {_with_pips(theirs)}"
    text = names.begin(f"{names.who(seat)} and {names.who(enemy)} roll a die each: {sides}.")
    return Sentence(text, (), section=FIGHTING)


def _fight(action: int) -> tuple[str, int, str]:
    """Return the own fighter, the enemy's seat and its fighter."""
    name = ACTIONS[action]
    return name[0], int(name[2]), name[3]


def _pips(letter: str) -> int:
    return STONE - LETTERS.index(letter)


def _with_pips(letter: str) -> str:
    return f"{FIGHTER_WORDS[letter]} (+{_pips(letter)})"


def _to_place(state: KernelState, names: Names, chosen: tuple[str, ...], parts: tuple[str, ...]) -> str:
    if not state.record.table:
        return "choose the tile to place first, anybody's"
    if not chosen:
        if len(parts) == 1:
            return f"choose the last tile to place, {tile_of(names, parts[0])}"
        return f"choose a tile to place, {listed([tile_of(names, part) for part in parts], 'or')}"
    if len(chosen) == 1:
        return f"now choose a place beside another tile for {tile_of(names, chosen[0])}"
    return f"now choose how far {tile_of(names, chosen[0])} is turned clockwise"


def tile_of(names: Names, part: str) -> str:
    """Return whose tile a part is: `your tile`."""
    return f"{names.whose(int(part[-1]))} tile"


def _to_fight(state: KernelState, names: Names, chosen: tuple[str, ...], parts: tuple[str, ...]) -> str:
    letters = [FIGHTER_WORDS[part[-1]] for part in parts]
    if not chosen:
        due = len(state.legal_actions())
        text = f"attack with {listed([f'your {words}' for words in letters], 'or')}"
        return f"{text}; {counted(due, 'fight')} {'is' if due == 1 else 'are'} due before a tile is rotated or moved"
    enemies = [f"{names.whose(int(part.split('-')[1]))} {words}" for part, words in zip(parts, letters, strict=True)]
    return f"now attack {listed(enemies, 'or')} with your {FIGHTER_WORDS[chosen[0][-1]]}"


def _to_move(state: KernelState, names: Names, chosen: tuple[str, ...], parts: tuple[str, ...]) -> str:
    apart = any(on_table(state.record, tile) and not state.record.beside[tile] for tile in range(state.game.players))
    moves = any(action >= MOVES for action in state.legal_actions())
    if not chosen:
        if not apart:
            return "choose a tile to rotate or to move, anybody's"
        if not moves:
            return "choose a tile to rotate, anybody's, as none that lies apart can be moved"
        tiles = listed([tile_of(names, part) for part in parts], "or")
        return f"choose {tiles}, which {'lies' if len(parts) == 1 else 'lie'} apart and must be moved"
    kinds = {part.partition("-")[0] for part in parts}
    tile = tile_of(names, chosen[0])
    if kinds == {"turn"}:
        return f"now choose how far {tile} is rotated clockwise"
    return f"now choose a new place for {tile}{', or how far it is rotated' if 'turn' in kinds else ''}"


# What happened


def tell(before: KernelState, action: int, after: KernelState, names: Names) -> Sentence:
    """Return what was arranged, laid, attacked, rotated or moved, or what the dice decided."""
    if before.is_chance_node():
        return _told_dice(before, action, after, names)
    seat, name = before.current_player(), ACTIONS[action]
    if not name[0].isdigit():
        return _told_fight(seat, action, names) if "x" in name else _told_arrangement(seat, name, names)
    tile = int(name[0])
    whose = _whose(names, seat, tile)
    if name[1] == "r":
        text = f"{names.does(seat, 'rotate')} {whose} tile by {90 * int(name[2:])}° clockwise"
        fighters = [f"fighter-{tile}-{letter}" for letter in LETTERS if _stands(before, tile, letter)]
        motions, section = [Motion(part, part) for part in fighters], MOVING
    else:
        text, section = f"{names.does(seat, 'move')} {whose} tile", MOVING
        if name[1] == "@":
            text, section = f"{names.does(seat, 'place')} {whose} tile", PLACING
        text += " first" if name[2:] == "*" else f" {SIDE_WORDS[name[3]]} {_anchor(names, seat, tile, int(name[2]))}"
        text += f", turned by {90 * int(name[-1])}° clockwise" if "/" in name and name[-1] != "0" else ""
        motions = [Motion(f"tile-{tile}", f"tile-{tile}")]
    return Sentence(names.begin(f"{text}."), (f"tile-{tile}",), tuple(motions), section)


def _whose(names: Names, seat: int, tile: int) -> str:
    """Return whose tile the seat moves; for its own one not its name again."""
    if tile != seat:
        return names.whose(tile)
    return "your own" if seat == names.you else "their own"


def _anchor(names: Names, seat: int, tile: int, anchor: int) -> str:
    """Return beside whose tile one is laid: `Blue's` or `yours` after another's tile, with the word after one's own."""
    if anchor == seat:
        return f"{_whose(names, seat, anchor)} tile"
    if tile == seat:
        return f"{names.whose(anchor)} tile"
    return "yours" if anchor == names.you else names.whose(anchor)


def _told_arrangement(seat: int, name: str, names: Names) -> Sentence:
    words = ", ".join(SIZE_WORDS[letter] for letter in name)
    text = f"{names.does(seat, 'arrange')} the fighters, clockwise: {words}."
    return Sentence(names.begin(text), (f"tile-{seat}",), section=ARRANGING)


def _told_fight(seat: int, action: int, names: Names) -> Sentence:
    own, enemy, theirs = _fight(action)
    text = f"{names.whose(seat)} {FIGHTER_WORDS[own]} attacks {names.whose(enemy)} {_one(own, theirs)}."
    return Sentence(names.begin(text), (f"fighter-{seat}-{own}", f"fighter-{enemy}-{theirs}"), section=FIGHTING)


def _one(own: str, theirs: str) -> str:
    """Return a fighter that is named after another one: `large one`, or `large fighter` after a stone."""
    return FIGHTER_WORDS[theirs] if "O" in (own, theirs) else f"{SIZE_WORDS[theirs]} one"


def _told_dice(before: KernelState, outcome: int, after: KernelState, names: Names) -> Sentence:
    seat, (own, enemy, theirs) = before.rolling_seat(), _fight(FIGHTS + int(before.record.fight))
    mine, other = map(int, OUTCOMES[outcome].split("-"))
    totals = mine + _pips(own), other + _pips(theirs)
    text = f"{names.does(seat, 'roll')} {mine} + {_pips(own)} = {totals[0]}, "
    text += f"{names.who(enemy)} {other} + {_pips(theirs)} = {totals[1]}"
    parts = f"fighter-{seat}-{own}", f"fighter-{enemy}-{theirs}"
    if totals[0] == totals[1]:
        return Sentence(names.begin(f"{text}: a tie, and both stay."), parts, section=FIGHTING)
    loser, letter = (enemy, theirs) if totals[0] > totals[1] else (seat, own)
    motions, section = [Motion(f"fighter-{loser}-{letter}", "")], FIGHTING
    text += f": {names.whose(loser)} {FIGHTER_WORDS[letter]} falls"
    if not after.record.tiles[loser]:
        text += f", the last pyramid, and {names.does(loser, 'be')} out"
        motions, section = [*motions, Motion(f"tile-{loser}", "")], ELIMINATION
    return Sentence(names.begin(f"{text}."), parts, tuple(motions), section)


def _stands(state: KernelState, seat: int, letter: str) -> bool:
    return bool(stands(state.record, seat, LETTERS.index(letter)))


# How it ended


def verdict(state: KernelState, seat: int | None, names: Names) -> Sentence:
    """Return a seat's place, by pyramids left, and the rule that decided it."""
    ranks, params = state.ranks(), state.game.params
    pyramids = [sum(_stands(state, each, letter) for letter in LETTERS[: FIGHTERS - 1]) for each in range(len(ranks))]
    placed = placing(ranks, seat, names) + margin(ranks, pyramids, seat, "pyramid")
    if seat is not None and not pyramids[seat]:
        return Sentence(f"{placed}: {names.whose(seat)} last pyramid fell.", section=ELIMINATION)
    if state.ended == "normal":
        return Sentence(f"{placed}: nobody else has a pyramid left.", section=THE_END)
    why = f"the match reached its cap of {counted(int(params['max_turns']), 'turn')}"
    draw = ", which is a draw" if params["cap_ranking"] == "draw" else ""
    return Sentence(f"{placed}: {why}{draw}.", section=THE_END)
