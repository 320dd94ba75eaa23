"""Take what an author hands in: find the bot in it, keep its source, and have it wait for its check."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from arena.accounts import Accounts, Author, BotVersion
from arena.accounts.authors import checked_name
from arena.accounts.contests import CLOSED
from arena.contest.config import ContestConfig
from arena.core.errors import AccountError, BotError, UnwritableError
from arena.core.lookalikes import as_read
from arena.registry.bundles import Bundle
from arena.registry.submissions import store_bundle
from arena.registry.uploads import uploaded_bot

MIN_FREE_BYTES = 2**30
"""Room on the disk of the home below which nothing is handed in: matches in play need it."""


class Received(NamedTuple):
    """What became of something that was handed in."""

    version: BotVersion
    is_new: bool
    """False for the source that is the newest version already."""


def hand_in(
    accounts: Accounts,
    home: Path,
    config: ContestConfig,
    author: Author,
    name: str,
    files: Mapping[str, bytes],
    main: str = "",
    read: Callable[[Mapping[str, bytes], str], tuple[Bundle, str]] = uploaded_bot,
) -> Received:
    """Keep the bot in uploaded files as a version of an author's bot; without a `name` it is the author's one bot's, or
    that of the file. `main` is as for `arena.registry.uploads.uploaded_bot`, which is what `read` does.

    Raises `AccountError` for who may not hand in, or not now, `BotError` for files that hold no bot, `UnwritableError`
    where the disk is short.
    """
    check_open(accounts, config, author, accounts.database.clock())
    size = sum(map(len, files.values()))
    if size > config.max_upload << 20:
        raise AccountError(f"the upload has {size:,} bytes; this contest takes at most {config.max_upload} MiB")
    check_room(home)
    if not files:
        raise BotError("the upload holds no file")
    name = name.strip() or _usual_name(accounts, config, author, files)
    own = {as_read(bot.name) for bot in accounts.submissions.bots_of(author.id) if bot.contest == config.name}
    house = {as_read(each) for spec in config.house for each in (spec, spec.partition(":")[0])}
    if as_read(name) in house - own:
        raise AccountError(f"'{name}' is a bot of the house; choose another name")
    accounts.submissions.check_allowed(config.name, author.id, name, config.allowance)
    bundle, class_name = read(files, main)

    def store() -> None:
        try:
            store_bundle(bundle, home)
        except OSError as error:
            raise UnwritableError(f"the bot cannot be kept: {error.strerror}", "Make room") from None

    source = (bundle.hash, bundle.module, class_name)
    return Received(*accounts.submissions.hand_in(config.name, author.id, name, source, config.allowance, store))


def check_open(accounts: Accounts, config: ContestConfig, author: Author, now: datetime) -> None:
    """Raise `AccountError` unless an author may hand in at a time."""
    member = accounts.contests.member(config.name, author.id)
    if member is None:
        raise AccountError("you do not take part in this contest")
    if member.banned:
        raise AccountError("you have been banned from this contest; its organiser can tell why")
    if accounts.contests.get(config.name).state == CLOSED:
        raise AccountError("this contest is closed")
    own = datetime.fromisoformat(member.deadline) if member.deadline else None
    if config.opens is not None and now < config.opens:
        raise AccountError(f"this contest opens on {config.local(config.opens)}")
    if not config.is_open(now, own):
        deadline = own or config.deadline
        assert deadline is not None
        raise AccountError(f"the deadline was {config.local(deadline)}")


def check_room(home: Path) -> None:
    """Raise `UnwritableError` where the disk of the home is short."""
    free = shutil.disk_usage(home).free
    if free < MIN_FREE_BYTES:
        raise UnwritableError(f"the disk of this arena has {free >> 20} MiB left; nothing is taken now", "Wait")


def _usual_name(accounts: Accounts, config: ContestConfig, author: Author, files: Mapping[str, bytes]) -> str:
    """Return the name of an author's one bot, else of the file or folder that was handed in; raises `BotError`."""
    mine = [bot for bot in accounts.submissions.bots_of(author.id) if bot.contest == config.name and not bot.is_out]
    if len(mine) == 1 and config.bots_per_author == 1:
        return mine[0].name
    file = next(iter(files))
    try:
        return checked_name(PurePosixPath(file.split("/")[0]).stem)
    except AccountError:
        raise BotError(f"the file's name {file[:80]!a} is no name for a bot; give the bot a name") from None
