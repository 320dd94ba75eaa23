"""Datasets for learning programs: what bots saw, chose and got in the matches of a log, in shards.

A pure function of log, filters and size of shards: the same bytes again with the same versions of the libraries.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena.core.errors import ConfigError
from arena.core.files import blocking_file, created_folder, read_json, temporary_folder
from arena.match.estimates import MAX_MATCH_VISIT_COUNTS, NO_ESTIMATE
from arena.match.replay import check_game, walk_plies
from arena.match.stored import StoredMatch
from arena.plan.config import DatasetFormat
from arena.results.matches import chosen_boards
from arena.schedule.boards import Board
from arena.tournament.tournament import Tournament
from engine import Game, State, UnsupportedError, returns_from_ranks
from engine.errors import did_you_mean, one_line
from engine.observation import ObservationSpec

DATASET_VERSION = 1
"""Version of the columns, raised when one changes its meaning."""
MANIFEST_NAME = "manifest.json"
ROWS_PER_SHARD = 16_384
"""Decisions in a shard by default."""


class DatasetOptions(NamedTuple):
    """What of a log becomes a dataset, and how."""

    format: DatasetFormat = "parquet"
    game: str | None = None
    players: int | None = None
    bots: tuple[str, ...] = ()
    """Labels of the bots whose decisions are kept; all when there are none."""
    rows: int = ROWS_PER_SHARD
    """Decisions in a shard."""


class Decision(NamedTuple):
    """A choice between several actions that a bot made."""

    ply: int
    seat: int
    legal: list[int]
    action: int


def write_dataset(tournament: Tournament, folder: Path, options: DatasetOptions) -> dict[str, Any]:
    """Write the decisions of bots in a log's matches, whole or not at all, and return the manifest.

    A dataset that is there is replaced. Raises an `ArenaError` for a folder that holds anything else, filters that
    nothing fits, games without observations and matches that cannot be replayed.
    """
    check_folder(folder)
    tournament.check_playable("there is nothing to learn from")
    labels = tournament.labels
    for bot in options.bots:
        if bot not in labels:
            raise ConfigError(f"--bots: '{bot}' is in no match of the log{did_you_mean(bot, labels)}")
    chosen = chosen_boards(tournament.store.path, tournament.schedule, options.game, options.players)
    folder = folder.absolute()
    with created_folder(folder.parent), temporary_folder(folder.parent, ".dataset-") as desk:
        fresh = desk / "new"
        fresh.mkdir()
        boards = [_write_board(tournament, index, fresh, options) for index in chosen]
        manifest = {
            "dataset": DATASET_VERSION,
            "format": options.format,
            "bots": [*options.bots] or None,
            "boards": boards,
        }
        _write(fresh / MANIFEST_NAME, json.dumps(manifest, indent=1, ensure_ascii=False).encode() + b"\n")
        if folder.exists():
            os.rename(folder, desk / "old")
        os.rename(fresh, folder)
    return manifest


def check_folder(folder: Path) -> None:
    """Raise `ConfigError` unless a folder is missing, empty, or holds a dataset and nothing else."""
    if blocking_file(folder) is not None:
        raise ConfigError(f"{folder}: is a file, or below one; name a folder for the dataset")
    if not folder.is_symlink() and (not folder.is_dir() or not any(folder.iterdir())):
        return
    files = None if folder.is_symlink() else files_of(folder)
    if files is None:
        raise ConfigError(f"{folder}: is there, and is no dataset; name a new folder")
    for place, folders, names in os.walk(folder):
        for path in (Path(place, name) for name in sorted(folders) + sorted(names)):
            if (path.is_symlink() or not path.is_dir()) and path.relative_to(folder).as_posix() not in files:
                raise ConfigError(
                    f"{folder}: holds '{one_line(path.name)}', which the dataset there does not list, and would be "
                    "replaced with it; name a new folder"
                )


def check_dataset(folder: Path, boards: Sequence[Board]) -> None:
    """Raise `ConfigError` where no dataset can be written to a folder, or a board's game has no observations."""
    check_folder(folder)
    for board in boards:
        observation_of(board)


def observation_of(board: Board) -> tuple[Game, ObservationSpec]:
    """Return a board's game, and what seats see of it; raises `ConfigError` for a game without observations."""
    game = check_game(board)
    try:
        return game, game.observation_spec()
    except UnsupportedError as error:
        raise ConfigError(f"{board.title}: {error}; a dataset needs them") from None


def files_of(folder: Path) -> set[str] | None:
    """Return the files of the dataset in a folder, as its manifest lists them; None where there is no dataset."""
    try:
        manifest = read_json(folder / MANIFEST_NAME)
        if "dataset" not in manifest:
            return None
        return {MANIFEST_NAME, *(str(shard["file"]) for board in manifest["boards"] for shard in board["shards"])}
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write_board(tournament: Tournament, index: int, folder: Path, options: DatasetOptions) -> dict[str, Any]:
    """Write the shards of a board; return its entry in the manifest."""
    schedule = tournament.schedule
    board = schedule.boards[index]
    game, spec = observation_of(board)
    name = board.slug
    (folder / name).mkdir()
    shard = Shard(game, options.rows)
    shards: list[dict[str, Any]] = []
    matches = 0
    for page in tournament.matches(index):
        for block, match in page:
            labels = [schedule.entries[entry].label for entry in schedule.seats(block, match.lineup)]
            matches += 1
            for _ in shard.take(match, labels, options.bots):
                shards.append(shard.write(folder, name, len(shards), options.format))
    if shard.count:
        shards.append(shard.write(folder, name, len(shards), options.format))
    decisions, visited, dropped, estimated = shard.totals
    return {
        "game": board.game,
        "players": board.players,
        "rules_version": board.rules_version,
        "observation_version": spec.version,
        "observation": [{"name": block.name, "shape": [*block.shape]} for block in spec.blocks],
        "observation_size": spec.size,
        "actions": game.num_distinct_actions,
        "matches": matches,
        "decisions": decisions,
        "with_visits": visited,
        "visits_dropped": dropped,
        "with_evaluation": estimated,
        "shards": shards,
    }


