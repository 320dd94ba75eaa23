"""Grids of bots: one entry of a configuration with lists of values stands for a bot at every combination of them."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arena.core.errors import ConfigError
from arena.core.models import Scalar
from arena.plan.bot_entry import BotEntry

MAX_GRID_BOTS = 1_000
"""Most bots that one entry may stand for."""
LIST = re.compile(r"(?<=[:,])\s*(?P<key>\w+)\s*=\s*\[(?P<values>[^\[\]]*)\]\s*(?=,|$)")
"""A list of values in a spec, `key=[value,...]`."""
BEGIN_OF_LIST = re.compile(r"[:,]\s*\w+\s*=\s*\[")


class Entrant(NamedTuple):
    """A bot that enters: an entry without lists, and the parameters that tell it from others of its grid."""

    entry: BotEntry
    varied: tuple[str, ...] = ()
    given: str = ""
    """What was chosen from the lists, as it was written."""

    def label(self, name: str, params: Mapping[str, Any]) -> str | None:
        """Return the label of a bot of this name and these resolved parameters; None for that of its spec."""
        if not self.varied:
            return self.entry.label
        return f"{self.entry.label or name}:" + ",".join(f"{key}={_written(params[key])}" for key in self.varied)


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def entrants_of_entry(entry: BotEntry) -> list[Entrant]:
    """Return the bots that an entry stands for, the last list varying fastest; raises `ConfigError` of one line."""
    lists: dict[str, Sequence[Scalar]] = {}
    for match in LIST.finditer(entry.bot):
        _add_list(lists, match["key"], [value.strip() for value in match["values"].split(",")], entry.bot)
    if begun := BEGIN_OF_LIST.search(LIST.sub("", entry.bot)):
        raise ConfigError(f"'{entry.bot}' cannot be read at '{begun[0][1:].strip()}'; write key=[value,value]")
    in_spec = len(lists)
    for key, values in entry.params.items():
        if key in lists:
            raise ConfigError(f"'{key}' is a list in '{entry.bot}', and given again in params")
        if isinstance(values, tuple):
            _add_list(lists, key, values, f"params.{key}")
    if not lists:
        return [Entrant(entry)]
    if (size := math.prod(map(len, lists.values()))) > MAX_GRID_BOTS:
        raise ConfigError(f"its lists make {size:,} bots; at most {MAX_GRID_BOTS:,} are allowed")
    found = []
    for values in itertools.product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        spec = LIST.sub(functools.partial(_chosen, chosen), entry.bot)
        params = entry.params | dict(itertools.islice(chosen.items(), in_spec, None))
        given = ",".join(f"{key}={_written(value)}" for key, value in chosen.items())
        found.append(Entrant(entry.model_copy(update={"bot": spec, "params": params}), tuple(sorted(lists)), given))
    return found


def _chosen(values: Mapping[str, Scalar], match: re.Match[str]) -> str:
    return f"{match['key']}={_written(values[match['key']])}"


def _add_list(lists: dict[str, Sequence[Scalar]], key: str, values: Sequence[Scalar], where: str) -> None:
    """Add a list of values to those of an entry; raises `ConfigError` where it cannot be used."""
    if key in lists:
        raise ConfigError(f"'{key}' is given twice")
    texts = [_written(value) for value in values]
    if not values or texts == [""]:
        raise ConfigError(f"{where}: the list of '{key}' is empty")
    if "" in texts:
        raise ConfigError(f"{where}: the list of '{key}' has an empty value")
    if twice := [text for place, text in enumerate(texts) if text in texts[:place]]:
        raise ConfigError(f"{where}: the list of '{key}' has {twice[0]} twice")
    lists[key] = values
