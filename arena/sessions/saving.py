"""Keep a match of persons: in a log of its own, or as a line of JSON."""

from __future__ import annotations

import json
from pathlib import Path

from arena.core.files import created_folder, temporary_folder
from arena.core.match_ids import match_id
from arena.core.names import PLAYED_FOLDER
from arena.core.paths import home_folder
from arena.match.json_lines import match_as_line, with_entries
from arena.match.person import is_person
from arena.match.result import MatchRow
from arena.match.stored import StoredMatch
from arena.plan.model import ResolvedPlan
from arena.plan.resolve import Plan
from arena.runner.single import single_match, stored_of
from arena.sessions.session import PlaySession, RefusedError
from arena.sessions.setup import bot_row
from arena.store import FinishedMatch, Store, move_into_place
from arena.tournament.dice_keys import finish_log, now
from arena.tournament.logs import LOG_FILE

WORKER = "table"
"""Worker of matches played by hand, as the log has it."""
NAME_DIGITS = 12
"""Hexadecimal digits of a match's id that its log is named by."""


def save(session: PlaySession) -> str:
    """Write the log of a match that is over and return the name that commands know it by.

    Raises `RefusedError` when there is such a log already, of the same people, bots and dice, or it is being written.
    """
    if session.saved_as:
        return session.saved_as
    plan, row = session.begin_saving()
    name = f"{PLAYED_FOLDER}/{single_match(plan).block.identity.hex()[:NAME_DIGITS]}"
    saved_as = ""
    try:
        home = home_folder(session.home)
        log = home / name / LOG_FILE
        if log.exists():
            raise RefusedError(
                f"a match of the same seats and dice is in {name} already; play with new dice to keep another"
            )
        with (
            created_folder(home),
            temporary_folder(home, ".keep-") as folder,
        ):  # killed on the way, it leaves no half a log
            _write(folder / LOG_FILE, name, plan, row, session.versions)
            move_into_place(folder / LOG_FILE, log)
        saved_as = name
    finally:
        session.end_saving(saved_as)
    return name


def _write(log: Path, name: str, plan: Plan, row: MatchRow, versions: dict[str, str]) -> None:
    """Write the log of one match."""
    bundles = {}
    for bot in plan.bots:
        if not is_person(bot.spec):
            files = sorted(bot.bundle.files.items())
            bundles[bot.bundle.hash] = json.dumps({path: content.hex() for path, content in files})
    with Store.create(log) as store:
        for key in plan.secret_keys:
            store.keep_key(key, now())
        resolved = ResolvedPlan.of(name, plan.schedule)
        bots = [bot_row(plan, entry) for entry in range(len(plan.bots))]
        run = store.begin_run(resolved.as_json(), json.dumps(versions), now(), bots, bundles)
        store.add(plan.schedule, [FinishedMatch(single_match(plan), row, WORKER, 1)], run)
        finish_log(store, plan.schedule)


def stored_match(plan: Plan, row: MatchRow) -> StoredMatch:
    """Return a match of a session in the form of one out of a log."""
    return stored_of(plan, single_match(plan), row)


def match_id_of(plan: Plan) -> str:
    """Return the id of a session's match."""
    spec = single_match(plan)
    return match_id(spec.block.identity, spec.lineup)


def json_line_of(plan: Plan, row: MatchRow) -> str:
    """Return a match as a line of JSON, as exports of logs have it."""
    board, entries = plan.schedule.boards[0], plan.schedule.entries
    seats = [entries[entry] for entry in single_match(plan).seats]
    return match_as_line(with_entries(stored_match(plan, row), seats, board.rules_version))
