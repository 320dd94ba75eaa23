"""Midgard (Phillip Leduc), 2 players: sea and land share out a triangle of 124 cells by enclosing its blizzards."""

import re
from collections.abc import Mapping

from engine.errors import ParameterError
from engine.game_types import Bounds, Credit, GameType
from engine.specs import Parameter, Value

MOST_SEEDS = 69


def read_seeds(value: Value) -> Value:
    """Return Loki's seeds in canonical form: a multiple of 3, or interior cells in board order joined by `+`."""
    text = str(value)
    if re.fullmatch("[0-9]{1,9}", text):
        if int(text) % 3 or int(text) > MOST_SEEDS:
            raise ParameterError(f"a number of seeds is a multiple of 3 from 0 to {MOST_SEEDS}")
        return str(int(text))
    from engine.midgard.rules import INTERIOR, cell_number

    names = text.split("+")
    try:
        cells = {cell_number(name): name for name in names}
    except ValueError:
        raise ParameterError(f"neither a multiple of 3 from 0 to {MOST_SEEDS} nor cells such as f6+f7+f8") from None
    for cell, name in cells.items():
        if cell not in INTERIOR:
            raise ParameterError(f"{name} is no interior cell, or it is the centre, which is blizzard anyway")
    if len(cells) < len(names):
        raise ParameterError("a cell is named twice")
    return "+".join(cells[cell] for cell in sorted(cells))


def seeds_need_loki(params: Mapping[str, Value], changed: Mapping[str, object]) -> None:
    """Raise `ParameterError` when seeds other than the default are given for another variant."""
    if "seeds" in changed and params["variant"] != "loki":
        raise ParameterError(f"midgard: seeds={changed['seeds']} is for variant=loki alone, not {params['variant']}")


def opening(params: Mapping[str, Value]) -> str:
    """Return two random drops where nothing else tells two matches apart."""
    by_chance = params["variant"] == "loki" and str(params["seeds"]).isdecimal() and params["seeds"] != "0"
    return "none" if by_chance else "random:2"


MOST_DROPS = 69
ORBITS = 32


def bounds(players: int, params: Mapping[str, Value]) -> Bounds:
    """Return bounds, all reached: at most 69 drops fit on the board; in Odin each may follow a declaration.

    No drop is beside an earlier one. Neighbours point opposite ways, and all 69 cells that point down can take one; the
    54 others besides the centre can each be paired with a different neighbour, so no set without neighbours is larger.
    Hands have 70 tiles: drops alone empty none. In Odin two declarations in a row end the match, so it has at
    most 69 drops, each after one declaration, the last leaving no ice; or 68 such pairs and two declarations.

    Loki: of 123 cells but the centre a number k of seeds leaves 123 - k; up to 54 of them can lie so that 69 drops
    still fit, on cells that point up and, the last three, beside the corners, which then take drops themselves.
    """
    if params["variant"] != "loki":
        return Bounds(MOST_DROPS * (2 if params["variant"] == "odin" else 1))
    seeds = str(params["seeds"])
    if not seeds.isdecimal():
        from engine.midgard.drops import most_drops  # with Numba, which naming the game does not need

        return Bounds(most_drops(seeds.split("+")))
    picks = int(seeds) // 3
    return Bounds(min(MOST_DROPS, 123 - int(seeds)), picks, ORBITS if picks else 0)


GAME = GameType(
    name="midgard",
    title="Midgard",
    summary="Drop sea or land on ice; whoever has more edges around an enclosed patch of blizzard fills it.",
    min_players=2,
    max_players=2,
    num_distinct_actions=125,
    rules_version=1,
    credit=Credit(
        "Phillip Leduc",
        "the author's rules release",
        "may be programmed if the name and rules are not altered and the author is credited",
    ),
    package="engine.midgard",
    parameters=(
        Parameter(
            "variant",
            str,
            "standard",
            "which game: mere_mortal marks all blizzard, odin fills nothing before the end, "
            "loki starts with more blizzard",
            choices=("standard", "mere_mortal", "odin", "loki"),
        ),
        Parameter(
            "seeds",
            str,
            "6",
            "Loki: how many interior cells chance seeds with blizzard (a multiple of 3), or which, as f6+f7+f8",
            check=read_seeds,
        ),
    ),
    check_options=seeds_need_loki,
    bounds=bounds,
    score_unit="cells",
    default_opening=opening,
)
