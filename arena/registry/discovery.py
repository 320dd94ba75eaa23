"""Find bots by name without running them: built-in, installed and submitted ones, files and programs."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arena.core.errors import BotError
from arena.core.names import plain_name
from arena.core.paths import ROOT, home_folder
from arena.registry.bundles import MANIFEST_FILE, Bundle, bundle_file, bundle_module, parse_source, read_source
from arena.registry.manifest import bundle_program, load_program
from arena.registry.models import (
    BUNDLE_CLASS,
    BUNDLE_MODULE,
    MODEL_OPTION,
    ONNX_BOT,
    ONNX_MODULE,
    bundle_model,
    digest,
    read_model,
)
from arena.registry.submissions import Submission, Submissions, Version, find_version, stored_bundle, submitted
from engine.errors import did_you_mean
from engine.registry import offers
from engine.specs import split_bot_spec

ENTRY_POINT_GROUP = "arena.bots"
BUILT_IN_FOLDER = ROOT / "bots"
NAME_LINE_PATTERN = re.compile(r"^ +name\b.*=", re.MULTILINE)
"""What a module has that may name a bot; others are not parsed."""


NO_PARAMS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Source:
    """Place of a bot: `module:class_name` below the folder `root`; for a program the module is its manifest."""

    name: str
    module: str
    class_name: str
    folder: Path | None
    """Folder that its imports start from; None for an installed bot, whose package is found when it is needed."""
    origin: str
    """`built-in`, or the distribution or file that it comes from."""
    submitted: bool = False
    """Whether it was submitted."""
    version: Version | None = None
    """Version of a submitted bot, whose `folder` is the arena's home."""
    own_name: str = ""
    """Name that a bot in a file gives itself; specs and logs have its class."""
    file: str = ""
    """Name of the file that its spec gives it, for people; plans and logs have a digest of it."""
    model: bytes = field(default=b"", repr=False)
    """Content of that file."""

    @property
    def title(self) -> str:
        """Name on boards."""
        return self.own_name or self.name

    @property
    def root(self) -> Path:
        """Folder that its imports start from; raises `BotError` when an installed bot's package is gone."""
        return self.folder or _root_of(self.module, self.name)

    @property
    def is_program(self) -> bool:
        """Whether it is started by its manifest, instead of imported."""
        return self.module == MANIFEST_FILE

    def bundle(self) -> Bundle:
        """Take a snapshot of its source."""
        if self.version is not None:
            bundle = stored_bundle(self.version, self.folder)
            bundle.check_api(self.name)
            return bundle
        if self.is_program:
            return bundle_program(self.root / MANIFEST_FILE)
        if self.file:
            return bundle_model(self.model)
        if self.origin.endswith(".py"):
            return bundle_file(self.root / f"{self.module}.py")
        return bundle_module(self.root, self.module)


def built_in_bots(folder: Path = BUILT_IN_FOLDER) -> dict[str, Source]:
    """Return the built-in bots by name: every class with a literal `name` in a module below `bots`."""
    found: dict[str, Source] = {}
    for path in sorted(folder.rglob("*.py")):
        module = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
        text = path.read_text("utf-8")
        for node in _classes(ast.parse(text, str(path))) if NAME_LINE_PATTERN.search(text) else ():
            if name := _literal_name(node):
                _add(found, Source(name, module, node.name, folder.parent, "built-in"))
    return found


def _classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [node for node in tree.body if isinstance(node, ast.ClassDef)]


def _literal_name(node: ast.ClassDef) -> str:
    """Return the text of a class's `name = "..."`; empty without one."""
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        named = any(isinstance(target, ast.Name) and target.id == "name" for target in targets)
        if named and isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return ""


def _add(found: dict[str, Source], source: Source) -> None:
    other = found.setdefault(source.name, source)
    if (other.module, other.class_name) != (source.module, source.class_name):
        ours, theirs = (f"{each.module}:{each.class_name} ({each.origin})" for each in (other, source))
        raise BotError(f"two plug-ins offer a bot '{source.name}': {ours} and {theirs}; uninstall or rename one")


@functools.cache
def named_bots() -> dict[str, Source]:
    """Return built-in and installed bots by name. Two of one name are refused."""
    found = built_in_bots()
    for entry in offers(ENTRY_POINT_GROUP):
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


