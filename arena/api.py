"""What the commands do, as functions that a program or a notebook can call and that return frames."""

from __future__ import annotations

import contextlib
import html
import json
import os
import secrets
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from arena.adaptive import with_stages
from arena.config import COMPARISONS, OPENING, Config, Isolation, config_from
from arena.dice import key_hash
from arena.errors import ArenaError, ConfigError, StoreError, WorkerError
from arena.files import in_the_way
from arena.game_faults import GameError, GameFault, read_faults, write_faults
from arena.home import home_folder
from arena.keys import now, with_dice_keys, with_disclosed_keys
from arena.plan import Plan, Wanted, load_plan, make_plan, resolve_bots, schedule_from, single_plan, stage_data
from arena.plan_files import logged_plan
from arena.pools import Chunk
from arena.process import STARTS, Death, WorkerProcess
from arena.progress import notebook_line
from arena.registry import spec_of
from arena.runner import Outcome, Progress, Run
from arena.schedule import MatchSpec, Schedule, match_id
from arena.store import MatchRow, SecretKey, Store, StoredMatch, read_clocks, set_aside
from arena.store.merging import readable
from arena.store.reading import check_match_id
from engine import load_game

if TYPE_CHECKING:
    import pandas as pd

LOG = "matches.db"
SEEDS = 2**63
"""A tournament's or match's seed is below."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, repr=False)
class RunResult:
    """A finished (or interrupted) run."""

    plan: Plan
    outcome: Outcome
    folder: Path
    leaderboards: dict[tuple[str, int], pd.DataFrame]
    """By canonical game spec and player count."""
    faults: pd.DataFrame
    """As `faults` returns it."""
    files: list[Path]

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
    backend: str = "auto",
    address: str | None = None,
    fresh: bool = False,
    show: Callable[[Progress], None] | None = None,
    planned: Callable[[Plan, Path | None], None] = lambda plan, kept: None,
) -> RunResult:
    """Play what a tournament still lacks, then rate it and write its leaderboards.

    `workers` is the number of processes that play, by default one a core. `backend` is `auto` (local processes, Ray
    when enough is left to pay for its start), `local` or `ray`; `address` names a running Ray cluster. `fresh` sets the
    old log aside under another name and starts anew. `show` is told of the progress; without it a notebook gets a line
    that is written over, anything else nothing. `planned` is told the plan, and the name of a log set aside,
    before anything is played.
    """
    home_folder(home)
    count = cores() if workers is None else workers
    if count < 1:
        raise ConfigError(f"workers = {count}: at least 1 is needed")
    if backend not in ("auto", "local", "ray"):
        raise ConfigError(f"backend = '{backend}': must be auto, local or ray")
    if address is not None and backend == "local":
        raise ConfigError(f"address = '{address}': is of a Ray cluster, which backend = 'local' does not play on")
    worker = WorkerProcess()
    try:
        plan = plan_of(config, worker, home)
        folder = home_folder(home) / plan.name
        kept = set_aside(folder / LOG) if fresh else None
        with Store.create(folder / LOG) as store:
            plan = with_dice_keys(plan, store)
            plan = replace(plan, remarks=(*store.remarks, *plan.remarks))
            if plan.schedule.has_secret_dice:
                from arena.report import write_plan

                hashes = with_disclosed_keys(plan.resolved(), store)
                write_plan(folder, hashes)  # they are there before anything is played
            planned(plan, kept)
            with nullcontext(show) if show is not None else notebook_line() as shown:
                outcome = Run(plan, store, count, backend, address, worker, shown).play()
            write_faults(folder, outcome.game_faults)
            if outcome.complete:
                store.finish_run(now(), disclose=plan.schedule.has_secret_dice)
            plan = replace(plan, schedule=with_stages(store, plan.schedule))
            files, boards = _write(store, plan.resolved(), folder, plan.formats)
            faulty = _faults(store, plan.schedule)
            plan = replace(plan, schedule=replace(plan.schedule, count_matches=None))  # the log is closed now
    finally:
        worker.stop()
    return RunResult(plan, outcome, folder, boards, faulty, files)


def plan_of(
    config: str | Path | Config | dict[str, Any], worker: WorkerProcess | None = None, home: str | Path | None = None
) -> Plan:
    """The resolved plan of a file, a `Config` or plain data."""
    if isinstance(config, Config):
        return make_plan(config, worker=worker, home=home)
    if isinstance(config, dict):
        return make_plan(config_from(config), worker=worker, home=home)
    return load_plan(config, worker, home)


def _write(
    store: Store, resolved: dict[str, Any], folder: Path, formats: Sequence[str]
) -> tuple[list[Path], dict[tuple[str, int], pd.DataFrame]]:
    from arena.leaderboards import leaderboards
    from arena.report import write_reports

    schedule = store.known(schedule_from(resolved))
    boards = leaderboards(store, schedule)
    resolved = with_disclosed_keys(resolved, store)
    files = write_reports(folder, resolved, store.last_versions(), boards, formats)
    return files, by_board(schedule, boards)


def by_board(schedule: Schedule, boards: dict[int, pd.DataFrame]) -> dict[tuple[str, int], pd.DataFrame]:
    """Frames by (game spec, players) instead of by number."""
    return {(schedule.boards[i].game, schedule.boards[i].players): frame for i, frame in boards.items()}


def find_log(target: str | Path, home: str | Path | None = None) -> Path:
    """The log of a configuration, a tournament's name, its folder, or a database."""
    path = Path(target)
    if path.suffix == ".db":
        return path
    if path.suffix == ".toml":
        from arena.config import load_config

        return home_folder(home) / load_config(path).name / LOG
    for folder in (path, home_folder(home) / path):
        if (folder / LOG).is_file():
            return folder / LOG
    raise StoreError(
        f"{target}: no tournament of that name under {home_folder(home)}, and no such file; name a config, folder or "
        "database"
    )


