"""Alpha-beta search, for games without dice."""

from bots.search.minimax import Minimax, rolls_dice
from engine import Game


class AlphaBeta(Minimax):
    """Look ahead as far as the budget allows, by alpha-beta search, in games without dice.

    Idea: look one decision ahead, then two, and so on, until the budget is spent; lines that cannot change the choice
    are cut off. At the horizon a state is worth its evaluation in `bots.heuristics`, by default the score margin; a
    real win counts more than any evaluation, and the more the faster, a real loss less than any, and the less the
    faster. States met again are looked up in a table, and actions are tried in the order: best so far, good at this
    depth elsewhere, often good. The search ends early when it has followed every line to its end. Ties are broken at
    random; a forced move is made at once.
    Source: Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975); for more players
    Luckhardt and Irani, "An algorithmic solution of n-person games", AAAI (1986), and Sturtevant and Korf, "On
    pruning techniques for multi-player games", AAAI (2000).
    Parameters: `nodes`, states visited for a move, 1 to 1,000,000,000 (looking one decision ahead is always
    finished); `depth`, decisions looked ahead at most, 1 to 64; `seconds`, time for a move in place of `nodes`, 0 to
    3600, 0 for none: with a clock the choice depends on the machine; `opponents`, what the other seats are after when
    there are several: `paranoid`, this seat's loss; `maxn`, each its own gain (max^n: nothing can be cut off, and a
    state costs an evaluation for every player); `auto`, `maxn` with five players, else `paranoid`.
    Near the end it is exact: by default in Midgard with up to 11 cells of ice, and in five of six positions of Epicycle
    with three or four players (measured along random matches; with more than two the others are as `opponents` says).
    Cost: about a microsecond a state, so 20 milliseconds a move by default.
    """

    name = "alphabeta"

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Refuse games with dice too, which make the bounds useless that lines are cut off by."""
        return super().refusal(game) or (
            f"plays games without dice, and they are rolled in {game.name}" if rolls_dice(game) else None
        )
