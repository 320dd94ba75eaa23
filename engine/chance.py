"""A small explicit generator for rollouts, shared by all kernels: SplitMix64 (Steele, Lea and Flood, 2014).

Official dice are not drawn here but by the referee; this one only has to be fast and seeded.
"""

import numpy as np

from engine.kernel import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


def new_rng(seed: int) -> np.ndarray:
    """Return a generator state for kernels: one uint64 word."""
    return np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)


@kernel
def next_word(rng):
    """Return the next 64 random bits as uint64."""
    rng[0] += GOLDEN
    word = rng[0]
    word = (word ^ (word >> np.uint64(30))) * MIX_1
    word = (word ^ (word >> np.uint64(27))) * MIX_2
    return word ^ (word >> np.uint64(31))


@kernel
def below(rng, bound):
    """Return a whole number from 0 to bound - 1 as int64; bound at most 2^31 (bias under bound / 2^32)."""
    return np.int64(((next_word(rng) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))
