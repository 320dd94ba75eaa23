"""`arena status`."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.text import Text

from arena.cli.output import Output, can_draw, fitted_table, print_json, print_text, print_to_stderr
from arena.cli.progress import REDRAWS_PER_SECOND
from arena.core.errors import ArenaError
from arena.core.paths import DEFAULT_HOME, home_path
from arena.results.run_status import RUNNING, RunStatus, run_status, run_statuses
from arena.runner.progress import duration, per_second
from arena.schedule.scheduler import StandingsTable
from arena.tournament.tournament import BoardStatus

POLL_SECONDS = 2.0
"""Seconds between two queries."""
RATE_MINUTES = 5.0
"""Window of the rate that is shown."""


def print_status(target: str | None, watch: bool, as_json: bool, home: Path | None) -> None:
    """Run `arena status`."""
    if target is None and watch:
        raise ArenaError("--watch needs a tournament to watch")
    if target is None:
        print_list(list(run_statuses(home)), as_json, home_path(home).absolute())
    elif watch:
        watch_run(target, as_json, home)
    else:
        print_run(run_status(target, home), as_json)


def print_list(found: list[RunStatus | ArenaError], as_json: bool, where: Path) -> None:
    """Print all tournaments under the home folder."""
    known = [entry for entry in found if isinstance(entry, RunStatus)]
    if as_json:
        print_json([entry.as_data() for entry in known])
    elif known:
        _print_table("tournament", [entry for entry in known if not entry.compares])
        _print_table("comparison", [entry for entry in known if entry.compares])
        if where != Path(DEFAULT_HOME).absolute():
            print_text(f"They are under {where}.")
        print_resuming([entry.resume for entry in known])
    elif not found:
        print_text(
            f"No tournament under {where} yet; `arena run` plays one, and --home or ARENA_HOME name another place."
        )
    for entry in found:
        if isinstance(entry, ArenaError):
            print_to_stderr(f"warning: {entry}")


def _print_table(what: str, entries: list[RunStatus]) -> None:
    if not entries:
        return
    columns = {
        what: [entry.name for entry in entries],
        "state": [entry.state for entry in entries],
        "matches": [f"{entry.matches:,}" for entry in entries],
        "planned": [f"{entry.planned:,}" for entry in entries],
        "last write, UTC": [_minute(entry.last_write) for entry in entries],
    }
    if what == "comparison":
        bots = [" and ".join(entry.compares) for entry in entries]
        columns = {what: columns.pop(what), "bots": bots, "board": [_board(entry) for entry in entries], **columns}
    out = Output()
    out.print(fitted_table(columns, [what, "bots", "board", "state"], ["last write, UTC", "planned"], out.width))


def _board(found: RunStatus) -> str:
    return ", ".join(f"{board.game} {board.players}" for board in found.boards)


def print_resuming(commands: list[str]) -> None:
    """Print the commands that resume tournaments, where known."""
    if any(commands):
        print_text("\nTo go on:")
    for command in filter(None, commands):
        Output().print(f"  {command}", soft_wrap=True)


def print_run(found: RunStatus, as_json: bool) -> None:
    """Print one tournament."""
    if as_json:
        print_json(found.as_data())
        return
    Output().print(RunStatusView(found))
    for board in found.boards:
        print_standings(board.standings)
    print_resuming([found.resume])


def print_standings(tables: Sequence[StandingsTable]) -> None:
    """Print what a kind of schedule shows of a board."""
    out = Output()
    for table in tables:
        out.print(f"\n{table.title}", style="bold")
        columns = {
            name: [str(row[number]) for row in table.rows] for number, name in enumerate(table.columns) if table.rows
        }
        if columns:
            out.print(fitted_table(columns, table.texts, [], out.width))
        if table.note:
            out.print(table.note)


@dataclass(frozen=True)
class RunStatusView:
    """One tournament, drawn as wide as its console."""

    found: RunStatus

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield Text(f"{self.found.name}: {in_words(self.found)}", style="bold")
        yield board_table(self.found.boards, options.max_width)
        yield from map(Text, details(self.found))


def in_words(found: RunStatus) -> str:
    """Return state, progress, rate and time left in a line."""
    parts = [f"{found.state}, {found.matches:,} of {found.planned:,} matches"]
    if found.rate is not None:
        parts.append(per_second(found.rate))
    if found.seconds_left is not None:
        parts.append(f"left {duration(found.seconds_left)}")
    return ", ".join(parts)


def board_table(boards: list[BoardStatus], width: int) -> RenderableType:
    """Return the table of boards."""
    columns = {
        "game": [board.game for board in boards],
        "players": [str(board.players) for board in boards],
        "matches": [f"{board.matches:,}" for board in boards],
        "of": [f"{board.planned:,}" for board in boards],
        "whole blocks": [f"{board.blocks:,}" for board in boards],
        "forfeits": [f"{board.forfeits:,}" for board in boards],
    }
    return fitted_table(columns, ["game"], ["whole blocks", "forfeits"], width)


def details(found: RunStatus) -> Iterator[str]:
    """Yield further details, a line each."""
    for board in found.boards:
        where = f"{board.game}, {board.players} players"
        if board.disqualified:
            bots = ", ".join(f"{bot} after round {last}" for bot, last in board.disqualified.items())
            yield f"Disqualified on {where}: {bots}."
        if board.given_out is not None:
            yield f"By results, {where}: {board.given_out:,} of {board.planned:,} matches are given out to tables."
    for label, text in found.budgets.items():
        yield f"Calibrated for {label}: {text}."
    yield from found.failed
    if found.workers:
        listed = (
            f"{host} ({workers} worker{'s' * (workers != 1)}, {count:,} matches)"
            for host, (workers, count) in found.workers.items()
        )
        yield f"Played by: {', '.join(listed)}."
    if found.foreign:
        yield f"{found.foreign[0].upper()}{found.foreign[1:]}: nobody has checked them."
    if found.state == RUNNING and found.writer is not None:
        yield f"Written by process {found.writer.pid} on {found.writer.host} since {_minute(found.writer.started)} UTC."
    if found.dice not in ("", "public"):
        yield f"Dice: {found.dice}."
    size, free = found.size / 2**20, found.free / 2**30
    yield f"Log: {found.log}, {size:,.1f} MiB, {free:,.1f} GiB free, last written {_minute(found.last_write)} UTC"


def _minute(moment: str) -> str:
    return moment[:19].replace("T", " ")


def watch_run(target: str, as_json: bool, home: Path | None) -> None:
    """Repeat until nothing writes any more; without a terminal, or as JSON, print a line for each change."""
    looks = _poll(target, home)
    if not as_json and can_draw(sys.stdout):
        watch_on_screen(looks)
        return
    shown = None
    for found in looks:
        if (now := (found.state, found.matches)) != shown:
            shown = now
            print(json.dumps(found.as_data(), ensure_ascii=False) if as_json else in_words(found), flush=True)


def watch_on_screen(looks: Iterator[RunStatus]) -> None:
    """Draw on an alternate screen, which resizing does not spoil; print the last status at the end."""
    console = Console(highlight=False, markup=False, emoji=False)
    sheet = None
    try:
        with Live(Text("Looking …"), console=console, screen=True, refresh_per_second=REDRAWS_PER_SECOND) as live:
            for found in looks:
                sheet = RunStatusView(found)
                live.update(sheet, refresh=True)
    finally:
        if sheet is not None:
            console.print(sheet)


def _poll(target: str, home: Path | None) -> Iterator[RunStatus]:
    """Yield the status now and then, with the rate of the last minutes, until nothing writes any more."""
    seen: deque[tuple[float, int]] = deque()
    while True:
        found = run_status(target, home)
        seen.append((time.monotonic(), found.matches))
        while seen[-1][0] - seen[0][0] > RATE_MINUTES * 60:
            seen.popleft()
        seconds, played = seen[-1][0] - seen[0][0], seen[-1][1] - seen[0][1]
        if found.state == RUNNING and played > 0:
            rate = played / seconds
            left = None if found.seconds_left is None else (found.planned - found.matches) / rate
            found = replace(found, rate=rate, seconds_left=left)
        yield found
        if found.state != RUNNING:
            return
        time.sleep(POLL_SECONDS)
