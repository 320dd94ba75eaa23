"""Bots of a round as its log has them: from the sources in the log, so that nothing else can change or lose them."""

from __future__ import annotations

import json

from arena.plan.bots import ResolvedBot
from arena.registry.bundles import Bundle
from arena.registry.discovery import Source
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Entry
from arena.store import BotRow, Store


def logged_bots(store: Store, schedule: Schedule) -> dict[str, ResolvedBot]:
    """Return the bots of a round that is in a log, by label."""
    rows, bundles = store.bot_rows(), dict[str, Bundle]()
    found = {}
    for entry in schedule.entries:
        row = rows[entry.identity]
        if row.bundle not in bundles:
            bundles[row.bundle] = Bundle(row.module, store.bundle_files(row.bundle))
        found[entry.label] = _bot(entry, row, bundles[row.bundle])
    return found


def _bot(entry: Entry, row: BotRow, bundle: Bundle) -> ResolvedBot:
    name = row.identity.rpartition("@")[0]
    source = Source(name, row.module, row.class_name, None, "the log", submitted=not entry.trusted)
    params = json.loads(entry.params)
    return ResolvedBot(
        source,
        Bundle(row.module, bundle.files),
        params,
        entry.spec,
        about="",
        games=None,
        players=None,
        parameters=[],
        refusals=[],
        isolation=entry.isolation,
    )
