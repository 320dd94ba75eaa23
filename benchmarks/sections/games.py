"""How games go under uniformly random play: length, choice, and what each seat is worth."""

from __future__ import annotations

import random
import statistics

import engine
from benchmarks.figures import Figure, Measured
from benchmarks.sections.engine import boards


def measure(full: bool) -> Measured:
    matches = 20_000 if full else 1000
    for game in boards():
        what = f"{game.name}, {game.players} players"
        played = [engine.random_playouts(game, 1, seed) for seed in range(matches)]
        lengths = [each.actions for each in played]
        low, *_, high = statistics.quantiles(lengths, n=20)
        note = f"{low:.0f} to {high:.0f} in 9 of 10"
        yield Figure(f"{what}: decisions a match", statistics.fmean(lengths), "", "neither", note=note)
        yield Figure(f"{what}: legal actions", choices(game, 40), "", "neither")
        returns = zip(*(engine.returns_from_ranks(each.rank_sums.tolist()) for each in played), strict=True)
        for seat, values in enumerate(returns, 1):
            half = 1.96 * statistics.stdev(values) / matches**0.5
            name, mean = f"{what}: mean return of seat {seat}", statistics.fmean(values)
            yield Figure(name, mean, "", "neither", note=f"± {half:.3f}")


def choices(game: engine.Game, matches: int) -> float:
    """Return the mean number of legal actions over all decisions of some random matches."""
    rng = random.Random(1)
    counts = []
    for _ in range(matches):
        state = game.new_initial_state()
        while not state.is_terminal():
            outcomes = state.chance_outcomes()
            if outcomes:
                faces, weights = zip(*outcomes, strict=True)
                state.apply_action(rng.choices(faces, weights)[0])
                continue
            legal = state.legal_actions()
            counts.append(len(legal))
            state.apply_action(rng.choice(legal))
    return statistics.fmean(counts)
