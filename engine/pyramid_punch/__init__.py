"""Pyramid Punch (Robert Dudley), 2 to 5 players: tiles of four fighters, dice, the last one standing wins."""

from engine.game import Credit, GameType
from engine.specs import Parameter

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
    score_unit="pyramids",
)
