"""Game types: what is known of a game before it is loaded."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.specs import Parameter, Value, canonical_options, resolve

VARIANT = "variant"
"""Name of an option whose choices are games that people know by name."""


@dataclass(frozen=True)
class Credit:
    """Who made a game, where its rules come from and on what terms."""

    designer: str
    source: str
    terms: str


@dataclass(frozen=True)
class Bounds:
    """How far matches of a game can go, for one set of options and one number of players: numbers that none exceeds.

    Lengths count from the start of a match, actions and chance outcomes apart.
    """

    max_game_length: int
    """Actions of all players in one match, without chance outcomes (as OpenSpiel counts)."""
    max_chance_nodes: int = 0
    """Chance outcomes in one match; 0 for a game without chance."""
    max_chance_outcomes: int = 0
    """Outcomes that one chance node can have; 0 for a game without chance."""
    min_utility: float = -1.0
    """The smallest return of a seat."""
    max_utility: float = 1.0
    """The largest return of a seat."""


@dataclass(frozen=True, eq=False)
class GameType:
    """An entry of the game registry: what a game is called, who can play it, and where its code is.

    `package` is a folder of `rules`, `text` and `drawing` modules, of `targets` where drawings can be clicked,
    `reasons` where it says what cannot be, `words` where it says in sentences what can and what happened, and
    `observation` where learning programs can look on, imported on first use; a game without kernels gives
    `factory(game_type, players, params) -> Game` instead.
    `rules_version` is raised with every change of behaviour: it is part of the identity of every match played.
    """

    name: str
    title: str
    summary: str
    min_players: int
    max_players: int
    num_distinct_actions: int
    rules_version: int
    credit: Credit
    parameters: tuple[Parameter, ...] = ()
    package: str = ""
    factory: Callable[[GameType, int, Mapping[str, Value]], Any] | None = None
    score_unit: str | None = None
    own_utilities: bool = False
    """Whether matches end with utilities of the game's own, `State.utilities`, beside the returns from places."""
    explicit_chance: bool = True
    perfect_information: bool = True
    check_options: Callable[[Mapping[str, Value], Mapping[str, object]], None] | None = None
    """`check_options(params, changed)` raises `ParameterError` for options that do not go together.

    `changed` holds the params that are not the default: a default may be written out beside whatever else is given.
    """
    default_opening: Callable[[Mapping[str, Value]], str] = lambda params: "none"
    """The opening, by the game's params, that a tournament uses when its plan names none: `none` or `random:k`."""
    bounds: Callable[[int, Mapping[str, Value]], Bounds] | None = None
    """`bounds(players, params)`: how far a match can go; None when nobody has worked that out."""

    def resolve(self, options: Mapping[str, object]) -> dict[str, Value]:
        """Return the value of every option; raises an `EngineError` for what the game does not know or allow."""
        params = resolve(self.parameters, options, self.name)
        if self.check_options is not None:
            defaults = {option.name: option.default for option in self.parameters}
            self.check_options(params, {name: value for name, value in params.items() if value != defaults[name]})
        return params

    def spec(self, params: Mapping[str, Value]) -> str:
        """Return the canonical spec, `name(key=value,...)`."""
        options = canonical_options(self.parameters, params)
        return f"{self.name}({options})" if options else self.name

    def variants(self) -> dict[str, str]:
        """Return the specs of the game's variants by name; none for a game without an option of that name."""
        choices = (option.choices for option in self.parameters if option.name == VARIANT)
        return {str(each): self.spec(self.resolve({VARIANT: each})) for each in itertools.chain(*choices)}

    def module(self, part: str) -> Any:
        """Import and return the game's `rules`, `text` or `drawing` module."""
        return importlib.import_module(f"{self.package}.{part}")
