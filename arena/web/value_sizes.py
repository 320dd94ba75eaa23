"""How much memory a value takes, roughly."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np

MAX_SAMPLED = 1_000
"""Elements of a container that are looked at; the others are taken to be like them."""
NOT_COUNTED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)
"""Code, which values share."""


def size_of(value: object) -> int:
    """Return roughly how many bytes a value takes, with all that it leads to but code.

    Of large containers some elements are looked at.
    """
    seen: set[int] = set()
    total, waiting = 0.0, [(value, 1.0)]
    while waiting:
        each, weight = waiting.pop()
        if id(each) in seen or isinstance(each, NOT_COUNTED):
            continue
        seen.add(id(each))
        total += weight * sys.getsizeof(each)
        parts, share = _parts(each)
        waiting += [(part, weight * share) for part in parts]
    return int(total)


def _parts(value: object) -> tuple[Sequence[object], float]:
    """Return what a value leads to, and how many each of these stands for."""
    some: Sequence[object]
    if hasattr(value, "memory_usage"):  # of pandas, whose `__sizeof__` counts all
        return (), 1.0
    if isinstance(value, np.ndarray):
        return (value.base,), 1.0
    if isinstance(value, dict):
        some = [part for item in islice(value.items(), MAX_SAMPLED) for part in item]
        return some, max(1.0, len(value) / MAX_SAMPLED)
    if isinstance(value, list | tuple):
        step = max(1, len(value) // MAX_SAMPLED)
        chosen = value[::step]
        return chosen, len(value) / max(1, len(chosen))
    return gc.get_referents(value), 1.0
