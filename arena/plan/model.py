"""The resolved plan of a tournament, as plan.json and the runs of a log hold it.

Anybody may have written one, so every value is checked. Every field is written, whether or not it has its default.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from arena.core.errors import RecordError
from arena.core.limits import Limits
from arena.core.match_ids import DiceKind
from arena.core.models import Model, Scalar, checked, validated
from arena.isolation import Isolation
from arena.match.dice import BOTS_PERSON, DICE_PERSON, public_key
from arena.plan.config import Adjudication, Format
from arena.plan.config import Limits as PlannedLimits
from arena.registry.game_rules import RulesRecord
from arena.schedule.blocks import Schedule
from arena.schedule.boards import Board, Budget, Entry
from arena.schedule.comparisons import ComparisonPlan
from arena.schedule.foreign import FOREIGN_RESULTS_LABEL, ForeignSchedule, is_foreign_name
from arena.schedule.kinds import kind_named
from arena.schedule.scheduler import Scheduler, Stage
from arena.stats.sprt import Sprt
from engine import EngineError, game_type

BOARD_FIELDS = ("game", "players", "rules_version", "blocks", "opening", "utilities")
"""Fields of a board that plan and schedule have alike."""
MAX_PLAYERS_OF_UNKNOWN_GAME = 8
"""Of a game that is not installed here."""
MAX_FOREIGN_SEATS = 100
"""Of foreign results."""


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("holds what cannot be printed")
    return text


Text = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_printable)]
Key = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=10_000_000)]


Budgets = dict[Text, Annotated[dict[Text, Annotated[int, Field(ge=1)]], Field(min_length=1, max_length=1)]]


class BoardRecord(Model):
    """A game at a number of players."""

    game: Text
    params: dict[str, Scalar]
    players: Annotated[int, Field(ge=2, le=MAX_FOREIGN_SEATS)]
    rules_version: Count
    blocks: Annotated[int, Field(ge=1, le=10_000_000)]
    opening: Annotated[int, Field(ge=0, le=999)]
    utilities: bool
    """Whether scores are the game's own utilities."""
    bots: list[Text]
    counts: list[Count] | None
    """Blocks by table given out so far where they depend on results; None where not known, and on other boards."""
    disqualified: dict[Text, int] | None
    """Last rounds by label, with `counts`; None in a board's first stage."""
    tables: list[list[Text]] | None = None
    """Labels of the tables that `counts` are of, where results decide which there are; written only there."""
    adjudication: Adjudication | None = None
    """Rules by which its matches are ended early; written only where there are any."""
    budgets: Budgets | None = None
    """By label of a bot with a time a move: the parameter with its number that it was calibrated into here, once for
    the log; written only where there is one."""


class BotRecord(Model):
    """A contestant."""

    label: Text
    key: Text
    spec: Text
    identity: Text
    params: dict[str, Scalar]
    isolation: Isolation
    trusted: bool


class KeyRecord(Model):
    """A key of secret dice; None until it is disclosed."""

    hash: Key
    key: Key | None


class SchedulerRecord(Model):
    """A kind of schedule, and its fields."""

    kind: Text
    version: Count
    fields: dict[str, Any]

    @classmethod
    def of(cls, scheduler: Scheduler) -> Self:
        """Describe a schedule."""
        fields = scheduler.model_dump(mode="json")
        return cls(kind=scheduler.kind, version=scheduler.version, fields=fields)

    def made(self) -> Scheduler:
        """Return the schedule; raises `ValueError` where its kind is not installed, or of another version."""
        kind = kind_named(self.kind)
        if kind.version != self.version:
            raise ValueError(
                f"schedule = {self.kind!r}: is planned by version {self.version} of that kind, and here is version "
                f"{kind.version}, which may give other blocks"
            )
        return checked(kind, self.fields)


