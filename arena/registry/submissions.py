"""Submitted bots under the arena's home: sources by content hash, with their names and authors.

`bots/index.json` is the index; `bots/HASH.zip` holds the files of a bundle, `bots/HASH.json` the first declarations of
its classes. Reading runs no bot.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from arena.core.errors import BotError
from arena.core.files import read_regular, write_file
from arena.core.models import Model
from arena.core.names import SUBMISSIONS_FOLDER
from arena.core.paths import home_folder
from arena.registry.bundles import MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES, Bundle
from arena.registry.declarations import FirstAnswers
from engine.errors import did_you_mean

INDEX_FILE = "index.json"
MAX_INDEX_BYTES = 2**26
"""Most bytes of the index."""
HASH_PREFIX_PATTERN = re.compile("[0-9a-f]{6,32}")
MAX_AUTHOR_CHARS = 64
SHORT_HASH_CHARS = 12
"""Digits of a hash that are shown."""


class Version(Model):
    """A source submitted under a name."""

    hash: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    """The bundle's hash."""
    module: str
    class_name: str
    author: str
    submitted: str
    """Time of submission, UTC."""
    warnings: tuple[str, ...] = ()
    """Warnings of `arena.core.lookalikes`."""

    @property
    def short(self) -> str:
        return self.hash[:SHORT_HASH_CHARS]

    @property
    def source(self) -> tuple[str, str, str]:
        """What tells versions apart."""
        return self.hash, self.module, self.class_name


class Submission(Model):
    """All versions submitted under one name, in order; the newest counts."""

    versions: Annotated[tuple[Version, ...], Field(min_length=1)]
    withdrawn: bool = False

    @property
    def newest(self) -> Version:
        return self.versions[-1]


Submissions = dict[str, Submission]
_AllAnswers = TypeAdapter(dict[str, FirstAnswers])


class Index(Model):
    """The stored index."""

    format: Literal[1] = 1
    bots: Submissions


def submitted(home: str | Path | None = None) -> Submissions:
    """Return submitted bots by name, withdrawn ones too; raises `BotError` when the index cannot be read."""
    path = submissions_folder(home) / INDEX_FILE
    try:
        return dict(sorted(Index.model_validate_json(read_regular(path, MAX_INDEX_BYTES)).bots.items()))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        raise below_a_file(home) from None
    except OSError as error:
        raise BotError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:  # of another shape, or too large
        raise BotError(
            f"{path}: is damaged: it is not an index of submitted bots; put a copy of it back, or move it away"
        ) from None


def open_submissions(wanted: Literal["all"] | Sequence[str], known: Submissions) -> list[str]:
    """Return the names of all submitted bots, or of those of authors, without withdrawn ones.

    Raises `BotError` for an author who has submitted nothing.
    """
    authors = {entry.newest.author for entry in known.values()}
    for author in () if wanted == "all" else wanted:
        if author not in authors:
            raise BotError(f"nobody called '{author}' has submitted a bot{did_you_mean(author, authors)}")
    return [
        name
        for name, entry in known.items()
        if not entry.withdrawn and (wanted == "all" or entry.newest.author in wanted)
    ]


def find_version(name: str, prefix: str, known: Submissions) -> int:
    """Return the number, from 1, of a bot's newest version whose hash begins with `prefix`; withdrawn bots too.

    Raises `BotError` when there is none, or two sources begin so.
    """
    if name not in known:
        raise no_such_submission(name, known)
    if not HASH_PREFIX_PATTERN.fullmatch(prefix):
        raise BotError(f"'{name}@{prefix}': a version is named by 6 to 32 hexadecimal digits of its hash")
    found = [number for number, version in enumerate(known[name].versions, 1) if version.hash.startswith(prefix)]
    hashes = sorted({known[name].versions[number - 1].hash for number in found})
    if not found:
        versions = ", ".join(version.short for version in known[name].versions)
        raise BotError(f"bot '{name}' has no version {prefix}; it has {versions}")
    if len(hashes) > 1:
        raise BotError(f"'{name}@{prefix}': {hashes[0]} and {hashes[1]} begin so; give more of it")
    return found[-1]


def no_such_submission(name: str, known: Submissions) -> BotError:
    hint = did_you_mean(name, known) if known else "; nothing has been submitted"
    return BotError(f"no submitted bot '{name}'{hint}")


def stored_bundle(version: Version, home: str | Path | None = None) -> Bundle:
    """Return a submitted bot's source; raises `BotError` when it is missing or damaged."""
    path = source_path(version.hash, home)
    try:
        bundle = Bundle(version.module, unpacked_files(read_regular(path, 2 * MAX_BUNDLE_BYTES)))
    except FileNotFoundError:
        raise BotError(f"{path}: is missing; submit that source again") from None
    except Exception:  # a damaged archive may raise anything
        bundle = None
    if bundle is None or bundle.hash != version.hash:
        raise BotError(f"{path}: is damaged: its hash is not the one it is named by; submit that source again")
    return bundle


def store_bundle(bundle: Bundle, home: str | Path | None = None) -> Path:
    """Keep a source under its hash, unless it is there already; raises `OSError` where that cannot be written."""
    path = source_path(bundle.hash, home)
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, [packed_files(bundle.files)])
    return path


def answers_of(version: Version, home: str | Path | None = None) -> FirstAnswers | None:
    """Return the first answers of a submitted Python bot, None if it was not asked; raises `BotError` for damage."""
    return _all_answers(version, home).get(_class_key(version))


def keep_answers(version: Version, answers: FirstAnswers, home: str | Path | None = None) -> None:
    """Keep a submitted bot's answers."""
    with locked_submissions(home):
        known = {**_all_answers(version, home), _class_key(version): answers}
        content = _AllAnswers.dump_json(dict(sorted(known.items())), indent=1)
        write_file(source_path(version.hash, home).with_suffix(".json"), [content, b"\n"])


def _all_answers(version: Version, home: str | Path | None) -> dict[str, FirstAnswers]:
    """Return answers by class of the version's source."""
    path = source_path(version.hash, home).with_suffix(".json")
    try:
        return _AllAnswers.validate_json(read_regular(path, MAX_INDEX_BYTES))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise BotError(f"{path}: is damaged; it holds what a submitted bot declared: put a copy of it back") from None


def _class_key(version: Version) -> str:
    return f"{version.module}:{version.class_name}"


def submissions_folder(home: str | Path | None) -> Path:
    return home_folder(home) / SUBMISSIONS_FOLDER


def below_a_file(home: str | Path | None) -> BotError:
    return BotError(f"{submissions_folder(home)}: is below a file; name a folder: --home or ARENA_HOME")


def source_path(hash: str, home: str | Path | None) -> Path:
    return submissions_folder(home) / f"{hash}.zip"


def unpacked_files(packed: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > MAX_BUNDLE_BYTES or len(entries) > MAX_BUNDLE_FILES:
            raise ValueError("too large for a bot")
        return {entry.filename: archive.read(entry) for entry in entries}


LOCK_FILE = "index.lock"


@contextlib.contextmanager
def locked_submissions(home: str | Path | None) -> Iterator[None]:
    """Hold the lock of the index; wait for it."""
    folder = submissions_folder(home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except NotADirectoryError:
        raise below_a_file(home) from None
    lock = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def packed_files(files: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive, the same for the same files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED)
    return packed.getvalue()
