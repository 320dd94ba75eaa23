"""Check of a bot before it is submitted: smoke matches on every board that it plays, and what went wrong in them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import engine
from arena.core.errors import ConfigError
from arena.core.exit_codes import mentions_external_kill
from arena.core.limits import Limits
from arena.isolation import SUBMITTED_LEVEL, Isolation, launcher
from arena.match.dice import single_key
from arena.match.stored import StoredMatch
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import ResolvedBot, resolve_bots
from arena.plan.resolve import Plan, single_plan
from arena.registry.bundles import MANIFEST_FILE
from arena.registry.declarations import Declaration, first_answers
from arena.registry.discovery import own_bot
from arena.registry.manifest import read_program
from arena.registry.submissions import Version, answers_of, keep_answers
from arena.registry.submitting import SubmissionResult, check_author, check_can_store, store_submission
from arena.runner.single import play_specs, random_seed, single_match
from arena.schedule.blocks import MatchSpec, Schedule
from arena.schedule.boards import Board
from arena.schedule.kinds.round_robin import RoundRobin
from arena.schedule.openings import opening_plies
from arena.workers.process import WorkerProcess
from engine import Game
from engine.registry import is_provided

OPPONENT_SPEC = "random"
BOT_ENTRY, OPPONENT_ENTRY = 0, 1
"""Entries of the plan."""
NOT_REPEATABLE, NOT_RESETTABLE = "not repeatable", "not resettable"

ADVICE = {
    "illegal_action": "Answer with one of the legal actions that the state, or message, has.",
    "timeout": "Give it a smaller budget for a move; configs/README.md lists the limits.",
    "crash": "It raised an error or ended its process.",
    "memory": "Make its tables smaller, or have them grow less; configs/README.md lists the limits.",
    "protocol": "arena/isolation/PROTOCOL.md says what belongs on standard output.",
    "init": "It failed before the first move: while it was started or built, or in its preparations.",
    NOT_REPEATABLE: "Draw all chance from the seed that the bot is given, look at no clock, and keep nothing from one "
    "match for the next. A bot that plays by the clock says so: timed = True, or in the protocol its `ready`.",
    NOT_RESETTABLE: "The manifest says resettable = true: forget all of the match before at `newgame`, and draw all "
    "chance from the seed; or leave that line out.",
}


@dataclass(frozen=True)
class Problem:
    """Something that went wrong on a board."""

    cause: str
    """Cause of a forfeit, or `NOT_REPEATABLE` or `NOT_RESETTABLE`."""
    where: str
    detail: str
    command: str
    """Command that plays the match again."""


@dataclass(frozen=True)
class BoardCheck:
    """Results of the matches on one board."""

    board: Board
    matches: int
    problems: list[Problem]
    """At most one for each cause."""
    timed: bool
    """Whether it plays by the clock, so that matches cannot be compared."""
    wall_seconds: list[float]
    """Seconds of wall clock that its moves took."""
    cpu_seconds: list[float]
    """Seconds of processor time that they took."""
    printed: str
    """The end of what it printed in the first match in which it did."""
    wrong_estimates: int
    """Number of evaluations, lines and visit counts that it gave and that are not kept, since they are wrong."""
    hung: bool
    """Whether it ran out of time, so that no further match was played."""

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain data, of times the longest and the median."""
        plain = ("matches", "timed", "printed", "wrong_estimates", "hung")
        times = {
            f"{name}_{of.__name__}": of(seconds) if seconds else None
            for name, seconds in (("wall_seconds", self.wall_seconds), ("cpu_seconds", self.cpu_seconds))
            for of in (median, max)
        }
        return {
            "game": self.board.game,
            "players": self.board.players,
            "problems": [asdict(problem) for problem in self.problems],
            **{name: getattr(self, name) for name in plain},
            **times,
        }


