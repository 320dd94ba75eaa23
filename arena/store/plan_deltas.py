"""Plans of a contest's rounds, most of which are kept as what differs from the plan of the following run.

A plan of thousands of tables changes little from round to round. The newest plan is whole, and so is one in
`WHOLE_PLAN_RUNS`, so that reading any of them takes a bounded number of steps.
"""

from __future__ import annotations

import json
import zlib

from arena.core.errors import StoreError

PART_SEPARATOR = ", "
"""Between the parts of a plan's JSON that are compared; a part is a key with its value, for most."""
WHOLE_PLAN_RUNS = 64
MAX_PLAN_BYTES = 2**28
"""Largest plan, and largest delta, unpacked."""


def pack_plan(plan: str, following: str) -> bytes:
    """Return what differs in a plan from the one of the following run: zlib over JSON.

    It is a list of texts, and of pairs of a place and a number of parts that the following plan has too.
    """
    theirs = following.split(PART_SEPARATOR)
    places = {part: place for place, part in enumerate(theirs)}
    steps: list[str | list[int]] = []
    for part in plan.split(PART_SEPARATOR):
        last = steps[-1] if steps else None
        if isinstance(last, list) and last[0] + last[1] < len(theirs) and theirs[last[0] + last[1]] == part:
            last[1] += 1
        elif (place := places.get(part)) is not None:
            steps.append([place, 1])
        else:
            steps.append(part)
    return zlib.compress(json.dumps(steps, separators=(",", ":")).encode(), 9)


def unpack_plan(packed: bytes, following: str) -> str:
    """Return the plan of a delta; raises `StoreError` for what `pack_plan` does not make."""
    try:
        unpacker = zlib.decompressobj()
        steps = json.loads(unpacker.decompress(packed, MAX_PLAN_BYTES))
        theirs, parts, size = following.split(PART_SEPARATOR), list[str](), 0
        for step in steps:
            added = [step] if isinstance(step, str) else theirs[step[0] : step[0] + step[1]]
            size += sum(map(len, added))
            if size > MAX_PLAN_BYTES:
                raise ValueError("too large")
            parts += added
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError("damaged")
        return PART_SEPARATOR.join(parts)
    except (zlib.error, ValueError, TypeError, LookupError, RecursionError, AttributeError):
        raise StoreError("the log is damaged: a plan cannot be unpacked") from None
