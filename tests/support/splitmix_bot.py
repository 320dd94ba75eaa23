"""The rule that the example programs play by, as a bot of the arena: what they are held against."""

from bots import Bot

MASK = (1 << 64) - 1


class Splitmix(Bot):
    """In `boldness` of 100 moves any legal action, all equally likely; in the others the first."""

    boldness: int = 100

    def prepare(self):
        self.weyl = self.seed

    def draw(self):
        self.weyl = (self.weyl + 0x9E3779B97F4A7C15) & MASK
        mixed = self.weyl
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            mixed = (mixed ^ (mixed >> shift)) * factor & MASK
        return mixed

    def choose(self, state):
        actions = state.legal_actions()
        bold = self.draw() % 100 < self.boldness
        return actions[self.draw() % len(actions)] if bold else actions[0]
