"""Encode typed records as MessagePack and read them back, checked against their declared types.

A record is a named tuple or a dataclass. Of a field that is declared `float`, integers are read as floats.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Hashable
from typing import Any, TypeVar, cast

import msgspec

Record = TypeVar("Record")


def encode(value: object) -> bytes:
    """Return a record in its compact form: MessagePack, or JSON for what that has no form for."""
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, OverflowError):  # lone surrogates, integers beyond 64 bits
        return json.dumps(msgspec.to_builtins(value, str_keys=True, enc_hook=_plain)).encode()


def decode(kind: type[Record], content: bytes) -> Record:
    """Return the record that was encoded; raises `ValueError` when the content is none of that kind."""
    try:
        if content[:1] in (b"[", b"{"):  # JSON: in MessagePack a small number, which is no record
            return msgspec.convert(json.loads(content), kind, str_keys=True)
        found: Record = _decoder(cast(Hashable, kind)).decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from None
    return found


def _plain(value: Any) -> Any:
    for kind in (float, int, str):
        if isinstance(value, kind):  # of a class derived from it
            return kind(value)
    raise TypeError(f"{type(value).__name__} cannot be sent")


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain)


@functools.cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)
