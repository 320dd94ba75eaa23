"""Write the generated parts of the documentation's pages: `python -m scripts.reference`, or `make reference`.

A part stands in its page between `<!-- generated: NAME -->` and `<!-- end -->`, so that it is read where the page lies.
Commands come from the Typer application, configuration keys from the pydantic models, columns from the one table of
columns, the log's tables from its SQL, benchmarks from their history, observations from the games' specs, and the
Python API from the sources. A test compares the pages with what this writes.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from typer.main import get_command

import arena
import engine
from arena.cli.app import app as cli
from arena.core.models import Model
from arena.plan.bot_entry import BotEntry
from arena.plan.config import Adjudication, Config, GameEntry, Limits, Output
from arena.results.columns import TABLES
from arena.schedule.kinds import kinds
from arena.store.schema import SCHEMA, SCHEMA_VERSION
from benchmarks.history import summary_table, tables

ROOT = Path(__file__).parents[1]
GENERATED_PART = re.compile(r"(<!-- generated: ([^\n]+?) -->\n).*?(<!-- end -->)", re.DOTALL)
TYPE_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "table"}
CONFIGURATION = (Config, GameEntry, BotEntry, Limits, Adjudication, Output)
MODELS: dict[str, type[BaseModel]] = {model.__name__: model for model in CONFIGURATION}
Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def main() -> None:
    """Write all pages that have changed."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        before = page.read_text()
        after = with_parts(before)
        if after != before:
            page.write_text(after)
            print(page.relative_to(ROOT))


def with_parts(page: str) -> str:
    """Return a page with its generated parts as they should be."""
    return GENERATED_PART.sub(lambda found: f"{found[1]}\n{part(found[2]).strip()}\n\n{found[3]}", page)


def part(name: str) -> str:
    """Return the part of a name; that of `api` is followed by a module and its names, or `*` for all that it offers."""
    kind, _, rest = name.partition(" ")
    if kind == "api":
        module, _, names = rest.partition(": ")
        return api(module, names.split(", "))
    if name in MODELS:
        return keys(MODELS[name])
    if name in TABLES:
        return f"{TABLES[name].source}\n\n{TABLES[name].documentation()}\n"
    return GENERATORS[name]()


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a Markdown table; bars in cells are escaped."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines) + "\n"


def commands() -> str:
    """Return all commands with their arguments and options, by group as in `arena --help`."""
    root: Any = get_command(cli)
    parts, group = [], None
    for name, command in named_commands(root):
        if command.rich_help_panel != group:
            group = command.rich_help_panel
            parts.append(f"## {group}\n")
        context = typer.Context(command, info_name=f"arena {name}")
        records = (parameter.get_help_record(context) for parameter in command.params)
        rows = [(f"`{shown}`", plain(meaning)) for shown, meaning in filter(None, records)]
        pieces = re.sub("[{}]", "", " ".join(command.collect_usage_pieces(context)))
        parts += [f"### arena {name}\n", f"{plain(command.help)}\n", f"```text\narena {name} {pieces}\n```\n"]
        parts += [table(("argument or option", "meaning"), rows)]
        parts += [re.sub("^Example: (.*)$", r"Example: `\1`", command.epilog or "") + "\n"]
    return "\n".join(parts)


def named_commands(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands of a group with their names, those of groups in it too."""
    for name, command in root.commands.items():
        if hasattr(command, "commands"):
            yield from ((f"{name} {each}", found) for each, found in named_commands(command))
        else:
            yield name, command


def observations() -> str:
    """Return the blocks of our games' observations, with the numbers of players in shapes written as `players`."""
    parts = []
    for name in engine.game_names():
        kind = engine.game_type(name)
        if not kind.package.startswith("engine."):
            continue
        few, many = (engine.load_game(name, n).observation_spec() for n in (kind.min_players, kind.max_players))
        rows = []
        for block, wide in zip(few.blocks, many.blocks, strict=True):
            axes = zip(block.shape, wide.shape, strict=True)
            shape = " x ".join("players" if low != high else str(low) for low, high in axes)
            rows.append((f"`{block.name}`", shape, f"{block.minimum:g} to {block.maximum:g}", block.help))
        symmetries = ", ".join(each.name for each in few.symmetries) or "none"
        parts += [f"## {kind.title}\n", table(("block", "shape", "bounds", "what it says"), rows)]
        parts += [f"Version {few.version}. Symmetries: {symmetries}.\n"]
    return "\n".join(parts)


def plain(text: str | None) -> str:
    """Return a help text as one line of Markdown in which nothing is markup."""
    return re.sub(r"([*_<\[\]])", r"\\\1", " ".join((text or "").split()))


def keys(model: type[BaseModel]) -> str:
    """Return the table of a model's keys; every key needs a description under it in the source."""
    described: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, Model) and base is not Model:
            described |= attributes(definition(base.__module__, base.__name__))
    schema = model.model_json_schema()
    rows = []
    for name, field in schema["properties"].items():
        meaning = " ".join(described.get(name, "").split())
        if not meaning and "$ref" not in str(field):
            raise ValueError(f"{model.__module__}.{model.__name__}.{name} has no description")
        default = "required" if name in schema.get("required", ()) else shown_default(field.get("default"))
        rows.append((f"`{name}`", kind_of(field), default, meaning or "a section of its own, below"))
    return table(("key", "type", "default", "meaning"), rows)


def schedules() -> str:
    """Return the kinds of schedules that a configuration may name, each with its keys."""
    parts = []
    for kind in kinds():
        about = " ".join((kind.__doc__ or "").split())
        parts += [f"### `{kind.kind}`\n", f"{about}\n", keys(kind)]
    return "\n".join(parts)


