"""A small bot for Magic Mids, written to be read."""

from itertools import product

from bots.base import Bot
from engine import State

DIRECTIONS = [step for step in product((-1, 0, 1), repeat=2) if step != (0, 0)]  # rows down, columns to the right


class Catcher(Bot):
    """Capture mids, stand safe, and shield the own mids.

    Idea: only a mid placed opposite another one of its owner captures what is between. So a placement is worth 2 for
    each mid that it captures, less 1 for each line on which it could be captured itself (an opposing mid on one side,
    a free square on the other), plus 1 for each own mid that it shields (one next to it, with an opposing mid on the
    far side). Among equals the smallest mid is placed, then ties are broken at random. Capturing at any price is
    worse: it costs one opponent a turn, and the risk is the catcher's alone.
    Source: the rules' section on capture.
    Parameters: none.
    Cost: about 50 microseconds for each legal placement.
    """

    name = "catcher"
    games = ("magic_mids",)
    needs = ("clone", "position")

    def choose(self, state: State) -> int:
        placements = state.legal_actions()
        return self.pick_best(placements, [self.worth(state, placement) for placement in placements])

    def worth(self, state: State, placement: int) -> int:
        """Return 3 times the gain by a placement, less 0 for a small, 1 for a medium and 2 for a large mid."""
        size, row, column = tuple(state.action_to_string(placement))  # such as Mc4
        after = state.child(placement)
        captured = sum(state.scores() or ()) + 1 - sum(after.scores() or ())
        safety = self.safety(after, "abcde".index(row), "2345".index(column))
        return 3 * (2 * captured + safety) - "SML".index(size)

    def safety(self, state: State, row: int, column: int) -> int:
        """Return the own mids shielded by the one on this square, less the lines on which it is open to capture."""
        rows = state.position.split(" ")[0].split("/")  # BOARD HANDS SEAT ROLL TURN

        def owner(down: int, right: int) -> str:
            return rows[(row + down) % 5][2 * ((column + right) % 4)]

        own, free, safety = str(self.seat), ".", 0
        for down, right in DIRECTIONS:
            beside, behind, far = owner(down, right), owner(-down, -right), owner(2 * down, 2 * right)
            safety += beside == own and far not in (own, free)
            safety -= beside not in (own, free) and behind == free
        return safety
