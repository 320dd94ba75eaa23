"""`arena run`: progress, leaderboards, faults."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table

from arena import api
from arena.cli.arguments import TournamentOptions
from arena.cli.boards import print_board
from arena.cli.datasets import print_manifest
from arena.cli.exit_codes import FAILED, FINE, NOT_ALL_PLAYED
from arena.cli.new_config import named_config
from arena.cli.output import (
    MATCHES_SAVED,
    Output,
    matches_in_words,
    print_interrupted,
    print_text,
    print_to_stderr,
    wrong_estimates_in_words,
)
from arena.cli.progress import Display, bar
from arena.core.command import COMMAND, resume_command
from arena.core.errors import ClusterError, ConfigError, UnwritableError, adding_saved_state
from arena.core.files import write_file
from arena.match.game_faults import fault_lines
from arena.plan.resolve import Plan
from arena.runner.progress import Progress, duration
from arena.schedule.blocks import Schedule
from arena.stats.power import open_ranks

ALL_FINISHED = "every match that was finished is"
MAX_NAMED_BOTS = 4
"""Number of bots that are named when they do not play on all boards."""
MAX_LEADERS = 3
"""Number of bots shown for each board during a run, where they share a line."""
MIN_LEADER_ROWS = 2
"""Rows a board from which its leaders have a line each."""
PADDING = 2
"""Columns between a board and its leaders."""
RESERVED_ROWS = 4
"""Rows of a terminal for the bar, what is said of an interruption, and the line below."""
MAX_LABEL_CHARS = 16
"""Longest label that is shown whole where leaders share a line."""
MAX_BLOCK_FACTOR = 100
"""Pairs that need more than this many times the blocks count as equal."""


def run_tournament(
    config: Path | None,
    tournament: TournamentOptions,
    play: Callable[..., api.RunResult],
    home: Path | None,
    prints_dataset: bool,
    strict: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run `arena run` and return the exit code; `play` is `api.run` with its options.

    `strict` makes forfeits a failure; `prints_dataset` prints what a dataset holds even when `quiet`.
    """
    options = [name for name, value in vars(tournament).items() if value not in (None, [])]
    if config is not None and options:
        option = f"--{options[0].replace('_', '-')}"
        raise ConfigError(
            f"{option}: has no effect, for {config} says what is played; change it there, or leave it out"
        )
    played, file, text = (config, config, "") if config is not None else named_config(tournament, home)
    display = Display(quiet)
    plans = []

    def planned(plan: Plan, kept: Path | None) -> None:
        plans.append(plan)
        if text:
            print_to_stderr(f"Written: {write_file(file, [text.encode()])}")
        if kept is not None:
            print_to_stderr(f"The old log is kept as {kept}.")
        left_out = plan.left_out if verbose else left_out_in_words(plan.schedule)
        for line in (*left_out, *plan.remarks) if not quiet else ():
            print_to_stderr(line)
        if display.live is None and not quiet:
            print_to_stderr(f"{plan.name}: {size_in_words(plan)}")

    def show(progress: Progress) -> None:
        drawn = functools.partial(drawing, plans[0], progress)
        display.show(lambda: progress.line, drawn, progress.stopping, progress.phase, progress.rated_lines)

    try:
        with naming_the_command(plans):
            result = play(played, show=show, planned=planned, calibrated=print_nothing if quiet else print_to_stderr)
    except KeyboardInterrupt:  # while planning, or while rating
        display.end()
        return print_interrupted(ALL_FINISHED)
    finally:
        display.end()
    code = print_result(result, quiet)
    if strict and code == FINE and len(result.faults):
        code = FAILED
    if result.dataset is not None and (prints_dataset or not quiet):
        folder, manifest = result.dataset
        print_manifest(manifest, folder)
    return code


def print_nothing(line: str) -> None:
    """Leave a line out."""


