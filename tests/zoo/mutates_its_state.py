"""The state that a bot is given is its own copy."""

from bots import Bot

EXPECTED = {"none": "plays on", "process": "plays on", "sandbox": "plays on"}


class MutatesItsState(Bot):
    def choose(self, state):
        action = state.legal_actions()[0]
        while not state.is_terminal():
            state.apply_action(state.legal_actions()[-1])
        state.__class__ = type("Mine", (type(state),), {"ranks": lambda self: [0, 0]})
        state.__dict__.clear() if hasattr(state, "__dict__") else None
        return action