@dataclass(frozen=True)
class CheckResult:
    """Result of a check."""

    bot: ResolvedBot
    asked: list[Game]
    """Boards that it was asked about, in the order of its refusals."""
    limits: Limits
    boards: list[BoardCheck]
    not_played: list[str]
    """Titles of the boards left out after a match in which the bot ran out of time."""

    @property
    def ok(self) -> bool:
        return not any(board.problems for board in self.boards)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "bot": self.bot.spec,
            "isolation": self.bot.isolation,
            "ok": self.ok,
            "boards": [board.as_dict() for board in self.boards],
            "not_played": self.not_played,
            "limits": self.limits._asdict(),
        }

    def causes(self) -> dict[str, list[tuple[BoardCheck, Problem]]]:
        """Return what went wrong by cause, in the order of the boards."""
        found: dict[str, list[tuple[BoardCheck, Problem]]] = {}
        for board in self.boards:
            for problem in board.problems:
                found.setdefault(problem.cause, []).append((board, problem))
        return found


ShowBoard = Callable[[BoardCheck], Any]


def check(
    path: str,
    isolation: Isolation = SUBMITTED_LEVEL,
    games: Sequence[str] = (),
    players: Sequence[int] = (),
    home: str | Path | None = None,
    show: ShowBoard = lambda board: None,
) -> CheckResult:
    """Play smoke matches against `random` on every board that a bot declares, or on those asked for.

    A game that is declared without options is played in all its variants.

    It ends with the first match in which the bot runs out of time: all others could take as long.
    `show` is called with each board as soon as it has been played. Raises an `ArenaError` if the bot cannot be loaded.
    """
    launcher(isolation)
    wanted = _named_boards(games, players) if games else _boards(engine.game_names(), players)
    if not wanted:
        raise ConfigError(f"no game is for {' or '.join(map(str, players))} players")
    worker = WorkerProcess()
    try:
        contestants = [BotEntry(bot=path, isolation=isolation), BotEntry(bot=OPPONENT_SPEC)]
        found = resolve_bots(contestants, wanted, (), worker, home=home)
        if not games and found[BOT_ENTRY].games is not None:  # with options, perhaps, that have not been asked about
            wanted = _boards(_declared_games(found[BOT_ENTRY]), players)
            found = resolve_bots(contestants, wanted, (), worker, home=home)
        bot = found[BOT_ENTRY]
        playing = [game for game, refusal in zip(wanted, bot.refusals, strict=True) if refusal is None]
        if not playing or (games and len(playing) < len(wanted)):
            reasons = (refusal for refusal in bot.refusals if refusal)
            raise ConfigError(f"{bot.spec} {next(reasons, 'plays no game that is here')}")
        asked = [(game, opening_plies(game.default_opening)) for game in wanted]
        return check_found(found, asked, path, worker, Limits(), show)
    finally:
        worker.stop()


def check_found(
    found: Sequence[ResolvedBot],
    asked: Sequence[tuple[Game, int]],
    path: str,
    worker: WorkerProcess,
    limits: Limits,
    show: ShowBoard = lambda board: None,
    is_over: Callable[[], bool] = lambda: False,
) -> CheckResult:
    """Play smoke matches of a bot, the first of two, against the second on those of the boards asked for that it plays.

    A board is asked for as a game with the random plies of its opening. `path` is what the commands name that play a
    match again. No board is begun once `is_over`.
    """
    playing = [board for board, refusal in zip(asked, found[BOT_ENTRY].refusals, strict=True) if refusal is None]
    plan = _plan(found, playing, random_seed(), limits)  # so that no bot knows a check by its seeds or dice
    worker.give_plan(plan.message()._replace(names_refusals=True))
    report = CheckResult(found[BOT_ENTRY], [game for game, _ in asked], limits, [], [])
    for index, (game, _) in enumerate(playing):
        if (report.boards and report.boards[-1].hung) or is_over():
            report.not_played.extend(left.title for left in plan.schedule.boards[index:])
            break
        report.boards.append(_check_board(plan, index, game, path, worker))
        show(report.boards[-1])
    return report


