"""A bot in ten lines: one file, one class, one method. Try it from the folder above:

arena match epicycle examples/my_bot.py random --show
"""

from bots import Bot


class MyBot(Bot):
    """Win on the spot if possible; otherwise leave the next player as few moves as possible."""

    def choose(self, state):  # called whenever there is a choice; `state` is a copy, to play with freely
        actions = state.legal_actions()  # whole numbers; `state.action_to_string(action)` tells what they mean
        self.rng.shuffle(actions)  # equals fall by chance: `self.rng`, so that the same plan gives the same matches
        return max(actions, key=lambda action: self.value(state.child(action)))

    def value(self, state):  # good with two players; what would you change for three?
        if state.is_terminal():
            return 100 * state.returns()[self.seat]  # 1 for the winner, -1 for the last
        return -len(state.legal_actions())
