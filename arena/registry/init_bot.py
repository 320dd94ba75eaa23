"""Write the beginnings of a bot, which plays already."""

from __future__ import annotations

import json
import keyword
from pathlib import Path

import engine
from arena.core.errors import BotError
from arena.core.names import NAME_PATTERN
from arena.core.paths import ROOT
from arena.registry.bundles import RESERVED_PACKAGES
from engine.errors import did_you_mean

TEMPLATES = ROOT / "arena" / "registry" / "templates"
LANGUAGES = ("python", "node", "c")


def init_bot(name: str, game: str | None = None, language: str = "python", folder: Path = Path()) -> Path:
    """Write a bot of that name, for one game or all; return its file or folder. Nothing is overwritten.

    Raises `BotError` for a name or language that will not do, `UnknownNameError` for a game that is not there.
    """
    if language not in LANGUAGES:
        raise BotError(f"--language {language}: not a choice{did_you_mean(language, LANGUAGES)}")
    class_name = _class_name(name)
    games = json.dumps([engine.canonical_spec(game)]) if game else ""
    python = language == "python"
    target = folder / (f"{name}.py" if python else name)
    if target.exists() or target.is_symlink():
        raise BotError(f"{target}: is there already; choose another name")
    sources = [TEMPLATES / "python.py.txt"] if python else sorted((TEMPLATES / language).iterdir())
    for source in sources:
        path = target if python else target / source.name
        path.parent.mkdir(exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            lines = source.read_text("utf-8").splitlines(keepends=True)
            text = "".join(line for line in lines if games or "{{games}}" not in line)
            file.write(text.replace("{{name}}", name).replace("{{class}}", class_name).replace("{{games}}", games))
    return target


def _class_name(name: str) -> str:
    """Return the class of a name: `my_bot` -> `MyBot`; raises `BotError` for a name that is none of a module."""
    class_name = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    if not (name.isidentifier() and NAME_PATTERN.fullmatch(name)):
        raise BotError(f"name '{name}': must be letters (a to z), digits and _, beginning with a letter: my_bot")
    if keyword.iskeyword(name) or keyword.iskeyword(class_name):
        raise BotError(f"name '{name}': is a word of Python; choose another name")
    if name in (*RESERVED_PACKAGES, "bots"):
        raise BotError(f"name '{name}': is a package of ours; choose another name")
    return class_name
