"""Everything that a home has of one author, in one file for that author."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.accounts import Accounts, BotVersion, ContestBot
from arena.contest.entrants import stored_version
from arena.core.errors import BotError, ConfigError
from arena.core.files import atomic_file, check_output_file
from arena.registry.submissions import stored_bundle

RIGHTS = 0o600
ABOUT_FILE = "author.json"


def export_author(accounts: Accounts, home: Path, author: str, out: Path, actor: str) -> int:
    """Write an author's account, bots, sources and changes into a new ZIP file; return how many sources it has.

    Results are not in it: logs have them, under the ids of the bots, for everybody who may see the contest. Raises
    `AccountError` for nobody, `ConfigError` for a file that exists.
    """
    found = accounts.authors.get(author)
    check_output_file(out, "OUT")
    if out.exists():
        raise ConfigError(f"{out}: is there already; name a new file")
    bots = accounts.submissions.bots_of(author)
    versions = {bot.id: accounts.submissions.versions(bot.id, with_reports=True) for bot in bots}
    about = {
        "author": found._asdict(),
        "tokens": [token._asdict() for token in accounts.tokens.of(author)],
        "contests": list(_contests(accounts, author)),
        "bots": [_bot(bot, versions[bot.id]) for bot in bots],
        "audit": [row._asdict() for row in accounts.database.audit_of_author(author)],
    }
    count = 0
    with atomic_file(out, RIGHTS) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(ABOUT_FILE), json.dumps(about, indent=1, sort_keys=True) + "\n")
        for version in (each for found in versions.values() for each in found):
            for name, content in _files(version, home):
                archive.writestr(zipfile.ZipInfo(f"bots/{version.bot}/{version.number}/{name}"), content)
            count += 1
    with accounts.database.change(actor) as change:
        change.audit("export author", author)
    return count


def _contests(accounts: Accounts, author: str) -> Iterator[dict[str, Any]]:
    for contest in accounts.contests.contests_of(author):
        member = accounts.contests.member(contest, author)
        assert member is not None
        yield {"contest": contest, **{key: value for key, value in member._asdict().items() if key != "author"}}


def _bot(bot: ContestBot, versions: list[BotVersion]) -> dict[str, Any]:
    return {**bot._asdict(), "versions": [version._asdict() for version in versions]}


def _files(version: BotVersion, home: Path) -> list[tuple[str, bytes]]:
    """Return the files of a version; for a source that is gone, a text that says so."""
    try:
        return sorted(stored_bundle(stored_version(version), home).files.items())
    except BotError:
        return [("MISSING.txt", b"This source is not in the home any more.\n")]
