"""Epicycle (Nick Wedig), 2 to 5 players: ten slots of pie, nine pyramids, one gap."""

from collections.abc import Mapping

from engine.game_types import Bounds, Credit, GameType
from engine.specs import Parameter, Value


def bounds(players: int, params: Mapping[str, Value]) -> Bounds:
    """Return bounds, all reached: the cap, and the deal of a random set-up.

    Every play counts towards the cap. From the start, for every number of players, 10,000 plays can be made without
    any position coming twice, so neither repetition nor an elimination need end a match before the largest cap.
    """
    deals = int(params["setup"] == "random")
    return Bounds(int(params["max_turns"]), deals, 1680 * deals)


GAME = GameType(
    name="epicycle",
    title="Epicycle",
    summary="Put a piece into the gap, take another as far away as yours has pips; three alike in hand lose.",
    min_players=2,
    max_players=5,
    num_distinct_actions=6,
    rules_version=1,
    credit=Credit("Nick Wedig", "Looney Pyramid Games Wiki", "wiki content"),
    package="engine.epicycle",
    parameters=(
        Parameter("setup", str, "standard", "how the pie is laid out", choices=("standard", "random")),
        Parameter(
            "repetition",
            int,
            3,
            "occurrences of a position that end the match; 0 turns it off",
            choices=(0, *range(2, 11)),
        ),
        Parameter("max_turns", int, 500, "plays after which the match is capped", minimum=1, maximum=10_000),
    ),
    bounds=bounds,
    default_opening=lambda params: "random:2" if params["setup"] == "standard" else "none",
)