def kind_of(field: dict[str, Any]) -> str:
    """Return the type and bounds of a key in words, from its JSON schema."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(kind_of(part) for part in field["anyOf"] if part.get("type") != "null"))
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    if field.get("type") == "array":
        return "list of " + re.sub("(table|text|whole number)$", r"\1s", kind_of(field["items"]))
    named = field.get("type", "object")
    low = field.get("minimum", field.get("exclusiveMinimum"))
    high = field.get("maximum", field.get("exclusiveMaximum"))
    above = "above " if "exclusiveMinimum" in field else ""
    below = "below " if "exclusiveMaximum" in field else ""
    upper = "2^63" if high == 2**63 else f"{high or 0:,}"
    bounds = "" if low is None else f", {above}{low:,} to {below}{upper}" if high else f", {low:,} or more"
    return TYPE_WORDS.get(named, named) + bounds


def shown_default(value: object) -> str:
    """Return a default as it would stand in a configuration; nothing for none and for whole tables."""
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, (list, tuple)):
        return "`[" + ", ".join(f'"{item}"' for item in value) + "]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def log_tables() -> str:
    """Return the log's tables, from the comments in the SQL that makes them."""
    parts = [f"This is version {SCHEMA_VERSION} of its layout (`PRAGMA user_version`).\n"]
    for name, note, body in re.findall(r"CREATE TABLE (\w+) \( *(?:-- ([^\n]*))?\n(.*?)\n\)", SCHEMA, re.DOTALL):
        rows = []
        for line in body.splitlines():
            column_text, _, comment = line.strip().partition("--")
            column, _, declared = column_text.strip().rstrip(",").partition(" ")
            if column == "PRIMARY":
                note = f"{note} {column_text.strip().capitalize()}."
            elif column != "UNIQUE":
                rows.append((f"`{column}`", f"`{declared}`", comment.strip()))
        parts += [f"## `{name}`\n", f"{note}\n", table(("column", "type", "meaning"), rows)]
    return "\n".join(parts)


GENERATORS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "log": log_tables,
    "benchmarks": tables,
    "glance": summary_table,
    "observations": observations,
    "schedules": schedules,
}


# The Python API, read from the sources


def api(module: str, names: list[str]) -> str:
    """Return what a module offers, with signatures and docstrings."""
    return "\n".join(entry(name, definition(module, name)) for name in (offered(module) if names == ["*"] else names))


def offered(module: str) -> list[str]:
    """Return the names that a module lists in `__all__`, else those of its public functions."""
    if module == "arena":
        return arena.__all__
    for node in tree(module).body:
        if "__all__" in defined(node):
            return list(ast.literal_eval(node.value))  # type: ignore[attr-defined]  # an assignment
    return [
        name
        for node in tree(module).body
        for name in defined(node)
        if isinstance(node, ast.FunctionDef) and name[0] != "_"
    ]


@functools.cache
def tree(module: str) -> ast.Module:
    """Return the parsed source of a module of ours."""
    path = ROOT / module.replace(".", "/")
    return ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())


def definition(module: str, name: str) -> Definition:
    """Return where a name is defined, followed through imports."""
    if module == "arena":
        module = "arena.core.errors" if name == "ArenaError" else "arena.api"
    for node in tree(module).body:
        if name in defined(node):
            return node  # type: ignore[return-value]  # only these define names
    for each in ast.walk(tree(module)):
        if isinstance(each, ast.ImportFrom) and name in [alias.name for alias in each.names]:
            return definition(str(each.module), name)
    raise ValueError(f"{module} has no {name}")


def defined(node: ast.AST) -> list[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def entry(name: str, node: Definition, inner: bool = False) -> str:
    """Return the description of a function, class or constant, with the members of a class."""
    if isinstance(node, ast.FunctionDef):
        kind = "property " if any("property" in ast.unparse(each) for each in node.decorator_list) else ""
        given = "" if kind else f"({arguments(node)})"
        returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        shown, doc = f"{kind}{name}{given}{returned}", ast.get_docstring(node)
    elif isinstance(node, ast.ClassDef):
        shown, doc = f"class {name}", ast.get_docstring(node)
    else:
        shown, doc = ast.unparse(node), None
    text = f"{'' if inner else f'### `{name}`' + chr(10) * 2}```text\n{shown}\n```\n"
    text += f"\n{inspect.cleandoc(doc)}\n" if doc else ""
    return text + ("".join(f"\n{each}" for each in members(node)) if isinstance(node, ast.ClassDef) else "")


def arguments(node: ast.FunctionDef) -> str:
    """Return the arguments of a function as they are written, without self."""
    return re.sub(r"^(self|cls)(, |$)", "", ast.unparse(node.args))


def members(node: ast.ClassDef) -> Iterator[str]:
    """Yield the attributes of a class that are described, in a table, and its public methods."""
    if described := attributes(node):
        yield table(("attribute", "what"), [(f"`{name}`", " ".join(text.split())) for name, text in described.items()])
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_") and ast.get_docstring(each):
            yield entry(f"{node.name}.{each.name}", each, inner=True)


def attributes(node: ast.AST) -> dict[str, str]:
    """Return the descriptions below the attributes of a class."""
    body: list[ast.stmt] = getattr(node, "body", [])
    found: dict[str, str] = {}
    for each, below in itertools.pairwise(body):
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            found |= {name: below.value.value for name in defined(each) if isinstance(each, ast.Assign | ast.AnnAssign)}
    return found


if __name__ == "__main__":
    main()
