"""The functions behind the commands, for programs and notebooks; tables are pandas frames."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.core.errors import ConfigError, UnknownTargetError
from arena.core.files import blocking_file
from arena.core.paths import home_folder
from arena.match.game_faults import write_faults
from arena.plan.config import Adjudication, Config, read_config
from arena.plan.resolve import Plan, load_plan, make_plan
from arena.registry.rules import rules_of
from arena.results.exported import DATASET_FOLDER, Outputs
from arena.runner.calibration import given_plan, with_budgets
from arena.runner.compiling import warm
from arena.runner.options import RunOptions
from arena.runner.progress import RatedBoard, in_notebook, notebook_line, script_lines
from arena.runner.run import Outcome, Progress, Run
from arena.runner.single import play_match, retold
from arena.schedule.blocks import Schedule
from arena.schedule.foreign import foreign_name
from arena.schedule.scheduler import StandingsTable
from arena.store import Store, set_aside
from arena.tournament.dice_keys import finish_log
from arena.tournament.finding import find_match
from arena.tournament.logs import LOG_FILE, find_game_fault, find_log
from arena.tournament.preparing import prepare
from arena.tournament.tournament import Tournament
from arena.workers.process import WorkerProcess
from engine import load_game

if TYPE_CHECKING:
    import pandas as pd

    from arena.results.comparison import LoggedComparison
    from arena.results.crosstable import Crosstable
    from arena.results.dataset import DatasetOptions as DatasetOptions
    from arena.results.early import EarlyLeaderboards
    from arena.results.pages.report import BoardPage
    from arena.results.power import PowerOptions
    from arena.results.run_status import RunStatus
    from arena.runner.following import ComparisonSoFar
    from arena.stats.sprt import Sprt

__all__ = [
    "LOG_FILE",
    "RunResult",
    "Tournament",
    "adjudication",
    "board_crosstable",
    "board_figures",
    "board_leaderboard",
    "by_board",
    "compare_in",
    "comparison_so_far",
    "costs",
    "crosstable",
    "dataset",
    "export",
    "faults",
    "find_game_fault",
    "find_log",
    "find_match",
    "leaderboard",
    "load_plan",
    "matches",
    "play_match",
    "plot",
    "power",
    "retold",
    "rules",
    "run",
    "status",
    "variance",
    "warm",
]


@dataclass(frozen=True, repr=False)
class RunResult:
    """Result of a finished or interrupted run."""

    plan: Plan
    outcome: Outcome
    folder: Path
    leaderboards: dict[tuple[str, int], pd.DataFrame]
    """By canonical game spec and player count; none after an interruption, which rates nothing."""
    faults: pd.DataFrame
    """As `faults` returns it."""
    files: list[Path]
    report: Path | None = None
    """The page with all figures and tables, where one was written."""
    dataset: tuple[Path, dict[str, Any]] | None = None
    """Folder and manifest of the dataset, where one was written."""
    wrong_estimates: dict[str, int] = field(default_factory=dict)
    """By bot that gave any: its evaluations, lines and visit counts in the log that were wrong, and are not kept."""

    def __repr__(self) -> str:
        done = self.outcome.progress.found + self.outcome.progress.played
        state = "complete" if self.outcome.complete else "not complete"
        return (
            f"<{self.plan.name}: {state}, {done:,} of {self.outcome.progress.total:,} matches, "
            f"{len(self.leaderboards)} leaderboards, {self.folder}>"
        )

    def _repr_html_(self) -> str:
        boards = (
            f"<h4>{html.escape(game)}, {players} players</h4>{frame.to_html(index=False, border=0)}"
            for (game, players), frame in self.leaderboards.items()
        )
        return f"<p>{html.escape(repr(self))}</p>{''.join(boards)}"


def run(
    config: str | Path | Config | dict[str, Any],
    home: str | Path | None = None,
    workers: int | None = None,
    backend: str | None = None,
    address: str | None = None,
    fresh: bool = False,
    show: Callable[[Progress], None] | bool | None = None,
    planned: Callable[[Plan, Path | None], None] = lambda plan, kept: None,
    report: bool | None = None,
    dataset: str | Path | None = None,
    same_rules: bool = False,
    strict: bool = False,
    watchable: bool = True,
    recalibrate: bool = False,
    calibration: str | Path | None = None,
    calibrated: Callable[[str], None] = lambda line: None,
) -> RunResult:
    """Play the missing matches of a tournament, rate it and write its leaderboards and its report.

    `workers` is the number of processes that play, by default one per core. `address` names a running Ray cluster.
    `backend` is `ray` (by default with an `address`: nothing is played without it), `local`, or `auto` (by default:
    local processes, Ray when enough matches are left to pay for its start, or the cluster if it can be joined). `fresh`
    sets the old log aside under another name. `show` is called with the progress; True shows lines of it on standard
    error, False nothing. By default a notebook shows a line, and a script nothing.
    `planned` is called with the plan, and the name of a log set aside, before anything is played. A board is rated when
    its last match is in the log, while others are played (`Progress.rated`).

    `report` says whether to write the report; by default the configuration says it, and no report is written while the
    environment variable `ARENA_NO_REPORT` is set. A run that was interrupted rates nothing and writes no report: the
    next one does, and so do `leaderboard` and `export`.

    `dataset` is the folder of a dataset to write at the end of a run that is not interrupted; by default the
    configuration says whether to write one, below the tournament's folder.

    `same_rules` says that matches in the log count, though the sources of a plug-in game's rules have changed under the
    same `rules_version`; the plan records it. Otherwise such a log is refused.

    `strict` refuses bots that have been withdrawn, which are left out otherwise. `watchable` says whether a server of
    pages under the same user may show matches in play.

    Times a move (`uct:time=20ms`) are calibrated once for the log, which keeps the numbers in its plan; `calibrated` is
    called with a line for each. `recalibrate` does it anew: that is another plan, in which matches of these bots with
    the numbers before do not count. `calibration` names a plan.json, or a tournament, whose numbers are taken instead.
    """
    from arena.results.dataset import check_dataset

    home_folder(home)
    options = RunOptions.of(workers, backend, address, shows_play=watchable)
    worker = WorkerProcess()
    try:
        if dataset is not None:
            check_dataset(Path(dataset), [])
        described, source, below = read_config(config)
        plan = make_plan(described, source, below, worker, home, strict)
        folder = home_folder(home) / plan.name
        given = None if calibration is None else given_plan(calibration, home)
        if report is None:
            report = plan.report and not os.environ.get("ARENA_NO_REPORT")
        shards = Path(dataset) if dataset is not None else folder / DATASET_FOLDER if plan.dataset else None
        if shards is not None:
            check_dataset(shards, plan.schedule.boards)
        outputs = Outputs(plan.formats, report, shards, plan.dataset)
        kept = set_aside(folder / LOG_FILE) if fresh else None
        with Tournament.create(folder / LOG_FILE) as tournament:
            calibrate = partial(
                with_budgets, tournament=tournament, worker=worker, given=given, anew=recalibrate, show=calibrated
            )
            plan = prepare(plan, tournament, same_rules, calibrate)
            planned(plan, kept)
            with _shown(show) as shown:
                return _play_and_rate(plan, tournament.store, options, outputs, worker, shown)
    finally:
        worker.stop()


def _play_and_rate(
    plan: Plan,
    store: Store,
    options: RunOptions,
    outputs: Outputs,
    worker: WorkerProcess,
    show: Callable[[Progress], None],
) -> RunResult:
    """Play what the log of a plan lacks, and rate it unless the run is interrupted."""
    from arena.results.early import EarlyLeaderboards
    from arena.results.finishing import finish
    from arena.results.leaderboards import no_faults

    folder = store.path.parent
    tournament = Tournament(store, plan.schedule)
    early = EarlyLeaderboards(tournament)
    show_rated = partial(_show_rated, early, plan.schedule, show)
    outcome = Run(plan, tournament, options, worker, show_rated, on_complete=early.add).play()
    write_faults(folder, outcome.game_faults)
    if outcome.complete:
        finish_log(store, plan.schedule)
    if outcome.progress.stopping:
        return RunResult(plan, outcome, folder, {}, no_faults(), [])
    tournament = early.tournament.now()
    results = finish(tournament, early, outputs, partial(_show_phase, outcome.progress, show))
    schedule, wrong = tournament.schedule, store.bots.wrong_estimates()
    return RunResult(
        replace(plan, schedule=schedule),
        outcome,
        folder,
        by_board(schedule, results.leaderboards),
        results.faults,
        results.files,
        results.report,
        results.dataset,
        {bot.label: wrong[bot.identity] for bot in schedule.entries if bot.identity in wrong},
    )


def _show_rated(
    early: EarlyLeaderboards, schedule: Schedule, show: Callable[[Progress], None], progress: Progress
) -> None:
    """Show the progress of a run, with the boards that have been rated meanwhile."""
    from arena.results.leaderboards import best

    if not progress.stopping:
        early.update()
    for number in [number for number in [*early.boards] if number not in progress.rated]:
        progress.rated[number] = RatedBoard(schedule.boards[number].title, best(early.boards[number]))
    show(progress)


def _show_phase(progress: Progress, show: Callable[[Progress], None], phase: str) -> None:
    """Show what is done after playing."""
    progress.phase = phase
    show(progress)


def _shown(show: Callable[[Progress], None] | bool | None) -> AbstractContextManager[Callable[[Progress], None]]:
    """Return what yields the function that is called with the progress of a run."""
    if callable(show):
        return nullcontext(show)
    if show is None or (show and in_notebook()):
        return notebook_line()
    return script_lines() if show else nullcontext(lambda progress: None)


def by_board(schedule: Schedule, boards: dict[int, pd.DataFrame]) -> dict[tuple[str, int], pd.DataFrame]:
    """Return frames by (game spec, players) instead of by number."""
    return {(schedule.boards[i].game, schedule.boards[i].players): frame for i, frame in boards.items()}


def status(target: str | Path, home: str | Path | None = None) -> RunStatus:
    """Return the status of a tournament from its log, while it runs or afterwards."""
    from arena.results.run_status import run_status

    return run_status(target, home)


def leaderboard(
    target: str | Path, home: str | Path | None = None, plackett_luce: bool = False
) -> dict[tuple[str, int], pd.DataFrame]:
    """Return the leaderboards of a tournament, by canonical game spec and player count, from its log.

    `plackett_luce` adds a second opinion, the column `worth`.
    """
    from arena.results.leaderboards import leaderboards

    with Tournament.open(target, home) as tournament:
        return by_board(tournament.schedule, leaderboards(tournament, plackett_luce))


def standings(target: str | Path, home: str | Path | None = None) -> dict[tuple[str, int], Sequence[StandingsTable]]:
    """Return the brackets and standings of a tournament, by game spec and player count; none for most schedules."""
    with Tournament.open(target, home) as tournament:
        boards = enumerate(tournament.schedule.boards)
        return {(board.game, board.players): tournament.standings(index) for index, board in boards}


def crosstable(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[tuple[str, int], pd.DataFrame]:
    """Return the head-to-head results of all pairs of bots, by board."""
    from arena.results.crosstable import crosstables

    return {name: found.pairs for name, found in crosstables(target, game, players, home).items()}


def variance(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[tuple[str, int], pd.DataFrame]:
    """Return the mean returns of seats and the sources of variance, by board."""
    from arena.results.variance import variance

    return variance(target, game, players, home)


def adjudication(
    target: str | Path,
    agreement: int = 0,
    threshold: float = 0.95,
    certainty: int = 0,
    game: str | None = None,
    players: int | None = None,
    home: str | Path | None = None,
) -> pd.DataFrame:
    """Return what rules of adjudication would have done to the matches of a log, a row for each board.

    The rules are those of a configuration's section `[adjudication]`. Matches that the log has to their end tell how
    often the rules would have been wrong.
    """
    from arena.results.adjudication import adjudication

    rules = Adjudication.checked(agreement=agreement, threshold=threshold, certainty=certainty)
    with Tournament.open(target, home) as tournament:
        return adjudication(tournament, rules, game, players)


def costs(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[tuple[str, int], pd.DataFrame]:
    """Return what a move of each bot took, in seconds and in tries of actions, by board."""
    from arena.results.costs import costs

    with Tournament.open(target, home) as tournament:
        return costs(tournament, game, players)


def power(
    target: str | Path,
    a: str,
    b: str,
    game: str | None = None,
    players: int | None = None,
    options: PowerOptions | None = None,
    home: str | Path | None = None,
) -> pd.DataFrame:
    """Return, for each board with both bots, how many blocks a significant difference takes."""
    from arena.results.power import PowerOptions, power, power_frame

    return power_frame(power(target, a, b, game, players, options or PowerOptions(), home))


def compare_in(
    target: str | Path,
    a: str,
    b: str,
    game: str | None = None,
    players: int | None = None,
    test: Sprt | None = None,
    home: str | Path | None = None,
) -> LoggedComparison:
    """Compare two bots by the matches of a log in which both played, foreign results too; nothing is played.

    `test` is the test whose decision is reported, by default a sequential test of 0 against 30 Elo.
    """
    from arena.results.comparison import compare_in

    return compare_in(target, a, b, game, players, test, home)


def faults(target: str | Path, home: str | Path | None = None) -> pd.DataFrame:
    """Return the bots that forfeited matches, by board and cause, with the first match of each."""
    from arena.results.leaderboards import faults

    with Tournament.open(target, home) as tournament:
        return faults(tournament)


def matches(
    target: str | Path, game: str, players: int, home: str | Path | None = None, costs: bool = False
) -> pd.DataFrame:
    """Return a row for each seat of a board's matches, in canonical order.

    `costs` adds what the moves of each seat cost (`moves`, `seconds`, `cpu_seconds`, `visits`), which depends on the
    machine.
    """
    import pandas

    from arena.results.costs import with_costs
    from arena.results.matches import board_matches

    with Tournament.open(target, home) as tournament:
        schedule = tournament.schedule
        for index, board in enumerate(schedule.boards):
            spec = foreign_name(game) if schedule.is_foreign else load_game(game, players).spec
            if (board.game, board.players) == (spec, players):
                frame = board_matches(tournament, index)
                frame = with_costs(frame, tournament, index) if costs else frame
                if not tournament.plan.has_seats:
                    frame = frame.assign(seat=pandas.array([None] * len(frame), "Int64"))
                return frame
    raise UnknownTargetError(f"{target}: has no board {game} with {players} players")


def export(
    target: str | Path,
    home: str | Path | None = None,
    out: str | Path | None = None,
    what: Sequence[str] = ("leaderboards",),
    formats: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> list[Path]:
    """Write the files of a tournament, with its plan and versions, and return the paths.

    `what` takes any of `arena.results.exported.EXPORTS`, `formats` those of `arena.plan.config.FORMATS` and, for
    matches, `jsonl`; `columns` chooses and orders the columns of tables.
    """
    from arena.results.exports import check_export, export_log

    check_export(what, formats, columns)
    folder = _folder(out)
    with Tournament.open(target, home) as tournament:
        return export_log(tournament, folder or tournament.store.path.parent, what, formats, columns)


def _folder(out: str | Path | None) -> Path | None:
    """Return the folder to write to, if one was named; raises `ConfigError` for one that cannot be."""
    if out is not None and blocking_file(Path(out)) is not None:
        raise ConfigError(f"--out {out}: is a file, or below one; name a folder")
    return None if out is None else Path(out)


def dataset(
    target: str | Path,
    out: str | Path,
    options: DatasetOptions | None = None,
    home: str | Path | None = None,
) -> dict[str, Any]:
    """Write what bots saw, chose and got in a tournament's matches as shards for learning; return their manifest.

    A dataset that is there is replaced; a folder with anything else is refused.
    """
    from arena.results.dataset import DatasetOptions, write_dataset

    with Tournament.open(target, home) as tournament:
        return write_dataset(tournament, Path(out), options or DatasetOptions())


def plot(
    target: str | Path,
    what: str,
    game: str | None = None,
    players: int | None = None,
    home: str | Path | None = None,
    format: str = "svg",
    out: str | Path | None = None,
) -> list[Path]:
    """Write a figure of the report for each board, or for those of a game or number of players; return the paths.

    `what` is any of `arena.results.pages.figures.FIGURES`; `format` is svg, png, pdf, or json for Vega-Lite.
    Raises `ConfigError` for another one.
    """
    from arena.results.pages.report import write_figures

    folder = _folder(out)
    with Tournament.open(target, home) as tournament:
        return write_figures(tournament, what, game, players, format, folder or tournament.store.path.parent)


def board_crosstable(target: str | Path, index: int, home: str | Path | None = None) -> Crosstable:
    """Return the head-to-head results of a board, by its number in the plan."""
    from arena.results.crosstable import board_crosstable

    with Tournament.open(target, home) as tournament:
        return board_crosstable(tournament, index)


def board_leaderboard(target: str | Path, index: int, home: str | Path | None = None) -> tuple[pd.DataFrame, int]:
    """Return the leaderboard of a board, by its number in the plan, and from how many matches that was made."""
    from arena.results.leaderboards import board_leaderboard

    with Tournament.open(target, home) as tournament:
        return board_leaderboard(tournament, index)


def rules(game: str) -> str:
    """Return the rules of a game, in Markdown; raises `ConfigError` where its package has none."""
    return rules_of(game)


def comparison_so_far(target: str | Path, home: str | Path | None = None) -> ComparisonSoFar:
    """Return how a comparison goes, from its log, while it runs or afterwards."""
    from arena.runner.following import follow

    with Tournament.open(target, home) as tournament:
        return follow(tournament)


def board_figures(target: str | Path, index: int, home: str | Path | None = None) -> tuple[BoardPage, int]:
    """Return what a report shows of a board, by its number in the plan, and how many matches that was made from."""
    from arena.results.pages.report import board_page

    with Tournament.open(target, home) as tournament:
        return board_page(tournament, index)
