"""Garbage of processes that run for months."""

from __future__ import annotations

import gc

THRESHOLDS = (1_000, 10, 10)
"""As Python has them, about; commands begin with larger ones, which make their imports quicker."""


def collect_often() -> None:
    """Have Python look for garbage often from now on, and only among what is made from now on.

    Requests leave cycles behind: a page's context, a connection. Old ones are looked through when a quarter as many
    objects have come as there are; without what is loaded already that is soon, and quick.
    """
    gc.set_threshold(*THRESHOLDS)
    gc.collect()
    gc.freeze()
