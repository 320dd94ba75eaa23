"""Expectimax search, for games with dice."""

from bots.search.minimax import Minimax, rolls_dice
from engine import Game


class Expectimax(Minimax):
    """Look ahead as far as the budget allows in games with dice, averaging over them.

    Idea: look one decision ahead, then two, and so on, until the budget is spent. A roll is worth the mean over its
    outcomes by their weights; outcomes that play alike (`outcome_key` in `bots.heuristics`) are followed once. As all
    values lie between -1 and 1, a few outcomes often settle that the mean is too high or too low to matter (Star1),
    and so lines are cut off as in `alphabeta`, with which it shares all else.
    Source: Michie, "Game-playing and game-learning automata" (1966); Ballard, "The *-minimax search procedure for
    trees containing chance nodes", Artificial Intelligence 21 (1983).
    Parameters: `nodes`, states visited for a move, 1 to 1,000,000,000 (looking one decision ahead is always
    finished); `depth`, decisions looked ahead at most, 1 to 64; `seconds`, time for a move in place of `nodes`, 0 to
    3600, 0 for none: with a clock the choice depends on the machine; `opponents`, what the other seats are after when
    there are several: `paranoid`, this seat's loss; `maxn`, each its own gain (max^n: nothing can be cut off, and a
    state costs an evaluation for every player); `auto`, `maxn` with five players, else `paranoid`.
    Cost: about a microsecond a state, so at most 20 milliseconds a move by default: two to three decisions ahead in
    Magic Mids, four to six in Pyramid Punch.
    """

    name = "expectimax"

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Refuse games without dice too, where it would be `alphabeta` under another name."""
        return super().refusal(game) or (
            None if rolls_dice(game) else f"plays games with dice, which are not rolled in {game.name}"
        )
