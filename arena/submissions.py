"""Submitted bots under the arena's home: sources by content hash, and who handed in which under what name.

`bots/index.json` is the index; `bots/HASH.zip` holds the files of one bundle, `bots/HASH.json` what its classes said
of themselves when they were first asked. Reading runs nothing of theirs.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from arena.bundle import MAX_BYTES, MAX_FILES, Bundle
from arena.config import SUBMISSIONS, Model, plain_name, shown_name
from arena.declarations import Answers
from arena.errors import BotError
from arena.files import check_writable, in_the_way, read_regular, write_file
from arena.home import home_folder
from arena.lookalikes import warnings
from engine.errors import did_you_mean

INDEX = "index.json"
MAX_INDEX = 2**26
"""Bytes of it."""
LOCK = "index.lock"
PREFIX = re.compile("[0-9a-f]{6,32}")
MAX_AUTHOR = 64
SHORT = 12
"""Digits of a hash that people are shown."""


class Version(Model):
    """One source that was handed in under a name."""

    hash: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    """The bundle's hash."""
    module: str
    class_name: str
    author: str
    submitted: str
    """When, UTC."""
    warnings: tuple[str, ...] = ()
    """What was worth a look when it was handed in."""

    @property
    def short(self) -> str:
        return self.hash[:SHORT]

    @property
    def source(self) -> tuple[str, str, str]:
        """What makes it another version than others."""
        return self.hash, self.module, self.class_name


class Submission(Model):
    """All that was handed in under one name, in order; the newest version counts."""

    versions: Annotated[tuple[Version, ...], Field(min_length=1)]
    withdrawn: bool = False

    @property
    def newest(self) -> Version:
        return self.versions[-1]


Submissions = dict[str, Submission]
_AllAnswers = TypeAdapter(dict[str, Answers])


class Index(Model):
    """The index as it is stored."""

    format: Literal[1] = 1
    bots: Submissions


@dataclass(frozen=True)
class Kept:
    """How a submission went."""

    name: str
    submission: Submission
    changed: bool


def submitted(home: str | Path | None = None) -> Submissions:
    """What has been handed in, by name; withdrawn bots too. Raises `BotError` when the index cannot be read."""
    path = _folder(home) / INDEX
    try:
        return dict(sorted(Index.model_validate_json(read_regular(path, MAX_INDEX)).bots.items()))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        raise _below_a_file(home) from None
    except OSError as error:
        raise BotError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:  # of another shape, or too large
        raise BotError(
            f"{path}: is damaged: it is not an index of submitted bots; put a copy of it back, or move it away"
        ) from None


def find_version(name: str, prefix: str, known: Submissions) -> int:
    """The number, from 1, of the newest version of a bot whose hash begins with `prefix`; withdrawn bots too.

    Raises `BotError` when there is none, or two sources begin so.
    """
    if name not in known:
        raise _no_such(name, known)
    if not PREFIX.fullmatch(prefix):
        raise BotError(f"'{name}@{prefix}': a version is named by 6 to 32 hexadecimal digits of its hash")
    found = [number for number, version in enumerate(known[name].versions, 1) if version.hash.startswith(prefix)]
    hashes = sorted({known[name].versions[number - 1].hash for number in found})
    if not found:
        versions = ", ".join(version.short for version in known[name].versions)
        raise BotError(f"bot '{name}' has no version {prefix}; it has {versions}")
    if len(hashes) > 1:
        raise BotError(f"'{name}@{prefix}': {hashes[0]} and {hashes[1]} begin so; give more of it")
    return found[-1]


def _no_such(name: str, known: Submissions) -> BotError:
    hint = did_you_mean(name, known) if known else "; nothing has been submitted"
    return BotError(f"no submitted bot '{name}'{hint}")


def stored_bundle(version: Version, home: str | Path | None = None) -> Bundle:
    """A submitted bot's source; raises `BotError` when it is gone or not what was handed in."""
    path = _source_path(version.hash, home)
    try:
        bundle = Bundle(version.module, _unpacked(read_regular(path, 2 * MAX_BYTES)))
    except FileNotFoundError:
        raise BotError(f"{path}: is missing; submit that source again") from None
    except Exception:  # a damaged archive may raise anything
        bundle = None
    if bundle is None or bundle.hash != version.hash:
        raise BotError(f"{path}: is damaged: its hash is not the one it is named by; submit that source again")
    return bundle


def answers_of(version: Version, home: str | Path | None = None) -> Answers | None:
    """What a submitted Python bot said when it was first asked; None when it was not. Raises `BotError` for damage."""
    return _all_answers(version, home).get(_class_key(version))


def keep_answers(version: Version, answers: Answers, home: str | Path | None = None) -> None:
    """Keep what a submitted bot said, for good."""
    with _locked(home):
        known = {**_all_answers(version, home), _class_key(version): answers}
        content = _AllAnswers.dump_json(dict(sorted(known.items())), indent=1)
        write_file(_answers_path(version, home), [content, b"\n"])


