"""A small bot for Midgard, written to be read."""

from bots.base import Bot
from engine import State
from engine.midgard.rules import NEIGHBOURS  # of every cell in board order, which is also the number of the drop there

VALUE = {(0, 1): 5, (0, 0): 3, (1, 1): 3}  # of a neighbour, by own and opposing tiles at it
ON_PERIMETER = 2


class Settler(Bot):
    """Settle where most is still to be won.

    Idea: most regions end up as a single cell, which belongs to who holds two of the three cells around it. So a drop
    is worth, for each neighbour of its cell, 5 where the opponent alone has a tile at it and would win it, 3 where
    both have one or nobody does, and 2 where it is on the perimeter and won at once; nothing where it is decided or
    where this seat is alone already. Ties are broken at random. In Odin it never says `declare` first; it answers one
    with another when the match, ended at once, would leave it with more cells.
    Source: the rules' section on influence; the numbers by trial against `greedy`.
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
        """Return whether this seat has more cells."""
        cells = state.scores() or (0, 0)
        return cells[self.seat] > cells[1 - self.seat]

    def worth(self, board: str, drop: int) -> int:
        """Return what the neighbours of a cell are worth."""
        own, enemy = ("s", "l") if self.seat == 0 else ("l", "s")  # sea or land
        total = 0
        for cell in NEIGHBOURS[drop]:
            around = [board[other] for other in NEIGHBOURS[cell] if other != drop]
            footholds = around.count(own), around.count(enemy)
            total += VALUE.get(footholds, 0) if around else ON_PERIMETER
        return total