def open_log(target: str | Path, home: str | Path | None = None) -> tuple[Store, dict[str, Any]]:
    """An open log and the resolved plan of its latest run, with how far its adaptive boards have come."""
    store, resolved = open_plan(target, home)
    with contextlib.ExitStack() as undo:
        undo.enter_context(store)
        schedule = with_stages(store, schedule_from(resolved))
        undo.pop_all()
    boards = [{**board, **stage_data(schedule, index)} for index, board in enumerate(resolved["boards"])]
    return store, {**resolved, "boards": boards}


def open_plan(target: str | Path, home: str | Path | None = None) -> tuple[Store, dict[str, Any]]:
    """An open log and the resolved plan of its latest run as it stands there: nothing is worked out."""
    store = Store.open(find_log(target, home))
    with contextlib.ExitStack() as undo:
        undo.enter_context(store)
        resolved, _ = logged_plan(store)
        undo.pop_all()
    return store, resolved


def leaderboard(
    target: str | Path, home: str | Path | None = None, plackett_luce: bool = False
) -> dict[tuple[str, int], pd.DataFrame]:
    """The leaderboards of a tournament, by canonical game spec and player count, from its log alone.

    `plackett_luce` adds a second opinion, the column `worth`.
    """
    from arena.leaderboards import leaderboards

    store, resolved = open_log(target, home)
    with store:
        schedule = store.known(schedule_from(resolved))
        return by_board(schedule, leaderboards(store, schedule, plackett_luce))


