"""Check the matches of a log block by block: compare them with the plan, replay them, recompute every draw."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from arena.core.errors import ArenaError, StoreError
from arena.core.match_ids import DiceKind, match_id
from arena.match.adjudication import check_adjudication
from arena.match.dice import KeyPair, key_pair
from arena.match.replay import check_draws, check_game, check_match, check_words, game_of, walk_plies
from arena.match.stored import StoredMatch
from arena.plan.model import ResolvedPlan
from arena.schedule.blocks import Block, Schedule
from arena.schedule.boards import Board
from arena.store import MatchRows, Store, estimates_of_columns
from arena.verify.database import open_log
from arena.verify.findings import Findings
from arena.verify.rows import BlockRow, BlockRows, check_side_tables, match_of_rows, read_rows
from engine import EngineError, Game, game_type
from engine.errors import UnknownNameError

NO_PLAN, UNREADABLE_PLAN = -1, -2


class BlockTask(NamedTuple):
    """Blocks to be checked."""

    plan: int
    """Number of their plan; `NO_PLAN`, or `UNREADABLE_PLAN` if plans could not be read."""
    blocks: list[tuple[int, Block | None]]
    """Keys in the log, with the blocks of the plan."""


@dataclass
class CheckedBlocks(Findings):
    """Findings in some blocks, and numbers of what was checked."""

    matches: int = 0
    draws: int = 0
    unverified: Counter[str] = field(default_factory=Counter)
    """Matches that were not replayed, by the reason."""


class BlockChecker:
    """Checks blocks of a log on its own connection; each process has one."""

    def __init__(self, path: Path, plans: Sequence[ResolvedPlan], secret: Mapping[str, bytes]) -> None:
        """Open a log; `secret` are keys of secret dice by their hashes."""
        self.schedules = [plan.schedule() for plan in plans]
        self.rules = {name: rules for plan in reversed(plans) for name, rules in plan.rules.items()}
        self.secret = secret
        self.db = open_log(path)
        self.store = Store(path, self.db, None)
        self.bots = dict(self.db.execute("SELECT identity, spec FROM bots"))
        self.runs = {run for (run,) in self.db.execute("SELECT run FROM runs")}
        self.games: dict[Any, Game | str] = {}
        self.keys: dict[tuple[DiceKind, int, str | None], KeyPair] = {}

    def close(self) -> None:
        """Close the log."""
        self.db.close()

    def check(self, task: BlockTask) -> CheckedBlocks:
        """Check blocks, one by one if they cannot be read together."""
        done = CheckedBlocks()
        try:
            rows = read_rows(self.db, [key for key, _ in task.blocks])
        except Exception:  # a damaged log may fail in any way
            for place in task.blocks:
                self._check_alone(task.plan, place, done)
            return done
        for key, block in task.blocks:
            self._check_block(task.plan, block, rows[key], done)
        return done

    def _check_alone(self, plan: int, place: tuple[int, Block | None], done: CheckedBlocks) -> None:
        """Check one block, or find which of its matches cannot be read."""
        key, block = place
        try:
            rows = read_rows(self.db, [key])[key]
        except Exception as error:
            name = match_id(block.identity, 0) if block else None
            done.add(f"block {key} cannot be read: {error}", match=name, table="blocks")
            for lineup in self._lineups(plan, block):
                try:
                    read_rows(self.db, [key], lineup)
                except Exception as of_match:
                    assert block is not None
                    done.add(f"cannot be read: {of_match}", match_id(block.identity, lineup), "matches")
        else:
            self._check_block(plan, block, rows, done)

    def _lineups(self, plan: int, block: Block | None) -> range:
        if block is None:
            return range(0)
        schedule = self.schedules[plan]
        return range(schedule.lineups(schedule.boards[block.board]))

    def _check_block(self, plan: int, block: Block | None, rows: BlockRows, done: CheckedBlocks) -> None:
        stored = rows.block
        try:
            self._check_place(plan, block, stored)
        except StoreError as error:
            first = next((match.lineup for match in rows.matches if match.match is not None), 0)
            self._note(error, stored, first, "blocks", done)
        for match in rows.matches:
            if match.match is None:
                for table, part in (("seats", match.seats), ("timings", match.timing), ("faults", match.faults)):
                    if part:
                        self._note(StoreError(f"is in {table}, but not in matches"), stored, match.lineup, table, done)
                continue
            done.matches += 1
            try:
                self._check_match(plan, block, stored, match, done)
            except Exception as error:
                self._note(error, stored, match.lineup, "matches", done)

    def _check_place(self, plan: int, block: Block | None, stored: BlockRow) -> None:
        """Check that a block's row is what the plan says."""
        if stored.number is not None and stored.key is None:
            raise StoreError(f"its block has the key {stored.number}, which is not in the log")
        if block is None:
            if plan == NO_PLAN:
                raise StoreError("its block belongs to no plan of the log")
            return
        schedule = self.schedules[plan]
        board = schedule.boards[block.board]
        ours = (block.identity, block.id, board.game, board.players, block.round, board.opening, schedule.seed)
        dice = (int(block.dice), block.key or None)
        for name, mine, theirs in zip(BlockRow._fields, (*ours, *dice), stored, strict=False):
            if mine != theirs:
                raise StoreError(f"the {name} of its block is {_printable(theirs)}, {_printable(mine)} by the plan")

    def _check_match(
        self, plan: int, block: Block | None, stored: BlockRow, rows: MatchRows, done: CheckedBlocks
    ) -> None:
        seats = rows.seats
        if block is not None:
            self._check_seats(self.schedules[plan], block, rows.lineup, seats)
        elif [seat[0] for seat in seats] != [*range(stored.players)]:
            raise StoreError(f"has seats {_listed(seat[0] for seat in seats)} of {stored.players} players")
        match = match_of_rows(stored, rows)
        check_side_tables(rows, match, self.runs)
        check_words(match)
        game = self._game(plan, block, match)
        if isinstance(game, str):
            done.unverified[game] += 1
        else:
            keys = self._keys(match, stored.key)
            if block is None:
                done.draws += check_match(match, keys, game)
            else:
                done.draws += self._check_whole(match, self.schedules[plan].boards[block.board], rows, game, keys)

    def _check_whole(self, match: StoredMatch, board: Board, rows: MatchRows, game: Game, keys: KeyPair | None) -> int:
        """Replay a match of a board, with its adjudication, and return the number of draws recomputed."""
        if board.adjudication is not None and rows.estimates:
            match = replace(match, packed_estimates=estimates_of_columns(*rows.estimates)[0])
        return check_draws(check_adjudication(match, walk_plies(match, game, keys), board.adjudication))

    def _check_seats(self, schedule: Schedule, block: Block, lineup: int, seats: list[tuple[Any, ...]]) -> None:
        """Check that the bots of the plan are in the seats."""
        board = schedule.boards[block.board]
        if not 0 <= lineup < schedule.lineups(board):
            raise StoreError(f"the plan has no line-up {lineup}")
        if [seat[0] for seat in seats] != [*range(board.players)]:
            raise StoreError(f"has seats {_listed(seat[0] for seat in seats)} of {board.players} players")
        for seat, entry in zip(seats, schedule.seats(block, lineup), strict=True):
            ours = schedule.entries[entry]
            if seat[1] != ours.identity or self.bots[ours.identity] != ours.spec:
                there = seat[1] or "a bot that is not in the log"
                raise StoreError(f"seat {seat[0]} has {there}, {ours.identity} by the plan")

    def _game(self, plan: int, block: Block | None, match: StoredMatch) -> Game | str:
        """Return the game of a board, or why its matches cannot be replayed here."""
        at = (plan, block.board) if block is not None else (match.game, match.players)
        if at not in self.games:
            try:
                self.games[at] = check_game(self.schedules[plan].boards[block.board]) if block else game_of(match)
            except ArenaError as error:
                self.games[at] = self._why_not(match.game) or str(error)
        return self.games[at]

    def _why_not(self, spec: str) -> str:
        """Return a remark if a game is not installed here; else nothing."""
        name = spec.partition("(")[0]
        rules = self.rules.get(name)
        try:
            game_type(spec)
        except UnknownNameError:
            return f"{f'{rules.package} {rules.version}' if rules else name} is not installed here"
        except EngineError:
            pass
        return ""

    def _keys(self, match: StoredMatch, secret: str | None) -> KeyPair | None:
        """Return the keys of dice and of bots' seeds; None if the secret one is missing."""
        if secret is not None and secret not in self.secret:
            return None
        at = (match.dice, match.seed, secret)
        if at not in self.keys:
            self.keys[at] = key_pair(match.seed, None if secret is None else self.secret[secret])
        return self.keys[at]

    def _note(self, error: Exception, block: BlockRow, lineup: int, table: str, done: CheckedBlocks) -> None:
        name = match_id(block.identity, lineup)
        text = str(error).removeprefix(f"match {name}: ") or type(error).__name__
        with contextlib.suppress(Exception):  # of a damaged index: the whole id will do
            name = self.store.short_id(block.identity, lineup)
        done.add(text, match=name, table=table)


def _printable(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _listed(numbers: Any) -> str:
    return ", ".join(map(str, numbers)) or "none"
