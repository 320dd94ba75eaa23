from bots import Bot

EXPECTED = {"none": "illegal_action", "process": "illegal_action", "sandbox": "illegal_action"}


class IllegalAction(Bot):
    def choose(self, state):
        return next(action for action in range(10_000) if action not in state.legal_actions())
