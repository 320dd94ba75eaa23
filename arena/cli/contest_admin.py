"""`arena contest admin`."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from arena.accounts import DATABASE_FILE, OPERATOR, Accounts, Author, Member
from arena.accounts.sheets import names_in, sheet_of_links
from arena.accounts.tokens import API
from arena.cli.output import Output, plain_table, print_json, print_text
from arena.contest.author_export import export_author
from arena.contest.config import contest_from
from arena.contest.erasing import erase_author
from arena.contest.layout import ARCHIVE_FILE
from arena.core.errors import AccountError, ConfigError, UnknownTargetError
from arena.core.files import atomic_file, check_output_file, read_regular
from arena.core.paths import home_folder
from arena.verify.archive import make_archive
from engine.errors import did_you_mean, one_line

MAX_CSV_BYTES = 2**20
SHEET_RIGHTS = 0o600
"""Of a sheet of links: whoever has a link takes part."""


@contextlib.contextmanager
def opened(home: Path | None) -> Iterator[Accounts]:
    """Open the accounts of a home that has some; raises `UnknownTargetError` for another."""
    folder = home_folder(home)
    if not (folder / DATABASE_FILE).exists():
        raise UnknownTargetError(f"{folder}: has no contest; `arena contest init` makes one, --home names another home")
    with Accounts.open(folder) as accounts:
        yield accounts


def author_named(accounts: Accounts, given: str) -> Author:
    """Return the author of an id or name; raises `AccountError` with a hint."""
    if given[:1] == "a" and given[1:].isascii() and given[1:].isdecimal():
        return accounts.authors.get(given)
    found = accounts.authors.named(given)
    if found is None:
        names = [author.name for author in accounts.authors.all() if not author.erased]
        raise AccountError(f"there is no author '{given[:64]}'{did_you_mean(given, names)}")
    return found


def print_invitations(
    contest: str,
    names: Sequence[str],
    csv: Path | None,
    anybody: int | None,
    terms: tuple[str, int | None],
    url: str,
    out: Path | None,
    home: Path | None,
) -> None:
    """Run `arena contest admin invite`; `terms` are the role and the days."""
    if sum((bool(names), csv is not None, anybody is not None)) != 1:
        raise ConfigError("invite: give names, or --csv, or --anybody")
    if out is not None:
        check_output_file(out, "--out")
        if out.exists():
            raise ConfigError(f"--out {out}: is there already; name a new file")
    listed = names_in(_text_of(csv)) if csv is not None else list(names)
    role, days = terms
    with opened(home) as accounts:
        accounts.contests.get(contest)

        def sheet() -> str:
            if anybody is not None:
                code = accounts.invitations.invite_anybody(contest, anybody, OPERATOR, role, days)
                return sheet_of_links([(f"{anybody} persons", code)], url)
            return sheet_of_links(accounts.invitations.invite(contest, listed, OPERATOR, role, days), url)

        if out is None:
            sys.stdout.write(sheet())
            return
        with atomic_file(out, SHEET_RIGHTS) as file:
            file.write(sheet().encode())
    print_text(f"{out}: {anybody or len(listed)} may take part in '{contest}'.")


def _text_of(path: Path) -> str:
    try:
        return read_regular(path, MAX_CSV_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        why = "is no text in UTF-8" if isinstance(error, UnicodeDecodeError) else f"cannot be read: {error}"
        raise ConfigError(f"--csv {path}: {getattr(error, 'strerror', None) or why}") from None


def print_authors(contest: str | None, as_json: bool, home: Path | None) -> None:
    """Run `arena contest admin authors`."""
    with opened(home) as accounts:
        if contest is None:
            members: list[tuple[Author, Member | None]] = [(author, None) for author in accounts.authors.all()]
        else:
            accounts.contests.get(contest)
            members = [(member.author, member) for member in accounts.contests.members(contest)]
        rows = [_author_row(accounts, contest, author, member) for author, member in members]
    if as_json:
        print_json(rows)
    else:
        _print_rows(rows)


def _author_row(accounts: Accounts, contest: str | None, author: Author, member: Member | None) -> dict[str, Any]:
    bots = [bot for bot in accounts.submissions.bots_of(author.id) if contest in (None, bot.contest)]
    row: dict[str, Any] = {"id": author.id, "name": author.name, "role": author.role, "erased": author.erased}
    row["bots"] = " ".join(f"{bot.id}{'' if bot.withdrawn is None else ' (withdrawn)'}" for bot in bots)
    if member is not None:
        row |= {"banned": member.banned, "deadline": member.deadline}
        row |= {"max_bots": member.max_bots, "max_per_day": member.max_per_day}
    return row


def _print_rows(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a table, without columns that are empty."""
    columns = [key for key in (rows[0] if rows else {}) if any(row[key] not in (None, "") for row in rows)]
    table = plain_table()
    for row in (dict(zip(columns, columns)), *rows) if rows else ():
        table.add_row(*("" if row[key] is None else one_line(str(row[key])) for key in columns))
    Output().print(table)


def give_role(author: str, role: str, home: Path | None) -> None:
    """Run `arena contest admin role`."""
    with opened(home) as accounts:
        found = author_named(accounts, author)
        accounts.authors.give_role(found.id, role, OPERATOR)
        print_text(f"{found.name} ({found.id}) is {role} now.")


