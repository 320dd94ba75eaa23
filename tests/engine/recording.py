"""Digests of recorded playthroughs, which pin a game's behaviour to its `rules_version`, and of observations likewise.

    python -m tests.engine.recording epicycle

writes `playthroughs.txt` in Epicycle's folder anew, and `observations.txt`, with the version of the observations, where
the game has some. It refuses to when a digest on file has changed and the version has not.
"""

import hashlib
import inspect
import sys
from pathlib import Path

import engine
from engine import Game
from engine.conformance.matches import playthrough, seen
from tests.engine.matches import tables

MATCHES = 40


def file_of(name: str, what: str = "playthroughs") -> Path:
    """Return where a game's digests are kept: beside its rules."""
    kind = engine.game_type(name)
    return Path(inspect.getfile(kind.factory or kind.module("rules"))).with_name(f"{what}.txt")


def digest(game: Game) -> str:
    """Return one short digest of a few playthroughs."""
    text = "\n\n".join(playthrough(game, seed) for seed in range(MATCHES))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def digests(name: str) -> dict[str, str]:
    """Return `spec players` -> digest, for all tables of a game."""
    games = [engine.load_game(name, players, **options) for of, players, options in tables() if of == name]
    return {f"{game.spec} {game.players}": digest(game) for game in games}


def observations(name: str) -> tuple[int, dict[str, str]]:
    """Return the version of a game's observations, 0 when it has none, and `spec players` -> digest."""
    version, found = 0, {}
    for of, players, options in tables():
        if of == name:
            game = engine.load_game(name, players, **options)
            try:
                version = game.observation_spec().version
            except engine.UnsupportedError:
                return 0, {}
            found[f"{game.spec} {game.players}"] = seen(game)
    return version, found


def read(name: str, what: str = "playthroughs", version: str = "rules_version") -> tuple[int, dict[str, str]]:
    """Return the version and the digests on file; raises `FileNotFoundError` when a game has none."""
    first, *rows = file_of(name, what).read_text(encoding="utf-8").splitlines()
    return int(first.removeprefix(f"{version} ")), dict(row.rsplit(" ", 1) for row in rows)


def read_observations(name: str) -> tuple[int, dict[str, str]]:
    """Return the same of a game's observations; 0 and none when nothing is on file."""
    if not file_of(name, "observations").exists():
        return 0, {}
    return read(name, "observations", "observation_version")


def complaint(
    old_version: int, old: dict[str, str], new_version: int, new: dict[str, str], name: str = "rules_version"
) -> str | None:
    """Return what keeps the new digests from standing beside the old ones, in words; None when all is well."""
    changed = [table for table in old if table in new and old[table] != new[table]]
    if new_version < old_version:
        return f"{name} went back from {old_version} to {new_version}"
    if new_version == old_version and changed:
        return f"the game behaves differently at {', '.join(changed)}; raise {name} above {old_version}"
    return None


def write(name: str) -> None:
    """Record a game's digests; raises `ValueError` when its behaviour has changed under one version."""
    path = file_of(name)
    old = read(name) if path.exists() else (0, {})
    _write(path, name, "rules_version", old, (engine.game_type(name).rules_version, digests(name)))
    if (seen := observations(name)) != (0, {}):
        _write(file_of(name, "observations"), name, "observation_version", read_observations(name), seen)


def _write(
    path: Path, name: str, version: str, old: tuple[int, dict[str, str]], new: tuple[int, dict[str, str]]
) -> None:
    refusal = complaint(*old, *new, version)
    if refusal:
        raise ValueError(f"{name}: {refusal}")
    rows = [f"{version} {new[0]}", *(f"{table} {value}" for table, value in new[1].items())]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for game_name in sys.argv[1:] or engine.game_names():
        write(game_name)
