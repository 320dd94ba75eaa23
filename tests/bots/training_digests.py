"""Trainings of small games and what their weights come to, for processes that compile for different processors."""

import hashlib
import json
import sys

import numba

from bots.learning.training import Settings, Training
from tests.bots.built_in import load_race


def digests() -> dict[str, str]:
    """Return digests of the weights that trainings end with, by what is trained."""
    found = {}
    for players in (2, 3):
        for seed in (1, 2):
            training = Training(load_race(players), seed, Settings(1.0, 0.7, 0.1))
            training.go_on(300)
            found[f"race for {players}, seed {seed}"] = hashlib.sha256(training.exact.tobytes()).hexdigest()
    return found


def offer_race() -> None:
    """Have the race's heuristics found as those of an installed plug-in are."""
    from importlib.metadata import EntryPoint

    import bots.heuristics

    entries = bots.heuristics.entry_points

    def with_race(group: str, name: str) -> list[EntryPoint]:
        own = [EntryPoint("race", "tests.bots.race.heuristics", group)] if name == "race" else []
        return [*entries(group=group, name=name), *own]

    setattr(bots.heuristics, "entry_points", with_race)  # noqa: B010 - its type has more forms


if __name__ == "__main__":
    offer_race()
    json.dump({"cpu": str(numba.config.CPU_NAME), "digests": digests()}, sys.stdout)
