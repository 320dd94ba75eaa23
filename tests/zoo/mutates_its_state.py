"""The state that a bot is given is its own copy."""

from bots import Bot

EXPECTED = {"none": "plays on", "process": "plays on", "sandbox": "plays on"}


class MutatesItsState(Bot):
    def choose(self, state):
        action = state.legal_actions()[0]
        while not state.is_terminal():
            state.apply_action(state.legal_actions()[-1])
        for name in dir(state):
            try:
                setattr(state, name, None)
            except (AttributeError, TypeError):
                pass
        return action