@contextlib.contextmanager
def naming_the_command(begun: Sequence[object]) -> Iterator[None]:
    """Name the command that resumes the run in errors after which it can go on, and no file where there is none.

    `begun` is empty until matches are played.
    """
    again = resume_command(COMMAND.get().line)
    try:
        with adding_saved_state(lambda: MATCHES_SAVED if begun else ""):
            yield
    except UnwritableError as error:
        raise UnwritableError(error.what, error.remedy, error.state, again) from None
    except ConfigError as error:  # without a file there is none to name
        raise ConfigError(str(error).removeprefix("config: ")) from None
    except ClusterError as error:
        raise ClusterError(f"{error}. Every match that was finished is saved. To go on: {again}") from None


def print_result(result: api.RunResult, quiet: bool) -> int:
    """Print leaderboards, faults and what was not played, and return the exit code."""
    outcome, progress = result.outcome, result.outcome.progress
    for at, frame in result.leaderboards.items():
        print_board(at, frame)
    if not quiet:
        _print_summary(result)
    not_played = (f"not played: {line}" for line in outcome.not_played)
    for line in (*fault_lines(outcome.game_faults, result.folder / api.LOG_FILE), *progress.remarks, *not_played):
        print_to_stderr(line)
    if result.report is not None and not quiet:
        print(f"Report: {result.report.absolute().as_uri()}")  # never wrapped, so that terminals open it at a click
    if progress.stopping:
        saved = f"{progress.found + progress.played:,} of {progress.total:,} matches are"
        return print_interrupted(saved if progress.searched else ALL_FINISHED)
    return NOT_ALL_PLAYED if outcome.not_played else FINE


def size_in_words(plan: Plan) -> str:
    """Return the size of a plan in words."""
    schedule = plan.schedule
    boards = "1 board" if len(schedule.boards) == 1 else f"{len(schedule.boards)} boards"
    return f"{matches_in_words(schedule.total_matches)} of {len(schedule.entries)} bots on {boards}"


def left_out_in_words(schedule: Schedule) -> list[str]:
    """Return a line about the bots that do not play on all boards, the least seen first; none where all do."""
    played = Counter({entry: 0 for entry in range(len(schedule.entries))})
    played.update(entry for board in schedule.boards for entry in board.entries)
    some = [entry for entry, count in reversed(played.most_common()) if count < len(schedule.boards)]
    named = [f"{schedule.entries[entry].label} on {played[entry]}" for entry in some[:MAX_NAMED_BOTS]]
    named += [f"{len(some) - MAX_NAMED_BOTS} more bots on some"] * (len(some) > MAX_NAMED_BOTS)
    return [f"Of {len(schedule.boards)} boards {', '.join(named)}; --verbose says why."] if some else []


