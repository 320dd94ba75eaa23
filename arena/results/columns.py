"""Columns of every table that commands, exports and the API return: name, meaning, unit and format, stated once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from arena.core.errors import ConfigError
from engine.errors import did_you_mean

LOW, HIGH = "_ci_low", "_ci_high"
"""Endings of the two columns of a 95 % interval; what comes before them is the column that it belongs to."""
PARAMETER = "param_"
"""Beginning of the columns of bots' parameters."""
ANY_PARAMETER = f"{PARAMETER}*"
"""Name of a column that stands for one column a parameter."""
PER_SEAT = "_0"
"""Ending of a column that stands for one column a seat."""
DECIMALS = 4
"""Of the values in tables."""


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
        return frame[sorted(frame.columns, key=lambda name: known.get(name) or known[_generic(name)])]

    def cells(self, frame: pd.DataFrame) -> dict[str, list[str]]:
        """Return the texts of a frame for a terminal, by heading; the ends of an interval share a column."""
        shown = {}
        for column in self.columns:
            if column.heading and column.name in frame:
                shown[column.heading] = _texts(column, frame)
        return shown

    def documentation(self) -> str:
        """Return the columns as a Markdown table; those described alike share a row."""
        found: dict[tuple[str, str], list[str]] = {}
        for column in self.columns:
            shown = f"`{column.name}`" + (", ..." if column.name.endswith(PER_SEAT) else "")
            found.setdefault((column.unit, column.description), []).append(shown)
        rows = [f"| {', '.join(names)} | {unit} | {text} |" for (unit, text), names in found.items()]
        return "\n".join(["| column | unit | meaning |", "|---|---|---|", *rows])


def columns(text: str) -> tuple[Column, ...]:
    """Return columns from entries `name | unit | format | heading | dtype: description`; columns may share an entry."""
    found = []
    for entry in re.split(r"\n+(?=\S)", text.strip()):
        head, _, description = entry.partition(": ")
        names, unit, format, heading, dtype = [*map(str.strip, head.split("|")), "", "", "", ""][:5]
        for name in names.split(", "):
            found.append(Column(name, " ".join(description.split()), unit, format, heading, dtype))
            heading = ""
    return tuple(found)


def _generic(name: Any) -> str:
    """Return the column that a column of a parameter or a seat is described with."""
    return ANY_PARAMETER if name.startswith(PARAMETER) else name.rstrip("0123456789") + "0"


def _texts(column: Column, frame: pd.DataFrame) -> list[str]:
    name, values = column.name, frame[column.name]
    if name.endswith(LOW):
        ends = zip(values, frame[name.removesuffix(LOW) + HIGH], strict=True)
        return [str(low) if low == high else f"{low}-{high}" for low, high in ends]
    texts = [as_text(value, column.format) for value in values]
    if "±" not in column.heading:
        return texts
    rows = zip(texts, values, frame[name + LOW], frame[name + HIGH], strict=True)
    return [f"{text} {_interval(value, low, high, column.format)}" for text, value, low, high in rows]


def _interval(value: float, low: float, high: float, format: str) -> str:
    """Return `± half`, or the two ends where it reaches farther to one side."""
    if pd.isna(low) or pd.isna(high):
        return "± ?"
    if abs((value - low) - (high - value)) <= 4 * 10.0**-DECIMALS:  # the three are rounded
        return f"± {as_text((high - low) / 2, format.lstrip('+'))}"
    return f"[{as_text(low, '+.2f')}, {as_text(high, '+.2f')}]"


def as_text(value: Any, format: str = "") -> str:
    """Return a cell for a person: formatted, empty where it is missing; floats have three decimals by default.

    What is rounded to zero has no minus sign.
    """
    if pd.isna(value):
        return ""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, float):
        sign = "+" * format.startswith("+")
        format = f"{sign}z{format.lstrip('+') or '.3f'}"
    return f"{value:{format}}"


BOARD_COLUMNS = """game | | | | string: canonical spec of the game
players | | | | int64: number of players"""

PARAMETER_COLUMNS = f"""{ANY_PARAMETER} | | .12g: a parameter of bots, `param_simulations` for `simulations`: one column
    for each that the spec of any bot of the table names, with the value that the bot plays with, default or not; empty
    for a bot without it"""

