"""Columns of every table that commands, exports and the API return: name, meaning, unit and format, stated once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from arena.core.errors import ConfigError
from engine.errors import did_you_mean

LOW, HIGH = "_ci_low", "_ci_high"
"""Endings of the two columns of a 95 % interval; what comes before them is the column that it belongs to."""
PER_SEAT = "_0"
"""Ending of a column that stands for one column a seat."""
RENAMED = {
    "rating_low": "rating_ci_low",
    "rating_high": "rating_ci_high",
    "rank_low": "rank_ci_low",
    "rank_high": "rank_ci_high",
    "return_low": "mean_return_ci_low",
    "return_high": "mean_return_ci_high",
    "difference_low": "difference_ci_low",
    "difference_high": "difference_ci_high",
    "mu_in_order": "trueskill_mu",
    "sigma_in_order": "trueskill_sigma",
    "distinct": "distinct_matches",
    "benched": "disqualified",
    "course": "moves",
    "low": "value_ci_low",
    "high": "value_ci_high",
}
"""Names of columns until version 0.1, with those of today."""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    description: str
    unit: str = ""
    format: str = ""
    """Python format specification, for terminals, Markdown, HTML and LaTeX; other files hold the plain value."""
    heading: str = ""
    """Heading in a terminal; empty for a column that is not shown there."""
    dtype: str = ""
    """Type in Parquet, where pages of a table must agree on it."""


def interval(of: str, description: str, unit: str, format: str = ".3f", heading: str = "") -> tuple[Column, Column]:
    """Return the two columns of the 95 % interval of a column."""
    return Column(of + LOW, description, unit, format, heading), Column(of + HIGH, description, unit, format)


class Table(NamedTuple):
    """A kind of table."""

    title: str
    source: str
    """Where the table comes from: command, export, function."""
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def arrange(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with its columns in the order of the table; raises `KeyError` for one not in the table."""
        known: dict[Any, int] = {name: place for place, name in enumerate(self.names, 1)}
        return frame[sorted(frame.columns, key=lambda name: known.get(name) or known[_first_seat(name)])]

    def cells(self, frame: pd.DataFrame) -> dict[str, list[str]]:
        """Return the texts of a frame for a terminal, by heading; the ends of an interval share a column."""
        shown = {}
        for column in self.columns:
            if column.heading and column.name in frame:
                shown[column.heading] = _texts(column, frame)
        return shown

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the names, unit and description of columns for documentation; columns described alike share a row."""
        found: dict[tuple[str, str], list[str]] = {}
        for column in self.columns:
            shown = f"`{column.name}`" + (", ..." if column.name.endswith(PER_SEAT) else "")
            found.setdefault((column.unit, column.description), []).append(shown)
        return [(", ".join(names), unit, description) for (unit, description), names in found.items()]

    def documentation(self) -> str:
        """Return the columns as a Markdown table."""
        lines = ["| column | unit | meaning |", "|---|---|---|"]
        return "\n".join([*lines, *(f"| {names} | {unit} | {text} |" for names, unit, text in self.rows())])


def _first_seat(name: Any) -> str:
    return name.rstrip("0123456789") + "0"


def _texts(column: Column, frame: pd.DataFrame) -> list[str]:
    name, values = column.name, frame[column.name]
    if name.endswith(LOW):
        ends = zip(values, frame[name.removesuffix(LOW) + HIGH], strict=True)
        return [str(low) if low == high else f"{low}-{high}" for low, high in ends]
    texts = [as_text(value, column.format) for value in values]
    if "±" not in column.heading:
        return texts
    halves = (frame[name + HIGH] - frame[name + LOW]) / 2
    return [
        f"{text} ± {as_text(half, column.format.lstrip('+')) or '?'}" for text, half in zip(texts, halves, strict=True)
    ]


def as_text(value: Any, format: str = "") -> str:
    """Return a cell for a person: formatted, empty where it is missing; floats have three decimals by default."""
    if pd.isna(value):
        return ""
    if isinstance(value, bool | str):
        return str(value)
    return f"{value:{format or ('.3f' if isinstance(value, float) else '')}}"


RETURN, RATING = "-1 to 1", "TrueSkill points"
DIFFERENCE = "-2 to 2"
BOARD = (
    Column("game", "canonical spec of the game", dtype="string"),
    Column("players", "number of players", dtype="int64"),
)

LEADERBOARD = Table(
    "Leaderboard",
    "`arena leaderboard`, `arena export`, `arena.leaderboard`",
    (
        Column("rank", "by `rating`; disqualified bots come after all others", "place", heading="#"),
        Column("bot", "label", heading="bot"),
        Column(
            "rating",
            "mean of the estimated skill: expectation propagation under the TrueSkill model over all matches at once, "
            "to its fixed point, so that their order does not matter. Every bot starts at 25 ± 25/3, and a performance "
            "varies by beta = 25/6 from match to match: 5.9 points more win 84 % of two-player matches without ties",
            RATING,
            ".2f",
            "rating ± 95 %",
        ),
        *interval(
            "rating",
            "95 % interval of the rating relative to the board's mean: Student's t times the standard error of 1,000 "
            "bootstrap replicates of blocks. Where the blocks of a table never varied (one bot won them all), the "
            "variance that the model leaves is added. If a group won every match against all others, no match tells "
            "how far above them it is: the prior (25 ± 25/3) decides, and the interval may be too narrow. Empty below "
            "two blocks",
            RATING,
            ".2f",
        ),
        *interval(
            "rank",
            "the best and the worst rank that the bot may have, at 95 %: as many others are significantly better, or "
            "worse",
            "place",
            "",
            "ranks",
        ),
        Column(
            "group",
            "bots with a letter in common are not significantly different at 95 %, by the comparisons behind "
            "`rank_ci_low` and `rank_ci_high`",
            "letters",
            heading="group",
        ),
        Column(
            "lead_over_next",
            "difference of the rating to the next one; from 1.96 on the two differ at 95 %, taken alone. Empty for the "
            "last bot and for disqualified ones",
            "standard errors",
            ".2f",
        ),
        Column(
            "sigma",
            "the model's own uncertainty of the skill; it takes matches for independent, which those of a block are "
            "not, so prefer the interval",
            RATING,
            ".2f",
        ),
        Column(
            "matches",
            "in complete blocks; others do not count yet, nor do blocks dropped by a disqualification",
            "matches",
            ",",
            "matches",
        ),
        Column(
            "distinct_matches",
            "of those, in blocks that do not repeat another block of the same bots move by move. Only these count as "
            "evidence: two deterministic bots can play one match a thousand times",
            "matches",
            ",",
        ),
        Column("wins", "alone in first place", "matches", ",", "wins"),
        Column("ties", "shared first place", "matches", ",", "ties"),
        Column("mean_rank", "mean final place, 1 is best; ties share the better place", "place", ".2f", "rank"),
        Column(
            "mean_return",
            "mean utility: a seat that beats b of n seats and ties with t gets (2b + t)/(n - 1) - 1",
            RETURN,
            "+.3f",
            "return ± 95 %",
        ),
        *interval(
            "mean_return",
            "95 % interval of the mean return: Student's t over block means, as the matches of a block share the "
            "opening and, among trusted bots, the dice; repeated blocks are not counted. If all blocks are equal, the "
            "interval allows for the share of other results that 1 in 40 such series would hide, each as far away as "
            "possible",
            RETURN,
            "+.3f",
        ),
        Column(
            "worth",
            "only with `--plackett-luce`: log-worth in the Plackett-Luce model, mean 0, by the package `choix`. Of two "
            "bots alone, one that is 1 above the other finishes first with odds of e to 1",
            "logarithm",
            "+.2f",
            "worth",
        ),
        Column(
            "mean_margin",
            "mean of own score minus the others' mean; only for games with scores",
            "the game's score",
            "+.2f",
            "margin",
        ),
        Column("forfeits", "lost by a fault: illegal action, time, crash ...", "matches", ",", "forfeits"),
        Column(
            "disqualified",
            "the last round that the bot played before its disqualification, counted from 1; empty for others. Only on "
            "boards with a disqualified bot",
            "round",
        ),
        Column("return_seat_0", "mean return in each seat", RETURN, "+.3f"),
        Column(
            "trueskill_mu",
            "mean skill of online TrueSkill: matches rated one by one in canonical order, as the package `trueskill` "
            "does",
            RATING,
            ".2f",
        ),
        Column("trueskill_sigma", "uncertainty of `trueskill_mu`", RATING, ".2f"),
    ),
)

PAIR = (
    Column("bot", "label; the bot higher on the leaderboard comes first", heading="bot"),
    Column("opponent", "label of the other bot", heading="opponent"),
    Column("matches", "that both played", "matches", ",", "matches"),
)
LEAD = Column(
    "lead",
    "share of matches ahead minus share behind, blocks weighing alike; with two players half the difference",
    RETURN,
    "+.2f",
    "lead",
)
PREDICTED = Column(
    "predicted", "the lead that ratings and draw margin of the board predict", RETURN, "+.2f", "predicted"
)
Z = Column(
    "z",
    "deviation of the lead from the predicted one, in standard deviations under the rating model: beyond 1.96 either "
    "way in about 1 of 20 pairs if the ratings hold. The variance is the model's, times what the matches of a block "
    "have in common, less the share that fitting the ratings took up",
    "standard deviations",
    "+.1f",
    "z",
)

CROSSTABLE = Table(
    "Crosstable",
    "`arena crosstable`, `arena export --what crosstable`, `arena.crosstable`: a row for every two bots that met",
    (
        *PAIR,
        Column("blocks", "that both played, without repeated ones, as for `distinct_matches`", "blocks", ","),
        Column(
            "wins",
            "matches in which the bot's place is better than the opponent's, whatever other seats did",
            "matches",
            ",",
            "W",
        ),
        Column("ties", "matches in which the two places are equal", "matches", ",", "T"),
        Column("losses", "matches in which the bot's place is worse than the opponent's", "matches", ",", "L"),
        Column(
            "difference",
            "mean of the bot's return minus the opponent's, blocks weighing alike",
            DIFFERENCE,
            "+.3f",
            "difference ± 95 %",
        ),
        *interval(
            "difference",
            "95 % interval of the difference, made like that of `mean_return`; empty below two blocks",
            DIFFERENCE,
            "+.3f",
        ),
        LEAD,
        PREDICTED,
        Z,
        Column(
            "alpha_rank",
            "only with `--alpha-rank`: share of the row's bot in a population of 50 where the better of two spreads "
            "(alpha 0.1); the shares of all bots sum to 1",
            "0 to 1",
        ),
    ),
)

MISFITS = Table(
    "Misfits",
    "`arena crosstable`: pairs whose lead is at least 0.05 from the predicted one, significantly so among all at 5 %",
    (*PAIR, LEAD, PREDICTED, Z, Column("p_value", "of Holm's test over all pairs of the board", "0 to 1", ".2g")),
)

CYCLES = Table(
    "Cycles",
    "`arena crosstable`: significant cycles of three bots",
    (
        Column("first", "label of a bot that leads `second`"),
        Column("second", "label of a bot that leads `third`"),
        Column("third", "label of a bot that leads `first`"),
        Column("p_value", "of the weakest of the three pairs, adjusted for the number of pairs", "0 to 1", ".2g"),
    ),
)

VARIANCE = Table(
    "Variance",
    "`arena variance`, `arena.variance`: mean returns by seat, then shares of the variance of a return",
    (
        Column("statistic", "`mean_return` of a seat, or `share` of the variance of a return"),
        Column("part", "`seat 0`, ...; or the source of variance", heading="part"),
        Column(
            "value",
            "unbiased estimate, so that half the estimates of a share near 0 are below 0; shares sum to 1. That of "
            "`dice and opening` is empty, and a part of `rest`, if the matches of any block draw their own dice. All "
            "shares are empty if no set of bots has two blocks, or nothing varies",
            "-1 to 1; share",
            "+.3f",
            "return ± 95 %",
        ),
        *interval(
            "value",
            "95 % interval: Student's t over blocks; of shares by the jackknife over up to 20 groups of blocks, of "
            "small shares, and of seats, by the F distribution as well. If `value_ci_low` is 0, the share may be 0",
            "-1 to 1; 0 to 1",
            "+.3f",
        ),
    ),
)

POWER = Table(
    "Power",
    "`arena power`, `arena.power`: a row for every board on which both bots play",
    (
        *BOARD,
        Column("a", "label of bot A"),
        Column("b", "label of bot B"),
        Column("blocks", "complete blocks with both bots, without repeated ones", "blocks", ","),
        Column("difference", "mean of A's return minus B's by block", DIFFERENCE, "+.3f"),
        *interval(
            "difference",
            "interval of the difference at `confidence`, made like that of the crosstable",
            DIFFERENCE,
            "+.3f",
        ),
        Column("deviation", "standard deviation of the difference by block", "0 to 2", ".3f"),
        Column("p_value", "two-sided, of no difference; at least 2 / 2^blocks", "0 to 1", ".2g"),
        Column("confidence", "of the interval that is to exclude 0", "0 to 1", "g"),
        Column("power", "probability that it will", "0 to 1", "g"),
        Column("target_difference", "the difference that is to be found; by default the observed one", "0 to 2", ".3f"),
        Column("blocks_needed", "in all, existing ones included; empty if out of reach", "blocks", ","),
        Column("seconds_needed", "time of one worker for the blocks that are missing", "s", ",.0f"),
        Column("own_dice", "whether the matches of a block draw their own dice"),
    ),
)

DIFF = Table(
    "Diff",
    "`arena diff`",
    (
        Column("bot", "label; bots are the same when their labels are"),
        Column("rank_before", "empty where the bot is missing", "place"),
        Column("rank_after", "empty where the bot is missing", "place"),
        Column(
            "before",
            "the measure on A: `rating`, when both boards have its interval; else `mean_return`",
            "that of the measure",
        ),
        Column("after", "the measure on B", "that of the measure"),
        Column("change", "`after` minus `before`", "that of the measure", "+.3f"),
        Column(
            "z",
            "the change in standard errors; the standard errors of the two boards, half of the 95 % interval / 1.96, "
            "are added as squares",
            "standard errors",
            "+.1f",
        ),
        Column(
            "significant",
            "whether z is 1.96 and more, or -1.96 and less; by chance alone 1 in 20 is. Empty when an interval is "
            "unknown",
        ),
        Column("because", "possible causes"),
    ),
)

FAULTS = Table(
    "Faults",
    "`arena.faults`: bots that forfeited matches, by board and cause, in the plan's order of their first matches",
    (
        Column("bot", "label"),
        *BOARD,
        Column("cause", "`illegal_action`, `timeout`, `crash`, `memory`, `protocol` or `init`"),
        Column("count", "matches of the plan that it forfeited for that cause, in incomplete blocks too", "matches"),
        Column("first_match", "the first of them in the order of the plan: the shortest unique beginning of its id"),
    ),
)

SEAT = (
    Column("round", "counted from 0", dtype="int64"),
    Column("lineup", "seating within the block, counted from 0", dtype="int64"),
    Column("seat", "counted from 0", dtype="int64"),
    Column("bot", "label", dtype="string"),
    Column("rank", "0 is best; ties share the better one", "place", dtype="int64"),
    Column(
        "return_",
        "utility: beating b of n seats and tying with t gives (2b + t)/(n - 1) - 1",
        RETURN,
        "+.3f",
        dtype="float64",
    ),
    Column("score", "empty for games without scores", "the game's score", dtype="Int64"),
    Column("margin", "own score minus the others' mean", "the game's score", "+.3f", dtype="float64"),
    Column("cause", "why the seat forfeited, or empty", dtype="string"),
    Column("timed", "whether a clock or the machine's memory had an influence", dtype="bool"),
    Column("ended", "`normal`, `forfeit`, or a word of the game", dtype="string"),
)
ROUND, LINEUP, SEAT_NUMBER, BOT, *OUTCOME = SEAT

MATCHES = Table(
    "Matches",
    "`arena export --what matches --format csv` and other tables: a row for each seat of every match",
    (
        Column("match", "id: the block's identity, a dash, the line-up", dtype="string"),
        *BOARD,
        Column("block", "id of the block, hexadecimal", dtype="string"),
        *(ROUND, LINEUP, SEAT_NUMBER, BOT),
        Column("identity", "`name@hash` over parameters and source of the bot", dtype="string"),
        *OUTCOME,
        Column("plies", "length of the match, random moves and rolls included", "plies", dtype="int64"),
    ),
)

BOARD_MATCHES = Table(
    "Matches of a board",
    "`arena.matches`: a row for each seat of every match in a complete block, in canonical order",
    (
        Column("block", "number of the block, in the order of the plan"),
        *(ROUND, LINEUP, SEAT_NUMBER),
        Column("entry", "number of the bot in the plan"),
        BOT,
        *OUTCOME,
        Column("moves_hash", "64-bit hash of the moves, equal for equal moves"),
        Column(
            "distinct_share",
            "share of the blocks of the same bots that do not repeat another one move by move",
            "0 to 1",
        ),
    ),
)

TABLES = {
    "leaderboard": LEADERBOARD,
    "crosstable": CROSSTABLE,
    "misfits": MISFITS,
    "cycles": CYCLES,
    "variance": VARIANCE,
    "power": POWER,
    "diff": DIFF,
    "faults": FAULTS,
    "matches": MATCHES,
    "board_matches": BOARD_MATCHES,
}
"""All tables, by the word that names them."""
FORMATS = {column.name: column.format for table in TABLES.values() for column in table.columns}


def format_of(name: str) -> str:
    """Return the format of a column, whichever table it is in; that of other columns is empty."""
    return FORMATS.get(name, FORMATS.get(_first_seat(name), ""))


def check_columns(wanted: Sequence[str], known: Sequence[str], table: str) -> None:
    """Raise `ConfigError` for a column that a table does not have, or that is asked for twice."""
    for place, name in enumerate(wanted):
        if name not in known:
            if RENAMED.get(name) in known:
                raise ConfigError(f"--columns: '{name}' is now called '{RENAMED[name]}'")
            hint = did_you_mean(name, known)
            listed = f" They have {', '.join(known)}" if hint.endswith("?") else ""
            raise ConfigError(f"--columns: {table} have no column '{name}'{hint}{listed}")
        if name in wanted[:place]:
            raise ConfigError(f"--columns: '{name}' is there twice")
