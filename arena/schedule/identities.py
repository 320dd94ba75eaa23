"""What is hashed into the ids of blocks, written out: adding to plans or changing their defaults changes no id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.core.limits import Limits
from arena.core.match_ids import Kind

KIND_NAMES = {Kind.SECRET: "secret", Kind.COMMON: "common"}


@dataclass(frozen=True)
class BoardIds:
    """The ids of a board's blocks, and of what decides their results.

    A block's id goes over seed, game, options, players, round and bots; its identity over seed, game, options, players,
    key of the dice, rules, opening, limits, line-ups, block id and bots' identities. Each is BLAKE2b-128 over these as
    compact JSON, what belongs to the block appended.
    """

    id_prefix: Any
    public: Any
    secret: dict[str, Any]
    """By the hash of a key."""

    @classmethod
    def of(
        cls,
        seed: int,
        game: str,
        params: str,
        players: int,
        rules_version: int,
        opening: int,
        limits: Limits,
        permutations: bool,
        kind: Kind,
        keys: Sequence[str],
    ) -> BoardIds:
        """Hash what all blocks of a board begin with; `kind` and `keys` are those of its secret dice."""
        common = [seed, game.partition("(")[0], params, players]
        rest = [rules_version, opening, limits.key, permutations]
        named = {key: key if kind == Kind.VERSION_1 else [KIND_NAMES[kind], key] for key in keys}
        secret = {key: _hasher([*common, name, *rest]) for key, name in named.items()}
        return cls(_hasher(common), _hasher([*common, "", *rest]), secret)

    def id(self, number: int, names: Sequence[str]) -> bytes:
        """Return the id of the block of a table of these names in a round."""
        return _digest(self.id_prefix, json.dumps([number, *names]).encode())

    def duel_id(self, number: int, first: str, second: str) -> bytes:
        """Return the id of a duel's block in a round."""
        return _digest(self.id_prefix, json.dumps([number, ["duel", first, second]]).encode())

    def identity(self, key: str | None, id: bytes, bots: Sequence[str]) -> bytes:
        """Return the identity of a block, given its bots' identities in base order; `key` is None for public dice."""
        return _digest(self.public if key is None else self.secret[key], id + "".join(bots).encode())


def _hasher(parts: list[Any]) -> Any:
    """BLAKE2b-128 that has taken the parts as compact JSON."""
    return hashlib.blake2b(json.dumps(parts, separators=(",", ":")).encode(), digest_size=16)


def _digest(prefix: Any, rest: bytes) -> bytes:
    hasher = prefix.copy()
    hasher.update(rest)
    return bytes(hasher.digest())
