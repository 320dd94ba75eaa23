"""Keep what a bot compiles with Numba for its next matches: else every match's process would compile it anew.

A trial match on made-up dice, before any other, compiles it; nothing of a match can get into what is kept. It goes to
processes of the same bot alone, as its source does.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from arena.core.files import is_plain_path
from arena.core.limits import Limits
from arena.isolation import launcher
from arena.isolation.bot_process import opened
from arena.isolation.launched import LaunchedBot
from arena.isolation.numba_locator import CACHE_FOLDER
from arena.isolation.process_source import ProcessSource
from arena.isolation.remote_player import RemotePlayer
from arena.match.dice import Streams
from arena.match.faults import Fault
from arena.match.player import Answer, FirstLegalBot, LocalBot, MatchView, Player, SeatTaker
from arena.match.referee import play_match
from arena.registry.bundles import Bundle, pack_bundle, unpack_bundle
from engine import Game
from engine.cache import cache_root, kernel_cache

TRIAL_MOVES = 3
"""Moves of the bot in a trial match."""
TRIAL_LIMITS = Limits(seconds_per_move=20.0, seconds_to_prepare=120.0)
"""A trial match, played twice at worst, is over before a worker counts as silent."""
_known: dict[str, Bundle] = {}
MAX_BYTES = 64 * 2**20
MAX_FILES = 4000
MAX_CACHE_BYTES = 2**30
"""Most bytes that the cache has on disk for all bots."""
FOLDER_FLAGS, FILE_FLAGS = os.O_NOFOLLOW | os.O_DIRECTORY, os.O_NOFOLLOW | os.O_NONBLOCK
KERNEL_SUFFIXES = (".nbi", ".nbc")
"""Suffixes of Numba's files: indexes, and code."""


def forget_kernels() -> None:
    """Keep what bots compile on disk alone, from where it is read for the next plan."""
    _known.clear()


def compiled_kernels(bot: LaunchedBot, source: ProcessSource, game: Game) -> Bundle:
    """Return what a stranger's bot compiles for a game: from the machine's cache, or by a trial match.

    It is empty for a bot that does not import Numba itself, and where bots write to the machine's cache themselves.
    """
    for_strangers = launcher(bot.isolation).for_strangers
    if not for_strangers or not any(name.partition(".")[0] == "numba" for name in bot.modules):
        return Bundle("", {})
    parts = (bot.bundle.hash, bot.class_name, game.spec, str(game.players), str(kernel_cache()))
    key = hashlib.blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()
    if key not in _known:
        kept = cache_root() / "kernels" / key
        with contextlib.suppress(OSError, ValueError):  # damaged, or not there: it is compiled once more
            _known[key] = unpack_bundle(kept.read_bytes())
    if key not in _known:
        _known[key] = Bundle("", compile_in_trial(bot, source, game))
        if _known[key].files:
            _keep(kept, pack_bundle(_known[key]))
    return _known[key]


def compile_in_trial(bot: LaunchedBot, source: ProcessSource, game: Game) -> dict[str, bytes]:
    """Return what a bot compiles in its first moves of a match that counts nowhere."""
    trial = _Trial(bot, source)
    seats: list[SeatTaker] = [trial, *[LocalBot(FirstLegalBot, {})] * (game.players - 1)]
    play_match(game, seats, Streams(bytes(32), bytes(32), bytes(16)), limits=TRIAL_LIMITS)
    return trial.found


class _Trial(RemotePlayer):
    """A bot that joins a trial match, plays a few moves, then has its files read and forfeits."""

    def __init__(self, bot: LaunchedBot, source: ProcessSource) -> None:
        self.bot, self.source = bot, source
        self.found: dict[str, bytes] = {}
        self.moves = 0

    def join(self, match: MatchView, seat: int) -> Player:
        super().__init__(self.bot, self.source, match, seat)
        return self

    def choose(self, limit: float) -> Answer:
        if self.moves == TRIAL_MOVES:
            self.look()
            raise Fault("crash", "it has compiled enough")
        self.moves += 1
        return super().choose(limit)

    def close(self) -> None:
        if not self.failed:
            self.look()
        super().close()

    def keep_printed(self, text: str) -> None:
        """Do nothing: it was no match."""

    def look(self) -> None:
        """Take what the stopped process has compiled."""
        if self.bot_process is not None and self.bot_process.open and not self.found:
            with contextlib.suppress(OSError):
                self.found = dict(kernel_files(f"/proc/{self.bot_process.pid}/root{CACHE_FOLDER}"))


def kernel_files(folder: str) -> Iterator[tuple[str, bytes]]:
    """Yield regular files two levels down, named as Numba names them.

    What lies there is the bot's doing: no link is followed, names are checked, sizes are bounded.
    """
    left, files = MAX_BYTES, 0
    for path, descriptor in _opened(folder):
        state = os.fstat(descriptor)
        files += 1
        if not stat.S_ISREG(state.st_mode) or state.st_size > left or files > MAX_FILES:
            continue
        content = os.read(descriptor, state.st_size)
        left -= len(content)
        yield path, content


def _opened(folder: str) -> Iterator[tuple[str, int]]:
    with opened(folder, FOLDER_FLAGS) as top:
        for name in _named(top):
            with contextlib.suppress(OSError), opened(name, FOLDER_FLAGS, top) as middle:
                for file in _named(middle, KERNEL_SUFFIXES):
                    with contextlib.suppress(OSError), opened(file, FILE_FLAGS, middle) as descriptor:
                        yield f"{name}/{file}", descriptor


def _named(folder: int, ends: tuple[str, ...] = ("",)) -> list[str]:
    """Return the names in a folder that mean one file each and nothing more, in order."""
    names = [name for name in os.listdir(folder) if name.isprintable() and is_plain_path(name) and name.endswith(ends)]
    return sorted(names)[:MAX_FILES]


def _keep(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; a cache that cannot be written to is done without."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
        _remove_oldest(path.parent)


def _remove_oldest(folder: Path) -> None:
    """Remove what was written first until the cache is no larger than it may be; bots compile it once more."""
    with os.scandir(folder) as found:
        files = sorted(((entry.stat().st_mtime_ns, entry.stat().st_size, entry.path) for entry in found), reverse=True)
    sizes = itertools.accumulate(size for _, size, _ in files)
    for (_, _, path), total in zip(files, sizes, strict=True):
        if total > MAX_CACHE_BYTES:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
