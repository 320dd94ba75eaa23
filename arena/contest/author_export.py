"""Everything that a home has of one author, in one file for that author."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
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
    about = {
        "author": found._asdict(),
        "tokens": [token._asdict() for token in accounts.tokens.of(author)],
        "contests": list(_contests(accounts, author)),
        "audit": [row._asdict() for row in accounts.database.audit_of_author(author)],
    }
    versions = [version for bot in bots for version in accounts.submissions.versions(bot.id)]
    with atomic_file(out, RIGHTS) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(zipfile.ZipInfo(ABOUT_FILE), "w", force_zip64=True) as entry:
            for piece in _pieces(accounts, about, bots, versions):
                entry.write(piece.encode())
        for version in versions:
            for name, content in source_files(version, home):
                archive.writestr(zipfile.ZipInfo(f"bots/{version.bot}/{version.number}/{name}"), content)
    with accounts.database.change(actor) as change:
        change.audit("export author", author)
    return len(versions)


def _pieces(
    accounts: Accounts, about: dict[str, Any], bots: Sequence[ContestBot], versions: Sequence[BotVersion]
) -> Iterator[str]:
    """Yield the JSON of an author in pieces: reports are long, and there is never more than one of them in memory."""
    yield f'{json.dumps(about, sort_keys=True).removesuffix("}")}, "bots": ['
    for number, bot in enumerate(bots):
        yield f'{", " * bool(number)}\n{json.dumps(bot._asdict(), sort_keys=True).removesuffix("}")}, "versions": ['
        for place, version in enumerate(each for each in versions if each.bot == bot.id):
            whole = accounts.submissions.version(version.bot, version.number)
            yield f"{',' * bool(place)}\n{json.dumps(whole._asdict(), sort_keys=True)}"
        yield "]}"
    yield "]}\n"


def _contests(accounts: Accounts, author: str) -> Iterator[dict[str, Any]]:
    for contest in accounts.contests.contests_of(author):
        member = accounts.contests.member(contest, author)
        assert member is not None
        yield {"contest": contest, **{key: value for key, value in member._asdict().items() if key != "author"}}


def source_files(version: BotVersion, home: Path) -> list[tuple[str, bytes]]:
    """Return the files of a version; for a source that is gone, a text that says so."""
    try:
        return sorted(stored_bundle(stored_version(version), home).files.items())
    except BotError:
        return [("MISSING.txt", b"This source is not in the home any more.\n")]
