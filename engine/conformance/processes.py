"""Checks in processes of their own: the same matches whatever the order of hashes, and with interpreted kernels.

    python -m engine.conformance.processes SPEC PLAYERS SEED

prints the digest that is compared.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time

from engine.conformance.kernels import kernel_game
from engine.conformance.matches import drawn, playthrough, seen
from engine.conformance.observations import observes
from engine.conformance.probe import Broken, NotApplicableError, Probe, expect
from engine.errors import EngineError
from engine.game import Game
from engine.loading import load_game
from engine.playouts import random_playouts
from engine.registry import game_type

MATCHES = 2
LONGEST = 600
"""Seconds after which another process is given up."""


def digest(game: Game, seed: int) -> str:
    """Return one digest of a few random matches step by step, of observations, and of compiled playouts."""
    parts = [playthrough(game, seed + each) for each in range(MATCHES)]
    if observes(game):
        parts.append(seen(game, seed))
    if game.kernels:
        played = random_playouts(game, 4, seed=seed)
        parts.append(f"{played.actions} {played.plies} {played.rank_sums.tolist()} {played.ended}")
    return hashlib.blake2b("\n\n".join(parts).encode(), digest_size=8).hexdigest()


def another_process(probe: Probe) -> None:
    _compare(probe, "in another process, with another order of hashes,", {"PYTHONHASHSEED": "4711"})


def interpreted(probe: Probe) -> None:
    kernel_game(probe)
    _compare(probe, "interpreted", {"NUMBA_DISABLE_JIT": "1"})


def _compare(probe: Probe, how: str, environment: dict[str, str]) -> None:
    """Expect the digest of this process from one with another environment."""
    game = probe.game
    probe.at(0, [])
    wanted = digest(game, probe.base)
    command = [
        sys.executable,
        "-P",
        "-m",
        "engine.conformance.processes",
        game.spec,
        str(game.players),
        str(probe.base),
    ]
    run = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    lines = run.stdout.split()
    if run.returncode == 2:
        raise NotApplicableError("another process does not find the game; it is not installed")
    if run.returncode or not lines:
        last = (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1]
        raise Broken(f"matches {how} fail: {last}")
    expect(lines[-1] == wanted, f"matches {how} are others: the rules depend on more than the plies")


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
    """Print the digest of the game that the command line names; 2 when there is no such game."""
    spec, players, seed = sys.argv[1:]
    try:
        game_type(spec.partition("(")[0])
    except EngineError:
        return 2
    print(digest(load_game(spec, int(players)), int(seed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
