"""Ids and identities of blocks: what is hashed for them, and how."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.core.match_ids import DiceKind
from arena.schedule.boards import Board, Entry

HASHED_DICE_KINDS = {DiceKind.SECRET: "secret", DiceKind.COMMON: "common"}
"""Kinds of dice as identities have them."""


class BlockHashers(NamedTuple):
    """Hashers with all that the block ids of a board, and its blocks' identities, begin with.

    What is hashed is written out here and in `Schedule.drawn`: adding a field or changing a default elsewhere changes
    no id.
    """

    ids: Any
    public: Any
    """For identities of blocks with public dice."""
    secret: dict[str, Any]
    """For those with secret dice, by the hash of their key."""
    names: Sequence[str]
    """What names entries in identities: their own, and what their time was calibrated into on this board."""

    @classmethod
    def of(
        cls,
        board: Board,
        entries: Sequence[Entry],
        seed: int,
        limits_key: Any,
        permutations: bool,
        keys: Sequence[str],
        dice: DiceKind,
    ) -> BlockHashers:
        """Return the hashers of a board; `dice` is the kind of its secret dice."""
        common = [seed, board.game.partition("(")[0], board.params, board.players]
        rest = [board.rules_version, board.opening, limits_key, permutations]
        if board.adjudication is not None:
            rest.append(board.adjudication.key)
        secret = {key: _hasher([*common, [HASHED_DICE_KINDS[dice], key], *rest]) for key in keys or ("",)}
        names = [entry.identity for entry in entries]
        for entry, parameter, count in board.budgets:
            names[entry] += f" {parameter}={count} "
        return cls(_hasher(common), _hasher([*common, "", *rest]), secret, names)


def digest(hasher: Any, rest: bytes) -> bytes:
    """Return the digest of what a hasher has taken and the rest; the hasher stays as it is."""
    hasher = hasher.copy()
    hasher.update(rest)
    return bytes(hasher.digest())


def redrawn_identity(identity: bytes) -> bytes:
    """Return what stands for the identity of a block that is drawn anew, until its next key is known."""
    return digest(hashlib.blake2b(b"drawn anew", digest_size=16), identity)


def _hasher(parts: list[Any]) -> Any:
    """Return BLAKE2b-128 that has taken the parts as compact JSON."""
    return hashlib.blake2b(json.dumps(parts, separators=(",", ":")).encode(), digest_size=16)
