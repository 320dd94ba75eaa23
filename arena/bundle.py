"""Bundles: a bot's source, snapshot by content when a tournament is planned.

A bundle holds the bot's file, the modules it imports from its own folder or package and from our `bots` (found by
reading the source, never by running it) and the files it declares in a module-level list `BUNDLE_FILES` (glob
patterns relative to the declaring file). A program's bundle holds its manifest and the files of its folder. Workers
load bots from bundles alone.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from arena.errors import BotError
from arena.files import is_plain_path

RESERVED = ("arena", "engine")
"""Never a bot's own: every worker has the same ones, which is checked."""
HOUSE = Path(__file__).resolve().parents[1]
"""The folder that holds our `bots`; a user's folder of that name is never meant."""
MAX_BYTES = 64 * 2**20
MANIFEST = "bot.toml"
"""The file that makes a folder a bot: it tells which program to start."""
LEFT_OUT = ("__pycache__", "node_modules")


def hash_of(files: Mapping[str, bytes]) -> str:
    """32 hexadecimal digits over names and contents."""
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
        return self.module == MANIFEST

    @property
    def hash(self) -> str:
        """32 hexadecimal digits over names and contents."""
        return hash_of(self.files)


def packed(bundle: Bundle) -> bytes:
    """The bundle as one piece."""
    names = sorted(bundle.files)
    header = json.dumps([bundle.module, [[name, len(bundle.files[name])] for name in names]]).encode() + b"\n"
    return header + b"".join(bundle.files[name] for name in names)


def unpacked(content: bytes) -> Bundle:
    """The bundle out of such a piece; raises `ValueError` when it is damaged."""
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
    """The bundle of a bot in a file of its own."""
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise BotError(f"{path}: a bot's file must be a Python file named like a module, such as my_bot.py")
    if path.stem in (*RESERVED, "bots"):
        raise BotError(f"{path}: has the name of a package of ours; call it something else, such as my_bot.py")
    bundle = _snapshot(path.parent, path.stem)
    for name in bundle.files:
        _check_file(path.parent / name, path.parent)
    return bundle


def bundle_module(root: Path, module: str) -> Bundle:
    """The bundle of a bot in an installed package; `root` is the folder that holds the package."""
    top = module.partition(".")[0]
    return _snapshot(root, module, only=top)


def _snapshot(root: Path, module: str, only: str | None = None) -> Bundle:
    files: dict[str, bytes] = {}
    waiting = [module]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if name in seen or top in RESERVED or (only is not None and top not in (only, "bots")):
            continue
        seen.add(name)
        base = HOUSE if top == "bots" and top != only else root
        path = _find(base, name)
        if path is None:
            if name == module:
                raise BotError(f"{base / name.replace('.', '/')}.py: no such file")
            continue
        waiting.extend(_take(files, base, name, path))
        _check_size(sum(map(len, files.values())), root)
    return Bundle(module, files)


def bundle_program(path: Path) -> Bundle:
    """The bundle of a program: its manifest `bot.toml`, and the files that this declares."""
    from arena.sandbox.program import load_program  # workers need it for programs alone, and it is slow to import

    if path.name != MANIFEST:
        raise BotError(f"{path}: a program's manifest is a file called {MANIFEST}")
    program = load_program(path)
    folder = path.parent
    found = {path, *(_folder_files(folder) if program.files is None else _declared(folder, program.files, path))}
    for file in found:
        _check_file(file, folder)
    _check_size(sum(file.stat().st_size for file in found), folder)
    files = {file.relative_to(folder).as_posix(): _read(file) for file in sorted(found)}
    _check_size(sum(map(len, files.values())), folder)
    program.check_files(files, str(path))
    return Bundle(MANIFEST, files)


def _folder_files(folder: Path) -> Iterator[Path]:
    """Every file of a folder that is not hidden and not left out; links to folders are refused."""
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if _is_wanted(name)]
        for name in folders:
            if Path(at, name).is_symlink():
                raise BotError(f"{Path(at, name)}: is a link to a folder; a bot's folder holds its files itself")
        yield from (file for name in names if _is_wanted(name) and (file := Path(at, name)).is_file())