COST_COLUMNS = """moves | moves | , | moves | Int64: that the bot chose, with times in the log; forced moves and random
    ones are made by the referee
seconds | s | .3f | | Float64: wall-clock time of these moves
cpu_seconds | s | .3f | | Float64: processor time of these moves
search_steps | simulations, nodes or playouts | ,.0f | | Float64: that its search took for a move, in the mean, as the
    bot told (`search_steps`); empty where it told of none
visits | simulations | ,.0f | | Float64: tries of actions that the bot told of a move (`visit_counts`), in the mean,
    with those of a tree kept from the move before; empty where it told of none"""

PAIR_COLUMNS = """bot | | | bot: label; the bot higher on the leaderboard comes first
opponent | | | opponent: label of the other bot
matches | matches | , | matches: that both played"""

LEAD_COLUMNS = """lead | -1 to 1 | +.2f | lead: share of matches ahead minus share behind, blocks weighing alike; with
    two players half the difference
predicted | -1 to 1 | +.2f | predicted: the lead that ratings and draw margin of the board predict
z | standard deviations | +.1f | z: deviation of the lead from the predicted one, in standard deviations under the
    rating model: beyond 1.96 either way in about 1 of 20 pairs if the ratings hold. The variance is the model's,
    times what the matches of a block have in common, less the share that fitting the ratings took up"""

PLACE_COLUMNS = """round | | | | int64: counted from 0
lineup | | | | int64: seating within the block, counted from 0
seat | | | | int64: counted from 0; empty for foreign results without seats"""

RESULT_COLUMNS = """return_ | -1 to 1 | +.3f | | float64: utility: beating b of n seats and tying with t gives
    (2b + t)/(n - 1) - 1
score | the game's score | | | Int64: or the game's own utility, a float in the table of a plan with such games; empty
    for games without either
margin | the game's score | +.3f | | float64: own score minus the others' mean
cause | | | | string: why the seat forfeited, or empty
timed | | | | bool: whether a clock or the machine's memory had an influence
ended | | | | string: `normal`, `forfeit`, `adjudicated by agreement`, `adjudicated by certainty`, or a word of the
    game"""

LEADERBOARD = Table(
    "Leaderboard",
    "`arena leaderboard`, `arena export`, `arena.leaderboard`",
    columns(f"""
rank | rank | | #: position on the board, from 1, by `rating`; disqualified bots come after all others
bot | | | bot: label
rating | TrueSkill points | .2f | rating ± 95 %: mean of the estimated skill: expectation propagation under the
    TrueSkill model over all matches at once, to its fixed point, so that their order does not matter. Every bot
    starts at 25 ± 25/3, and a performance varies by beta = 25/6 from match to match: 5.9 points more win 84 % of
    two-player matches without ties
rating_ci_low, rating_ci_high | TrueSkill points | .2f: 95 % interval of the rating relative to the board's mean:
    Student's t times the standard error that follows from how much the scores of blocks vary. Where a bot has few
    blocks, or matches that were hardly in doubt, what the model expects counts as well. If a group won every match
    against all others, no match tells how far above them it is: the prior (25 ± 25/3) decides. Empty below two blocks
rank_ci_low, rank_ci_high | rank | | ranks: the best and the worst rank that the bot may have, at 95 %: as many
    others are significantly better, or worse
group | letters | | group: bots with a letter in common are not significantly different at 95 %, by the comparisons
    behind `rank_ci_low` and `rank_ci_high`. More than six letters are written as the first and the last: a-k
lead_over_next | standard errors | .2f: difference of the rating to the next one; from 1.96 on the two differ at 95 %,
    taken alone. Empty for the last bot and for disqualified ones
sigma | TrueSkill points | .2f: the model's own uncertainty of the skill; it takes matches for independent, which
    those of a block are not, so prefer the interval
matches | matches | , | matches: in complete blocks; others do not count yet, nor do blocks dropped by a
    disqualification
distinct_matches | matches | ,: of those, in blocks that do not repeat another block of the same bots move by move.
    Only these count as evidence: two deterministic bots can play one match a thousand times
wins | matches | , | wins: alone in first place
ties | matches | , | ties: shared first place
mean_rank | place | .2f | place: mean place in its matches, 1 is best; ties share the better place
mean_return | -1 to 1 | +.3f | return ± 95 %: mean utility: a seat that beats b of n seats and ties with t gets (2b +
    t)/(n - 1) - 1
mean_return_ci_low, mean_return_ci_high | -1 to 1 | +.3f: 95 % interval of the mean return: Student's t over block
    means, as the matches of a block share the opening and, among trusted bots, the dice; repeated blocks are not
    counted. What of it lies beyond -1 or 1 is left out: no mean is there. If all blocks are equal, the interval allows
    for the share of other results that 1 in 40 such series would hide, each as far away as possible
worth | logarithm | +.2f | worth: only with `--plackett-luce`: log-worth in the Plackett-Luce model, mean 0, by the
    package `choix`. Of two bots alone, one that is 1 above the other finishes first with odds of e to 1
mean_margin | the game's score | +.2f | margin: mean of own score minus the others' mean; only for games with scores
mean_utility | the game's utility | +.2f | utility: mean of what the game itself gives, beside the return, which
    follows from places; only for games with utilities of their own, and the score of foreign results. A match that
    a forfeit ended has none
forfeits | matches | , | forfeits: lost by a fault: illegal action, time, crash ...
disqualified | round: the last round that the bot played before its disqualification, counted from 1; empty for
    others. Only on boards with a disqualified bot
return_seat_0 | -1 to 1 | +.3f: mean return in each seat
trueskill_mu | TrueSkill points | .2f: mean skill of online TrueSkill: matches rated one by one in canonical order, as
    the package `trueskill` does with the board's `beta` and `draw_probability` and a `tau` of 0; foreign results,
    which have no times, in a fixed shuffle
trueskill_sigma | TrueSkill points | .2f: uncertainty of `trueskill_mu`
{PARAMETER_COLUMNS}
"""),
)

