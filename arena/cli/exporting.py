"""`arena export`, `arena import` and `arena import-results`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena import api
from arena.cli.logs import print_exports
from arena.cli.output import matches_in_words, print_text
from arena.plan.files import PLAN_CHANGED
from engine.errors import one_line


def export_files(
    target: str,
    what: Sequence[str] | None,
    format: Sequence[str] | None,
    columns: Sequence[str] | None,
    out: Path | None,
    home: Path | None,
) -> None:
    """Run `arena export`."""
    for path in api.export(target, home, out, _listed(what) or ["leaderboards"], _listed(format), _listed(columns)):
        print(path)


def _listed(given: Sequence[str] | None) -> list[str]:
    """Split repeated options of names joined by commas."""
    return [name.strip() for text in given or () for name in text.split(",")]


def print_import(files: Sequence[Path], name: str, plan: Path | None, home: Path | None) -> None:
    """Run `arena import`."""
    from arena.transfer.importing import import_records

    done = import_records(files, name, plan, home)
    known = f"; {done.skipped:,} were there already" if done.skipped else ""
    print_text(f"{done.added:,} matches imported into {done.log}{known}")
    if done.plan_changed:
        print_text(PLAN_CHANGED)
    if done.added or done.plan_changed:
        print_exports(done.log)


def print_import_results(
    file: Path, name: str | None, game: str | None, columns: Sequence[str] | None, home: Path | None
) -> None:
    """Run `arena import-results`."""
    from arena.foreign.rows import columns_of
    from arena.transfer.foreign_results import import_results

    done = import_results(file, name, game, columns_of(_listed(columns)), home)
    plan, foreign = done.built.plan, done.built.plan.foreign
    assert foreign is not None
    print_text(
        f"{matches_in_words(done.built.matches)} of {len(plan.bots):,} bots from {foreign.rows:,} rows imported into "
        f"{one_line(str(done.log))}, as {foreign.status}"
    )
    used = ", ".join(
        what if what == column else f"{what} = {one_line(column)}" for what, column in foreign.columns.items()
    )
    print_text(f"columns: {used}" + (f"; not used: {', '.join(done.built.ignored)}" if done.built.ignored else ""))
    if "block" not in foreign.columns:
        print_text(
            "Without a column of blocks each match is one: intervals take the matches for independent of each other."
        )
