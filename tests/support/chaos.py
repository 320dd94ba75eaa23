"""Drivers that die, or whose disk is full, at moments of a test's choice; see `chaos_driver.py` and `chaos.c`."""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arena import api
from arena.store import Store
from tests.support import tournaments
from tests.support.tournaments import home_of

COUNT, KILL, TEAR, POWER, FULL = range(1, 6)
"""What happens at the chosen change of a file; the numbers of `chaos.c`."""
SOURCE = Path(__file__).with_name("chaos.c")
ROOT = Path(__file__).parents[2]

BOTS = """
import os
import time

from bots import Bot


class Low(Bot):
    def choose(self, state):
        time.sleep(float(os.environ.get("TEST_NAP", 0)))
        self.note = f"low at {state.position}"
        return state.legal_actions()[0]


class Any(Bot):
    def choose(self, state):
        return self.rng.choice(state.legal_actions())


class Fragile(Bot):
    '''Raise in one match out of four.'''

    def choose(self, state):
        if self.seed % 4 == 0:
            raise RuntimeError("broken on purpose")
        return state.legal_actions()[-1]


class Broken(Bot):
    '''Raise in every match.'''

    def choose(self, state):
        raise RuntimeError("broken on purpose")
"""
PLAIN = """
name = "small"
seed = 11
blocks = 8
forfeit_limit = 6
games = [{ game = "epicycle", players = [2, 3] }]
bots = [{ bot = "b.py:Low" }, { bot = "b.py:Any" }, { bot = "b.py:Fragile" }, { bot = "b.py:Broken" }]
"""
SECRET = """
name = "small"
seed = 12
blocks = 5
schedule = "adaptive"
dice = "secret"
games = [{ game = "pyramid_punch", players = 2 }, { game = "epicycle", players = 2 }]
bots = [{ bot = "b.py:Low" }, { bot = "b.py:Any" }, { bot = "b.py:Fragile" }, { bot = "random" }]
"""
ISOLATED = """
name = "small"
seed = 13
blocks = 6
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "b.py:Low", isolation = "LEVEL" }, { bot = "b.py:Any", isolation = "LEVEL" }, { bot = "b.py:Fragile" }]
"""
CONFIGS = {
    "plain": PLAIN,
    "secret and adaptive": SECRET,
    "processes": ISOLATED.replace("LEVEL", "process"),
    "sandbox": ISOLATED.replace("LEVEL", "sandbox"),
}


@dataclass(frozen=True)
class Ended:
    """How a driver's process ended."""

    code: int
    """Negative: the signal."""
    out: str
    err: str
    changes: int | None
    """Changes of files that it made below the home folder; None when it was killed."""


class Drivers:
    """The process that all drivers of a test module are forked from."""

    def __init__(self, folder: Path) -> None:
        self.library = folder / "chaos.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.library, SOURCE, "-ldl"], check=True)
        self._said = folder / "said"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.chaos_driver"],
            cwd=ROOT,
            env={**os.environ, "LD_PRELOAD": str(self.library), "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        config: Path,
        mode: int = COUNT,
        moment: int = 0,
        seed: int = 0,
        workers: int = 1,
        meanwhile: Callable[[int], Any] = lambda driver: None,
        below: Path | None = None,
        unheard: bool = False,
        checkpoint: int = 30,
        signals: int = 0,
        command: Sequence[object] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
        **constants: float,
    ) -> Ended:
        """`arena run` of a tournament, or another command there.

        `meanwhile` is called with its process, `unheard` closes its output.
        `signals`: it dies when it has sent so many.
        Names of constants have `__` for a dot: `arena__store__writing__RUN_LOCK_TIMEOUT_SECONDS = 1`.
        """
        dotted = {name.replace("__", "."): value for name, value in constants.items()}
        for name in dotted:
            pkgutil.resolve_name(name)  # raises here what the driver would die of
        home = home_of(config)
        arguments = command or ["run", config, "--home", home, "--backend", "local", "--workers", workers]
        temporary = config.parent / "temporary"
        temporary.mkdir(exist_ok=True)
        order = {
            "arguments": [*map(str, arguments)],
            "folder": str(config.parent),
            "environment": {"TMPDIR": str(temporary), **environment},
            "said": str(self._said),
            "set": dotted,
            "unheard": unheard,
            "checkpoint": checkpoint,
            "signals": signals,
            "below": str(below or home),
            "mode": mode,
            "moment": moment,
            "seed": seed,
        }
        count = Path(f"{self._said}.count")
        count.unlink(missing_ok=True)
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        meanwhile(int(self._process.stdout.readline()))
        code = int(self._process.stdout.readline())
        out, err = (Path(f"{self._said}.{name}").read_text() for name in ("out", "err"))
        return Ended(code, out, err, int(count.read_text()) if count.exists() else None)

    def close(self) -> None:
        self._process.communicate()


@contextlib.contextmanager
def drivers(folder: Path) -> Iterator[Drivers]:
    """Drivers for the tests of a module."""
    with contextlib.closing(Drivers(folder)) as made:
        yield made


def killed_after(seconds: float) -> Callable[[int], None]:
    """Kill a driver that much later, if it is still there."""

    def kill(driver: int) -> None:
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(driver, signal.SIGKILL)

    return kill


def dump(config: Path) -> dict[str, bytes]:
    """All that a tournament leaves: what its last run wrote, leaderboards among it, and every match of its log."""
    folder = home_of(config) / "small"
    written = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if "matches" not in path.name}
    out = config.parent / "exported"
    api.export(config, home_of(config), out, ("matches",))
    return {**written, **{f"exported {path.name}": path.read_bytes() for path in sorted(out.iterdir())}}


def is_secret(config: Path) -> bool:
    return any(words in config.read_text() for words in ('dice = "secret"', 'isolation = "sandbox"'))


def undisturbed(drivers: Drivers, config: Path, folder: Path) -> dict[str, bytes]:
    """What one run makes of the same tournament, with the same key of its dice, in another folder."""
    other = tournaments.write(folder, config.read_text(), (config.parent / "b.py").read_text())
    if is_secret(config):
        with Store.open(tournaments.log_of(config)) as log, Store.create(tournaments.log_of(other)) as fresh:
            fresh.keep_key(log.keys.all()[0].key, "before")
    assert drivers.run(other).code == 0
    return dump(other)


def left_behind(config: Path) -> list[str]:
    """Files and folders that a finished tournament should not leave, of its own and in the temporary folder."""
    folder = home_of(config) / "small"
    strange = [
        path.name for path in folder.iterdir() if path.name.startswith(".") or path.suffix in (".db-wal", "-shm")
    ]
    return [*strange, *(path.name for path in (config.parent / "temporary").iterdir())]


def copy_of(config: Path, folder: Path) -> Path:
    """A copy of a tournament and its log as it lies there, without the index that all its readers share."""
    shutil.copytree(config.parent, folder)
    for path in folder.rglob("*.db-shm"):
        path.unlink()
    return folder / config.name
