"""What a plug-in game's rules are: its package, that one's version, and a digest of the sources that decide matches.

The digest is over the module of the rules and every module of the same package that it imports, found by reading, never
by running; drawing, words and reasons say nothing of who wins. Packages around them, such as the one that holds the
`GAME` record, count only where a name is imported from them. Our own games have a `rules_version` that tests pin.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field

from arena.core.models import Model
from arena.registry.bundles import RESERVED_PACKAGES, find_module, hash_of, imports_of, parse_source, read_source
from engine import EngineError, GameType, game_type
from engine.registry import GROUP, offers

Digest = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Text = Annotated[str, Field(min_length=1, max_length=200, pattern="^[!-~]+$")]
PRESENTATION_MODULES = ("drawing", "words", "reasons")
"""Modules of a game that decide nothing."""


class RulesRecord(Model):
    """The rules of a plug-in game as a plan keeps them."""

    package: Text
    """Of which distribution."""
    version: Text
    digest: Digest
    same_as: list[Digest]
    """Digests of other sources whose rules were said to be the same."""

    def __str__(self) -> str:
        return f"{self.package} {self.version}, rules {self.digest}"


def rules_of_plugins(specs: Iterable[str]) -> dict[str, RulesRecord]:
    """Return the rules of those games that are plug-ins, by name; none for games of libraries or of this process."""
    found = {}
    for name in sorted({spec.partition("(")[0] for spec in specs}):
        try:
            record = _record(game_type(name))
        except EngineError:  # of a library's game options may be needed, and its version is that of its rules
            continue
        if record is not None:
            found[name] = record
    return found


def _record(kind: GameType) -> RulesRecord | None:
    """Return the rules of a game by the entry point that offers it; None of our own, and of those of this process."""
    entry = next((entry for entry in offers(GROUP) if entry.name == kind.name), None)
    module = "" if entry is None else f"{kind.package}.rules" if kind.package else entry.value.partition(":")[0].strip()
    top = module.partition(".")[0]
    spec = importlib.util.find_spec(top) if top and top not in RESERVED_PACKAGES else None
    if entry is None or spec is None or spec.origin is None:
        return None
    path = Path(spec.origin)
    root = path.parents[1] if path.name == "__init__.py" else path.parent
    package, version = (entry.dist.name, entry.dist.version) if entry.dist else (top, "0")
    return RulesRecord(package=package, version=version, digest=hash_of(_sources(root, module)), same_as=[])


def _sources(root: Path, module: str) -> dict[str, bytes]:
    """Return the files of a module and of all that it imports from its own package, by path."""
    files: dict[str, bytes] = {}
    waiting, seen, top = [module], set[str](), module.partition(".")[0]
    while waiting:
        name = waiting.pop()
        path = None if name in seen or name.partition(".")[0] != top else find_module(root, name)
        seen.add(name)
        if path is None or name.rpartition(".")[2] in PRESENTATION_MODULES:
            continue
        own = PurePosixPath(path.relative_to(root).as_posix())
        files[str(own)] = read_source(path)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        modules = {each for each in imports_of(parse_source(files[str(own)], path), package) if find_module(root, each)}
        around = {each for each in modules if any(other.startswith(f"{each}.") for other in modules)}
        waiting += modules - around
    return files