class TestRecord(Model):
    """A sequential test; `arena.stats.sprt.Sprt` has its meaning."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    model: Literal["logistic", "normalized"]


class ComparisonRecord(Model):
    """What a comparison asks."""

    bots: Annotated[list[Text], Field(min_length=2, max_length=2)]
    """How much stronger is the first than the second?"""
    test: TestRecord | None
    """None where the number of blocks is fixed."""
    opening_plies: Count
    """Plies at the beginning of a match that identify its opening."""


class ForeignRecord(Model):
    """Where results come from that were played elsewhere; nothing vouches for them."""

    status: Literal["unverified foreign results"]
    file: Text
    """Name of the file, without its folder."""
    kind: Literal["csv", "jsonl", "parquet"]
    digest: Key
    """BLAKE2b-256 of the file, of which a copy, source.csv for example, is kept beside the log."""
    rows: Count
    game: Text
    """Name of the game where the rows do not name it."""
    columns: dict[str, Text]
    """Columns of the file by what they were taken for."""

    @property
    def copy_name(self) -> str:
        """Name of the copy beside the log."""
        return f"source.{self.kind}"


class ResolvedPlan(Model):
    """A plan with all names resolved and all defaults spelled out."""

    name: Text
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    line_ups: Literal["rotations", "permutations"]
    scheduler: SchedulerRecord
    comparison: ComparisonRecord | None
    forfeit_limit: Count
    limits: PlannedLimits
    formats: list[Format]
    dice: Literal["public", "secret", "mixed"]
    common_dice: bool
    public_dice_key: Key
    public_bots_key: Key
    secret_keys: list[KeyRecord]
    boards: list[BoardRecord]
    bots: list[BotRecord]
    left_out: list[Text]
    rules: dict[Text, RulesRecord]
    """Rules of plug-in games, by name."""
    foreign: ForeignRecord | None = None
    """Of results from elsewhere; written only there."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        labels = [bot.label for bot in self.bots]
        if len(set(labels)) < len(labels):
            raise ValueError("two bots have the same label")
        for board in self.boards:
            if is_foreign_name(board.game) != (self.foreign is not None):
                raise ValueError(f"the games of foreign results, and no others, are marked '({FOREIGN_RESULTS_LABEL})'")
            _check_players(board)
            _check_budgets(board, self.bots)
        try:
            schedule = self.schedule()
        except KeyError as error:
            raise ValueError(f"it has no bot {error}") from None
        if schedule.scheduler.resolved(schedule.entries, schedule.boards) != schedule.scheduler:
            raise ValueError(f"{self.scheduler.kind}: not all of its bots are named by their labels")
        if any(not {*(schedule.comparison or ())[:2]} <= {*board.entries} for board in schedule.boards):
            raise ValueError("the two bots of a comparison have to play on its board")
        if schedule.comparison is not None and (len(schedule.boards) != 1 or len(schedule.tables[0]) != 1):
            raise ValueError("a comparison has one board, and one set of bots there")
        return self

    @classmethod
    def of(
        cls,
        name: str,
        schedule: Schedule,
        formats: Sequence[str] = (),
        left_out: Sequence[str] = (),
        rules: Mapping[str, RulesRecord] = MappingProxyType({}),
        foreign: ForeignRecord | None = None,
    ) -> Self:
        """Describe a schedule, without secret keys."""
        labels, compared = [entry.label for entry in schedule.entries], schedule.comparison
        data = {
            "name": name,
            "seed": schedule.seed,
            "line_ups": "permutations" if schedule.permutations else "rotations",
            "scheduler": SchedulerRecord.of(schedule.scheduler),
            "comparison": compared
            and {
                "bots": [labels[i] for i in compared[:2]],
                "test": compared.test and vars(compared.test),
                "opening_plies": compared.opening,
            },
            "forfeit_limit": schedule.forfeit_limit,
            "limits": schedule.limits._asdict(),
            "formats": [*formats],
            **dice_fields(schedule),
            "secret_keys": [{"hash": hash, "key": None} for hash in schedule.keys],
            "boards": [
                {name: getattr(board, name) for name in BOARD_FIELDS}
                | {"params": json.loads(board.params), "bots": [labels[entry] for entry in board.entries]}
                | {
                    "adjudication": board.adjudication and board.adjudication._asdict(),
                    "budgets": _budgets(board, labels),
                }
                | _progress(schedule, index, labels)
                for index, board in enumerate(schedule.boards)
            ],
            "bots": [vars(entry) for entry in schedule.entries],
            "left_out": [*left_out],
            "rules": dict(rules),
            "foreign": foreign,
        }
        return cls.model_validate(data)

    @classmethod
    def read(cls, data: Any, where: str) -> Self:
        """Return the plan in plain data, without progress; raises `RecordError` that begins with `where`."""
        try:
            return validated(cls, data, where, {}).with_progress(None)
        except ValueError as error:
            raise RecordError(str(error)) from None

    def as_json(self, indent: int | None = None) -> str:
        """Return the plan as JSON; equal plans have equal texts."""
        data = self.model_dump(exclude=None if self.foreign else {"foreign"})
        for board in data["boards"]:
            for name in ("tables", "adjudication", "budgets"):
                if board[name] is None:
                    del board[name]
        return json.dumps(data, indent=indent, sort_keys=True)

    def schedule(self) -> Schedule:
        """Return the plan's blocks. To readers it is the same which stage gave out which blocks."""
        places = {bot.label: place for place, bot in enumerate(self.bots)}
        stages = tuple(_stage(board, places) for board in self.boards)
        made = Schedule(
            seed=self.seed,
            entries=tuple(Entry(**vars(bot)) for bot in self.bots),
            boards=tuple(
                Board(
                    params=json.dumps(board.params, sort_keys=True),
                    entries=tuple(places[label] for label in board.bots),
                    adjudication=None if board.adjudication is None else board.adjudication.rules(),
                    budgets=tuple(
                        Budget(places[label], *next(iter(budget.items())))
                        for label, budget in (board.budgets or {}).items()
                    ),
                    **{name: getattr(board, name) for name in BOARD_FIELDS},
                )
                for board in self.boards
            ),
            permutations=self.line_ups == "permutations",
            scheduler=self.scheduler.made(),
            limits=Limits(**self.limits.model_dump()),
            keys=tuple(key.hash for key in self.secret_keys),
            secret_dice=DiceKind.COMMON if self.common_dice else DiceKind.SECRET,
            forfeit_limit=self.forfeit_limit,
            comparison=_compared(self.comparison, places),
            stages=stages if any(stages) else (),
        )
        return made if self.foreign is None else ForeignSchedule.of(made, self.has_seats)

    @property
    def has_seats(self) -> bool:
        """Whether seats are known; if not, as in some foreign results, seat numbers are arbitrary."""
        return self.foreign is None or "seat" in self.foreign.columns

    def with_progress(self, schedule: Schedule | None) -> Self:
        """Return the plan with the progress that a schedule of it has, where blocks depend on results, or with none."""
        labels = [bot.label for bot in self.bots]
        boards = [board.model_copy(update=_progress(schedule, at, labels)) for at, board in enumerate(self.boards)]
        return self.model_copy(update={"boards": boards})

    def disclosed_keys(self) -> dict[str, bytes]:
        """Return the secret keys that are disclosed, by hash."""
        return {key.hash: bytes.fromhex(key.key) for key in self.secret_keys if key.key is not None}

    def with_keys(self, keys: Sequence[tuple[str, str | None]]) -> Self:
        """Return the plan with these secret keys: their hashes, and the keys that are disclosed."""
        return self.model_copy(update={"secret_keys": [KeyRecord(hash=hash, key=key) for hash, key in keys]})