def _all_answers(version: Version, home: str | Path | None) -> dict[str, Answers]:
    """By class of the version's source."""
    path = _answers_path(version, home)
    try:
        return _AllAnswers.validate_json(read_regular(path, MAX_INDEX))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise BotError(f"{path}: is damaged; it holds what a submitted bot declared: put a copy of it back") from None


def _class_key(version: Version) -> str:
    return f"{version.module}:{version.class_name}"


def submit(path: str, name: str, author: str, home: str | Path | None = None) -> Kept:
    """Keep a bot's source as it is now, unchecked; `arena.check.submit` checks it before. Raises as `keep` does.

    What it declares it is asked when it is first planned.
    """
    from arena.registry import own_bot

    source = own_bot(path)
    return keep(source.module, source.class_name, source.bundle(), name, author, home)


def keep(module: str, class_name: str, bundle: Bundle, name: str, author: str, home: str | Path | None = None) -> Kept:
    """Store a source and make it the newest version of its name; the same source again changes nothing.

    Raises `BotError` when the author cannot submit under that name, `OSError` when nothing can be written.
    """
    from arena.registry import named_bots

    now = datetime.now(UTC).isoformat(timespec="seconds")
    version = Version(hash=bundle.hash, module=module, class_name=class_name, author=author, submitted=now)
    with _locked(home):
        bots = admitted(name, author, home)
        told = tuple(warnings(name, author, bundle.hash, [*named_bots()], _known(bots)))
        version = version.model_copy(update={"warnings": told})
        write_file(_source_path(bundle.hash, home), [_packed(bundle.files)])
        before = bots.get(name)
        if before is None:
            after = Submission(versions=(version,))
        elif before.newest.source == version.source:
            after = Submission(versions=before.versions)
        else:
            after = Submission(versions=(*before.versions, version))
        if after != before:
            _write_index({**bots, name: after}, home)
    return Kept(name, after, after != before)


def _known(bots: Submissions) -> dict[str, list[tuple[str, str]]]:
    """By name: authors and hashes of the versions."""
    return {name: [(version.author, version.hash) for version in entry.versions] for name, entry in bots.items()}


def withdraw(name: str, home: str | Path | None = None) -> bool:
    """Take a bot out of new plans; its sources stay, for `name@hash`. False when it was withdrawn already.

    Raises `BotError` for a name that nobody has submitted.
    """
    bots = submitted(home)
    if name not in bots:
        raise _no_such(name, bots)
    with _locked(home):
        bots = submitted(home)
        before = bots[name]
        if not before.withdrawn:
            _write_index({**bots, name: before.model_copy(update={"withdrawn": True})}, home)
        return not before.withdrawn


def check_room(home: str | Path | None = None) -> None:
    """Raise `OSError` when no bot could be kept, as far as can be seen without keeping one."""
    folder = _folder(home)
    if in_the_way(folder) is not None:
        raise _below_a_file(home)
    check_writable(folder)
    with contextlib.suppress(FileNotFoundError):
        os.close(os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC))


def admitted(name: str, author: str, home: str | Path | None = None) -> Submissions:
    """What has been submitted; raises `BotError` when that author cannot submit under that name."""
    from arena.registry import named_bots

    try:
        plain_name(name)
    except ValueError as error:
        raise BotError(f"name '{name}': {error}") from None
    if name.lower().endswith((".py", ".toml")):
        raise BotError(f"name '{name}': would be read as a path")
    try:
        shown_name(author, MAX_AUTHOR)
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


def _folder(home: str | Path | None) -> Path:
    return home_folder(home) / SUBMISSIONS


def _below_a_file(home: str | Path | None) -> BotError:
    return BotError(f"{_folder(home)}: is below a file; name a folder: --home or ARENA_HOME")


def _source_path(hash: str, home: str | Path | None) -> Path:
    return _folder(home) / f"{hash}.zip"


def _answers_path(version: Version, home: str | Path | None) -> Path:
    return _folder(home) / f"{version.hash}.json"


@contextlib.contextmanager
def _locked(home: str | Path | None) -> Iterator[None]:
    """Nobody else changes the index meanwhile; whoever comes second waits."""
    folder = _folder(home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except NotADirectoryError:
        raise _below_a_file(home) from None
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _write_index(bots: Submissions, home: str | Path | None) -> None:
    text = Index(bots=dict(sorted(bots.items()))).model_dump_json(indent=1)
    write_file(_folder(home) / INDEX, [f"{text}\n".encode()])


def _packed(files: Mapping[str, bytes]) -> bytes:
    """A ZIP archive; the same one for the same files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _unpacked(packed: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > MAX_BYTES or len(entries) > MAX_FILES:
            raise ValueError("too large for a bot")
        return {entry.filename: archive.read(entry) for entry in entries}
