"""Encode typed records as JSON arrays and read them back.

A record is a named tuple or a dataclass. It becomes the array of its fields in their order; bytes become hexadecimal
text. What is read back has the declared types of records, tuples, bytes, enumerations and integer keys; plain values
are not checked.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import types
import typing
from collections import abc
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

Record = TypeVar("Record")
Reader = Callable[[Any], Any]
LISTS = (list, abc.Sequence)
MAPPINGS = (dict, abc.Mapping)


def encode(value: object) -> bytes:
    """Return a record, or a list of records, as compact JSON."""
    return json.dumps(value, separators=(",", ":"), default=_plain).encode()


def decode(kind: type[Record], content: str | bytes) -> Record:
    """Return the record that was encoded; raises `ValueError` when the content is none of that kind."""
    return read(kind, json.loads(content))


def read(kind: type[Record], values: Any) -> Record:
    """Return a record from its parsed JSON array, which is used up; raises `ValueError` when it does not fit."""
    fields = getattr(kind, "_fields", None)
    if not isinstance(values, list) or (fields is not None and len(values) != len(fields)):
        raise ValueError(f"not a {kind.__name__}: other fields")
    try:
        found: Record = reader(cast(Hashable, kind))(values)
    except (TypeError, LookupError, AttributeError) as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from None
    return found


def _plain(value: Any) -> Any:
    """Return what JSON has no form for as something that it has; named tuples are arrays already."""
    if isinstance(value, bytes):
        return value.hex()
    return [getattr(value, each.name) for each in dataclasses.fields(value)]


@functools.cache
def reader(kind: Any) -> Reader:
    """Return the function that makes a value of an annotated type from parsed JSON."""
    return _reader(kind) or _same


def _same(value: Any) -> Any:
    return value


def _reader(kind: Any) -> Reader | None:
    """As `reader`; None where parsed JSON is the value already."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is bytes:
        return bytes.fromhex
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return _record_reader(kind)
    if origin in (types.UnionType, typing.Union):
        inner = [each for each in map(_reader, arguments) if each is not None]
        return _optional_reader(*inner) if inner else None
    if origin is tuple and arguments[1:] != (...,):
        return _tuple_reader([*map(reader, arguments)])
    if origin is tuple:
        return _sequence_reader(tuple, _reader(arguments[0]))
    if origin in LISTS and (inner_reader := _reader(arguments[0])):
        return _sequence_reader(list, inner_reader)
    if origin in MAPPINGS and (arguments[0] is int or _reader(arguments[1])):
        return _mapping_reader(arguments[0], reader(arguments[1]))
    return None


def _record_reader(kind: Any) -> Reader:
    hints = typing.get_type_hints(kind)
    is_tuple = hasattr(kind, "_fields")
    names = kind._fields if is_tuple else [each.name for each in dataclasses.fields(kind)]
    nested = [(place, found) for place, name in enumerate(names) if (found := _reader(hints[name])) is not None]
    # a named tuple's `_make` is slow; fields of dataclasses may be for keywords alone
    make = (
        functools.partial(tuple.__new__, kind) if is_tuple else lambda row: kind(**dict(zip(names, row, strict=True)))
    )
    if not nested:
        return make

    def read_record(values: Any) -> Any:
        for place, read_field in nested:
            if value := values[place]:
                values[place] = read_field(value)
        return make(values)

    return read_record


def _optional_reader(inner: Reader) -> Reader:
    return lambda value: None if value is None else inner(value)


def _tuple_reader(inner: list[Reader]) -> Reader:
    return lambda values: tuple([each(value) for each, value in zip(inner, values, strict=True)])


def _sequence_reader(kind: Callable[[Any], Any], inner: Reader | None) -> Reader:
    if inner is None:
        return kind
    return lambda values: kind(map(inner, values))


def _mapping_reader(key: Callable[[str], Any], inner: Reader) -> Reader:
    return lambda values: {key(name): inner(value) for name, value in values.items()}
