"""Magic Mids (Kenneth Leyhe Sr.), 2 to 4 players: three dice, a torus of twenty squares, pyramids that capture."""

from collections.abc import Mapping

from engine.game_types import Bounds, Credit, GameType
from engine.specs import Parameter, Value

MIDS = {2: 15, 3: 11, 4: 8}  # of a seat, by number of players


def bounds(players: int, params: Mapping[str, Value]) -> Bounds:
    """Return bounds; each was reached where it was tried, unless large mids are safe.

    Every turn but the last leaves a mid in the mover's hand.

    A seat has m mids, and its hand only shrinks in its own turn; placing the last mid ends the match. So a turn has at
    most m - 1 placements, the last turn of the match m. Every roll of a turn leads to a placement, except that the
    last one may allow none: at most one roll more than placements, and m in every turn. A mover who has rolled three
    blanks again and again can capture all mids of the others on the way, so that the next seat has m in hand as well:
    tests do so for five turns. With `capture_power=each` large mids stay, and matches remain below the bound.

    When somebody has won and the losers tie, each has -1/(players - 1). Nobody has less if a full board is a draw.
    """
    mids, turns = MIDS[players], int(params["max_turns"])
    nobody_is_last = params["losers"] == "tied" and params["full_board"] == "draw"
    worst = -1 / (players - 1) if nobody_is_last else -1.0
    return Bounds(turns * (mids - 1) + 1, turns * mids, 56, min_utility=worst)


GAME = GameType(
    name="magic_mids",
    title="Magic Mids",
    summary="Roll three dice, place a mid where they say, capture what it flanks; first to have all mids on the board.",
    min_players=2,
    max_players=4,
    num_distinct_actions=60,
    rules_version=1,
    credit=Credit(
        "Kenneth Leyhe Sr.",
        "rules version 2.0, revised 05/2002; also on the Looney Pyramid Games Wiki",
        "GNU FDL 1.1 or later",
    ),
    package="engine.magic_mids",
    parameters=(
        Parameter(
            "capture_power",
            str,
            "sum",
            "what must have more power than the mid between: both flanking mids together, or each alone",
            choices=("sum", "each"),
        ),
        Parameter(
            "full_board",
            str,
            "ranked",
            "a full board or the cap ranks the seats by mids in hand, or is a draw",
            choices=("ranked", "draw"),
        ),
        Parameter(
            "losers",
            str,
            "ranked",
            "when somebody has won, the others rank by mids in hand, or tie",
            choices=("ranked", "tied"),
        ),
        Parameter("max_turns", int, 2000, "turns after which the match is capped", minimum=1, maximum=10_000),
    ),
    bounds=bounds,
    score_unit="mids on the board",
)
