"""Bundles: snapshots of bots' sources, taken when a tournament is planned.

A bundle holds the bot's file, the modules it imports from its own folder or package and from our `bots` (found by
reading the source, never by running it) and the files it declares in a module-level list `BUNDLE_FILES` (glob
patterns relative to the declaring file). A program's bundle holds its manifest and the files of its folder. Workers
load bots from bundles alone. The base API (`bots/base.py`) is not in a bundle: the file `bots/API_VERSION` stands for
it, so that a bot's identity depends on the API's version and not on the text of its files.
"""

from __future__ import annotations

import ast
import fnmatch
import glob
import hashlib
import itertools
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from arena.core.errors import BotError
from arena.core.files import is_plain_path, read_regular
from arena.core.paths import ROOT
from bots import API_VERSION

RESERVED_PACKAGES = ("arena", "engine")
"""Packages that no bot brings: all workers have the same ones, which is checked."""
API_MODULES = {"bots": "bots/__init__.py", "bots.base": "bots/base.py"}
"""The base API that bots are written for, by module; supplied by the installed code."""
API_FILE = "bots/API_VERSION"
"""The file of a bundle that holds the API version its bot was written for."""
MAX_BUNDLE_BYTES = 64 * 2**20
MAX_BUNDLE_FILES = 10_000
MAX_SEARCHED_FILES = 50_000
"""Most files and folders that are searched for those of a bot."""
MAX_PATTERNS = 200
"""Most patterns of BUNDLE_FILES: each is looked for among all files."""
MAX_FOLDER_DEPTH = 50
"""Most folders, one in the other, below a bot's."""
MAX_SOURCE_BYTES = 4 * 2**20
"""Most bytes of a Python file."""
MANIFEST_FILE = "bot.toml"
"""The file that makes a folder a bot, and names the program to start."""
IGNORED_FOLDERS = ("__pycache__", "node_modules")


def hash_of(files: Mapping[str, bytes]) -> str:
    """Return 32 hexadecimal digits over names and contents."""
    hasher = hashlib.blake2b(digest_size=16)
    for name in sorted(files):
        for part in (name.encode(), files[name]):
            hasher.update(len(part).to_bytes(8, "little") + part)
    return hasher.hexdigest()


@dataclass(frozen=True)
class Bundle:
    """Files by path relative to the root their imports start from, and the module that holds the bot.

    Raises `BotError` for a path that leads elsewhere: bundles out of logs may come from anybody.
    """

    module: str
    """`bot.toml` for a program."""
    files: Mapping[str, bytes] = field(repr=False)

    def __post_init__(self) -> None:
        for name in self.files:
            if not is_plain_path(name):
                raise BotError(f"'{name}' is no plain path of a file in a bot's folder")

    @property
    def is_program(self) -> bool:
        """Whether it is started by its manifest, instead of imported."""
        return self.module == MANIFEST_FILE

    @property
    def hash(self) -> str:
        """32 hexadecimal digits over names and contents."""
        return hash_of(self.files)

    def check_api(self, bot: str) -> None:
        """Raise `BotError` when the bot was written for another API version than the installed one."""
        version = self.files.get(API_FILE, _api_mark())
        if version != _api_mark():
            made_for = version[:20].decode("ascii", "replace").strip()
            raise BotError(f"bot '{bot}' is for version {made_for} of the bot API, and installed is {API_VERSION}")


def _api_mark() -> bytes:
    return f"{API_VERSION}\n".encode()