CROSSTABLE = Table(
    "Crosstable",
    "`arena crosstable`, `arena export --what crosstable`, `arena.crosstable`: a row for every two bots that met",
    columns(f"""
{PAIR_COLUMNS}
blocks | blocks | ,: that both played, without repeated ones, as for `distinct_matches`
wins | matches | , | W: matches in which the bot's place is better than the opponent's, whatever other seats did
ties | matches | , | T: matches in which the two places are equal
losses | matches | , | L: matches in which the bot's place is worse than the opponent's
difference | -2 to 2 | +.3f | difference ± 95 %: mean of the bot's return minus the opponent's, matches weighing alike
difference_ci_low, difference_ci_high | -2 to 2 | +.3f: 95 % interval of the difference, made like that of
    `mean_return`; empty below two blocks
p_value | 0 to 1 | .2g: two-sided, that the difference is 0 in truth, of this pair alone: Student's t over blocks; at
    least 2 / 2^d for d blocks whose difference is not 0, and 1 below two blocks
p_adjusted | 0 to 1 | .2g | p (Holm): `p_value` adjusted by Holm's method for all pairs of the board, with `--bot` for
    all pairs of that bot: of boards of equal bots, at most 1 in 20 has any pair at or below 0.05
{LEAD_COLUMNS}
alpha_rank | 0 to 1: only with `--alpha-rank`: share of the row's bot in a population of 50 where the better of two
    spreads (alpha 0.1); the shares of all bots sum to 1
"""),
)

MISFITS = Table(
    "Misfits",
    "`arena crosstable`: pairs whose lead is at least 0.05 from the predicted one, significantly so among all at 5 %",
    columns(f"""
{PAIR_COLUMNS}
{LEAD_COLUMNS}
p_value | 0 to 1 | .2g: of Holm's test over all pairs of the board
"""),
)

CYCLES = Table(
    "Cycles",
    "`arena crosstable`: significant cycles of three bots",
    columns("""
first: label of a bot that leads `second`
second: label of a bot that leads `third`
third: label of a bot that leads `first`
p_value | 0 to 1 | .2g: of the weakest of the three pairs, adjusted for the number of pairs
"""),
)

COSTS = Table(
    "Costs",
    "`arena costs`, `arena export --what costs`, `arena.costs`: a row for every bot of a board",
    columns(f"""
bot | | | bot: label
spec: spec of the bot
moves | moves | , | moves: that it chose and whose times were read, those of the first 10,000 matches of the board that
    count, in the order of the log; forced moves and random ones are made by the referee
seconds_per_move | s | .3g | seconds a move: mean wall-clock time of a move
seconds_per_move_p95 | s | .3g | 95 %: time within which 95 % of the moves were made
cpu_seconds_per_move | s | .3g | processor: mean processor time of a move
search_steps_per_move | simulations, nodes or playouts | ,.0f | searched a move: mean number that its search took for
    a move, as the bot told: simulations of `uct`, nodes of `alphabeta` and `expectimax`, playouts of all actions of
    `flat_mc`; empty where it told of none
visits_per_move | simulations | ,.0f | visits a move: mean number of tries of actions that it told of a move, as
    `visits`; empty where it told of none
{PARAMETER_COLUMNS}
"""),
)