def dice_fields(schedule: Schedule) -> dict[str, Any]:
    """Return the fields of a plan on the dice of its blocks, with the public keys that follow from the seed."""
    kinds = {kind for board in range(len(schedule.boards)) for kind in schedule.dice_kinds(board)}
    return {
        "dice": "mixed" if len(kinds) > 1 else "secret" if kinds - {DiceKind.PUBLIC} else "public",
        "common_dice": DiceKind.COMMON in kinds,
        "public_dice_key": public_key(schedule.seed, DICE_PERSON).hex(),
        "public_bots_key": public_key(schedule.seed, BOTS_PERSON).hex(),
    }


def _compared(comparison: ComparisonRecord | None, places: dict[str, int]) -> ComparisonPlan | None:
    if comparison is None:
        return None
    first, second = comparison.bots
    test = None if comparison.test is None else Sprt(**comparison.test.model_dump())
    return ComparisonPlan(places[first], places[second], test, comparison.opening_plies)


def _stage(board: BoardRecord, places: dict[str, int]) -> Stage | None:
    if board.counts is None:
        return None
    counts, out = tuple(board.counts), board.disqualified
    tables = None if board.tables is None else tuple(tuple(places[bot] for bot in table) for table in board.tables)
    return Stage(counts, counts, None if out is None else tuple(sorted((places[bot], out[bot]) for bot in out)), tables)


def _progress(schedule: Schedule | None, index: int, labels: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a board on its progress."""
    stage = schedule.stage(index) if schedule else None
    out = stage.disqualified if stage else None
    last_rounds = None if out is None else {labels[entry]: last for entry, last in out}
    found = stage.tables if stage else None
    tables = None if found is None else [[labels[entry] for entry in table] for table in found]
    return {"counts": [*stage.counts] if stage else None, "disqualified": last_rounds, "tables": tables}


def _budgets(board: Board, labels: Sequence[str]) -> dict[str, dict[str, int]] | None:
    return {labels[entry]: {parameter: count} for entry, parameter, count in board.budgets} or None


def _check_budgets(board: BoardRecord, bots: Sequence[BotRecord]) -> None:
    """Raise `ValueError` for a number that no bot of a board can have got for a time."""
    params = {bot.label: bot.params for bot in bots if bot.label in board.bots}
    for label, budget in (board.budgets or {}).items():
        ((parameter, _),) = budget.items()
        if type(params.get(label, {}).get(parameter)) is not int:
            raise ValueError(f"'{label}' has no parameter '{parameter}' to calibrate on the board of {board.game}")


def _check_players(board: BoardRecord) -> None:
    """Raise `ValueError` for more or fewer than a game seats: what is built for a board grows with their factorial."""
    if is_foreign_name(board.game):
        return
    name, fewest, most = board.game.partition("(")[0], 2, MAX_PLAYERS_OF_UNKNOWN_GAME
    with contextlib.suppress(EngineError):  # a game that is not installed here, or cannot be loaded
        fewest, most = game_type(board.game).min_players, game_type(board.game).max_players
    if not fewest <= board.players <= most:
        raise ValueError(f"{board.players} players on a board of {name}, which has {fewest} to {most}")