def submit(
    path: str,
    name: str,
    author: str,
    isolation: Isolation = SUBMITTED_LEVEL,
    games: Sequence[str] = (),
    home: str | Path | None = None,
    show: ShowBoard = lambda board: None,
) -> tuple[SubmissionResult | None, CheckResult | None]:
    """Check a bot and keep it unless it fails; a source that is already the newest of that name is not checked.

    The first result is None when the check failed, the second when there was nothing to check. Raises as
    `check` and `arena.registry.submitting.store_submission` do.
    """
    before = check_author(name, author, home).get(name)
    check_can_store(home)
    source = own_bot(path)
    bundle = source.bundle()
    if before and not before.withdrawn and before.newest.source == (bundle.hash, source.module, source.class_name):
        return store_submission(source.module, source.class_name, bundle, name, author, home), None
    report = check(path, isolation, games, home=home, show=show)
    if not report.ok:
        return None, report
    done = store_submission(source.module, source.class_name, report.bot.bundle, name, author, home)
    if not source.is_program:
        _keep_declared(report, done.submission.newest, home)
    return done, report


def _keep_declared(report: CheckResult, version: Version, home: str | Path | None) -> None:
    """Keep what a bot declared of itself before its check."""
    declared = Declaration.model_validate({key: getattr(report.bot, key) for key in Declaration.model_fields})
    boards = [(game.spec, game.players) for game in report.asked]
    keep_answers(version, first_answers(answers_of(version, home), declared, boards), home)


def _named_boards(games: Sequence[str], players: Sequence[int]) -> list[Game]:
    """Return the boards that a user names; raises an `EngineError` for a number that a game is not for."""
    return [engine.load_game(spec, count) for spec in games for count in players or _counts(spec)]


def _boards(games: Sequence[str], players: Sequence[int]) -> list[Game]:
    """Return all boards of games, or those for some numbers of players; all variants of a game without options."""
    specs = (each for spec in games for each in ([spec] if "(" in spec else _variants(spec)))
    return [engine.load_game(spec, count) for spec in specs for count in _counts(spec) if count in (players or [count])]


def _variants(game: str) -> list[str]:
    return list(engine.game_type(game).variants().values()) or [game]


def _counts(spec: str) -> range:
    """Return the numbers of players that a game is for."""
    kind = engine.game_type(spec)
    return range(kind.min_players, kind.max_players + 1)


def _declared_games(bot: ResolvedBot) -> list[str]:
    """Return the games that a bot declares; raises `ConfigError` for one that is not there.

    One of a provider's games is left out where its library is not.
    """
    found = []
    for spec in bot.games or ():
        try:
            found.append(engine.canonical_spec(spec))
        except engine.EngineError as error:
            if not is_provided(spec):
                raise ConfigError(f"{bot.spec}: games: {error}") from None
    return list(dict.fromkeys(found))


def _plan(found: Sequence[ResolvedBot], asked: Sequence[tuple[Game, int]], seed: int, limits: Limits) -> Plan:
    """Return the plan of a check: the bot, its opponent and every board."""
    entries = tuple(bot.entry(bot.spec, bot.spec) for bot in found)
    alone = (single_plan(game, [found[OPPONENT_ENTRY]] * game.players, seed, opening) for game, opening in asked)
    boards = tuple(plan.schedule.boards[0] for plan in alone)
    schedule = Schedule(seed, entries, boards, False, RoundRobin(), limits)
    return Plan("check", schedule, tuple(found), (), ()).with_keys([single_key(seed)])


def _matches(plan: Plan, index: int, game: Game) -> Iterator[MatchSpec]:
    """Yield matches with the bot in the first, second and last seat, with the dice that `arena match` would draw."""
    for place in sorted({0, 1, game.players - 1}):
        seats = tuple(BOT_ENTRY if seat == place else OPPONENT_ENTRY for seat in range(game.players))
        bots = [plan.bots[entry] for entry in seats]
        opening = plan.schedule.boards[index].opening
        block = single_match(single_plan(game, bots, plan.schedule.seed, opening)).block
        yield MatchSpec(block._replace(board=index, table=seats), 0, seats)


