"""Comparison of two leaderboards: changes, their significance, and possible causes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from arena.core.errors import ArenaError, ConfigError
from arena.core.files import MAX_JSON_BYTES, read_json
from arena.plan.model import ResolvedPlan
from arena.results.columns import DIFF, HIGH, LOW
from arena.results.leaderboard_files import about_board
from arena.results.leaderboards import leaderboards
from arena.results.tables import from_csv
from arena.tournament.logs import LOG_FILE
from arena.tournament.tournament import Tournament
from engine.errors import one_line

LEADERBOARD_FORMATS = (".json", ".parquet", ".csv")
"""Formats that leaderboards are read from, the most complete first."""
MAX_CELLS = 2**22
MEASURES = tuple((name, name + LOW, name + HIGH) for name in ("rating", "mean_return"))
"""Columns to compare by, with those of their intervals: the first ones that both leaderboards have."""
CRITICAL_Z = float(ndtri(0.975))
"""Standard errors on each side of a 95 % interval of a normal distribution."""
BOARD_SLUG = re.compile(r".*_[0-9]+p")


@dataclass(frozen=True)
class VersionedLeaderboard:
    """Leaderboard with the versions of its rules and bots, if known."""

    frame: pd.DataFrame
    rules: int | None
    identities: Mapping[str, str] | None
    """Identities of bots by label."""


@dataclass(frozen=True)
class BoardDiff:
    """Changes on one board."""

    board: str
    measure: tuple[str, str, str]
    """Columns compared: the value, and the ends of its interval."""
    remarks: list[str]
    """Changes of the board as a whole."""
    frame: pd.DataFrame
    """Columns: `arena.results.columns.DIFF`."""


def diff(before: str | Path, after: str | Path, home: str | Path | None = None) -> list[BoardDiff]:
    """Compare the boards that two leaderboards, folders of them or tournaments have in common.

    Raises `ConfigError` when there are none, or when they have no measure in common.
    """
    old, new = read_leaderboards(before, home), read_leaderboards(after, home)
    if len(old) == len(new) == 1 and (is_leaderboard_file(before) or is_leaderboard_file(after)):
        name, side = next(iter(new.items()))
        other = next(iter(old))
        if name != other and old[other].identities and side.identities:
            raise ConfigError(f"{before} is of {other}, {after} of {name}: these cannot be compared")
        old = {name: old[other]}
    common = [name for name in new if name in old]
    if not common:
        raise ConfigError(f"no board in common: {before} has {'; '.join(old)}, {after} has {'; '.join(new)}")
    return [compare_leaderboards(name, old[name], new[name]) for name in common]


def is_leaderboard_file(target: str | Path) -> bool:
    """Return whether a target is the file of a leaderboard."""
    return Path(target).suffix in LEADERBOARD_FORMATS


def read_leaderboards(target: str | Path, home: str | Path | None = None) -> dict[str, VersionedLeaderboard]:
    """Return the leaderboards of a file, a folder of files, or a tournament, by board."""
    path = Path(target)
    if is_leaderboard_file(path):
        if not path.is_file():
            raise ConfigError(f"{path}: no such file")
        return dict([_read(path)])
    if path.is_dir() and not (path / LOG_FILE).is_file():
        stems = sorted(
            {file.stem for file in path.iterdir() if BOARD_SLUG.fullmatch(file.stem) and is_leaderboard_file(file)}
        )
        files = [
            next(path / f"{stem}{kind}" for kind in LEADERBOARD_FORMATS if (path / f"{stem}{kind}").is_file())
            for stem in stems
        ]
        if not files:
            raise ConfigError(f"{path}: holds neither a log nor leaderboards in csv, json or parquet")
        return dict(map(_read, files))
    with Tournament.open(target, home) as tournament:
        schedule = tournament.schedule
        return {
            schedule.boards[index].title: _with_versions(frame, about_board(schedule.boards[index], schedule))
            for index, frame in leaderboards(tournament).items()
        }


def _with_versions(frame: pd.DataFrame, about: Mapping[str, Any]) -> VersionedLeaderboard:
    bots, rules = about.get("bots"), about.get("rules_version")
    identities = bots and {one_line(label): one_line(bot["identity"]) for label, bot in bots.items()}
    return VersionedLeaderboard(frame, rules if type(rules) is int else None, identities)


def _read(path: Path) -> tuple[str, VersionedLeaderboard]:
    """Read the file of a leaderboard, with the versions in it or in the plan.json beside it."""
    try:
        about = read_json(path) if path.suffix == ".json" else {}
        frame = _checked(_frame(path, about))
        if "bots" not in about:
            about = {**about, **_planned(path)}
        name = f"{about['game']}, {about['players']} players" if "game" in about else path.stem
        return one_line(name), _with_versions(frame, about)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        if isinstance(error, ArenaError):
            raise
        raise ConfigError(f"{path}: is no leaderboard") from None


def _frame(path: Path, about: Mapping[str, Any]) -> pd.DataFrame:
    """Read the table in a file; raise `ValueError` for one that is none or takes too much memory."""
    if path.suffix == ".json":
        rows = about["leaderboard"]
        if any(row.keys() != rows[0].keys() for row in rows):
            raise ValueError("rows with different columns")
        return pd.DataFrame(rows)
    if path.suffix == ".csv":
        if path.stat().st_size > MAX_JSON_BYTES:
            raise ValueError("too large")
        frame = pd.read_csv(path, dtype={"bot": str}, keep_default_na=False, na_values=[""])
        return frame.map(lambda cell: from_csv(cell) if isinstance(cell, str) else cell)
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    if metadata.num_rows * metadata.num_columns > MAX_CELLS:
        raise ValueError("too large")
    return pq.ParquetFile(path).read().to_pandas()


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a leaderboard with numbers in all columns but labels and groups; raise `ValueError` for anything else."""
    if len(frame.columns) and not {"rank", "bot"} <= set(frame.columns):
        raise ValueError("no leaderboard's columns")
    if frame.empty:
        return frame
    texts = {name: frame[name].map(one_line) for name in ("bot", "group") if name in frame}
    numbers = frame.drop(columns=list(texts)).apply(pd.to_numeric, errors="coerce").astype(float)
    ranks = numbers["rank"]
    placed = ranks.isin(range(1, len(frame) + 1)).all() and not texts["bot"].duplicated().any()
    if not placed or np.isinf(numbers).any(axis=None):
        raise ValueError("not every bot has a place")
    return numbers.assign(rank=ranks.astype(int), **texts)