def with_api(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a bundle's files, with the installed base API where they need it."""
    api = API_MODULES.values() if API_FILE in files else ()
    return {**files, **{name: (ROOT / name).read_bytes() for name in api}}


def pack_bundle(bundle: Bundle) -> bytes:
    """Return a bundle as bytes."""
    names = sorted(bundle.files)
    header = json.dumps([bundle.module, [[name, len(bundle.files[name])] for name in names]]).encode() + b"\n"
    return header + b"".join(bundle.files[name] for name in names)


def unpack_bundle(content: bytes) -> Bundle:
    """Return the bundle in bytes of `pack_bundle`; raises `ValueError` for damaged ones."""
    header, end, rest = content.partition(b"\n")
    files, at = {}, 0
    try:
        module, sizes = json.loads(header)
        for name, size in sizes:
            files[name] = rest[at : at + size]
            at += size
        bundle = Bundle(module, files)
    except (TypeError, RecursionError):
        raise ValueError("a bundle without a list of its files") from None
    if not end or at != len(rest) or not isinstance(module, str):
        raise ValueError("a bundle of another size than it says")
    return bundle


def bundle_file(path: Path) -> Bundle:
    """Return the bundle of a bot in a file."""
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise BotError(f"{path}: a bot's file must be a Python file named like a module, such as my_bot.py")
    if path.stem in (*RESERVED_PACKAGES, "bots"):
        raise BotError(f"{path}: has the name of a package of ours; call it something else, such as my_bot.py")
    return _snapshot(SourceFolder(path.parent), path.stem)


def bundle_module(root: Path, module: str) -> Bundle:
    """Return the bundle of a bot in an installed package, which lies in the folder `root`."""
    top = module.partition(".")[0]
    return _snapshot(SourceFolder(root, trusted=True), module, only=top)


def _snapshot(root: SourceFolder, module: str, only: str | None = None) -> Bundle:
    files: dict[str, bytes] = {}
    waiting = [module]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if name in seen or top in RESERVED_PACKAGES or (only is not None and top not in (only, "bots")):
            continue
        seen.add(name)
        if name in API_MODULES:
            files[API_FILE] = _api_mark()
            continue
        folder = SourceFolder(ROOT, trusted=True) if top == "bots" and top != only else root
        path = find_module(folder.path, name)
        if path is None:
            if name == module:
                raise BotError(f"{folder.path / name.replace('.', '/')}.py: no such file")
            continue
        waiting.extend(_add_module(files, folder, name, path))
    return Bundle(module, files)


class SourceFolder:
    """A folder that a bot's files are taken from. Each is opened once, and no link below the folder is followed.

    Installed packages are `trusted`: their files may be links. Raises `BotError` for what cannot be taken.
    """

    def __init__(self, path: Path, trusted: bool = False) -> None:
        self.path = path
        self.trusted = trusted
        self.seen = 0
        """Number of entries listed so far."""

    def take(self, name: str, files: dict[str, bytes]) -> bytes:
        """Add a file to `files`, unless it is among them, and return its content."""
        if name in files:
            return files[name]
        if not name.isprintable():
            raise BotError(f"{self.path}: a bot's files have names that can be printed, unlike {name!a}")
        if len(files) == MAX_BUNDLE_FILES:
            raise BotError(f"{self.path}: a bot's source and data are limited to {MAX_BUNDLE_FILES:,} files")
        room = MAX_BUNDLE_BYTES - sum(map(len, files.values()))
        try:
            files[name] = read_regular(self.path / name, room) if self.trusted else read_regular(name, room, self.path)
        except OSError as error:
            raise BotError(f"{self.path / name}: cannot be read: {error.strerror}") from None
        except ValueError:
            raise BotError(
                f"{self.path}: a bot's source and data are limited to {MAX_BUNDLE_BYTES >> 20} MiB"
            ) from None
        return files[name]

    def names(self, folder: PurePosixPath) -> Iterator[str]:
        """Yield every file that is not hidden or left out, and links, which are refused when taken."""
        for name in self._entries(folder):
            if name.startswith(".") or name in IGNORED_FOLDERS:
                continue
            if self._is_folder(folder / name):
                yield from self.names(folder / name)
            elif self._is_file(folder / name):
                yield str(folder / name)

    def matches(self, below: PurePosixPath, pattern: str, where: str) -> list[str]:
        """Return the files and links that match a glob pattern in a folder below this one, without `__pycache__`.

        Raises `BotError` that begins with `where` when there are none.
        """
        parts, found = PurePosixPath(pattern).parts, set[str]()
        readable = 0 < len(parts) <= MAX_FOLDER_DEPTH and not any("**" in part and part != "**" for part in parts)
        if readable and pattern.isprintable():  # as are the names of all files that a bot may have
            found = {name for name in self._match(below, parts) if "__pycache__" not in name.split("/")}
        if not found:
            raise BotError(f"{where} matches no file")
        return sorted(found)

    def _match(self, folder: PurePosixPath, parts: Sequence[str]) -> Iterator[str]:
        part, rest = parts[0], parts[1:]
        if part == "**" and rest:
            yield from self._match(folder, rest)
        for name in self._entries(folder) if glob.has_magic(part) else [part]:
            path = folder / name
            if part == "**":
                if self._is_folder(path):
                    yield from self._match(path, parts)
            elif fnmatch.fnmatchcase(name, part) or name == part:
                if rest and self._is_folder(path):
                    yield from self._match(path, rest)
                elif not rest and self._is_file(path):
                    yield str(path)
                elif rest and self._kind(path) == stat.S_IFLNK:
                    yield str(path.joinpath(*rest))

    def _entries(self, folder: PurePosixPath) -> list[str]:
        try:
            with os.scandir(self.path / folder) as found:
                names = [entry.name for entry in itertools.islice(found, MAX_SEARCHED_FILES - self.seen + 1)]
        except OSError as error:
            raise BotError(f"{self.path / folder}: cannot be read: {error.strerror}") from None
        self.seen += len(names)
        if self.seen > MAX_SEARCHED_FILES:
            raise BotError(
                f"{self.path}: holds more than {MAX_SEARCHED_FILES:,} files and folders; give the bot one of its own"
            )
        return sorted(names)

    def _kind(self, path: PurePosixPath) -> int:
        try:
            return stat.S_IFMT(os.lstat(self.path / path).st_mode)
        except OSError:
            return 0

    def _is_folder(self, path: PurePosixPath) -> bool:
        """Return whether a path is a folder; raises `BotError` for one that lies too deep."""
        found = self._kind(path) == stat.S_IFDIR
        if found and len(path.parts) > MAX_FOLDER_DEPTH:
            raise BotError(f"{self.path}: a bot's folders are limited to {MAX_FOLDER_DEPTH}, one in the other")
        return found

    def _is_file(self, path: PurePosixPath) -> bool:
        """Return whether a path is a file or a link."""
        return self._kind(path) in (stat.S_IFREG, stat.S_IFLNK)


def _add_module(files: dict[str, bytes], folder: SourceFolder, name: str, path: Path) -> Iterator[str]:
    """Add a module's file and the files it declares; yield the modules that these need."""
    own = PurePosixPath(path.relative_to(folder.path).as_posix())
    source = folder.take(str(own), files)
    yield from itertools.accumulate(name.split(".")[:-1], "{}.{}".format)
    tree = parse_source(source, path)
    yield from imports_of(tree, name if path.name == "__init__.py" else name.rpartition(".")[0])
    for declared in _declared_files(tree, folder, own):
        folder.take(declared, files)
        if declared.endswith(".py"):
            yield declared.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def find_module(root: Path, module: str) -> Path | None:
    """Return the file of a module below a folder, if there is one."""
    base = root.joinpath(*module.split("."))
    try:
        return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)
    except OSError:  # a name that is longer than any file's
        return None