def _check_board(plan: Plan, index: int, game: Game, spec: str, worker: WorkerProcess) -> BoardCheck:
    """Play each match twice, with others in between: all in turn, then all in the opposite order."""
    matches = list(_matches(plan, index, game))
    played = list(_played(plan, [*matches, *reversed(matches)], worker))
    problems: dict[str, Problem] = {}
    for match in matches:
        seat = match.seats.index(BOT_ENTRY)
        found = [stored for each, stored in played if each == match]
        for problem in _problems(plan.bots[BOT_ENTRY], found, seat, _command(plan, index, game, spec, match)):
            problems.setdefault(problem.cause, problem)
    clocks = ((move, match) for match, stored in played for move in stored.clocks)
    moves = [move for move, match in clocks if move.seat == match.seats.index(BOT_ENTRY) and move.ply >= 0]
    return BoardCheck(
        board=plan.schedule.boards[index],
        matches=len(played),
        problems=list(problems.values()),
        timed=any(stored.timed for _, stored in played),
        wall_seconds=[move.wall for move in moves],
        cpu_seconds=[move.cpu for move in moves],
        printed=next(
            filter(None, (stored.printed.get(match.seats.index(BOT_ENTRY), "") for match, stored in played)), ""
        ),
        wrong_estimates=sum(stored.dropped.get(match.seats.index(BOT_ENTRY), 0) for match, stored in played),
        hung=_hung(*played[-1]),
    )


def _played(plan: Plan, matches: Sequence[MatchSpec], worker: WorkerProcess) -> Iterator[tuple[MatchSpec, StoredMatch]]:
    """Yield matches with their results, up to the first in which the bot runs out of time."""
    for match in matches:
        (stored,) = play_specs(plan, [match], worker)
        yield match, stored
        if _hung(match, stored):
            return


def _hung(match: MatchSpec, stored: StoredMatch) -> bool:
    """Return whether the bot ran out of time; before play that is an `init` fault by the clock."""
    seat = match.seats.index(BOT_ENTRY)
    cause, _ = stored.forfeits.get(seat, ("", 0))
    return stored.timed and cause in ("timeout", "init") and not mentions_external_kill(stored.details.get(seat, ""))


def _problems(bot: ResolvedBot, played: Sequence[StoredMatch], seat: int, command: str) -> Iterator[Problem]:
    """Yield what went wrong in a match over all times that it was played."""
    lost = next((stored for stored in played if seat in stored.forfeits), None)
    if lost is not None:
        cause, ply = lost.forfeits[seat]
        when = "before play" if ply < 0 else f"at ply {ply + 1}"
        yield Problem(cause, f"in seat {seat}, {when}", lost.details.get(seat, "").strip(), command)
    if lost is not None or len(played) < 2:
        return
    first, second = played
    if first.moves != second.moves and not (first.timed or second.timed):
        ply = next(at for at, (one, two) in enumerate(zip(first.moves, second.moves, strict=False)) if one != two)
        resettable = bot.bundle.is_program and read_program(bot.bundle.files[MANIFEST_FILE], bot.source.name).resettable
        yield Problem(
            NOT_RESETTABLE if resettable else NOT_REPEATABLE,
            f"in seat {seat}, at ply {ply + 1}",
            f"first it played {first.moves[ply]}, and {second.moves[ply]} when the same match was played again",
            command,
        )


def _command(plan: Plan, index: int, game: Game, spec: str, match: MatchSpec) -> str:
    bots = [spec if entry == BOT_ENTRY else OPPONENT_SPEC for entry in match.seats]
    seed, isolation = str(plan.schedule.seed), plan.bots[BOT_ENTRY].isolation
    plies = plan.schedule.boards[index].opening
    usual = plies == opening_plies(game.default_opening)
    opening = [] if usual else ["--opening", f"random:{plies}" if plies else "none"]
    return shlex.join(["arena", "match", game.spec, *bots, "--seed", seed, *opening, "--isolation", isolation])
