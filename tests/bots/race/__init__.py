"""Race, 2 to 4 players: a small game with kernels, dice and scores, for tests of bots."""

from engine.game_types import Credit, GameType
from engine.specs import Parameter

GAME = GameType(
    name="race",
    title="Race",
    summary="Walk one square, or roll for more.",
    min_players=2,
    max_players=4,
    num_distinct_actions=3,
    rules_version=1,
    credit=Credit("the tests", "this folder", "as the project"),
    package="tests.bots.race",
    parameters=(Parameter("goal", int, 12, "squares to the goal", minimum=1, maximum=100),),
    score_unit="squares",
)
