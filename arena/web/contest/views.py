"""What pages of contests show: standings with names, bots with their versions, and what there is to hand in."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from arena.accounts import Accounts, BotVersion, Contest, ContestBot, Grant
from arena.accounts.database import as_text
from arena.accounts.submissions import CHECKING, VALID, WAITING
from arena.contest.config import ContestConfig, contest_from
from arena.contest.standings import BoardStandings, OverallRow, RoundRanks, read_rounds, read_standings
from arena.core.errors import AccountError
from arena.core.names import CONTESTS_FOLDER
from arena.results.pages.templates import board_name

HOUSE_PREFIX = "house:"
"""What labels of the bots of the house begin with."""
MAX_CONFIGS = 256
SPARKLINE_ROUNDS = 40
SPARKLINE_WIDTH, SPARKLINE_HEIGHT = 100.0, 20.0


class ContestView(NamedTuple):
    """A contest, with its configuration and names."""

    contest: Contest
    config: ContestConfig
    names: Mapping[str, tuple[str, str]]
    """Name and author by bot."""

    @property
    def id(self) -> str:
        return self.contest.id

    def season(self, number: int | None = None) -> str:
        """Return the name of a season's log, by default of the present one."""
        return f"{CONTESTS_FOLDER}/{self.id}/season-{number or self.contest.season}"

    def name(self, label: str) -> str:
        """Return what pages call a bot of the log."""
        if label.startswith(HOUSE_PREFIX):
            return label.removeprefix(HOUSE_PREFIX)
        return self.names.get(label.partition(".")[0], (label, ""))[0]

    def author(self, label: str) -> str:
        """Return who has handed in a bot of the log; empty for those of the house."""
        return self.names.get(label.partition(".")[0], ("", ""))[1]


class Row(NamedTuple):
    """A line of standings, as texts."""

    bot: str
    """Its id; empty for a bot of the house."""
    label: str
    name: str
    author: str
    rank: int
    ranks: str
    """The ranks that are possible."""
    change: int | None
    """Places won since the round before; None where it was not there."""
    score: str
    low: float | None
    high: float | None
    at: float | None
    """The score and its interval on a scale from 0 to 100."""
    matches: int
    path: str
    """The ranks of the latest rounds, as the path of a drawing."""
    is_suspended: bool
    is_mine: bool


class BoardView(NamedTuple):
    """The standings of a board."""

    title: str
    rows: list[tuple[str, str, int, str, str, int]]
    """Id, name, rank, possible ranks, rating with its interval, matches."""


class StandingsView(NamedTuple):
    """The standings as of a complete round."""

    round: int
    time: str
    matches: int
    rows: list[Row]
    boards: list[BoardView]
    is_frozen: bool


