"""No tournament takes it, as it cannot say of itself what it is; a match that asks it all the same ends."""

from bots import Bot

EXPECTED = {"process": "init", "sandbox": "init"}
PLANNED = False

while True:
    pass


class LoopAtImport(Bot):
    def choose(self, state):
        return state.legal_actions()[0]
