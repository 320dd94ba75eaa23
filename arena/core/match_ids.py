"""Ids of matches and of their random streams, and the kinds of dice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from enum import IntEnum

from arena.core.errors import UnknownTargetError

MATCH_PERSON = b"arena match v2"
MATCH_ID_PATTERN = re.compile(r"[0-9a-f]{1,32}(-[0-9]{1,9})?")
"""An id, or its beginning before the dash."""


class DiceKind(IntEnum):
    """Kind of dice: what they are drawn from, and with which key."""

    PUBLIC = 0
    """The block's id, with keys that follow from the tournament's seed."""
    SECRET = 1
    """Each match's own id, with a secret key; bots' seeds likewise."""
    COMMON = 2
    """The block's id, with a secret key; bots' seeds likewise."""

    @property
    def words(self) -> str:
        """Name on boards and in remarks."""
        return DICE_KIND_NAMES[self]


def list_dice_kinds(kinds: Sequence[DiceKind]) -> str:
    """Return kinds of dice in words."""
    return ", ".join(kind.words for kind in kinds)


DICE_KIND_NAMES = {
    DiceKind.PUBLIC: "public",
    DiceKind.SECRET: "secret, each match its own",
    DiceKind.COMMON: "secret, common to a block",
}


def stream_ids(kind: DiceKind, block_id: bytes, identity: bytes, lineup: int) -> tuple[bytes, ...]:
    """Return the ids that a match's streams are drawn from: of its dice and, where it differs, of its opening."""
    if kind != DiceKind.SECRET:
        return (block_id,)
    whole = identity + lineup.to_bytes(4, "little")
    return hashlib.blake2b(whole, digest_size=16, person=MATCH_PERSON).digest(), block_id


def match_id(identity: bytes, lineup: int) -> str:
    """Return the name of a match in logs and commands."""
    return f"{identity.hex()}-{lineup}"


def check_match_id(text: str) -> None:
    """Raise `UnknownTargetError` for a text that is neither a match id nor the beginning of one."""
    if not MATCH_ID_PATTERN.fullmatch(text):
        raise UnknownTargetError(
            f"'{text}' is no match id; an id looks like 3f9a0c...-1 and may be shortened before the dash"
        )
