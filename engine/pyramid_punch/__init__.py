"""Pyramid Punch (Robert Dudley), 2 to 5 players: tiles of four fighters, dice, the last one standing wins."""

from collections.abc import Mapping

from engine.game_types import Bounds, Credit, GameType
from engine.specs import Parameter, Value


def bounds(players: int, params: Mapping[str, Value]) -> Bounds:
    """Return bounds, all reached: arranging, placing, and by turn the fights and one rotation or move.

    A tile beside the mover's meets it with two enemy fighters, each fought at most once a turn: two fights for each
    tile beside the mover's. All fights can tie, so no fighter need fall.
    """
    turns = int(params["max_turns"])
    fights = 2 * most_tiles_beside(players, turns)
    return Bounds(2 * players + fights + turns, fights, 36)


def most_tiles_beside(players: int, turns: int) -> int:
    """Return how many tiles lie beside the mover's at most, added up over the turns; tiles gone count nowhere.

    Two and three players: one and two tiles in every turn, which can be had for ever (rows with the mover's tile in
    the middle; a third tile cannot lie beside two that lie beside each other).
    Four: three tiles beside A, then three beside B, would take two moves, since the others of A's neighbours lie
    apart from B. So two successive turns have at most five; 3, 2, 3, 2, ... can be had.
    Five: four tiles need all five seats in. After four beside A, one move brings at most two to B, and the same
    backwards; so two successive turns have at most six, and 3, 3, 3, ... can be had. An odd number of turns could have
    one more only as 4, 2, 4, ..., and from four beside A no two moves lead to four beside C.
    """
    if players < 5:
        return {2: turns, 3: 2 * turns, 4: (5 * turns + 1) // 2}[players]
    return 3 * turns + (turns == 1)


GAME = GameType(
    name="pyramid_punch",
    title="Pyramid Punch",
    summary="Fight every enemy beside your fighters, then rotate or move a tile; lose three pyramids and you are out.",
    min_players=2,
    max_players=5,
    num_distinct_actions=506,
    rules_version=1,
    credit=Credit("Robert Dudley", "Looney Pyramid Games Wiki, 2011", "wiki content"),
    package="engine.pyramid_punch",
    parameters=(
        Parameter("max_turns", int, 100, "turns after which the match is capped", minimum=1, maximum=10_000),
        Parameter(
            "cap_ranking",
            str,
            "pyramids",
            "how the cap ranks the seats still in: by pyramids standing, or all alike",
            choices=("pyramids", "draw"),
        ),
    ),
    bounds=bounds,
    score_unit="pyramids",
)