def _planned(path: Path) -> dict[str, Any]:
    """Return what the plan.json beside the file of a leaderboard says of its board; nothing without one."""
    plan = path.with_name("plan.json")
    if not plan.is_file():
        return {}
    schedule = ResolvedPlan.read(read_json(plan), f"{plan}: is no plan.json").schedule()
    return next((about_board(board, schedule) for board in schedule.boards if board.slug == path.stem), {})


def compare_leaderboards(name: str, before: VersionedLeaderboard, after: VersionedLeaderboard) -> BoardDiff:
    """Compare two leaderboards of one board, bot by bot.

    z = change / sqrt(se_before² + se_after²), with se = half of the 95 % interval / 1.96 (Wald's test; Wald, "Tests of
    statistical hypotheses concerning several parameters when the number of observations is large", 1943).
    """
    measure = _measure(name, before.frame, after.frame)
    old, new = (_indexed(side.frame, measure) for side in (before, after))
    bots = [*new.index, *(bot for bot in old.index if bot not in new.index)]
    old, new = old.reindex(bots), new.reindex(bots)
    change = (new["value"] - old["value"]).round(4) + 0.0
    error = (old["error"] ** 2 + new["error"] ** 2) ** 0.5
    z = (change / error).mask((error == 0) & (change == 0), 0.0)
    significant = (z.abs() >= CRITICAL_Z).astype("boolean").mask(z.isna())
    causes = _Causes(before, after)
    frame = pd.DataFrame(
        {
            "rank_before": old["rank"].astype("Int64"),
            "rank_after": new["rank"].astype("Int64"),
            "before": old["value"],
            "after": new["value"],
            "change": change,
            "z": z.round(2),
            "significant": significant,
            "because": [causes.of(bot) for bot in bots],
        },
        index=pd.Index(bots, name="bot", dtype=object),
    )
    return BoardDiff(name, measure, causes.remarks(), DIFF.arrange(frame.reset_index()))