def _is_wanted(name: str) -> bool:
    return not name.startswith(".") and name not in LEFT_OUT


def _declared(folder: Path, patterns: Iterable[str], manifest: Path) -> Iterator[Path]:
    for pattern in patterns:
        found = _matches(folder, pattern)
        if not found:
            raise BotError(f"{manifest}: files: '{pattern}' matches no file")
        yield from found


def _check_file(file: Path, folder: Path) -> None:
    """No file may be a link to one outside of its bot's folder: whoever hands it in could read others' files so."""
    name = file.relative_to(folder).as_posix()
    if not name.isprintable():
        raise BotError(f"{folder}: a bot's files have names that can be printed, unlike {name!a}")
    if not file.resolve().is_relative_to(folder.resolve()):
        raise BotError(f"{file}: is a link out of the bot's folder")


def _check_size(size: int, folder: Path) -> None:
    if size > MAX_BYTES:
        raise BotError(f"{folder}: a bot's source and data are limited to {MAX_BYTES >> 20} MiB")


def _take(files: dict[str, bytes], base: Path, name: str, path: Path) -> Iterator[str]:
    """Add a module's file and the files it declares; the modules that these make one look for."""
    source = files[path.relative_to(base).as_posix()] = _read(path)
    yield from _parents(name)
    tree = parse_source(source, path)
    yield from _imports(tree, name if path.name == "__init__.py" else name.rpartition(".")[0])
    for declared in _declared_files(tree, path):
        relative = declared.relative_to(base)
        files[relative.as_posix()] = _read(declared)
        if declared.suffix == ".py":
            yield ".".join(relative.with_suffix("").parts).removesuffix(".__init__")


def _find(root: Path, module: str) -> Path | None:
    base = root.joinpath(*module.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BotError(f"{path}: cannot be read: {error.strerror}") from None


def parse_source(source: bytes, name: Path | str) -> ast.Module:
    """The syntax tree of a Python file; raises `BotError` that names the file and the line."""
    try:
        return ast.parse(source, str(name))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        why = getattr(error, "msg", error) or "nested too deep"
        raise BotError(f"{name}{f', line {line}' if line else ''}: is not valid Python: {why}") from None


def _parents(module: str) -> Iterator[str]:
    while "." in module:
        module = module.rpartition(".")[0]
        yield module


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
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


def _declared_files(tree: ast.Module, path: Path) -> Iterator[Path]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not any(isinstance(target, ast.Name) and target.id == "BUNDLE_FILES" for target in targets):
            continue
        try:
            patterns = ast.literal_eval(getattr(node, "value", None) or "None")
        except (ValueError, TypeError):
            patterns = None
        if not isinstance(patterns, (list, tuple)) or not all(isinstance(pattern, str) for pattern in patterns):
            raise BotError(f"{path}, line {node.lineno}: BUNDLE_FILES must be a list of file names")
        for pattern in patterns:
            yield from _glob(path, pattern, node.lineno)


def _glob(path: Path, pattern: str, line: int) -> list[Path]:
    if pattern.startswith("/") or ".." in PurePosixPath(pattern).parts:
        raise BotError(f"{path}, line {line}: BUNDLE_FILES entry '{pattern}' leaves the bot's folder")
    found = _matches(path.parent, pattern)
    if not found:
        raise BotError(f"{path}, line {line}: BUNDLE_FILES entry '{pattern}' matches no file")
    return found


def imported_names(bundle: Bundle) -> set[str]:
    """Every name that the modules of a bundle import, found by reading them."""
    found: set[str] = set()
    for name, source in bundle.files.items():
        if name.endswith(".py"):
            package = ".".join(PurePosixPath(name).parts[:-1])
            found.update(_imports(parse_source(source, name), package))
    return found


def _matches(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(file for file in folder.glob(pattern) if file.is_file() and "__pycache__" not in file.parts)
    except (ValueError, NotImplementedError):  # a pattern that cannot be read
        return []
