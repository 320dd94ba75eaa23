"""The bots of the logs beside this file, as they played them."""

from bots import Bot


class Plain(Bot):
    """Plays at random."""

    def choose(self, state):
        return self.rng.choice(state.legal_actions())


class Noting(Bot):
    """Notes its seed, and forfeits where it does not like it."""

    def choose(self, state):
        self.note = str(self.seed)
        return -1 if self.seed % 5 == 0 else self.rng.choice(state.legal_actions())


class Last(Bot):
    """Takes the last action."""

    def choose(self, state):
        return state.legal_actions()[-1]
