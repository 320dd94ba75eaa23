"""Draw every chance outcome of a match: BLAKE2b over key, block or match, stream and index.

Anybody can check a roll afterwards, in any language, from the key, the ids and the record: docs/explanation/dice.md.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Sequence

from engine import State

DICE_PERSON = b"arena dice v1"
BOTS_PERSON = b"arena bots v1"
SECRET_BOTS_PERSON = b"arena bots v2"
SINGLE_PERSON = b"arena single v2"


KeyPair = tuple[bytes, bytes]
"""Of the dice, and of bots' seeds."""
DRAW_RANGE = 2**64
"""Numbers that a draw begins with, all equally likely."""
SETUP_STREAM = "setup"
OPENING_STREAM = "opening"


def public_key(tournament_seed: int, person: bytes) -> bytes:
    """Return the 32-byte key that follows from a tournament's seed."""
    return hashlib.blake2b(str(tournament_seed).encode("ascii"), digest_size=32, person=person).digest()


def key_hash(key: bytes) -> str:
    """Return the hash that commits to a secret key before it is disclosed: BLAKE2b-256 in hexadecimal."""
    return hashlib.blake2b(key, digest_size=32).hexdigest()


def single_key(seed: int) -> bytes:
    """Return the secret key of a single match, which nobody can foresee without its seed."""
    return public_key(seed, SINGLE_PERSON)


def key_pair(seed: int, secret: bytes | None) -> KeyPair:
    """Return the keys of a block's dice and of its bots' seeds; `secret` is the block's secret key, if any."""
    if secret is None:
        return public_key(seed, DICE_PERSON), public_key(seed, BOTS_PERSON)
    return secret, hashlib.blake2b(secret, digest_size=32, person=SECRET_BOTS_PERSON).digest()


class Streams:
    """The random streams of one match; the ids are those of `stream_ids`."""

    def __init__(self, dice_key: bytes, bots_key: bytes, block_id: bytes, opening_id: bytes | None = None) -> None:
        self.block_id = block_id
        self._made_of = (dice_key, bots_key, block_id, opening_id)
        self._dice = hashlib.blake2b(block_id, key=dice_key, digest_size=8)
        self._bots = hashlib.blake2b(block_id, key=bots_key, digest_size=8)
        self._opening = self._dice
        if opening_id is not None:
            self._opening = hashlib.blake2b(opening_id, key=dice_key, digest_size=8)

    def __reduce__(self) -> tuple[type[Streams], tuple[bytes, bytes, bytes, bytes | None]]:
        return Streams, self._made_of

    def draw(self, stream: str, index: int, total: int) -> int:
        """Draw number `index` of a stream: a whole number from 0 to `total` - 1, exactly uniform."""
        begun = self._opening if stream == OPENING_STREAM else self._dice
        attempt = 0
        while True:
            hasher = begun.copy()
            hasher.update(b"%b\0%b%b" % (stream.encode(), index.to_bytes(8, "little"), attempt.to_bytes(4, "little")))
            value = int.from_bytes(hasher.digest(), "little")
            if value < DRAW_RANGE - total or value < DRAW_RANGE // total * total:
                return value % total
            attempt += 1

    def outcome(self, stream: str, index: int, outcomes: Sequence[int], sums: Sequence[int]) -> int:
        """Draw one of the outcomes, given the sums of weights up to each: the first whose sum exceeds the number."""
        return outcomes[bisect.bisect_right(sums, self.draw(stream, index, sums[-1]))]

    def bot_seed(self, seat: int) -> int:
        """Return the seed of the bot in a seat: 64 bits, from another key than the dice."""
        hasher = self._bots.copy()
        hasher.update(f"bot/{seat}".encode() + b"\0" + bytes(12))
        return int.from_bytes(hasher.digest(), "little")


class Dice:
    """Rolls the dice of one match, counting the rolls of each stream."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self._counts: dict[str, int] = {}

    def roll(self, state: State) -> int:
        """Return the outcome at a chance node; the roll belongs to the seat whose turn it is."""
        seat = state.rolling_seat()
        return self.streams.outcome(*self._next(SETUP_STREAM if seat < 0 else f"dice/{seat}"), *state.chances())

    def opening(self, state: State) -> int:
        """Return a random opening move, all legal ones equally likely."""
        return self._legal(OPENING_STREAM, state)

    def substitute(self, state: State) -> int:
        """Return a random move for a seat that forfeited."""
        return self._legal(f"substitute/{state.current_player()}", state)

    def _legal(self, stream: str, state: State) -> int:
        actions = state.legal_actions()
        return actions[self.streams.draw(*self._next(stream), len(actions))]

    def _next(self, stream: str) -> tuple[str, int]:
        index = self._counts.get(stream, 0)
        self._counts[stream] = index + 1
        return stream, index
