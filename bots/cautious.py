"""A small bot for Epicycle, written to be read."""

from bots.base import Bot
from engine import State


class Cautious(Bot):
    """Keep the hand as mixed as possible.

    Idea: who holds two alike is one step from three alike, which loses. So take the play after which the largest
    number of pieces of one size in the own hand is smallest; what the others hold is not looked at.
    Ties are broken at random.
    Source: the designer's own warning, three alike lose.
    Parameters: none.
    Cost: about 30 microseconds for each legal play.
    """

    name = "cautious"
    games = ("epicycle",)
    needs = ("clone", "position")

    def choose(self, state: State) -> int:
        plays = state.legal_actions()
        return self.pick_best(plays, [-self.most_alike(state.child(play)) for play in plays])

    def most_alike(self, state: State) -> int:
        """Return how many pieces of one size this seat holds: 1, 2, or 3 when it is out for that."""
        hands = state.position.split(" ")[1]  # PIE HANDS SEAT TURN
        mine = hands.split("/")[self.seat]  # such as SMM, or x1 when out
        return 3 if mine.startswith("x") else max(mine.count(size) for size in "SML")
