"""Bots of the recorded tournaments."""

from bots import Bot


class Talker(Bot):
    """Take any legal action, and say something about some."""

    def choose(self, state):
        if self.rng.random() < 0.1:
            self.note = f"one of {len(state.legal_actions())}"
        return self.rng.choice(state.legal_actions())


class Fragile(Bot):
    """Raise now and then."""

    def choose(self, state):
        if self.rng.random() < 0.02:
            raise RuntimeError("broken on purpose")
        return self.rng.choice(state.legal_actions())


class Broken(Bot):
    """Raise often."""

    def choose(self, state):
        if self.rng.random() < 0.2:
            raise RuntimeError("broken on purpose")
        return self.rng.choice(state.legal_actions())
