"""Sphinx extension: make pages from the code into `generated/`, and refuse assets from other hosts.

Commands come from the Typer application, configuration keys from the pydantic models, columns from
the one table of columns, the log's tables from its SQL, benchmarks from their history, observations
from the games' specs.
`sphinxcontrib-typer` is not used: it draws help texts by Rich, in boxes of a fixed width that fit no narrow screen,
while `arena --help` prints plain text without Rich.
"""

import os
import re
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.pycode import ModuleAnalyzer
from typer.main import get_command

import engine
from arena.cli.app import app as cli
from arena.plan.config import BotEntry, Config, GameEntry, Limits, Output
from arena.results.columns import TABLES
from arena.store.schema import SCHEMA, SCHEMA_VERSION
from benchmarks.history import glance, tables

ROOT = Path(__file__).parents[2]
COPIES = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "arena/workers/sandbox/PROTOCOL.md": "protocol",
    "configs/README.md": "configurations",
    "engine/epicycle/RULES.md": "rules/epicycle",
    "engine/magic_mids/RULES.md": "rules/magic_mids",
    "engine/midgard/RULES.md": "rules/midgard",
    "engine/pyramid_punch/RULES.md": "rules/pyramid_punch",
    "examples/connect_four/README.md": "add-a-game",
}
"""Files of the repository that are pages of the documentation too, by the page's name."""
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s]+)\)")
REMOTE = re.compile(
    r"<(?:script|link|img|iframe|source|object)\b[^>]*\b(?:src|href|data)=\"(?:https?:)?//[^\"]*"
    r"|url\(['\"]?https?:[^)]*|@import[^;]*//[^;]*"
)
WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "table"}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the steps with Sphinx."""
    app.connect("builder-inited", generate)
    app.connect("autodoc-process-docstring", without_modules)
    app.connect("build-finished", refuse_remote_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def generate(app: Sphinx) -> None:
    """Write every generated page, leaving those alone that would not change."""
    pages = {name: copied(ROOT / source, name) for source, name in COPIES.items()}
    pages |= {
        "parts/commands": commands(),
        "parts/log": log_tables(),
        "parts/benchmarks": tables(),
        "parts/glance": glance(),
        "parts/observations": observations(),
    }
    pages |= {f"parts/{model.__name__}": keys(model) for model in (Config, GameEntry, BotEntry, Limits, Output)}
    pages |= {f"parts/{name}": f"{columns.source}\n\n{columns.documentation()}\n" for name, columns in TABLES.items()}
    for name, text in pages.items():
        path = Path(app.srcdir, "generated", f"{name}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table; bars in cells are escaped."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines) + "\n"


def copied(source: Path, name: str) -> str:
    """Return a file of the repository as a page: links to pages are rewritten, links to other files become names."""
    here = Path("docs/generated", name).parent

    def rewritten(link: re.Match[str]) -> str:
        text, target = link.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or not path:
            return link[0]
        found = os.path.relpath(os.path.normpath(source.parent / path), ROOT)
        page = f"docs/generated/{COPIES[found]}.md" if found in COPIES else found
        if page.startswith("docs/") and page.endswith(".md"):
            return f"[{text}]({os.path.relpath(page, here)}{'#' + anchor if anchor else ''})"
        return text if found in text else f"{text} (`{found}`)"

    return LINK.sub(rewritten, source.read_text())


def commands() -> str:
    """Return all commands with their arguments and options, by group as in `arena --help`."""
    root: Any = get_command(cli)
    parts, group = [], None
    for name, command in root.commands.items():
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


def observations() -> str:
    """Return the blocks of every game's observations, with the numbers of players in shapes written as `players`."""
    parts = []
    for name in engine.game_names():
        kind = engine.game_type(name)
        try:
            few, many = (engine.load_game(name, n).observation_spec() for n in (kind.min_players, kind.max_players))
        except engine.UnsupportedError:
            continue
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
    described = ModuleAnalyzer.for_module(model.__module__)
    described.analyze()
    schema = model.model_json_schema()
    rows = []
    for name, field in schema["properties"].items():
        meaning = " ".join(described.attr_docs.get((model.__name__, name), [])).strip()
        if not meaning and "$ref" not in str(field):
            raise ExtensionError(f"{model.__module__}.{model.__name__}.{name} has no description")
        default = "required" if name in schema.get("required", ()) else shown_default(field.get("default"))
        rows.append((f"`{name}`", kind(field), default, meaning or "a section of its own, below"))
    return table(("key", "type", "default", "meaning"), rows)


def kind(field: dict[str, Any]) -> str:
    """Return the type and bounds of a key in words, from its JSON schema."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(kind(part) for part in field["anyOf"] if part.get("type") != "null"))
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if field.get("type") == "array":
        return "list of " + re.sub("(table|text|whole number)$", r"\1s", kind(field["items"]))
    named = field.get("type", "object")
    low = field.get("minimum", field.get("exclusiveMinimum"))
    high = field.get("maximum", field.get("exclusiveMaximum"))
    above = "above " if "exclusiveMinimum" in field else ""
    below = "below " if "exclusiveMaximum" in field else ""
    upper = "2^63" if high == 2**63 else f"{high or 0:,}"
    bounds = "" if low is None else f", {above}{low:,} to {below}{upper}" if high else f", {low:,} or more"
    return WORDS.get(named, named) + bounds


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
            definition, _, comment = line.strip().partition("--")
            column, _, declared = definition.strip().rstrip(",").partition(" ")
            if column == "PRIMARY":
                note = f"{note} {definition.strip().capitalize()}."
            elif column != "UNIQUE":
                rows.append((f"`{column}`", f"`{declared}`", comment.strip()))
        parts += [f"## `{name}`\n", f"{note}\n", table(("column", "type", "meaning"), rows)]
    return "\n".join(parts)


def without_modules(app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]) -> None:
    """Leave out docstrings of modules: the pages say what they would."""
    if what == "module":
        lines.clear()


def refuse_remote_assets(app: Sphinx, exception: Exception | None) -> None:
    """Fail the build where a page would load something from another host."""
    for path in sorted(Path(app.outdir).rglob("*")) if exception is None else ():
        if path.suffix in (".html", ".css") and (found := REMOTE.search(path.read_text(errors="replace"))):
            raise ExtensionError(f"{path}: loads from another host: {found[0]}")
