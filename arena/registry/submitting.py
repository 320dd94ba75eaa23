"""Submit bots: keep their sources as new versions of a name, and withdraw them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from arena.core.errors import BotError
from arena.core.files import blocking_file, check_writable, write_file
from arena.core.lookalikes import lookalike_warnings
from arena.core.names import plain_name, shown_name
from arena.registry.bundles import Bundle
from arena.registry.discovery import named_bots
from arena.registry.submissions import (
    INDEX_FILE,
    LOCK_FILE,
    MAX_AUTHOR_CHARS,
    Index,
    Submission,
    Submissions,
    Version,
    below_a_file,
    locked_submissions,
    no_such_submission,
    packed_files,
    source_path,
    submissions_folder,
    submitted,
)


@dataclass(frozen=True)
class SubmissionResult:
    """Result of a submission."""

    name: str
    submission: Submission
    changed: bool


def store_submission(
    module: str, class_name: str, bundle: Bundle, name: str, author: str, home: str | Path | None = None
) -> SubmissionResult:
    """Store a source unchecked and make it the newest version of its name; the same source again changes nothing.

    The bot is asked for its declaration when it is first planned. Raises `BotError` when the author cannot submit under
    that name, `OSError` when nothing can be written.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    version = Version(hash=bundle.hash, module=module, class_name=class_name, author=author, submitted=now)
    with locked_submissions(home):
        bots = check_author(name, author, home)
        known = {each: [(by.author, by.hash) for by in bot.versions] for each, bot in bots.items()}
        remarks = tuple(lookalike_warnings(name, author, bundle.hash, [*named_bots()], known))
        version = version.model_copy(update={"warnings": remarks})
        write_file(source_path(bundle.hash, home), [packed_files(bundle.files)])
        before = bots.get(name)
        versions = before.versions if before is not None else ()
        same = bool(versions) and versions[-1].source == version.source
        after = Submission(versions=versions if same else (*versions, version))
        if after != before:
            _write_index({**bots, name: after}, home)
    return SubmissionResult(name, after, after != before)


def withdraw(name: str, home: str | Path | None = None) -> bool:
    """Take a bot out of new plans; its sources stay for `name@hash`. Return False when it was withdrawn already.

    Raises `BotError` for a name that nobody has submitted.
    """
    bots = submitted(home)
    if name not in bots:
        raise no_such_submission(name, bots)
    with locked_submissions(home):
        bots = submitted(home)
        before = bots[name]
        if not before.withdrawn:
            _write_index({**bots, name: before.model_copy(update={"withdrawn": True})}, home)
        return not before.withdrawn


def check_can_store(home: str | Path | None = None) -> None:
    """Raise `OSError` when no bot can be kept, as far as can be found without keeping one."""
    folder = submissions_folder(home)
    if blocking_file(folder) is not None:
        raise below_a_file(home)
    check_writable(folder)
    with contextlib.suppress(FileNotFoundError):
        os.close(os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC))


def check_author(name: str, author: str, home: str | Path | None = None) -> Submissions:
    """Return submitted bots; raises `BotError` when that author cannot submit under that name."""
    try:
        plain_name(name)
    except ValueError as error:
        raise BotError(f"name '{name}': {error}") from None
    if name.lower().endswith((".py", ".toml")):
        raise BotError(f"name '{name}': would be read as a path")
    try:
        shown_name(author, MAX_AUTHOR_CHARS)
    except ValueError as error:
        raise BotError(f"author '{author}': {error}") from None
    bots = submitted(home)
    for other in (*named_bots(), *bots):
        if other.lower() == name.lower() and not (other == name and name in bots and name not in named_bots()):
            whose = "comes with the arena or is installed" if other in named_bots() else "has been submitted"
            raise BotError(f"name '{name}': a bot '{other}' {whose}; choose another name")
    if name in bots and bots[name].newest.author != author:
        raise BotError(f"name '{name}': belongs to a bot by {bots[name].newest.author}; choose another name")
    return bots


def _write_index(bots: Submissions, home: str | Path | None) -> None:
    text = Index(bots=dict(sorted(bots.items()))).model_dump_json(indent=1)
    write_file(submissions_folder(home) / INDEX_FILE, [f"{text}\n".encode()])