def read_source(path: Path) -> bytes:
    """Return the content of a Python file; raises `BotError` where it cannot be read."""
    try:
        return read_regular(path, MAX_BUNDLE_BYTES)
    except (OSError, ValueError) as error:
        raise BotError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def parse_source(source: bytes, name: Path | str) -> ast.Module:
    """Return the syntax tree of a Python file; raises `BotError` that names the file and the line."""
    if len(source) > MAX_SOURCE_BYTES:
        raise BotError(
            f"{name}: a Python file is limited to {MAX_SOURCE_BYTES >> 20} MiB; keep data in files of its own"
        )
    try:
        return ast.parse(source, str(name))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        why = getattr(error, "msg", error) or "nested too deep"
        raise BotError(f"{name}{f', line {line}' if line else ''}: is not valid Python: {why}") from None


def imports_of(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield the names of what a module of a package imports, those of modules and those in them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".") if package else []
            above = parts[: len(parts) - (node.level - 1)] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base:
                yield base
            yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names if alias.name != "*")


def _declared_files(tree: ast.Module, folder: SourceFolder, own: PurePosixPath) -> Iterator[str]:
    path = folder.path / own
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not any(isinstance(target, ast.Name) and target.id == "BUNDLE_FILES" for target in targets):
            continue
        try:
            patterns = ast.literal_eval(getattr(node, "value", None) or "None")
        except (ValueError, TypeError, RecursionError):
            patterns = None
        if not isinstance(patterns, (list, tuple)) or not all(isinstance(pattern, str) for pattern in patterns):
            raise BotError(f"{path}, line {node.lineno}: BUNDLE_FILES must be a list of file names")
        if len(patterns) > MAX_PATTERNS:
            raise BotError(f"{path}, line {node.lineno}: BUNDLE_FILES has more than {MAX_PATTERNS} patterns")
        for pattern in patterns:
            where = f"{path}, line {node.lineno}: BUNDLE_FILES entry '{pattern}'"
            if pattern.startswith("/") or ".." in PurePosixPath(pattern).parts:
                raise BotError(f"{where} leaves the bot's folder")
            yield from folder.matches(own.parent, pattern, where)


def imported_names(bundle: Bundle) -> set[str]:
    """Return every name that the modules of a bundle import, without running them."""
    return {
        imported
        for name, source in bundle.files.items()
        if name.endswith(".py")
        for imported in imports_of(parse_source(source, name), ".".join(PurePosixPath(name).parts[:-1]))
    }
