"""Where a match turned: the move after which bots expected most differently, or the last choice of a person."""

from __future__ import annotations

from itertools import pairwise

from arena.match.stored import StoredMatch

MIN_SWING = 0.2
"""Change of an expected return, on the scale from -1 to 1, that counts as a turn."""


def largest_swing(match: StoredMatch) -> int | None:
    """Return the ply between two evaluations of bots that differ most; None where no two differ by much."""
    known = [(ply, estimate.evaluation) for ply, estimate in sorted(match.estimates.items()) if estimate.evaluation]
    swings = [
        (max(abs(new - old) for old, new in zip(before, after, strict=True)), -ply)
        for (ply, before), (_, after) in pairwise(known)
    ]
    size, ply = max(swings, default=(0.0, 0))
    return -ply if size >= MIN_SWING else None
