"""The zoo of bad bots (`tests/zoo`): what lives there, and what is expected of each."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ZOO = Path(__file__).parents[1] / "zoo"
PLAYS_ON = "plays on"


@dataclass(frozen=True)
class Animal:
    """A bad bot: its outcome by level of isolation, a cause or `plays on`."""

    name: str
    path: Path
    source: str

    @property
    def expected(self) -> dict[str, str]:
        return self._declared("EXPECTED")

    def note(self, level: str) -> str | None:
        """How the notes begin with which it tells what it got; None when it tells nothing."""
        if "(Attempting)" in self.source or '"got nothing"' in self.source:
            return self._declared("NOTES").get(level, "got nothing")
        return None

    def _declared(self, name: str) -> dict[str, str]:
        found = re.search(rf"{name} = (\{{.*?\}})", self.source)
        return ast.literal_eval(found[1]) if found else {}

    @property
    def is_planned(self) -> bool:
        """Whether a tournament takes it at all."""
        return "PLANNED = False" not in self.source

    @property
    def is_played_again(self) -> bool:
        """Whether it overruns its time without using the processor."""
        return "AGAIN = True" in self.source

    @property
    def class_name(self) -> str:
        return "".join(word.capitalize() for word in self.name.split("_"))

    def spec(self, folder: Path) -> str:
        """How a configuration names it, from a copy of the zoo."""
        if self.path.is_dir():
            return str(folder / self.name / "bot.toml")
        return f"{folder / self.path.name}:{self.class_name}"


def _animals() -> Iterable[Animal]:
    for path in sorted(ZOO.iterdir()):
        source = path if path.suffix == ".py" else next(path.glob("bot.[pc]*"), None)
        if source is not None and (found := Animal(path.stem, path, source.read_text())).expected:
            yield found


ANIMALS = {animal.name: animal for animal in _animals()}


def at(level: str) -> list[str]:
    """The animals that are played at a level of isolation."""
    return [name for name, animal in ANIMALS.items() if level in animal.expected and animal.is_planned]


def settle(folder: Path, targets: dict[str, object]) -> Path:
    """A copy of the zoo that knows what to look for."""
    zoo = folder / "zoo"
    shutil.copytree(ZOO, zoo, ignore=shutil.ignore_patterns("__pycache__"))
    (zoo / "targets.json").write_text(json.dumps(targets))
    for program in zoo.glob("*/bot.py"):
        shutil.copy(zoo / "talking.py", program.parent)
    return zoo


def told(secret: bytes) -> list[object]:
    """A secret as an animal may know it: enough to recognise, too little to have."""
    return [secret[:6].hex(), len(secret), hashlib.sha256(secret).hexdigest()]
