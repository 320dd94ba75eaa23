"""Midgard for beginners, and a bot for people to read."""

from bots.base import Bot
from engine import State
from engine.midgard.rules import NEIGHBOURS  # of every cell in board order, which is also the number of the drop there


class Settler(Bot):
    """Settle where most is still to be won.

    Idea: most regions end up as a single cell, which belongs to who holds two of the three cells around it. So a drop
    is worth 2 for each neighbour of which neither side holds two already, but 1 for a neighbour on the perimeter,
    which the drop wins by itself (and nothing more). Ties are broken at random. In Odin it never says `declare` first;
    it answers one with another when the match, if it ended at once, would leave it with more cells.
    Source: the designer's rule of influence, border edges and not border tiles.
    Parameters: none.
    Cost: about 3 microseconds for each legal drop.
    """

    name = "settler"
    games = ("midgard",)
    needs = ("clone", "position")

    def choose(self, state: State) -> int:
        drops = state.legal_actions()
        board, _, flag = state.position.replace("/", "").split(" ")  # BOARD MOVER FLAG
        if state.action_to_string(drops[-1]) == "declare":
            declare = drops.pop()
            if flag == "d" and self.leads(state.child(declare)):
                return declare
        return self.pick_best(drops, [self.worth(board, drop) for drop in drops])

    def leads(self, state: State) -> bool:
        """Whether this seat has more cells."""
        cells = state.scores() or (0, 0)
        return cells[self.seat] > cells[1 - self.seat]

    def worth(self, board: str, drop: int) -> int:
        """What the neighbours of a cell are worth."""
        total = 0
        for cell in NEIGHBOURS[drop]:
            around = "".join(board[other] for other in NEIGHBOURS[cell] if other != drop)
            if around == "":
                total += 1
            elif around not in ("ss", "ll"):
                total += 2
        return total
