"""Sphinx extension: write the pages that are made from the code into `generated/`, and refuse assets from elsewhere.

Commands come from the Typer application, configuration keys from the pydantic models, the log's tables from its SQL.
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

from arena.cli import app as cli

ROOT = Path(__file__).parents[2]
COPIES = {
    "arena/sandbox/PROTOCOL.md": "protocol",
    "engine/epicycle/RULES.md": "rules/epicycle",
    "engine/magic_mids/RULES.md": "rules/magic_mids",
    "engine/midgard/RULES.md": "rules/midgard",
    "engine/pyramid_punch/RULES.md": "rules/pyramid_punch",
    "examples/connect_four/README.md": "add-a-game",
    "configs/README.md": "configurations",
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
}
"""Files of the repository that are pages of the documentation too, by the page's name."""
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s]+)\)")
REMOTE = re.compile(
    r"<(?:script|link|img|iframe|source|object)\b[^>]*\b(?:src|href|data)=\"(?:https?:)?//[^\"]*|url\(['\"]?https?:[^)]*|@import[^;]*//[^;]*"
)
Table = list[tuple[str, ...]]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the two steps with Sphinx."""
    app.connect("builder-inited", generate)
    app.connect("build-finished", refuse_remote_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def generate(app: Sphinx) -> None:
    """Write every generated page, leaving those alone that would not change."""
    pages = {f"{name}.md": copied(ROOT / source, name) for source, name in COPIES.items()}
    pages |= {"commands.md": commands(), "log.md": log_tables()}
    pages |= {f"parts/{name}.md": text for name, text in configuration().items()}
    for name, text in pages.items():
        path = Path(app.srcdir, "generated", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def table(header: tuple[str, ...], rows: Table) -> str:
    """Return a Markdown table; bars in cells are escaped."""
    lines = [header, tuple("---" for _ in header), *rows]
    return (
        "\n".join("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\|", cell) for cell in line) + " |" for line in lines) + "\n"
    )


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
        if not (ROOT / found).exists():
            raise ExtensionError(f"{source}: links to {target}, which is not there")
        return text if f"`{found.removesuffix('/')}" in text else f"{text} (`{found}`)"

    return LINK.sub(rewritten, source.read_text())


def commands() -> str:
    """Return the page of all commands with their arguments and options, in the order of `arena --help`."""
    root: Any = get_command(cli)
    parts = ["# Commands\n", COMMANDS_ABOUT]
    for name, command in root.commands.items():
        context = typer.Context(command, info_name=f"arena {name}")
        records = (parameter.get_help_record(context) for parameter in command.params)
        rows = [(f"`{shown}`", plain(meaning)) for shown, meaning in filter(None, records)]
        pieces = " ".join(command.collect_usage_pieces(context)).replace("{", "").replace("}", "")
        parts += [f"## arena {name}\n", f"{plain(command.help)}\n", f"```text\narena {name} {pieces}\n```\n"]
        parts += [table(("argument or option", "meaning"), rows), f"{example(command.epilog)}\n"]
    return "\n".join(parts)


def plain(text: str | None) -> str:
    """Return a help text as one line of Markdown in which nothing is markup but code."""
    return re.sub(r"([*_<\[\]])", r"\\\1", " ".join((text or "").split()))


def example(epilog: str | None) -> str:
    """Return the example below a command's help as code."""
    return re.sub(r"^Example: (.*)$", r"Example: `\1`", epilog or "")


def configuration() -> dict[str, str]:
    """Return a table of keys for every model of a configuration, by the model's name."""
    from arena.config import BotEntry, Config, GameEntry, Limits, Output

    return {model.__name__: keys(model) for model in (Config, GameEntry, BotEntry, Limits, Output)}


def keys(model: type[BaseModel]) -> str:
    """Return the table of a model's keys; every key needs a description under it in the source."""
    described = ModuleAnalyzer.for_module(model.__module__).find_attr_docs()
    fields = model.model_json_schema()["properties"]
    rows: Table = []
    for name, field in fields.items():
        meaning = " ".join(described.get((model.__name__, name), []))
        if not meaning and "$ref" in str(field):
            meaning = "a section of its own, below"
        if not meaning:
            raise ExtensionError(f"{model.__module__}.{model.__name__}.{name} has no description")
        required = name in model.model_json_schema().get("required", ())
        rows.append((f"`{name}`", kind(field), "required" if required else default(field), meaning.strip()))
    return table(("key", "type", "default", "meaning"), rows)


def kind(field: dict[str, Any]) -> str:
    """Return the type and bounds of a key in words, from its JSON schema."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(kind(part) for part in field["anyOf"] if part.get("type") != "null"))
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "$ref" in field:
        return "table"
    if field.get("type") == "array":
        return "list of " + kind(field["items"]).replace("table", "tables")
    words = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "true or false",
        "object": "table",
    }
    low = next(
        (
            f"{bound:,}" if name == "minimum" else f"above {bound:,}"
            for name in ("minimum", "exclusiveMinimum")
            if (bound := field.get(name)) is not None
        ),
        None,
    )
    high = field.get("maximum")
    bounds = f", {low} to {high:,}" if low and high else f", {low} and more" if low else ""
    return words[field.get("type", "object")] + bounds


def default(field: dict[str, Any]) -> str:
    """Return the default of a key as it would stand in a configuration."""
    value = field.get("default")
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return "`[" + ", ".join(f'"{item}"' for item in value) + "]`"
    return (
        {True: "`true`", False: "`false`"}[value]
        if isinstance(value, bool)
        else ""
        if value == {} or isinstance(value, dict)
        else f"`{value}`"
    )


def log_tables() -> str:
    """Return the page of the log's tables, from the comments of the SQL that makes them."""
    from arena.store.schema import SCHEMA, SCHEMA_VERSION

    parts = [
        f"# Tables of the log\n\nThe log `matches.db` is a SQLite database; this is version {SCHEMA_VERSION} of its layout (`PRAGMA user_version`).\n{LOG_ABOUT}"
    ]
    for name, note, body in re.findall(r"CREATE TABLE (\w+) \(\s*(?:-- (.*))?\n(.*?)\n\)", SCHEMA, re.DOTALL):
        rows: Table = []
        constraints = []
        for line in body.splitlines():
            sql, _, comment = line.strip().partition("--")
            column, _, rest = sql.strip().rstrip(",").partition(" ")
            if column in ("PRIMARY", "UNIQUE"):
                constraints.append(f"`{sql.strip().rstrip(',')}`")
            else:
                rows.append((f"`{column}`", f"`{rest.strip()}`", comment.strip()))
        parts.append(f"## `{name}`\n\n{note + chr(10) * 2 if note else ''}{table(('column', 'type', 'meaning'), rows)}")
        parts += [f"{'; '.join(constraints)}\n"] if constraints else []
    return "\n".join(parts)


COMMANDS_ABOUT = """
`arena COMMAND --help` prints the same. Whatever is wrong with a command is one line on standard error; what exit codes
mean is told in [What a run survives](../explanation/resume.md#exit-codes).
"""
LOG_ABOUT = """
Whoever opens a log, to read or to write, first compares its tables and indexes with these, word for word. A view, a
trigger or anything else is refused, because it would run with every query. The plan in it is checked like a `plan.json`.
Whether the rest is true, `arena verify` finds out.
"""


def refuse_remote_assets(app: Sphinx, exception: Exception | None) -> None:
    """Fail the build where a page would load something from another host."""
    if exception is not None:
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css") and (found := REMOTE.search(path.read_text(errors="replace"))):
            raise ExtensionError(f"{path}: loads from another host: {found[0]}")
