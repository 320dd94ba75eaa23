"""Record of the base API, which pins what bots can notice of it to `API_VERSION`.

    python -m tests.bots.api

writes `api.txt` anew. It refuses to when a line on file has changed and `API_VERSION` has not.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import bots
import engine
from bots import API_VERSION, Between, Bot, OneOf, first_decision, make_bot

FILE = Path(__file__).with_name("api.txt")
ERRORS = [name for name in engine.__all__ if name.endswith("Error")]
OF_ENGINE = ["CHANCE", "TERMINAL", "Game", "Parameter", "State", "game_names", "load_game", *ERRORS]


class Sample(Bot):
    """A bot with a parameter of every kind."""

    calm: bool = True
    depth: Annotated[int, Between(1, 9), "plies looked ahead"] = 2
    weight: Annotated[float, Between(0, 1)] = 0.5
    style: Annotated[str, OneOf(("plain", "bold"))] = "plain"

    def prepare(self) -> None:
        self.first_draws = [self.rng.getrandbits(64), self.rng.random(), self.pick(range(1000))]

    def choose(self, state: engine.State) -> int:
        return self.pick_best(state.legal_actions(), map(float, state.legal_actions()))


class Picky(Sample):
    games = ("midgard",)
    players = (2,)
    needs = ("kernels", "telepathy")


def lines() -> list[str]:
    """Return every public name with its signature, and the results of a few calls."""
    return [*names(bots, sorted({*bots.__all__} - {"API_VERSION"})), *names(engine, OF_ENGINE), *calls()]


def names(module: object, chosen: list[str]) -> Iterator[str]:
    for name in chosen:
        label, value = f"{getattr(module, '__name__', '')}.{name}", getattr(module, name)
        if inspect.isclass(value):
            yield f"{label} is a {', '.join(base.__name__ for base in value.__bases__)}"
            yield from members(label, value)
        else:
            yield f"{label}{signature(value)}" if callable(value) else f"{label} = {value!r}"


def members(label: str, kind: type) -> Iterator[str]:
    if "__init__" in vars(kind):
        yield f"{label}{signature(kind)}"
    for name, value in sorted(vars(kind).items()):
        if name.startswith("_"):
            continue
        if isinstance(value, classmethod | staticmethod) or inspect.isfunction(value):
            yield f"{label}.{name}{signature(getattr(kind, name))}"
        elif hasattr(value, "__get__"):
            yield f"{label}.{name} is a property"
        else:
            yield f"{label}.{name} = {value!r}"


def signature(function: object) -> str:
    """Return names, kinds and defaults of parameters; annotations are left out, as no bot notices them."""
    found = inspect.signature(function)
    plain = [each.replace(annotation=each.empty) for each in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


def calls() -> Iterator[str]:
    game = engine.load_game("epicycle", 2)
    for seed in (0, 1, 2**64 - 1):
        bot = make_bot(Sample, game, 1, seed, {"depth": 3})
        yield f"seed {seed}: draws {bot.first_draws}"
        yield f"seed {seed}: pick {[bot.pick([3, 5, 8]) for _ in range(20)]}"
        yield f"seed {seed}: pick_best {[bot.pick_best([4, 6, 9], [1, 0, 1]) for _ in range(20)]}"
    for parameter in Sample.parameters:
        yield f"parameter {parameter.plain()}"
    yield f"values {bot.game is game, bot.seat, bot.depth, bot.calm, bot.weight, bot.style, bot.timed, bot.note}"
    yield f"without a clock {bot.seconds_left} seconds are left"
    yield f"chosen {bot.choose(first_decision(game))}"
    for name, players in (("epicycle", 2), ("midgard", 2), ("pyramid_punch", 3)):
        other = engine.load_game(name, players)
        yield f"refusal at {name} {players}: {Picky.refusal(other) is not None}, {Sample.refusal(other) is not None}"
        yield f"first decision at {name} {players}: {first_decision(other).history()}"


def read() -> tuple[int, list[str]]:
    """Return the version and the lines on file."""
    first, *rows = FILE.read_text(encoding="utf-8").splitlines()
    return int(first.removeprefix("API_VERSION ")), rows


def is_extended(line: str, other: str) -> bool:
    """Return whether a function has only got more parameters at the end, each with a default."""
    begins = line.removesuffix(")") + ", "
    return other.startswith(begins) and all("=" in more for more in other[len(begins) : -1].split(", "))


def complaint(old_version: int, old: list[str], new_version: int, new: list[str]) -> str | None:
    """Return what is wrong with the new lines beside the old ones; None when nothing is."""
    gone = [line for line in old if not any(line == other or is_extended(line, other) for other in new)]
    if new_version < old_version:
        return f"API_VERSION went back from {old_version} to {new_version}"
    if new_version == old_version and gone:
        return f"bots can notice a change at '{gone[0]}'; undo it, or raise API_VERSION above {old_version}"
    return None


def write() -> None:
    """Record the API; raises `ValueError` when it has changed under one version."""
    refusal = complaint(*read(), API_VERSION, lines()) if FILE.exists() else None
    if refusal:
        raise ValueError(refusal)
    FILE.write_text("\n".join([f"API_VERSION {API_VERSION}", *lines()]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