def find_bot(
    spec: str, folders: Sequence[Path] = (), home: str | Path | None = None, params: Mapping[str, Any] = NO_PARAMS
) -> tuple[Source, dict[str, Any]]:
    """Find a bot as `find_source` does, with its model; return its source and its options.

    Those are the options of its spec, and `params` instead of or beside them. Files of models are searched for in
    `folders`; raises an `ArenaError` where there is none, or it cannot be read.
    """
    source, options = find_source(spec, folders, home)
    return _with_model(source, {**options, **params}, folders)


def find_source(
    spec: str, folders: Sequence[Path] = (), home: str | Path | None = None
) -> tuple[Source, dict[str, str]]:
    """Find a bot, but not a model that its options name; return its source and the options of its spec.

    Files and folders of programs are searched for in `folders`, submitted bots under `home`; a bot's name comes before
    a folder's. Raises an `ArenaError` where there is no such bot or file, it cannot be read, or a file without a class
    in the spec holds no bot or several, and `NotationError` for a spec that cannot be read.
    """
    name, options = split_bot_spec(spec)
    file_name, _, class_name = name.partition(":")
    if file_name.endswith(".py"):
        path = _find_file(file_name, folders)
        class_name = class_name or _only_class(path, file_name)
        own_name = _own_name(path, class_name)
        return Source(class_name, path.stem, class_name, path.parent, path.name, own_name=own_name), options
    program = None
    if not name.endswith(".toml"):
        program = next((path for each in folders or (Path.cwd(),) if (path := each / name).is_dir()), None)
        if program is None or (name in named_bots() or name.partition("@")[0] in submitted(home_folder(home))):
            return _named(name, home_folder(home)), options
        if not (program / MANIFEST_FILE).is_file():
            raise BotError(f"{name}: is a folder without a {MANIFEST_FILE}")
    manifest = _find_file(name, folders) if program is None else program.resolve() / MANIFEST_FILE
    return _program_at(manifest), options


def is_withdrawn(name: str, known: Submissions) -> bool:
    """Return whether a name is of a submitted bot that has been withdrawn, and of no version of it."""
    return name in known and known[name].withdrawn and name not in named_bots()


def _with_model(source: Source, options: dict[str, Any], folders: Sequence[Path]) -> tuple[Source, dict[str, Any]]:
    """Return a bot with the model that its options name, if they do, and its options with a digest of the model.

    The file is searched for in `folders`. Raises an `ArenaError` where it is not, or cannot be read.
    """
    name = options.get(MODEL_OPTION)
    if source.module != ONNX_MODULE or source.name != ONNX_BOT or not isinstance(name, str):
        return source, options
    path = _find_file(name, folders)
    model = read_model(path)
    source = replace(source, module=BUNDLE_MODULE, class_name=BUNDLE_CLASS, file=path.name, model=model)
    return source, {**options, MODEL_OPTION: digest(model)}


def spec_of(bot: object) -> str:
    """Return the spec of a bot given by its spec or its class; raises `BotError` for anything else."""
    if isinstance(bot, str):
        return bot
    if isinstance(bot, type) and not callable(getattr(bot, "choose", None)):
        raise BotError(f"{bot.__name__} is no bot's class; derive it from bots.Bot and give it choose(self, state)")
    if not isinstance(bot, type):
        raise BotError(f"an object of type {type(bot).__name__} is no bot: give a bot's spec, or its class")
    for name, source in named_bots().items():
        if (source.module, source.class_name) == (bot.__module__, bot.__qualname__):
            return name
    file = getattr(sys.modules.get(bot.__module__), "__file__", None) or ""
    if not (file.endswith(".py") and Path(file).is_file()):
        raise BotError(
            f"{bot.__name__} is in no file, so no process can load it: write it to one (in a notebook: "
            f"%%writefile my_bot.py) and name it 'my_bot.py'"
        )
    if bot.__qualname__ != bot.__name__:
        raise BotError(f"{bot.__qualname__} stands inside of something else: a bot's class is at the top of its file")
    return f"{Path(file).resolve()}:{bot.__name__}"


def _find_file(name: str, folders: Sequence[Path]) -> Path:
    for folder in folders or (Path.cwd(),):
        path = folder / name
        if path.is_file():
            return path.parent.resolve() / path.name  # a link to a file elsewhere is refused when it is bundled
    looked = ", ".join(str(folder) for folder in folders) or "the working folder"
    raise BotError(f"no file '{name}' in {looked}")