def drawing(plan: Plan, progress: Progress, width: int, height: int) -> RenderableType:
    """Return the progress of a run as a bar, with as many leaders of every board as there are rows for."""
    done, total = progress.found + progress.played, None if progress.phase else progress.total
    boards, rows = plan.schedule.boards, max(1, height - RESERVED_ROWS)
    shown = len(boards) if len(boards) <= rows else rows - 1
    table = Table(box=None, show_header=False, padding=(0, PADDING, 0, 0), width=width)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    room = width - max(len(board.title) for board in boards) - 2 * PADDING
    for number, board in enumerate(boards[:shown]):
        for line, leader in enumerate(leaders(plan, progress, number, rows // len(boards), room)):
            table.add_row("" if line else board.title, leader)
    if shown < len(boards):
        table.add_row(f"and {len(boards) - shown} more boards")
    return Group(bar(done, total, "  ".join(progress.parts), width), table)


def leaders(plan: Plan, progress: Progress, board: int, rows: int, room: int) -> list[str]:
    """Return the best bots of a board by rating, if it is rated, else so far by mean return.

    With fewer than `MIN_LEADER_ROWS` rows they are one line, else a line each, of at most `room` characters.
    """
    if board in progress.rated:
        found, rated = [(label, f"{rating:.1f}") for label, rating in progress.rated[board].best], "rated: "
    else:
        means = [
            (-sums[0] / sums[1], plan.schedule.entries[entry].label)
            for (number, entry), sums in progress.sums.items()
            if number == board and sums[1]
        ]
        found, rated = [(label, f"{-mean:+z.2f}") for mean, label in sorted(means)], ""
    if rows < MIN_LEADER_ROWS:
        few = [f"{_short(label, MAX_LABEL_CHARS)} {value}" for label, value in found[:MAX_LEADERS]]
        while len(few) > 1 and len(rated + "  ".join(few)) > room:
            few.pop()
        return [rated + "  ".join(few) if few else ""]
    lines = []
    for rank, (label, value) in enumerate(found[:rows], start=1):
        begin = f"{rated if rank == 1 else ''}{rank}. "
        lines.append(f"{begin}{_short(label, room - len(begin) - len(value) - 1)} {value}")
    return lines or [""]


def _short(label: str, room: int) -> str:
    """Return the beginning and the end of a label; specs of one bot differ in their last letters."""
    half = max(2, room // 2)
    return label if len(label) <= room else f"{label[:half]}…{label[1 - half :]}"


def _print_summary(result: api.RunResult) -> None:
    progress = result.outcome.progress
    if progress.played == 0 and not progress.stopping and not result.outcome.not_played:
        print_text(f"Nothing to play: all {progress.total:,} matches were in the log already.")
    else:
        before = f", {progress.found:,} were there before" if progress.found else ""
        rate = progress.played / max(result.outcome.seconds, 1e-9)
        played, seconds = matches_in_words(progress.played), result.outcome.seconds
        print_text(f"{played} played in {seconds:.1f} s ({rate:,.0f} a second){before}.")
    if progress.stopping:
        command = shlex.join(["arena", "leaderboard", str(result.folder)])
        return print_text(f"Nothing is rated yet: the next run does that, and so does\n  {command}")
    print_faults(result.faults, result.folder / api.LOG_FILE)
    for bot, count in result.wrong_estimates.items():
        print_text(f"{bot} gave {wrong_estimates_in_words(count)}")
    print_open_ranks(result.leaderboards, progress.rate if progress.settled else None)
    print_text(f"Leaderboards, plan and log: {result.folder}{os.sep}")


def print_open_ranks(boards: Mapping[tuple[str, int], pd.DataFrame], rate: float | None) -> None:
    """Print the neighbours on each board that are not apart yet, and the cost; `rate` is in matches per second."""
    found = {at: open_ranks(frame) for at, frame in boards.items() if len(frame) > 1}
    if not any(map(len, found.values())):
        return
    print_text("Neighbours not significantly different at 95 %, and how many times the blocks it would probably take:")
    for (game, players), ranks in found.items():
        if len(ranks):
            listed = ", ".join(
                f"{rank}-{rank + 1} {_times(times)}" for rank, times in zip(ranks["rank"], ranks["times"], strict=True)
            )
            print_text(f"  {game}, {players} players: {listed}{_cost(boards[game, players], ranks, rate)}")


def _times(times: float) -> str:
    return "x100 and more" if times > MAX_BLOCK_FACTOR else f"x{times:.1f}" if times < 10 else f"x{times:.0f}"


def _cost(board: pd.DataFrame, ranks: pd.DataFrame, rate: float | None) -> str:
    """Return the cost of separating the nearest pair within reach."""
    least = ranks["times"].min()
    if least > MAX_BLOCK_FACTOR:
        return ""
    seats = sum(name.startswith("return_seat_") for name in board.columns)
    more = int((least - 1) * board["matches"].sum() / seats) + 1
    time = f", {duration(more / rate)}" if rate else ""
    return f" ({_times(least)} is {matches_in_words(more)} more{time})"


def print_faults(faults: pd.DataFrame, log: Path) -> None:
    """Print the bots that forfeited matches, with causes, counts, and the command that replays the first one."""
    out = Output()
    if len(faults):
        print_text("Matches forfeited, and how to see each bot's first one:")
    for bot, rows in faults.groupby("bot", sort=False):
        counts = rows.groupby("cause", sort=False)["count"].sum()
        text = f"  {bot}: " + ", ".join(f"{cause} {count:,}" for cause, count in counts.items())
        command = shlex.join(["arena", "replay", rows["first_match"].iloc[0], "--in", str(log)])
        if cell_len(f"{text}; {command}") > out.width:
            print_text(text)
            text = "   "
        else:
            text += ";"
        out.print(f"{text} {command}", soft_wrap=True)
