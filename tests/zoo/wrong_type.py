from bots import Bot

EXPECTED = {"none": "illegal_action", "process": "illegal_action", "sandbox": "illegal_action"}


class WrongType(Bot):
    def choose(self, state):
        return [state.action_to_string(state.legal_actions()[0])]
