"""How the arena grows: plans of up to a million matches, more workers, and nodes of a cluster that only sleep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from arena.bench_tools import Row, tournament


def random_matches(count: int) -> dict[str, Any]:
    """The configuration of so many matches of `random` against `random` on two-player Epicycle."""
    return {
        "name": "bench",
        "seed": 1,
        "blocks": count // 2,
        "games": [{"game": "epicycle", "players": 2}],
        "bots": [{"bot": "random", "label": "one"}, {"bot": "random", "label": "two"}],
    }


def plans(full: bool) -> Iterator[Row]:
    """The same cheap matches in ever larger plans: what one costs must not depend on how many there are."""
    for count in (10_000, 100_000, 1_000_000) if full else (10_000,):
        run = tournament(random_matches(count), 2, "local", boards=True)
        tenth, half, whole = (run["memory"][place] for place in (0, 4, -1))
        yield Row(
            f"plan of {count:,} matches, 2 local workers",
            f"{run['rate']:,.0f} matches/s; driver: {run['used'] / count * 1e6:.0f} µs of processor time a match, "
            f"{tenth:,.0f}, {half:,.0f} and {whole:,.0f} MB after a tenth, half and all of it; "
            f"log {run['size'] / count:,.0f} bytes a match; leaderboard {run['boards']:.1f} s, "
            f"{run['boards_peak'] / 1024:,.0f} MB",
            "flat; driver under 500 MB, leaderboard under 60 s and 4,000 MB" if count == 1_000_000 else "",
        )
