from bots import Bot

EXPECTED = {"none": "init", "process": "init", "sandbox": "init"}


class RaisesInPrepare(Bot):
    def prepare(self):
        raise SystemExit("on purpose")

    def choose(self, state):
        return state.legal_actions()[0]
