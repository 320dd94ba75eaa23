"""Nights of a contest that plays one round each: days of its time zone, as the clock on the wall has them.

A night begins at a time of day and lasts until that time comes again. It is told from the log which nights have had
their round, so that no clock that is set back or forward, and no change to or from daylight saving, brings another one.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from arena.contest.config import ContestConfig


def night_of(time: datetime, config: ContestConfig) -> date:
    """Return the day on which the night of a time began; where that hour does not exist, it has come with the next."""
    local = time.astimezone(ZoneInfo(config.time_zone))
    has_come = f"{local:%H:%M}" >= config.nightly_at
    return local.date() - timedelta(days=0 if has_come else 1)


def is_due(now: datetime, opened: datetime, started: list[datetime], config: ContestConfig) -> bool:
    """Return whether a nightly round is due.

    A contest plays in no night in which it was `opened`, or before; nor in one in which a round has `started`.
    """
    night = night_of(now, config)
    return night > night_of(opened, config) and night not in {night_of(each, config) for each in started}
