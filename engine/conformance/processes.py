"""Checks in processes of their own: the same matches whatever the order of hashes, and with interpreted kernels.

    python -m engine.conformance.processes SPEC PLAYERS SEED MATCHES SECONDS

prints, a line for each match, the digests that are compared.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from engine.conformance.copies import REPLAYED_MATCHES, describe_replays
from engine.conformance.kernels import kernel_game
from engine.conformance.matches import drawn, finished, playthrough, seen
from engine.conformance.observations import observes
from engine.conformance.playouts import Playouts, blamed
from engine.conformance.probe import BrokenPromise, NotApplicableError, Probe, method_place
from engine.errors import EngineError
from engine.game import Game, State
from engine.loading import load_game
from engine.playouts import random_playouts
from engine.registry import game_type
from engine.state import KernelGame

MATCHES_IN_WORDS = 2
"""Matches that are compared in words, with what seats see of them; of others the ends are."""
PROCESS_SECONDS = 5.0
"""Processor time after which another process ends, with fewer matches."""
PROCESS_TIMEOUT_SECONDS = 600
"""Seconds after which another process is given up."""


def digests(game: Game, seed: int) -> Iterator[tuple[str, ...]]:
    """Yield digests match by match, without end: of a match step by step, a compiled playout, and observations."""
    compiled = Playouts(game, seed) if isinstance(game, KernelGame) else None
    for number in itertools.count():
        in_words = number < MATCHES_IN_WORDS
        parts = (
            playthrough(game, seed + number) if in_words else _end(finished(game, seed + number)),
            compiled.told() if compiled else "",
            seen(game, seed + number) if in_words and observes(game) else "",
        )
        yield tuple(hashlib.blake2b(str(part).encode(), digest_size=8).hexdigest() for part in parts)


def _end(end: State) -> tuple[object, ...]:
    position = end.position if end.game.position else ""
    return end.history(), end.ranks(), end.returns(), end.scores(), end.ended, position


def another_process(probe: Probe) -> str:
    return _compare(probe, "in another process, with another order of hashes", {"PYTHONHASHSEED": "4711"})


def interpreted(probe: Probe) -> str:
    kernel_game(probe)
    return _compare(probe, "interpreted", {"NUMBA_DISABLE_JIT": "1"})


def _compare(probe: Probe, how: str, environment: dict[str, str]) -> str:
    """Compare digests of this process with those of one with another environment."""
    game = probe.game
    given = (game.spec, game.players, probe.base, min(REPLAYED_MATCHES, probe.most), PROCESS_SECONDS)
    run = subprocess.run(
        [sys.executable, "-P", "-m", "engine.conformance.processes", *map(str, given)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PROCESS_TIMEOUT_SECONDS,
        check=False,
    )
    lines = run.stdout.splitlines()
    if run.returncode == 2:
        raise NotApplicableError("another process does not find the game; it is not installed")
    if run.returncode or not lines:
        last = (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1]
        raise BrokenPromise(f"matches {how} fail: {last}")
    for number, (line, here) in enumerate(zip(lines, digests(game, probe.base), strict=False)):
        match, playout, observed = (there == own for there, own in zip(line.split(), here, strict=True))
        where = f"of {len(lines):,}, {how}"
        if not match:
            end = probe.finished(number)
            raise BrokenPromise(f"{method_place(end, 'apply_action')}: match {number} {where}, is another one")
        if not playout:
            raise BrokenPromise(f"{blamed(kernel_game(probe))}: compiled playout {number} {where}, is another one")
        if not observed:
            raise BrokenPromise(f"what seats see in match {number} {where}, is something else")
    return describe_replays(len(lines))


def speed(probe: Probe) -> str:
    """Tell how many random matches and plies a second are played, in processor time; nothing is judged."""
    game = probe.game
    rng = probe.random(0)
    matches = plies = 0
    begun = time.process_time()
    while (spent := time.process_time() - begun) < 0.5 or not matches:
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(drawn(state, rng))
            plies += 1
        matches += 1
    told = f"{matches / spent:,.0f} random matches/s step by step ({plies / spent:,.0f} plies/s)"
    if game.kernels:
        random_playouts(game, 1, seed=0)
        count, begun = 100, time.process_time()
        while (spent := time.process_time() - begun) < 0.3:
            random_playouts(game, count, seed=probe.base)
            count *= 2
        told += f", {(count - 100) / spent:,.0f} in compiled playouts"
    return told


def main() -> int:
    """Print digests of the game that the command line names; return 2 when there is no such game."""
    spec, players, seed, matches, seconds = sys.argv[1:]
    try:
        game_type(spec.partition("(")[0])
    except EngineError:
        return 2
    made = digests(load_game(spec, int(players)), int(seed))
    print(*next(made))  # for which everything is compiled
    begun = time.process_time()
    for _ in range(1, int(matches)):
        if time.process_time() - begun > float(seconds):
            break
        print(*next(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