def set_limits(contest: str, author: str, bots: int | None, per_day: int | None, home: Path | None) -> None:
    """Run `arena contest admin limit`."""
    with opened(home) as accounts:
        found = author_named(accounts, author)
        accounts.contests.limit(contest, found.id, bots, per_day, OPERATOR)
        shown = ("as the contest says" if value is None else f"{value:,}" for value in (bots, per_day))
        print_text("{} ({}): bots {}, versions a day {}.".format(found.name, found.id, *shown))


def extend_deadline(contest: str, author: str, deadline: str | None, home: Path | None) -> None:
    """Run `arena contest admin extend`."""
    with opened(home) as accounts:
        found, config = author_named(accounts, author), contest_from(accounts.contests.get(contest).config, contest)
        time = None if deadline is None else _moment(deadline, ZoneInfo(config.time_zone))
        accounts.contests.extend(contest, found.id, time, OPERATOR)
        shown = "the contest's" if time is None else config.local(time)
        print_text(f"{found.name} ({found.id}): the deadline is {shown}.")


def _moment(text: str, zone: ZoneInfo) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return (moment.replace(tzinfo=zone) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ConfigError(f"deadline '{text[:40]}': must be a time such as 2027-02-01T18:00") from None


def ban_author(contest: str, author: str, matches: Literal["keep", "drop"], home: Path | None) -> None:
    """Run `arena contest admin ban`."""
    with opened(home) as accounts:
        found = author_named(accounts, author)
        accounts.contests.ban(contest, found.id, matches, OPERATOR)
        state = "stay in the standings" if matches == "keep" else "leave the standings"
        print_text(f"{found.name} ({found.id}) is banned from '{contest}'; matches played so far {state}.")


def unban_author(contest: str, author: str, home: Path | None) -> None:
    """Run `arena contest admin unban`."""
    with opened(home) as accounts:
        found = author_named(accounts, author)
        accounts.contests.unban(contest, found.id, OPERATOR)
        print_text(f"{found.name} ({found.id}) may take part in '{contest}' again.")


def withdraw_bot(bot: str, home: Path | None) -> None:
    """Run `arena contest admin withdraw`."""
    with opened(home) as accounts:
        is_new = accounts.submissions.withdraw(bot, OPERATOR)
        print_text(f"{bot} {'plays in no further round' if is_new else 'was withdrawn already'}.")


def announce(contest: str, text: str, home: Path | None) -> None:
    """Run `arena contest admin message`."""
    with opened(home) as accounts:
        accounts.contests.announce(contest, text.strip(), OPERATOR)
        print_text(f"The message of '{contest}' is {'set' if text.strip() else 'taken away'}.")


def issue_token(author: str, scopes: Sequence[str], days: int | None, label: str, home: Path | None) -> None:
    """Run `arena contest admin token`."""
    with opened(home) as accounts:
        found = author_named(accounts, author)
        print(accounts.tokens.issue(found, API, scopes, OPERATOR, label, days))


def print_tokens(author: str, as_json: bool, home: Path | None) -> None:
    """Run `arena contest admin tokens`."""
    with opened(home) as accounts:
        rows = [token._asdict() for token in accounts.tokens.of(author_named(accounts, author).id)]
    if as_json:
        print_json(rows)
    else:
        _print_rows(rows)


def revoke_tokens(author: str, token: int | None, home: Path | None) -> None:
    """Run `arena contest admin revoke`."""
    with opened(home) as accounts:
        found = author_named(accounts, author)
        live = [each.id for each in accounts.tokens.of(found.id) if each.revoked is None]
        for number in live if token is None else [token]:
            accounts.tokens.revoke(found.id, number, OPERATOR)
        count = len(live) if token is None else 1
        print_text(f"{found.name} ({found.id}): {'1 token is' if count == 1 else f'{count} tokens are'} revoked.")


def export_all(author: str, out: Path, home: Path | None) -> None:
    """Run `arena contest admin export`."""
    with opened(home) as accounts:
        found = author_named(accounts, author)
        count = export_author(accounts, home_folder(home), found.id, out, OPERATOR)
    print_text(f"{out}: the account of {found.name} ({found.id}), with {count} versions of bots.")


def erase_all(author: str, yes: bool, home: Path | None) -> None:
    """Run `arena contest admin erase`."""
    with opened(home) as accounts:
        found = author_named(accounts, author)
        if not yes:
            raise ConfigError(f"erase: {found.name} ({found.id}) cannot be brought back; --yes erases")
        erasure = erase_author(accounts, home_folder(home), found.id, OPERATOR)
    print_text(f"{found.id} is erased, with {erasure.sources} sources; results stay. Backups still have everything.")
    for log in erasure.logs:
        make_archive(log, home, log.with_name(ARCHIVE_FILE))
        print_text(f"{log}: sources erased, and its archive made anew.")
    for log in erasure.waiting:
        print_text(f"{log}: its driver erases sources when their bots have left the round.")


def print_audit(contest: str | None, after: int, most: int, as_json: bool, home: Path | None) -> None:
    """Run `arena contest admin audit`."""
    with opened(home) as accounts:
        if contest is not None:
            accounts.contests.get(contest)
        rows = [row._asdict() for row in accounts.database.audit(contest, after, most)]
    if as_json:
        print_json(rows)
    else:
        _print_rows([{**row, "details": json.dumps(row["details"], sort_keys=True)} for row in rows])