def _program_at(path: Path) -> Source:
    origin = f"{path.parent.name}/{path.name}"
    if path.name != MANIFEST_FILE:
        raise BotError(f"{origin}: a program's manifest is a file called {MANIFEST_FILE}")
    return Source(load_program(path).name, MANIFEST_FILE, "", path.parent, origin)


def _named(name: str, home: Path) -> Source:
    """Return a built-in, installed or submitted bot."""
    known, submissions = named_bots(), submitted(home)
    plain, at, prefix = name.partition("@")
    if at:
        number = find_version(plain, prefix, submissions)
        return _submitted(plain, submissions[plain], number, home)
    open_to_all = {each: entry for each, entry in submissions.items() if not entry.withdrawn}
    if name in open_to_all and name in known:
        version = open_to_all[name].newest.short
        raise BotError(f"two bots are called '{name}': ours, and the submitted {name}@{version}; withdraw that one")
    if name in open_to_all:
        return _submitted(name, open_to_all[name], len(open_to_all[name].versions), home)
    if name in submissions and name not in known:
        version = submissions[name].newest.short
        raise BotError(f"bot '{name}' has been withdrawn; tournaments that had it name it {name}@{version}")
    if name not in known and "/" in name:
        raise BotError(
            f"no bot '{name}'; bots of one's own are named path/to/file.py, or by a folder with a {MANIFEST_FILE}"
        )
    if name not in known:
        raise BotError(f"no bot '{name}'{did_you_mean(name, [*known, *open_to_all])}")
    return known[name]


def _submitted(name: str, entry: Submission, number: int, home: Path) -> Source:
    version = entry.versions[number - 1]
    origin = f"submitted by {version.author}, version {number}"
    return Source(name, version.module, version.class_name, home, origin, True, version)


def own_bot(path: str) -> Source:
    """Return the bot in a file or folder; raises `BotError` for any other."""
    is_path = "/" in path or split_bot_spec(path)[0].partition(":")[0].endswith((".py", ".toml"))
    source, options = find_bot(path if is_path else f"./{path}")
    if options:
        raise BotError(f"'{path}': a bot is submitted as it is; options are given where it is used")
    return source


def has_bot(path: Path) -> bool:
    """Return whether a Python file holds at least one bot, without running it; raises `BotError` for invalid Python."""
    return bool(_bot_classes(path))


def _only_class(path: Path, name: str) -> str:
    """Return the one bot of a file; raises `BotError` where there is none, or several."""
    found = _bot_classes(path)
    if not found:
        raise BotError(f"{path.name}: holds no bot; derive a class from bots.Bot and give it choose(self, state)")
    if len(found) > 1:
        raise BotError(f"{path.name}: holds {len(found)} bots, {', '.join(found)}; name one: {name}:{found[0]}")
    return found[0]


def _bot_classes(path: Path) -> list[str]:
    """Return the bots of a file: classes derived from one of `bots`, and no base of another class there.

    Where no class is, those with a method `choose` are.
    """
    tree = parse_source(read_source(path), path.name)
    derived = set(
        _imported(node for node in tree.body if (getattr(node, "module", None) or "").partition(".")[0] == "bots")
    )
    classes: dict[str, set[str]] = {}
    for node in _classes(tree):
        bases = {ast.unparse(base).partition("[")[0] for base in node.bases}
        if any(base in derived or base.startswith("bots.") for base in bases):
            derived.add(node.name)
            classes[node.name] = bases - {node.name}
    found = [name for name in classes if not any(name in bases for bases in classes.values())]
    if not found:  # derived from a bot in another file of one's own, perhaps
        found = [node.name for node in _classes(tree) if "choose" in (getattr(each, "name", "") for each in node.body)]
    return found


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that `from ... import` gives in a file."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def _own_name(path: Path, class_name: str) -> str:
    """Return the name that a file's class gives itself; raises `BotError` for no such class, or a bad name."""
    tree = parse_source(read_source(path), path.name)
    classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assigned = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    if class_name not in {*classes, *assigned, *_imported(ast.walk(tree))}:
        raise BotError(f"{path.name}: has no class '{class_name}'{did_you_mean(class_name, classes)}")
    name = next((_literal_name(node) for node in reversed(_classes(tree)) if node.name == class_name), "")
    try:
        return plain_name(name) if name else ""
    except ValueError as error:
        short = repr(name if len(name) <= 60 else f"{name[:57]}...")
        raise BotError(f"{path.name}: {class_name}: name = {short}: {error}") from None
