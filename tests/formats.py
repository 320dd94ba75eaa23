"""Record of the formats that docs/explanation/versions.md promises to keep, as far as names and types make them up.

    python -m tests.formats

writes `data/formats.txt` anew. It refuses to when a line on file has changed or gone and the version of its format has
not been raised. New lines need no new version, but in the log, whose readers refuse what they do not know. Formats
without a version of their own have the first number of the package's, and 0 promises nothing.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel
from typer.main import get_command

from arena.cli import exit_codes
from arena.cli.app import app
from arena.isolation.protocol_client import PROTOCOL
from arena.match.json_lines import Line
from arena.plan.config import Config
from arena.plan.model import ResolvedPlan
from arena.registry.manifest import Program
from arena.results.columns import TABLES
from arena.schedule.kinds import BUILT_IN_KINDS, kind_named
from arena.store.schema import SCHEMA_VERSION, log_parts
from arena.verify.archive import Manifest
from scripts import reference

FILE = Path(__file__).with_name("data") / "formats.txt"
DESCRIBED = re.compile(r"<!-- generated: api ([\w.]+): ([^\n]+) -->")
"""A module and the names of it that the page of the Python API describes."""
STRICT = ("log",)
"""Formats in which a new line, too, asks for a new version."""


class Format(NamedTuple):
    """A format."""

    version: int
    lines: list[str]


def formats() -> dict[str, Format]:
    """Return all formats, by name."""
    release = int(version("pyramid-arena").partition(".")[0])
    own = {
        "log": Format(SCHEMA_VERSION, [f"{kind} {name}: {sql}" for kind, name, _, sql in log_parts()]),
        "archive": Format(get_args(Manifest.model_fields["format"].annotation)[0], [*keys(Manifest)]),
        "manifests of programs": Format(PROTOCOL, [*keys(Program)]),
    }
    named = {
        "plan.json": keys(ResolvedPlan),
        "matches.jsonl": keys(Line),
        "columns": (f"{name}.{column.name}" for name, table in TABLES.items() for column in table.columns),
        "configuration": keys(Config),
        "schedules": (
            f"{kind.kind} {kind.version}: {key}" for kind in map(kind_named, BUILT_IN_KINDS) for key in keys(kind)
        ),
        "commands": commands(),
        "exit codes": (f"{name} = {code}" for name, code in vars(exit_codes).items() if isinstance(code, int)),
        "Python API": api(),
    }
    found = own | {name: Format(release, [*lines]) for name, lines in named.items()}
    return {name: Format(each.version, sorted({*each.lines})) for name, each in found.items()}


def keys(model: type[BaseModel]) -> Iterator[str]:
    """Yield the keys of a table with their types, words and defaults, those of tables in it too."""
    schema = model.model_json_schema()
    return parts(schema, "", schema.get("$defs", {}))


def parts(schema: dict[str, Any], path: str, known: dict[str, Any]) -> Iterator[str]:
    words = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if "default" in schema and "$ref" not in schema:
        yield f"{path} = {json.dumps(schema['default'])}"
    for each in schema.get("anyOf", [known[schema["$ref"].rpartition("/")[2]]] if "$ref" in schema else []):
        yield from parts(each, path, known)
    for name, each in schema.get("properties", {}).items():
        yield from parts(each, f"{path}.{name}" if path else name, known)
    for each in schema.get("prefixItems", [schema["items"]] if "items" in schema else []):
        yield from parts(each, f"{path}[]", known)
    if isinstance(each := schema.get("additionalProperties"), dict):
        yield from parts(each, f"{path}.*", known)
    yield from (f"{path}: {json.dumps(word)}" for word in words)
    if not words and schema.get("type", "array") not in ("array", "object"):
        yield f"{path}: {schema['type']}"


def commands() -> Iterator[str]:
    """Yield the commands with their arguments and options."""
    root: Any = get_command(app)
    for name, command in reference.named_commands(root):
        for each in command.params:
            yield f"arena {name} {'/'.join([*each.opts, *each.secondary_opts])}"


def api() -> Iterator[str]:
    """Yield what is described as the Python API, with the public members of classes and the arguments of functions."""
    page = (reference.ROOT / "docs" / "reference" / "python-api.md").read_text()
    for module, chosen in DESCRIBED.findall(page):
        for name in reference.offered(module) if chosen == "*" else chosen.split(", "):
            yield from members(f"{module}.{name}", reference.definition(module, name))


def members(label: str, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef) and not any("property" in ast.unparse(each) for each in node.decorator_list):
        yield f"{label}()"
        yield from (f"{label}() {argument}" for argument in arguments(node.args))
    elif isinstance(node, ast.ClassDef):
        yield f"class {label}"
        for each in node.body:
            for name in [each.name] if isinstance(each, ast.FunctionDef) else reference.defined(each):
                if not name.startswith("_"):
                    yield from members(f"{label}.{name}", each)
    else:
        yield label


def arguments(found: ast.arguments) -> Iterator[str]:
    """Yield arguments by their places, or as named ones, with their defaults."""
    places = [f"{place}: {each.arg}" for place, each in enumerate(found.args) if each.arg not in ("self", "cls")]
    named = [f"named: {each.arg}" for each in found.kwonlyargs]
    missing: list[ast.expr | None] = [None] * (len(places) - len(found.defaults))
    for shown, default in zip(places + named, [*missing, *found.defaults, *found.kw_defaults], strict=True):
        yield shown if default is None else f"{shown} = {ast.unparse(default)}"
    if found.vararg is not None:
        yield f"any number: {found.vararg.arg}"
    if found.kwarg is not None:
        yield f"any by name: {found.kwarg.arg}"


def read() -> dict[str, Format]:
    """Return what is on file."""
    found: dict[str, Format] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            name, _, number = line.removeprefix("# ").rpartition(" ")
            found[name] = Format(int(number), [])
        elif line:
            found[name].lines.append(line)
    return found


def complaint(name: str, before: Format, now: Format) -> str | None:
    """Return what is wrong with a format beside its record; None when nothing is."""
    changed = [line for line in before.lines if line not in now.lines]
    if name in STRICT:
        changed += [line for line in now.lines if line not in before.lines]
    if now.version < before.version:
        return f"{name}: its version went back from {before.version} to {now.version}"
    if now.version == before.version > 0 and changed:
        return f"{name}: changed at '{changed[0]}'; undo it, or raise its version above {before.version}"
    return None


def write() -> None:
    """Record the formats; raises `ValueError` when one has changed under its version."""
    now, before = formats(), read() if FILE.exists() else {}
    for name, each in before.items():
        if refusal := complaint(name, each, now.get(name, Format(0, []))):
            raise ValueError(refusal)
    texts = ("\n".join([f"# {name} {each.version}", *each.lines]) for name, each in now.items())
    FILE.write_text("\n\n".join(texts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
