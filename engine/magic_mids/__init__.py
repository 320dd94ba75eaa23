"""Magic Mids (Kenneth Leyhe Sr.), 2 to 4 players: three dice, a torus of twenty squares, pyramids that capture."""

from engine.game import Credit, GameType
from engine.specs import Parameter

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
    score_unit="mids on the board",
)