class Configs:
    """Configurations of contests that have been read; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, ContestConfig] = OrderedDict()

    def of(self, contest: Contest) -> ContestConfig:
        """Return the configuration of a contest."""
        key = json.dumps(contest.config, sort_keys=True)
        with self._lock:
            known = self._known.get(key)
        if known is None:
            known = contest_from(contest.config, contest.id)
            with self._lock:
                self._known[key] = known
                while len(self._known) > MAX_CONFIGS:
                    self._known.popitem(last=False)
        return known


def view_of(accounts: Accounts, configs: Configs, id: str) -> ContestView:
    """Return a contest; raises `AccountError` where there is none."""
    contest = accounts.contests.get(id)
    return ContestView(contest, configs.of(contest), accounts.submissions.names(id))


def standings_of(
    view: ContestView, home: Path, now: datetime, mine: frozenset[str] = frozenset(), final: bool = False
) -> StandingsView | None:
    """Return the standings of a contest's season, or of its final; None before the first complete round.

    While they are frozen they are those of the last round before. `mine` are the ids of bots that are marked.
    """
    folder = home / view.season() / ("final" if final else "")
    found = read_standings(folder)
    if found is None:
        return None
    rounds = read_rounds(folder, SPARKLINE_ROUNDS)
    if not final and is_frozen(view, now):
        assert view.config.freeze is not None
        limit = as_text(view.config.freeze)
        return _frozen(view, [each for each in read_rounds(folder) if each.time <= limit], mine)
    past = [_by_bot(each) for each in rounds]
    rows = [_row(view, row, past, mine) for row in found.overall]
    boards = [_board(view, board) for board in found.boards]
    return StandingsView(found.round, found.time, found.matches, _listed(view, rows), boards, False)


def is_frozen(view: ContestView, now: datetime) -> bool:
    """Whether the standings of a contest that is open are shown as they were when its freeze began."""
    return view.config.is_frozen(now) and view.contest.state == "open"


def _frozen(view: ContestView, rounds: Sequence[RoundRanks], mine: frozenset[str]) -> StandingsView | None:
    if not rounds:
        return None
    last, past = rounds[-1], [_by_bot(each) for each in rounds[-SPARKLINE_ROUNDS:]]
    of_round = [
        OverallRow(
            bot=bot, rank=rank, rank_low=rank, rank_high=rank, score=score, low=None, high=None, matches=0, boards=0
        )
        for bot, (rank, score) in sorted(last.ranks.items(), key=lambda each: each[1][0])
    ]
    rows = [_row(view, row, past, mine) for row in of_round]
    return StandingsView(last.round, last.time, 0, _listed(view, rows), [], True)


def _by_bot(ranks: RoundRanks) -> dict[str, int]:
    """Return the ranks of a round by bot, whatever its version."""
    return {bot_of(label) or label: rank for label, (rank, _) in ranks.ranks.items()}


def _row(view: ContestView, row: OverallRow, past: Sequence[Mapping[str, int]], mine: frozenset[str]) -> Row:
    """Return a row; `past` are the ranks of the latest rounds, the present one last."""
    bot = bot_of(row.bot)
    path = [ranks.get(bot or row.bot) for ranks in past]
    earlier = path[-2] if len(path) > 1 else None
    text = "" if row.score is None else f"{100 * row.score:.1f}"
    if row.low is not None and row.high is not None:
        text += f" ± {50 * (row.high - row.low):.1f}"
    low, high, at = (
        None if each is None else 100 * min(1.0, max(0.0, each)) for each in (row.low, row.high, row.score)
    )
    return Row(
        bot=bot,
        label=row.bot,
        name=view.name(row.bot),
        author=view.author(row.bot),
        rank=row.rank,
        ranks=_possible(row.rank_low, row.rank_high),
        change=None if earlier is None else earlier - row.rank,
        score=text,
        low=low,
        high=high,
        at=at,
        matches=row.matches,
        path=sparkline(path, max(map(len, past), default=1)),
        is_suspended=row.suspended,
        is_mine=bool(bot) and bot in mine,
    )


def bot_of(label: str) -> str:
    """Return the id of the bot of a label, `b12` of `b12.3`; empty for those of the house."""
    return "" if label.startswith(HOUSE_PREFIX) else label.partition(".")[0]


def _possible(low: int, high: int) -> str:
    return f"{low} to {high}" if low != high else ""


def _listed(view: ContestView, rows: list[Row]) -> list[Row]:
    """Return the rows that a contest shows: of all bots, or of the best of each author, with ranks of their own."""
    if view.config.standings == "bot":
        return rows
    best: dict[str, Row] = {}
    for row in rows:
        best.setdefault(row.author or row.label, row)
    return [row._replace(rank=number, ranks="", change=None) for number, row in enumerate(best.values(), 1)]


def _board(view: ContestView, board: BoardStandings) -> BoardView:
    rows = []
    for row in board.rows:
        rating = "" if row.rating is None else f"{row.rating:.2f}"
        if row.low is not None and row.high is not None:
            rating += f" ± {(row.high - row.low) / 2:.2f}"
        possible = _possible(row.rank_low, row.rank_high)
        rows.append((bot_of(row.bot), view.name(row.bot), row.rank, possible, rating, row.matches))
    return BoardView(board_name(board.game, board.players), rows)


def sparkline(ranks: Sequence[int | None], worst: int) -> str:
    """Return the path of a bot's ranks over rounds, the best on top; empty below two rounds. None where it was not."""
    across, down = SPARKLINE_WIDTH / max(1, len(ranks) - 1), SPARKLINE_HEIGHT / max(1, worst - 1)
    points = [(place, rank) for place, rank in enumerate(ranks) if rank is not None]
    if len(points) < 2:
        return ""
    return "M" + "L".join(f"{place * across:.1f} {(rank - 1) * down:.1f}" for place, rank in points)


class Entry(NamedTuple):
    """A bot as its author sees it."""

    bot: ContestBot
    newest: BotVersion | None
    playing: BotVersion | None
    """The newest valid version."""

    @property
    def is_waiting(self) -> bool:
        return self.newest is not None and self.newest.state in (WAITING, CHECKING)


def entries_of(accounts: Accounts, author: str, contest: str) -> list[Entry]:
    """Return the bots of an author in a contest."""
    found = []
    for bot in accounts.submissions.bots_of(author):
        if bot.contest == contest:
            versions = accounts.submissions.versions(bot.id)
            valid = next((each for each in versions if each.state == VALID), None)
            found.append(Entry(bot, versions[0] if versions else None, valid))
    return found


def check_sees_matches(accounts: Accounts, view: ContestView, grant: Grant | None, now: datetime) -> None:
    """Raise `AccountError` unless who asks may see the matches of a contest at a time."""
    if grant is not None and grant.author.is_organiser:
        return
    if is_frozen(view, now):
        raise AccountError("the standings are frozen, and matches are shown again when the contest is over")
    if view.config.show_matches == "everybody":
        return
    if view.config.show_matches == "nobody":
        raise AccountError("the matches of this contest are not shown")
    if grant is None or accounts.contests.member(view.id, grant.author.id) is None:
        raise AccountError("the matches of this contest are shown to who takes part")
