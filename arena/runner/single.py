"""Single matches outside any log."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from arena.core.errors import ConfigError, StoreError, WorkerError
from arena.core.machine import cores
from arena.core.paths import home_folder
from arena.isolation import LEVELS, Isolation
from arena.match.dice import key_hash
from arena.match.game_faults import GameError
from arena.match.replay import ReplayedPly
from arena.match.result import MatchRow
from arena.match.stored import PlannedMatch, SecretKey, StoredMatch, stored_match
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.plan.resolve import Plan, single_plan
from arena.registry.discovery import spec_of
from arena.runner.compiling import compile_ahead
from arena.runner.options import check_seed
from arena.schedule.blocks import MatchSpec
from arena.schedule.openings import chosen_plies
from arena.workers.messages import GameStopped, MatchOrder, Played, ReplayReply, ReplayRequest, WorkerDeath, decode
from arena.workers.pools import Chunk
from arena.workers.process import MAX_STARTS, WorkerProcess
from engine import load_game
from engine.specs import split_bot_spec


def play_match(
    game: str,
    bots: Sequence[str | type],
    seed: int | None = None,
    opening: str | None = None,
    isolation: Isolation | Sequence[Isolation | None] | None = None,
    home: str | Path | None = None,
    show: Callable[[str], None] = lambda line: None,
) -> StoredMatch:
    """Play one match outside any log: bots by seat, all chance from the seed. A worker process runs the bots.

    The same seed gives the same match. Without one it is 0, and drawn at random where a sandboxed or submitted bot
    plays, which could guess a small one; it is the `seed` of the result.
    A bot is given by its spec, or by its class, which must stand in a file. `isolation` is one level for all bots, or
    one by seat; None leaves a bot where it runs by itself. `show` is called with a line while code is compiled.
    """
    home_folder(home)
    if isinstance(bots, (str, type)) or not isinstance(bots, Iterable):
        name = bots.__name__ if isinstance(bots, type) else repr(bots)
        raise ConfigError(f"bots = {name}: must be a list with a bot for each seat, such as ['random', 'greedy']")
    specs = [spec_of(bot) for bot in bots]
    if seed is not None:
        check_seed(seed)
    levels = [isolation] * len(specs) if isolation is None or isinstance(isolation, str) else list(isolation)
    for level in levels:
        if level is not None and level not in LEVELS:
            raise ConfigError(f"isolation = {level!r}: must be {', '.join(LEVELS)}")
    if len(levels) != len(specs):
        raise ConfigError(f"isolation: {len(levels)} levels for {len(specs)} bots; give one, or one for each seat")
    for spec in specs:
        split_bot_spec(spec)  # an option of the game that stands among the bots is no bot too many
    loaded = load_game(game, len(specs))
    plies = chosen_plies(opening, loaded.default_opening)
    worker = WorkerProcess()
    try:
        wanted = [BotEntry(bot=spec, isolation=level) for spec, level in zip(specs, levels, strict=True)]
        found = resolve_bots(wanted, [loaded], (), worker, lambda seat: f"seat {seat}: ", home)
        for bot in found:
            if bot.refusals[0] is not None:
                raise ConfigError(f"{bot.label} {bot.refusals[0]}")
        if seed is None:
            seed = 0 if all(bot.trusted for bot in found) else random_seed()
        plan = single_plan(loaded, found, seed, plies)
        compile_ahead(plan, cores(), show, worker)
        worker.give_plan(plan.message())
        return play_specs(plan, [single_match(plan)], worker)[0]
    finally:
        worker.stop()


def random_seed() -> int:
    """Return a seed that nobody can guess."""
    return secrets.randbits(63)


def single_match(plan: Plan) -> MatchSpec:
    """Return the only match of a plan."""
    return plan.schedule.matches(plan.schedule.block(0, 0, tuple(range(len(plan.bots)))))[0]


def play_specs(plan: Plan, specs: Sequence[MatchSpec], worker: WorkerProcess) -> list[StoredMatch]:
    """Play matches outside any log, in this order, by a worker that has the plan.

    A worker that is killed while it plays is started again, `MAX_STARTS` times in all, before anybody is charged.
    """
    orders = [MatchOrder(spec) for spec in specs]
    forgiven, killed = False, 0
    rows: list[MatchRow] = []
    printed: list[dict[int, str]] = []
    while left := orders[len(rows) :]:
        reply = worker.play(Chunk(left, 0, listens=True).message())
        if not isinstance(reply, WorkerDeath):
            played = decode(reply)
            if isinstance(played, GameStopped):
                board = plan.schedule.boards[left[played.number][0].block.board]
                raise GameError(replace(played.fault, game=board.game, players=board.players))
            assert isinstance(played, Played)
            rows += played.rows
            printed += [dict(played.printed.get(number, {})) for number in range(len(played.rows))]
            continue
        if reply.starved and not forgiven:
            forgiven = True
            continue
        killed += reply.killed
        if reply.killed and killed < MAX_STARTS:
            continue
        spec, charges = left[reply.number]
        if reply.seat < 0 or any(reply.seat == charge.seat for charge in charges):
            raise WorkerError(f"the match could not be played: its worker process ended ({reply.how or reply.cause})")
        orders[len(rows) + reply.number] = MatchOrder(spec, [*charges, reply.charge()])
    stored = (stored_of(plan, spec, row) for spec, row in zip(specs, rows, strict=True))
    return [replace(match, printed=ends) for match, ends in zip(stored, printed, strict=True)]


def retold(match: StoredMatch, audit: bool, drawn: bool) -> Sequence[ReplayedPly]:
    """Return the plies of a match, replayed by a worker process; `drawn` with drawings, in an `audit` with their draws.

    Raises `StoreError` when the match cannot be replayed.
    """
    worker = WorkerProcess()
    try:
        keys = match.keys if audit else None
        reply = worker.call(ReplayRequest(replace(match, secret=None), keys, drawn), ReplayReply)
    finally:
        worker.stop()
    if isinstance(reply, WorkerDeath):
        raise WorkerError(f"the match could not be replayed: its worker process ended ({reply.how or reply.cause})")
    if reply.refusal:
        raise StoreError(reply.refusal)
    return reply.plies


def stored_of(plan: Plan, spec: MatchSpec, row: MatchRow) -> StoredMatch:
    """Return a match that was played outside any log in the form of one out of a log."""
    schedule, block = plan.schedule, spec.block
    board = schedule.boards[block.board]
    secret = next((SecretKey(key, block.key, "", None) for key in plan.secret_keys if key_hash(key) == block.key), None)
    where = (board.game, board.players, block.round, board.opening, schedule.seed, block.dice, secret)
    place = PlannedMatch(block.identity, block.id, spec.lineup, *where)
    return stored_match(place, row, [schedule.entries[entry].spec for entry in spec.seats])
