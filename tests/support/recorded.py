"""A small tournament of all games, with notes, forfeits and scores, for tests of exports and imports."""

from __future__ import annotations

import shutil
from pathlib import Path

from arena import api
from tests.support.tournaments import home_of, write

BOTS = r'''
from bots import Bot


class Talker(Bot):
    """Take any legal action, and say what is hard to write down."""

    def choose(self, state):
        if self.rng.random() < 0.3:
            self.note = f'"{{[braces]}}" \\ 12. back  slash {chr(233)} ' + "word " * self.rng.randrange(30)
        return self.rng.choice(state.legal_actions())


class Fragile(Bot):
    """Raise now and then."""

    def choose(self, state):
        if self.rng.random() < 0.05:
            raise RuntimeError("broken on purpose")
        return self.rng.choice(state.legal_actions())
'''
CONFIG = """
name = "all"
seed = 4
blocks = 1
dice = "DICE"
games = [
    { game = "epicycle", players = [2, 3], blocks = 2 }, { game = "epicycle(setup=random)", players = 2 },
    { game = "magic_mids", players = [2, 3] }, { game = "midgard" }, { game = "pyramid_punch", players = [2, 3] },
]
bots = [{ bot = "random" }, { bot = "b.py:Talker", label = 'a "quoted" label (1)' }, { bot = "b.py:Fragile" }]
"""


def play(folder: Path, dice: str = "auto") -> Path:
    """Play it; the configuration's path."""
    config = write(folder, CONFIG.replace("DICE", dice), BOTS)
    api.run(config, home_of(config), workers=1, backend="local")
    return config


def exported(target: str | Path, home: Path, out: Path) -> dict[str, bytes]:
    """Leaderboards and matches of a tournament, by file, but for the versions of what played."""
    shutil.rmtree(out, ignore_errors=True)
    api.export(target, home, out, ("leaderboards", "matches"))
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}
