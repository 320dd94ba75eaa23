"""Ids of matches and of their random streams, and the kinds of dice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import IntEnum

MATCH_PERSON = b"arena match v2"


class Kind(IntEnum):
    """What the dice of a block are drawn from, and with which key."""

    PUBLIC = 0
    """The block's id, with keys that follow from the tournament's seed."""
    VERSION_1 = 1
    """The block's id, with a secret key, and bots' seeds with a public one: in logs of version 3."""
    SECRET = 2
    """Each match's own id, with a secret key; so bots' seeds."""
    COMMON = 3
    """The block's id, with a secret key; so bots' seeds."""

    @property
    def words(self) -> str:
        """As boards and remarks name it."""
        return WORDS[self]


def listed_dice(kinds: Sequence[Kind]) -> str:
    """Kinds of dice in words."""
    return ", ".join(kind.words for kind in kinds)


WORDS = {
    Kind.PUBLIC: "public",
    Kind.VERSION_1: "secret, version 1",
    Kind.SECRET: "secret, each match its own",
    Kind.COMMON: "secret, common to a block",
}


def stream_ids(kind: Kind, block_id: bytes, identity: bytes, lineup: int) -> tuple[bytes, ...]:
    """What a match's streams begin with: the block's id, or the match's own and then the block's for the opening."""
    if kind != Kind.SECRET:
        return (block_id,)
    whole = identity + lineup.to_bytes(4, "little")
    return hashlib.blake2b(whole, digest_size=16, person=MATCH_PERSON).digest(), block_id


def match_id(identity: bytes, lineup: int) -> str:
    return f"{identity.hex()}-{lineup}"
