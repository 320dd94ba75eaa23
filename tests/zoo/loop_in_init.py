from bots import Bot

EXPECTED = {"none": "init", "process": "init", "sandbox": "init"}


class LoopInInit(Bot):
    def __init__(self, *arguments):
        while True:
            pass

    def choose(self, state):
        return state.legal_actions()[0]
