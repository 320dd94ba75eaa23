from bots import Bot

EXPECTED = {"none": "init", "process": "init", "sandbox": "init"}


class LoopInPrepare(Bot):
    def prepare(self):
        while True:
            pass

    def choose(self, state):
        return state.legal_actions()[0]