def _measure(name: str, before: pd.DataFrame, after: pd.DataFrame) -> tuple[str, str, str]:
    found = [set(frame.columns) for frame in (before, after) if len(frame)]
    for measure in MEASURES:
        if all(set(measure) <= columns for columns in found):
            return measure
    wanted = " nor ".join(", ".join(measure) for measure in MEASURES)
    raise ConfigError(f"{name}: the leaderboards have neither {wanted} in common, so that nothing can be compared")


def _indexed(frame: pd.DataFrame, measure: tuple[str, str, str]) -> pd.DataFrame:
    """Return by bot its rank, the measure, its standard error.

    An interval may be cut at one end of the measure's range; one that is cut at both says nothing of the error.
    """
    frame = frame.reindex(columns=["bot", "rank", *measure]) if frame.empty else frame
    value, low, high = (pd.to_numeric(frame[column]) for column in measure)
    half = (high - value).combine(value - low, max)
    if measure[0] == "mean_return":
        half = half.mask((low <= -1) & (high >= 1))
    return pd.DataFrame({"rank": frame["rank"], "value": value, "error": half / CRITICAL_Z}).set_axis(frame["bot"])


class _Causes:
    """Possible causes of the changes on a board."""

    def __init__(self, before: VersionedLeaderboard, after: VersionedLeaderboard) -> None:
        self.before, self.after = before, after
        old, new = (list(side.frame.get("bot", [])) for side in (before, after))
        self.added = [bot for bot in new if bot not in old]
        self.removed = [bot for bot in old if bot not in new]
        self.versions_known = before.identities is not None and after.identities is not None
        identities = (before.identities or {}, after.identities or {})
        self.changed = {
            bot: (identities[0][bot], identities[1][bot])
            for bot in new
            if bot in identities[0] and bot in identities[1] and identities[0][bot] != identities[1][bot]
        }
        self.rules = before.rules is not None and after.rules is not None and before.rules != after.rules
        self.matches = [dict(zip(side.frame.get("bot", []), side.frame.get("matches", []))) for side in (before, after)]
        self.empty = [when for when, side in (("before", before), ("after", after)) if side.frame.empty]
        shared = [column for column in before.frame if column in after.frame]
        self.same = len(old) == len(new) and _same(before.frame[shared], after.frame[shared])

    def of(self, bot: str) -> str:
        """Return the causes for one bot in words."""
        if bot in self.added or bot in self.removed:
            return "added" if bot in self.added else "removed"
        others = {*self.added, *self.removed, *self.changed} - {bot}
        less, more = (matches.get(bot, 0) for matches in self.matches)
        found = {
            "rules": self.rules,
            "new version": bot in self.changed,
            "opponents": others,
            "more matches": more > less,
            "fewer matches": more < less,
        }
        lines = [cause for cause, holds in found.items() if holds]
        return ", ".join(lines) or ("same data" if self.same else "other matches")

    def remarks(self) -> list[str]:
        """Return the changes of the board as a whole, a line each."""
        lines = [f"no complete block {when}" for when in self.empty]
        lines += [f"rules version {self.before.rules}, then {self.after.rules}"] if self.rules else []
        lines += [f"new version: {bot}, {old}, then {new}" for bot, (old, new) in self.changed.items()]
        changes = (("added", self.added), ("removed", self.removed))
        lines += [f"{what}: {', '.join(bots)}" for what, bots in changes if bots]
        if not self.versions_known:
            lines.append("versions unknown: a leaderboard without JSON or plan.json has none")
        return lines


def _same(before: pd.DataFrame, after: pd.DataFrame) -> bool:
    """Return whether two boards are equal, except for what writing them to a file may change."""
    old, new = (json.loads(frame.to_json(orient="records", double_precision=6)) for frame in (before, after))
    return old == new
