"""Finding bots by name without running them: entry points, our `bots` package, files named by path."""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from arena.bundle import Bundle, bundle_file, bundle_module, parse_source
from arena.config import Isolation
from arena.errors import BotError
from engine.errors import did_you_mean
from engine.specs import split_bot_spec

GROUP = "arena.bots"
HOUSE = Path(__file__).resolve().parents[1] / "bots"


@dataclass(frozen=True)
class Source:
    """Where a named bot's class is: `module:class_name` below the folder `root`."""

    name: str
    module: str
    class_name: str
    folder: Path | None
    """What its imports start from; None for an installed bot, whose package is looked for when it is needed."""
    origin: str
    """For people: `house`, or the distribution or file it comes from."""
    submitted: bool = False
    """Handed in by somebody: nobody has read it."""

    @property
    def root(self) -> Path:
        """The folder its imports start from; raises `BotError` when an installed bot's package is gone."""
        return self.folder or _root_of(self.module, self.name)

    @property
    def isolation(self) -> Isolation:
        """Where it runs unless somebody says otherwise."""
        return "sandbox" if self.submitted else "none"

    def bundle(self) -> Bundle:
        """The snapshot of its source as it is now."""
        if self.origin.endswith(".py"):
            return bundle_file(self.root / f"{self.module}.py")
        return bundle_module(self.root, self.module)


def house_bots(folder: Path = HOUSE) -> dict[str, Source]:
    """The bots of our own package: every class with a literal `name` in a module of `bots`, by that name."""
    found: dict[str, Source] = {}
    for path in sorted(folder.glob("*.py")):
        for name, class_name in _named_classes(path.read_text("utf-8"), path):
            source = Source(name, f"bots.{path.stem}", class_name, folder.parent, "house")
            _add(found, source)
    return found


def _named_classes(text: str, path: Path) -> list[tuple[str, str]]:
    return [
        (statement.value.value, node.name)
        for node in ast.parse(text, str(path)).body
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        and any(isinstance(target, ast.Name) and target.id == "name" for target in statement.targets)
    ]


def _add(found: dict[str, Source], source: Source) -> None:
    other = found.setdefault(source.name, source)
    if (other.module, other.class_name) != (source.module, source.class_name):
        ours, theirs = (
            f"{other.module}:{other.class_name} ({other.origin})",
            f"{source.module}:{source.class_name} ({source.origin})",
        )
        raise BotError(f"two plug-ins offer a bot '{source.name}': {ours} and {theirs}; uninstall or rename one")


@functools.cache
def named_bots() -> dict[str, Source]:
    """Every bot that can be named: the house's and the installed ones. Two of one name are refused."""
    found = house_bots()
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        module, _, class_name = entry.value.partition(":")
        origin = entry.dist.name if entry.dist is not None else entry.value
        _add(found, Source(entry.name, module, class_name, None, origin))
    return found


def _root_of(module: str, bot: str) -> Path:
    top = module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        raise BotError(f"bot '{bot}': its package '{top}' cannot be found")
    origin = Path(spec.origin)
    return origin.parents[1] if origin.name == "__init__.py" else origin.parent


def find_bot(spec: str, folders: Sequence[Path] = ()) -> tuple[Source, dict[str, str]]:
    """A bot's source and the options of its spec; a file is looked for in `folders`, in order.

    Raises `BotError` (no such bot or file) or `NotationError` (the spec cannot be read).
    """
    name, options = split_bot_spec(spec)
    file_name, _, class_name = name.partition(":")
    if not class_name:
        known = named_bots()
        if name not in known:
            raise BotError(f"no bot '{name}'{did_you_mean(name, known)}")
        return known[name], options
    for folder in folders or (Path.cwd(),):
        path = folder / file_name
        if path.is_file():
            path = path.resolve()
            _check_class(path, class_name)
            return Source(class_name, path.stem, class_name, path.parent, path.name), options
    looked = ", ".join(str(folder) for folder in folders) or "the working folder"
    raise BotError(f"no file '{file_name}' in {looked}")


def _check_class(path: Path, class_name: str) -> None:
    tree = parse_source(path.read_bytes(), path.name)
    classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assigned = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    imported = [
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    if class_name not in {*classes, *assigned, *imported}:
        raise BotError(f"{path.name}: has no class '{class_name}'{did_you_mean(class_name, classes)}")
