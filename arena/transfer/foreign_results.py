"""Import results of matches that were played elsewhere: all of a file, or nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.core.errors import ConfigError, adding_saved_state
from arena.core.files import created_folder, temporary_folder
from arena.core.names import plain_name
from arena.core.paths import home_folder
from arena.foreign.build import BuiltLog, ResultsFile, build, copy_and_hash
from arena.foreign.rows import format_of_file
from arena.plan.config import tournament_name
from arena.store import Store
from arena.tournament.dice_keys import now
from arena.tournament.logs import LOG_FILE


@dataclass(frozen=True)
class ImportedResults:
    """Result of an import."""

    log: Path
    built: BuiltLog


@adding_saved_state(lambda: "nothing is changed")
def import_results(
    file: Path,
    name: str | None = None,
    game: str | None = None,
    columns: Mapping[str, str] | None = None,
    home: str | Path | None = None,
) -> ImportedResults:
    """Make a tournament of the results in a CSV, JSON Lines or Parquet file, marked as unverified.

    `name` is by default that of the file, and `game`, where the rows do not tell it, that of the tournament; `columns`
    names the columns of the file by what they stand for (`arena.foreign.rows.COLUMNS`). A copy of the file is kept
    beside the log. Raises an `ArenaError` and leaves nothing behind if something cannot be taken.
    """
    kind = format_of_file(file)
    name = file.stem if name is None else name
    try:
        tournament_name(name)
    except ValueError as error:
        raise ConfigError(f"--name {name}: {error}") from None
    try:
        plain_name(game or name)
    except ValueError as error:
        raise ConfigError(f"--game {game}: {error}") from None
    home = home_folder(home)
    target = home / name
    _check_name_free(target)
    with created_folder(home), temporary_folder(home, ".import-") as folder:
        made = folder / "made"
        made.mkdir()
        copy = made / f"source.{kind}"
        source = ResultsFile(copy, str(file), kind, copy_and_hash(file, copy), columns or {}, game or name)
        with Store.create(made / LOG_FILE) as store:
            built = build(store, source, name, now(), folder)
        try:
            os.rename(made, target)
        except OSError:
            _check_name_free(target)
            raise
    return ImportedResults(target / LOG_FILE, built)


def _check_name_free(target: Path) -> None:
    """Raise `ConfigError` if the name is taken."""
    if os.path.lexists(target):
        raise ConfigError(
            f"{target}: exists already; imported results are a tournament of their own: give another --name"
        )