class Shard:
    """Writer of one shard after the other, through arrays of one shard's size."""

    def __init__(self, game: Game, rows: int) -> None:
        self.game, self.rows = game, rows
        self.spec, actions = game.observation_spec(), game.num_distinct_actions
        self.count = 0
        self.totals = [0, 0, 0, 0]
        """Decisions in all shards so far: all, with visits, with visits that were not kept, with an evaluation."""
        self.texts: dict[str, list[str]] = {"match": [], "bot": []}
        self.arrays = {
            "ply": np.zeros(rows, np.int32),
            "seat": np.zeros(rows, np.int32),
            "observation": np.zeros((rows, self.spec.size), np.float32),
            "legal_mask": np.zeros((rows, actions), np.bool_),
            "action": np.zeros(rows, np.int32),
            "visits": np.zeros((rows, actions), np.int32),
            "evaluation": np.zeros((rows, game.players), np.float32),
            "returns": np.zeros((rows, game.players), np.float32),
            "ranks": np.zeros((rows, game.players), np.int32),
        }
        self.seen = [self.spec.seen_actions(seat, actions) for seat in range(game.players)]

    def take(self, match: StoredMatch, labels: Sequence[str], bots: Sequence[str]) -> Iterator[None]:
        """Add the decisions of a match; yields whenever the shard is full, and has to be written."""
        name, estimates = match.id, match.estimates
        returns, ranks = returns_from_ranks(match.ranks), [rank + 1 for rank in match.ranks]
        observation = np.zeros(self.spec.size, np.float32)
        with_visits = {ply: len(estimate.visit_counts) for ply, estimate in estimates.items() if estimate.visit_counts}
        full = (
            max(with_visits) if sum(with_visits.values()) >= MAX_MATCH_VISIT_COUNTS else math.inf
        )  # after that ply none are kept
        telling: set[int] = set()
        for ply, seat, legal, action in decisions_of(match, self.game, observation):
            if bots and labels[seat] not in bots:
                continue
            row, seen, arrays = self.count, self.seen[seat], self.arrays
            arrays["ply"][row], arrays["seat"][row], arrays["action"][row] = ply, seat, seen[action]
            arrays["observation"][row] = observation
            arrays["legal_mask"][row] = False
            arrays["legal_mask"][row, seen[legal]] = True
            arrays["returns"][row], arrays["ranks"][row] = returns, ranks
            estimate = estimates.get(ply, NO_ESTIMATE)
            evaluation = estimate.evaluation
            visits = estimate.visit_counts if estimate.visit_counts.keys() <= {*legal} else {}
            if visits:
                telling.add(seat)
            dropped = ply > full and seat in telling
            arrays["visits"][row] = 0
            arrays["visits"][row, seen[[*visits]]] = [*visits.values()]
            arrays["evaluation"][row] = np.nan if evaluation is None else evaluation
            self.texts["match"].append(name)
            self.texts["bot"].append(labels[seat])
            self.count += 1
            for number, counted in enumerate((True, bool(visits), dropped, evaluation is not None)):
                self.totals[number] += counted
            if self.count == self.rows:
                yield

    def write(self, folder: Path, board: str, number: int, format: DatasetFormat) -> dict[str, Any]:
        """Write the rows as a shard and empty the arrays; return the shard's entry in the manifest."""
        rows, path = self.count, f"{board}/{number:05}.{format}"
        columns = {name: np.array(texts) for name, texts in self.texts.items()}
        columns |= {name: array[:rows] for name, array in self.arrays.items()}
        with open(folder / path, "xb") as file:
            if format == "npz":
                np.savez_compressed(file, allow_pickle=False, **columns)
            else:
                _write_parquet(file, columns)
            file.flush()
            os.fsync(file.fileno())
        with open(folder / path, "rb") as file:
            digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
        self.count = 0
        self.texts = {name: [] for name in self.texts}
        return {"file": path, "decisions": rows, "blake2b": digest}


def decisions_of(match: StoredMatch, game: Game, observation: np.ndarray) -> Iterator[Decision]:
    """Yield the choices that bots made in a match; `observation` then has what the seat saw.

    Left out is what nobody chose: dice, openings, turns with one legal action, moves for a seat that has forfeited.
    """
    legal = _look(game.new_initial_state(), observation)
    for ply in walk_plies(match, game, None):
        if ply.by == "bot":
            yield Decision(ply.number, ply.seat, legal, ply.state.history()[-1])
        legal = _look(ply.state, observation)


def _look(state: State, observation: np.ndarray) -> list[int]:
    """Return the legal actions of a state; write what the seat to move observes."""
    if state.current_player() >= 0:
        state.observe(None, observation)
    return state.legal_actions()


def _write_parquet(file: Any, columns: dict[str, np.ndarray]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        name: pa.array(array)
        if array.ndim == 1
        else pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(array).ravel()), array.shape[1])
        for name, array in columns.items()
    }
    pq.write_table(pa.table(arrays), file, compression="zstd")


def _write(path: Path, content: bytes) -> None:
    with open(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