ADJUDICATION = Table(
    "Adjudication",
    "`arena adjudication`, `arena.adjudication`: a row for every board",
    columns(f"""
{BOARD_COLUMNS}
matches | matches | ,: finished ones of the plan, without those that repeat others of the same bots move by move
left_out | matches | ,: others that were adjudicated when they were played: nobody knows how they would have ended
adjudicated | matches | ,: of `matches`, that the rules would have ended early
plies_saved | 0 to 1 | .3f: share of the plies of all `matches` that would not have been played
seconds_saved | 0 to 1 | .3f: share of the wall-clock time of all moves of bots, likewise; empty without times
other | matches | ,: of `adjudicated`, that really ended with other places than the rules would have given
error | 0 to 1 | .4f: share of `other` in `adjudicated`
error_ci_low, error_ci_high | 0 to 1 | .4f: 95 % interval of that share: Clopper and Pearson's, with as many matches as
    independent ones of the same variance between blocks would be (Korn and Graubard, 1998); where no match ended
    otherwise, or all did, each block counts as one
"""),
)

PAPER = Table(
    "Table of a paper",
    "`arena export --what paper`: a row for every bot of every board, best first",
    columns(f"""
{BOARD_COLUMNS}
rank | rank: position on the board, by `rating`
bot: label
matches | matches | ,: in complete blocks
rating | TrueSkill points | .2f: as on the leaderboard
rating_ci_low, rating_ci_high | TrueSkill points | .2f: 95 % interval of the rating
mean_return | -1 to 1 | +.3f: as on the leaderboard
mean_return_ci_low, mean_return_ci_high | -1 to 1 | +.3f: 95 % interval of the mean return
difference | -2 to 2 | +.3f: the effect size: mean of the bot's return minus that of the board's first bot, in the
    matches that both played; empty for the first bot, and for bots that never met it
difference_ci_low, difference_ci_high | -2 to 2 | +.3f: 95 % interval of the difference
p_adjusted | 0 to 1 | .2g: of that difference, adjusted by Holm's method for all pairs of the board, so that it holds
    whichever bot came out first
seconds_per_move | s | .3g: as of `arena costs`
search_steps_per_move | simulations, nodes or playouts | ,.0f: as of `arena costs`
visits_per_move | simulations | ,.0f: as of `arena costs`
"""),
)

VARIANCE = Table(
    "Variance",
    "`arena variance`, `arena.variance`: mean returns by seat, then shares of the variance of a return",
    columns("""
statistic: `mean_return` of a seat, or `share` of the variance of a return
part | | | part: `seat 0`, ...; or the source of variance
value | -1 to 1; share | +.3f | return ± 95 %: unbiased estimate, so that half the estimates of a share near 0 are
    below 0; shares sum to 1. That of `dice and opening` is empty, and a part of `rest`, if the matches of any block
    draw their own dice. All shares are empty if no set of bots has two blocks, or nothing varies
value_ci_low, value_ci_high | -1 to 1; 0 to 1 | +.3f: 95 % interval: Student's t over blocks, without what lies beyond
    -1 or 1; of shares by the jackknife over up to 20 groups of blocks, of small shares, and of seats, by the F
    distribution as well. If `value_ci_low` is 0, the share may be 0
"""),
)

POWER = Table(
    "Power",
    "`arena power`, `arena.power`: a row for every board on which both bots play",
    columns(f"""
{BOARD_COLUMNS}
a: label of bot A
b: label of bot B
blocks | blocks | ,: complete blocks with both bots, without repeated ones
difference | -2 to 2 | +.3f: mean of A's return minus B's by block
difference_ci_low, difference_ci_high | -2 to 2 | +.3f: interval of the difference at `confidence`, made like that of
    the crosstable
deviation | 0 to 2 | .3f: standard deviation of the difference by block
p_value | 0 to 1 | .2g: two-sided, of no difference; at least 2 / 2^blocks
confidence | 0 to 1 | g: of the interval that is to exclude 0
power | 0 to 1 | g: probability that it will
target_difference | 0 to 2 | .3f: the difference that is to be found; by default the observed one
blocks_needed | blocks | ,: in all, existing ones included; empty if out of reach
seconds_needed | s | ,.0f: time of one worker for the blocks that are missing; empty for foreign results
own_dice: whether the matches of a block draw their own dice
"""),
)

