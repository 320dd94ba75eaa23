"""What code this is: a hash that drivers and workers compare before they play together."""

import functools
import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def code_hash() -> str:
    """Over the sources of engine and arena; bots, and all they use of our `bots`, travel in bundles."""
    files = [*ROOT.glob("engine/**/*.py"), *ROOT.glob("arena/**/*.py")]
    hasher = hashlib.blake2b(digest_size=16)
    for path in sorted(files):
        hasher.update(f"{path.relative_to(ROOT).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return hasher.hexdigest()
