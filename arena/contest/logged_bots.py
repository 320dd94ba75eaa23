"""Bots of a round as its log has them: from the sources in the log, so that nothing else can change or lose them."""

from __future__ import annotations

from collections.abc import Mapping

from arena.plan.bots import ResolvedBot, logged_bot
from arena.schedule.blocks import Schedule
from arena.store import Store


def logged_bots(store: Store, schedule: Schedule) -> dict[str, ResolvedBot]:
    """Return the bots of a round that is in a log, by label."""
    rows, files = store.bots.rows(), dict[str, Mapping[str, bytes]]()
    found = {}
    for entry in schedule.entries:
        row = rows[entry.identity]
        if row.bundle not in files:
            files[row.bundle] = store.bots.files(row.bundle)
        found[entry.label] = logged_bot(entry, row, files[row.bundle], entry.isolation)
    return found