DIFF = Table(
    "Diff",
    "`arena diff`",
    columns("""
bot: label; bots are the same when their labels are
rank_before | rank: empty where the bot is missing
rank_after | rank: empty where the bot is missing
before | that of the measure: the measure on A: `rating`, when both boards have its interval; else `mean_return`
after | that of the measure: the measure on B
change | that of the measure | +.3f: `after` minus `before`
z | standard errors | +.1f: the change in standard errors; the standard errors of the two boards, half of the 95 %
    interval / 1.96, are added as squares
significant: whether z is 1.96 and more, or -1.96 and less; by chance alone 1 in 20 is. Empty when an interval is
    unknown
because: possible causes
"""),
)

FAULTS = Table(
    "Faults",
    "`arena.faults`: bots that forfeited matches, by board and cause, in the plan's order of their first matches",
    columns(f"""
bot: label
{BOARD_COLUMNS}
cause: `illegal_action`, `timeout`, `crash`, `memory`, `protocol`, `init` or, of a person, `resigned`
count | matches: matches of the plan that it forfeited for that cause, in incomplete blocks too
first_match: the first of them in the order of the plan: the shortest unique beginning of its id
"""),
)

MATCHES = Table(
    "Matches",
    "`arena export --what matches --format csv` and other tables: a row for each seat of every match",
    columns(f"""
match | | | | string: id: the block's identity, a dash, the line-up
{BOARD_COLUMNS}
block | | | | string: id of the block, hexadecimal
{PLACE_COLUMNS}
bot | | | | string: label
identity | | | | string: `name@hash` over parameters and source of the bot
place | place | | | int64: 1 is best; ties share the better one
{RESULT_COLUMNS}
plies | plies | | | int64: length of the match, random moves and rolls included
evaluations | -1 to 1 | | | string: what bots expected of this seat's return, whoever moved: JSON of a list of `[ply,
    expected return]`, plies counted from 0; empty in a match without evaluations
lines | | | | string: lines of play that bots expected, the same in all rows of a match: JSON of a list of `[ply,
    [action, ...]]`, each beginning with the move, as the engine's numbers of actions, which nobody has checked; empty
    in a match without lines
{PARAMETER_COLUMNS}
{COST_COLUMNS}
"""),
)

BOARD_MATCHES = Table(
    "Matches of a board",
    "`arena.matches`: a row for each seat of every match in a complete block, in canonical order",
    columns(f"""
block: number of the block, in the order of the plan
{PLACE_COLUMNS}
entry: number of the bot in the plan
bot | | | | string: label
rank | place | | | int64: the place counted from 0, as games and logs do: 0 is best; ties share the better one
{RESULT_COLUMNS}
plies | plies | | | int64: length of the match, random moves and rolls included
moves_hash: 64-bit hash of the moves, equal for equal moves
distinct_share | 0 to 1: share of the blocks of the same bots that do not repeat another one move by move
{PARAMETER_COLUMNS}
{COST_COLUMNS}
"""),
)

TABLES = {name.lower(): table for name, table in globals().items() if isinstance(table, Table)}
"""All tables, by the word that names them."""
COLUMN_FORMATS = {column.name: column.format for table in TABLES.values() for column in table.columns}


def format_of(name: str) -> str:
    """Return the format of a column, whichever table it is in; that of other columns is empty."""
    return COLUMN_FORMATS.get(name, COLUMN_FORMATS.get(_generic(name), ""))


def check_columns(wanted: Sequence[str], known: Sequence[str], table: str) -> None:
    """Raise `ConfigError` for a column that a table does not have, or that is asked for twice."""
    for place, name in enumerate(wanted):
        if name not in known:
            hint = did_you_mean(name, known)
            listed = f" They have {', '.join(known)}" if hint.endswith("?") else ""
            raise ConfigError(f"--columns: {table} have no column '{name}'{hint}{listed}")
        if name in wanted[:place]:
            raise ConfigError(f"--columns: '{name}' is given twice")