def head_to_head(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[tuple[str, int], pd.DataFrame]:
    """Every two bots that met, by board; columns are described in reports/README.md."""
    from arena.analysis import meetings

    return {name: found.pairs for name, found in meetings(target, game, players, home).items()}


def luck(
    target: str | Path, game: str | None = None, players: int | None = None, home: str | Path | None = None
) -> dict[tuple[str, int], pd.DataFrame]:
    """What seats are worth and shares of luck, by board; columns are described in reports/README.md."""
    from arena import analysis

    return analysis.luck(target, game, players, home)


def faults(target: str | Path, home: str | Path | None = None) -> pd.DataFrame:
    """Every bot that forfeited matches, by board and cause, with the first match of each; from the log alone."""
    store, resolved = open_log(target, home)
    with store:
        return _faults(store, store.known(schedule_from(resolved)))


def _faults(store: Store, schedule: Schedule) -> pd.DataFrame:
    from arena.leaderboards import faults

    return faults(store, schedule)


def matches(target: str | Path, game: str, players: int, home: str | Path | None = None) -> pd.DataFrame:
    """One row for each seat of a board's matches, in fold order; see `arena.leaderboards.board_matches`."""
    from arena.leaderboards import board_matches

    store, resolved = open_log(target, home)
    with store:
        schedule = store.known(schedule_from(resolved))
        for index, board in enumerate(schedule.boards):
            if (board.game, board.players) == (load_game(game, players).spec, players):
                return board_matches(store, schedule, index)
    raise StoreError(f"{target}: has no board {game} with {players} players")


def export(
    target: str | Path,
    home: str | Path | None = None,
    out: Path | None = None,
    what: Sequence[str] = ("leaderboards",),
    formats: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> list[Path]:
    """Write a tournament's files again, its plan and versions beside them; the paths.

    `what` takes any of `arena.exporting.WHAT`, `formats` those of `arena.config.FORMATS` and, for matches, `jsonl`;
    `columns` chooses and orders the columns of tables.
    """
    from arena.exporting import check_wanted, export_log

    check_wanted(what, formats, columns)
    if out is not None and in_the_way(out) is not None:
        raise ConfigError(f"--out {out}: is a file, or below one; name a folder")
    store, resolved = open_log(target, home)
    with store:
        return export_log(store, resolved, out or store.path.parent, what, formats, columns)


def play_match(
    game: str,
    bots: Sequence[str | type],
    seed: int | None = None,
    opening: str | None = None,
    isolation: Isolation | Sequence[Isolation | None] | None = None,
    home: str | Path | None = None,
) -> StoredMatch:
    """Play one match outside any log: bots by seat, all chance from the seed. A worker process runs the bots.

    The same seed gives the same match. Without one it is 0, and drawn at random where a sandboxed or submitted bot
    plays, which could guess a small one; it is the `seed` of the result.
    A bot is given by its spec, or by its class, which must stand in a file. `isolation` is one level for all bots, or
    one by seat; None leaves a bot where it runs by itself.
    """
    home_folder(home)
    specs = _specs(bots)
    if seed is not None and (type(seed) is not int or not 0 <= seed < SEEDS):
        raise ConfigError(f"seed = {seed!r}: must be a whole number from 0 to 2^63 - 1")
    levels = [isolation] * len(specs) if isolation is None or isinstance(isolation, str) else list(isolation)
    for level in levels:
        if level is not None and level not in get_args(Isolation):
            raise ConfigError(f"isolation = {level!r}: must be {', '.join(get_args(Isolation))}")
    if len(levels) != len(specs):
        raise ConfigError(f"isolation: {len(levels)} levels for {len(specs)} bots; give one, or one for each seat")
    loaded = load_game(game, len(specs))
    chosen = OPENING.fullmatch(opening or loaded.default_opening)
    if chosen is None:
        raise ConfigError(f"opening = '{opening}': must be none or random:k with k from 1 to 999")
    worker = WorkerProcess()
    try:
        wanted = [Wanted(spec, {}, level) for spec, level in zip(specs, levels, strict=True)]
        found = resolve_bots(wanted, [loaded], (), worker, lambda seat: f"seat {seat}: ", home)
        for bot in found:
            if bot.refusals[0] is not None:
                raise ConfigError(f"{bot.spec} {bot.refusals[0]}")
        if seed is None:
            seed = 0 if all(bot.trusted for bot in found) else random_seed()
        plan = single_plan(loaded, found, seed, int(chosen[1] or 0))
        worker.give_plan(plan.message())
        return play_specs(plan, [single_match(plan)], worker)[0]
    finally:
        worker.stop()


def _specs(bots: object) -> list[str]:
    """The specs of bots by seat, as `play_match` is given them."""
    if isinstance(bots, (str, type)) or not isinstance(bots, Iterable):
        name = bots.__name__ if isinstance(bots, type) else repr(bots)
        raise ConfigError(f"bots = {name}: must be a list with a bot for each seat, such as ['random', 'greedy']")
    return [spec_of(bot) for bot in bots]


def random_seed() -> int:
    """A seed that nobody can guess."""
    return secrets.randbits(63)


def single_match(plan: Plan) -> MatchSpec:
    """The match of a plan that has one."""
    return plan.schedule.matches(plan.schedule.block(0, 0, tuple(range(len(plan.bots)))))[0]


def play_specs(plan: Plan, specs: Sequence[MatchSpec], worker: WorkerProcess) -> list[StoredMatch]:
    """Play matches outside any log, in this order, by a worker that has the plan.

    A worker that is killed while it plays is started again, `STARTS` times in all, before anybody is charged.
    """
    charged: list[tuple[MatchSpec, list[list[Any]]]] = [(spec, []) for spec in specs]
    forgiven, killed = False, 0
    rows: list[list[Any]] = []
    while left := charged[len(rows) :]:
        reply = worker.play(Chunk(left, 0).message())
        if not isinstance(reply, Death):
            played = json.loads(reply)
            if "game" in played:
                number, fault = played["game"]
                board = plan.schedule.boards[left[number][0].block.board]
                raise GameError(replace(GameFault(**fault), game=board.game, players=board.players))
            rows += played["rows"]
            continue
        if reply.starved and not forgiven:
            forgiven = True
            continue
        killed += reply.killed
        if reply.killed and killed < STARTS:
            continue
        charges = left[reply.number][1]
        if reply.seat < 0 or any(reply.seat == charge[0] for charge in charges):
            raise WorkerError(f"the match could not be played: its worker process ended ({reply.how or reply.cause})")
        charges.append([reply.seat, reply.ply, reply.cause, reply.how])
    return [_stored(plan, spec, MatchRow(*row)) for spec, row in zip(specs, rows, strict=True)]


def _stored(plan: Plan, spec: MatchSpec, row: MatchRow) -> StoredMatch:
    schedule = plan.schedule
    board = schedule.boards[spec.block.board]
    return StoredMatch(
        identity=spec.block.identity,
        block_id=spec.block.id,
        lineup=spec.lineup,
        game=board.game,
        players=board.players,
        round=spec.block.round,
        opening=board.opening,
        seed=schedule.seed,
        ended=row.ended,
        course=row.course.split(),
        final=row.final,
        timed=row.timed,
        notes=[(ply, text) for ply, text in row.notes],
        bots=[schedule.entries[entry].spec for entry in spec.seats],
        ranks=[seat[0] for seat in row.seats],
        scores=[seat[1] for seat in row.seats],
        falls={seat: (cause, ply) for seat, (_, _, cause, ply) in enumerate(row.seats) if cause is not None},
        details={int(seat): text for seat, text in row.details.items()},
        clocks=read_clocks(row.clocks),
        again=row.again,
        dice=spec.block.dice,
        secret=next((_undisclosed(key) for key in plan.secret_keys if key_hash(key) == spec.block.key), None),
    )


def _undisclosed(key: bytes) -> SecretKey:
    return SecretKey(key, key_hash(key), "", None)


def upgrade(target: str | Path, home: str | Path | None = None) -> tuple[str, ...]:
    """Bring a log of an older version to this one; what is to be said of it, nothing for one of this version."""
    log = find_log(target, home)
    if not log.is_file():
        raise StoreError(f"{log}: no such match log")
    if not log.stat().st_size:
        raise StoreError(f"{log}: is an empty file, no match log")
    with Store.create(log) as store:
        return store.remarks


def logs_under(home: Path) -> list[Path]:
    """The logs of all tournaments and comparisons."""
    return sorted([*home.glob(f"*/{LOG}"), *home.glob(f"{COMPARISONS}/*/{LOG}")])


def find_match(
    target: str | Path | None,
    match: str,
    home: str | Path | None = None,
    warn: Callable[[str], None] = lambda line: warnings.warn(line, stacklevel=3),
) -> tuple[StoredMatch, dict[str, Any]]:
    """A match by its id or the beginning of one, and the resolved plan it belongs to.

    Without a target every tournament and comparison under the home folder is searched; `warn` is told of each log there
    that cannot be read.
    """
    check_match_id(match)
    logs = [find_log(target, home)] if target is not None else logs_under(home_folder(home))
    found = []
    for log in logs:
        try:
            found += _matches_in(log, match)
        except ArenaError as error:
            if target is not None:
                raise
            named = "" if str(log) in str(error) else f"{log}: "
            warn(f"not looked through: {named}{error}")
    where = logs[0] if len(logs) == 1 else f"{home_folder(home)}{os.sep}"
    if not found:
        raise StoreError(f"{where}: has no match whose id begins with '{match}'")
    if len(found) > 1:
        names = " and ".join(match_id(stored.identity, stored.lineup) for stored, _ in found[:2])
        raise StoreError(f"{where}: more than one match's id begins with '{match}', such as {names}; give more of it")
    return found[0]


def find_game_fault(target: str | Path | None, match: str, home: str | Path | None = None) -> GameFault | None:
    """The fault of a game that stopped a board in a match whose id begins so; searched for as by `find_match`."""
    logs = [find_log(target, home)] if target is not None else logs_under(home_folder(home))
    found = (fault for log in logs for fault in read_faults(log.parent) if match and fault.match.startswith(match))
    return next(found, None)


def _matches_in(log: Path, match: str) -> list[tuple[StoredMatch, dict[str, Any]]]:
    """Those of a log whose id begins so; raises `StoreError` for one that is damaged."""
    store, resolved = open_plan(log)
    with store, readable(store):
        return [(store.match(*at), resolved) for at in store.find_matches(match)]
