"""What the commands print; each calls the API and shows what it returns."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import pandas as pd
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table

import engine
from arena import api
from arena.bundle import HOUSE
from arena.check import ADVICE, BoardCheck, Report, check, submit
from arena.cli import FINE, INTERRUPTED, NOT_ALL_PLAYED, USER_ERROR
from arena.config import FORMATS, Isolation
from arena.errors import ConfigError, StoreError
from arena.live import Live, Plain, can_draw, matches, tell
from arena.new_bot import new_bot
from arena.plan import Plan, Wanted, resolve_bots
from arena.registry import find_bot, named_bots
from arena.replay import Ply, keys_of, replay
from arena.report import markdown, records
from arena.schedule import match_id
from arena.store import StoredMatch
from arena.submissions import Submission, Submissions, submitted, withdraw
from engine.errors import did_you_mean

GAP = 3
"""Columns between columns."""
MOST_DETAIL = 12
"""Lines of a traceback or of standard error that are shown of a fault."""
OUR_FRAME = re.compile(rf'^  File "{re.escape(str(HOUSE / "arena"))}/.*\n(?:    .*\n)+', re.MULTILINE)
"""A call in a traceback that is none of the bot's."""
BUNDLED = re.compile(r'(?<=^  File ").*/bundles/[0-9a-f]{32}/', re.MULTILINE)
"""Where a bot's own files lie when it plays."""
LESS_NEEDED = ("ties", "wins", "rank", "mu ± sigma", "margin", "matches")
"""Columns of a board that a narrow terminal does without, the first ones first."""


class Output(Console):
    """Standard output as wide as the terminal or `COLUMNS` says, 100 columns when neither does."""

    def __init__(self) -> None:
        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 100
        super().__init__(highlight=False, markup=False, emoji=False, width=width)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def say(text: str) -> None:
    """Print prose, wrapped to the width there is."""
    Output().print(text)


# Running


def run_tournament(
    config: Path, workers: int | None, backend: str, address: str | None, fresh: bool, home: Path | None, quiet: bool
) -> int:
    """`arena run`; the exit code."""
    screen = Live() if not quiet and can_draw() else Plain(quiet)

    def planned(plan: Plan, kept: Path | None) -> None:
        if kept is not None:
            tell(f"The old log is kept as {kept}.")
        for line in (*plan.left_out, *plan.remarks) if not quiet else ():
            tell(line)
        screen.begin(plan)

    again = resuming_command(config, workers, backend, address, home)
    try:
        result = api.run(config, home, workers, backend, address, fresh, screen.show, planned)
    except KeyboardInterrupt:  # while planning, or while rating
        screen.end()
        tell(f"Interrupted: every match that was finished is saved. To go on:\n  {again}")
        return INTERRUPTED
    finally:
        screen.end()
    outcome, progress = result.outcome, result.outcome.progress
    for (game, players), frame in result.leaderboards.items():
        print_board(game, players, frame)
    if not quiet:
        _print_summary(result)
    for line in [*progress.remarks, *(f"not played: {line}" for line in outcome.not_played)]:
        tell(line)
    if outcome.interrupted:
        saved = progress.found + progress.played
        tell(f"Interrupted: {saved:,} of {progress.total:,} matches are saved. To go on:\n  {again}")
        return INTERRUPTED
    return NOT_ALL_PLAYED if outcome.not_played else FINE


def resuming_command(config: Path, workers: int | None, backend: str, address: str | None, home: Path | None) -> str:
    """The command line that goes on with a run that was started with these options."""
    options = {
        "--workers": workers,
        "--backend": backend if backend != "auto" else None,
        "--address": address,
        "--home": home if str(home) != os.environ.get("ARENA_HOME") else None,
    }
    given = [str(part) for pair in options.items() if pair[1] is not None for part in pair]
    return shlex.join(["arena", "run", str(config), *given])


def _print_summary(result: api.RunResult) -> None:
    progress = result.outcome.progress
    if progress.played == 0 and not result.outcome.interrupted and not result.outcome.not_played:
        say(f"Nothing to play: all {progress.total:,} matches were in the log already.")
    else:
        before = f", {progress.found:,} were there before" if progress.found else ""
        rate = progress.played / max(result.outcome.seconds, 1e-9)
        say(f"{matches(progress.played)} played in {result.outcome.seconds:.1f} s ({rate:,.0f} a second){before}.")
    print_faults(result.faults, result.folder / api.LOG)
    say(f"Leaderboards, plan and log: {result.folder}{os.sep}")


def print_faults(faults: pd.DataFrame, log: Path) -> None:
    """Every bot that forfeited matches, why, how often, and the command that shows its first one."""
    out = Output()
    if len(faults):
        say("Matches forfeited, and how to see each bot's first one:")
    for bot, rows in faults.groupby("bot", sort=False):
        counts = rows.groupby("cause", sort=False)["count"].sum()
        told = f"  {bot}: " + ", ".join(f"{cause} {count:,}" for cause, count in counts.items())
        command = shlex.join(["arena", "replay", rows["first_match"].iloc[0], "--in", str(log)])
        if cell_len(f"{told}; {command}") > out.width:
            say(told)
            told = "   "
        else:
            told += ";"
        out.print(f"{told} {command}", soft_wrap=True)


# Leaderboards


def print_board(game: str, players: int, frame: pd.DataFrame) -> None:
    """A leaderboard as a table for a person, with the columns there is room for; all of them are in the files."""
    out = Output()
    columns = board_columns(frame)
    for name in LESS_NEEDED:
        if sum(max(map(cell_len, (name, *cells))) + GAP for name, cells in columns.items()) - GAP > out.width:
            columns.pop(name, None)
    table = Table(
        *(Column(name, justify="left" if name == "bot" else "right", overflow="fold") for name in columns),
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, GAP - 1, 0, 0),  # and one for the box
        pad_edge=False,
    )
    for column in table.columns:
        column.no_wrap = column.header != "bot"
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    out.print(f"{game}, {players} players", style="bold")
    if len(frame):
        out.print(table)
    for line in benched_lines(frame):
        out.print(line)
    out.print("" if len(frame) else "no complete block yet\n")


def benched_lines(frame: pd.DataFrame) -> list[str]:
    """What is said below a leaderboard of the bots that were benched."""
    if "benched" not in frame:
        return []
    columns = frame[frame["benched"].notna()][["benched", "bot", "forfeits", "matches"]]
    return [
        f"benched after round {number:,}: {bot} ({forfeits:,} of {matches:,} matches forfeited)"
        for number, bot, forfeits, matches in columns.itertuples(index=False)
    ]


def board_columns(frame: pd.DataFrame) -> dict[str, list[str]]:
    """The cells of a leaderboard for a person, by column."""
    if not len(frame):
        return {}
    half = (frame["return_high"] - frame["return_low"]) / 2
    columns: dict[str, Iterable[str]] = {
        "#": frame["rank"].map(str),
        "bot": frame["bot"],
        "rating": frame["rating"].map("{:.2f}".format),
        "mu ± sigma": [f"{mu:.2f} ± {sigma:.2f}" for mu, sigma in zip(frame["mu"], frame["sigma"], strict=True)],
        "matches": frame["matches"].map("{:,}".format),
        "wins": frame["wins"].map("{:,}".format),
        "ties": frame["ties"].map("{:,}".format),
        "rank": frame["mean_rank"].map("{:.2f}".format),
        "return ± 95 %": [
            f"{mean:+.3f} ± " + (f"{width:.3f}" if width == width else "?")
            for mean, width in zip(frame["mean_return"], half, strict=True)
        ],
    }
    if "mean_margin" in frame:
        columns["margin"] = frame["mean_margin"].map("{:+.2f}".format)
    if frame["forfeits"].sum():
        columns["forfeits"] = frame["forfeits"].map("{:,}".format)
    return {name: list(cells) for name, cells in columns.items()}


def print_leaderboards(target: str, game: str | None, players: int | None, format: str, home: Path | None) -> None:
    """`arena leaderboard`."""
    if format not in ("table", "csv", "json", "md"):
        raise ConfigError(f"--format {format}: must be table, csv, json or md")
    boards = api.leaderboard(target, home)
    chosen = {
        at: frame
        for at, frame in boards.items()
        if (game is None or game in (at[0], at[0].partition("(")[0])) and (players is None or players == at[1])
    }
    if not chosen:
        known = "; ".join(f"{name}, {count} players" for name, count in boards)
        raise StoreError(f"{target}: has no such board; it has {known}")
    if format == "json":
        import json

        rows = [{"game": at[0], "players": at[1], "leaderboard": records(frame)} for at, frame in chosen.items()]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    elif format == "csv":
        frames = [frame.assign(game=at[0], players=at[1]) for at, frame in chosen.items()]
        whole = pd.concat(frames, ignore_index=True)
        leading = ["game", "players"]
        print(
            whole[leading + [c for c in whole.columns if c not in leading]].to_csv(index=False, lineterminator="\n"),
            end="",
        )
    else:
        for at, frame in chosen.items():
            if format == "md":
                print(f"## {at[0]}, {at[1]} players\n\n{markdown(frame)}")
            else:
                print_board(*at, frame)


def export_files(target: str, what: Sequence[str], formats: Sequence[str], out: Path | None, home: Path | None) -> None:
    """`arena export`."""
    for name, allowed in [*((w, ("leaderboards", "matches")) for w in what), *((f, FORMATS) for f in formats)]:
        if name not in allowed:
            raise ConfigError(f"'{name}' cannot be exported{did_you_mean(name, allowed)}")
    for path in api.export(target, home, out, what, formats):
        print(path)


# Games and bots


def print_games(name: str | None) -> None:
    """`arena games`."""
    if name is None:
        table = _table("game", "players", "designer", "what it is")
        for each in engine.game_names():
            kind = engine.game_type(each)
            table.add_row(kind.name, _range(kind.min_players, kind.max_players), kind.credit.designer, kind.summary)
        Output().print(table)
        print("\n`arena games GAME` shows options and credits.")
        return
    kind = engine.game_type(name)
    say(f"{kind.title} ({kind.name}), {_range(kind.min_players, kind.max_players)} players\n{kind.summary}\n")
    if kind.parameters:
        say("Options:")
        print_parameters([parameter.plain() for parameter in kind.parameters])
    credit = kind.credit
    say(f"\nDesigner: {credit.designer}\nSource:   {credit.source}\nTerms:    {credit.terms}")


def print_parameters(parameters: Sequence[dict[str, Any]]) -> None:
    """Options of a game or a bot, one a line."""
    table = _table()
    for parameter in parameters:
        low, high = parameter["minimum"], parameter["maximum"]
        if parameter["choices"]:
            allowed = " | ".join(map(str, parameter["choices"]))
        elif low is not None and high is not None:
            allowed = f"{_number(low)} to {_number(high)}"
        else:
            allowed = (
                ""
                if low is None and high is None
                else f"from {_number(low)}"
                if high is None
                else f"to {_number(high)}"
            )
        default = parameter["default"]
        shown = str(default).lower() if isinstance(default, bool) else default
        table.add_row(f"  {parameter['name']}={shown}", allowed, parameter["help"])
    Output().print(table)


def reflowed(text: str) -> str:
    """A docstring with a line for each paragraph, or entry such as `Cost: ...`; what is indented stays as it is."""
    parts = re.split(r"\n(?=\n|[A-Z]\w*: )", text)
    return "\n".join(part if re.search(r"\n\s", part.lstrip("\n")) else _one_line(part) for part in parts)


def _one_line(paragraph: str) -> str:
    return ("\n" if paragraph.startswith("\n") else "") + " ".join(paragraph.split())


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,g}"


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def print_bots(name: str | None, home: Path | None) -> None:
    """`arena bots`."""
    if name is not None:
        print_bot(name, home)
        return
    found = resolve_bots([Wanted(each, {}) for each in sorted(named_bots())], [], home=home)
    table = _table("bot", "games", "players", "what it does")
    for bot in found:
        table.add_row(bot.source.name, _any(bot.games), _any(bot.players), bot.summary)
    Output().print(table)
    handed_in = submitted(home)
    if handed_in:
        print_submissions(handed_in)
    say("\n`arena bots BOT` shows its idea, its parameters and what it costs.")


def print_bot(name: str, home: Path | None) -> None:
    """One bot and all that is known of it; running it is left to its isolation."""
    handed_in = submitted(home)
    withdrawn = name in handed_in and handed_in[name].withdrawn and name not in named_bots()
    spec = f"{name}@{handed_in[name].newest.short}" if withdrawn else name
    source, _ = find_bot(spec, home=home)  # an unknown name is told without starting a worker
    bot = resolve_bots([Wanted(spec, {})], [], home=home)[0]
    about = f": {reflowed(bot.about)}" if bot.about else ""
    say(f"{bot.source.name} ({bot.source.origin}){about}\n")
    say(f"Games: {_any(bot.games)}   players: {_any(bot.players)}   isolation: {bot.isolation}")
    say(f"Identity in plans and logs: {bot.identity}")
    if bot.parameters:
        say("Parameters:")
        print_parameters(bot.parameters)
    if source.submitted:
        print_versions(source.name, handed_in[source.name])


def print_submissions(handed_in: Submissions) -> None:
    """The submitted bots, one a line."""
    table = _table("submitted bot", "newest", "author", "versions", "")
    for name, entry in handed_in.items():
        state = "withdrawn" if entry.withdrawn else ""
        table.add_row(name, entry.newest.short, entry.newest.author, str(len(entry.versions)), state)
    Output().print("", table)


def print_versions(name: str, entry: Submission) -> None:
    """What was handed in under a name."""
    say("Versions, the newest last:" if not entry.withdrawn else "Versions, all withdrawn, the newest last:")
    table = _table()
    for number, version in enumerate(entry.versions, 1):
        table.add_row(f"  {number}", f"{name}@{version.short}", version.author, version.submitted)
    Output().print(table)


def _table(*columns: str) -> Table:
    table = Table(show_edge=False, show_header=bool(columns), box=None, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _any(values: Sequence[object] | None) -> str:
    return "all" if values is None else ", ".join(map(str, values))


# Submitting bots


def print_new_bot(name: str, game: str | None, language: str) -> None:
    """`arena new-bot`."""
    path = new_bot(name, game, language)
    say(f"{path} is written. Next:")
    print(f"  arena check {path}\n  arena submit {path} --name {name} --author YOU")


def print_check(path: str, isolation: str, games: Sequence[str], players: Sequence[int], home: Path | None) -> int:
    """`arena check`; the exit code."""
    report = check(path, isolation_of(isolation), games, players, home, print_board_check)
    print_verdict(report)
    return FINE if report.ok else USER_ERROR


def print_submit(path: str, name: str, author: str, isolation: str, home: Path | None) -> int:
    """`arena submit`; the exit code."""
    kept, report = submit(path, name, author, isolation_of(isolation), home, print_board_check)
    if report is not None:
        print_verdict(report)
    if kept is None:
        say("Not submitted.")
        return USER_ERROR
    version = f"{name}@{kept.submission.newest.short}"
    if not kept.changed:
        say(f"Nothing changed: {version} is this source, and the newest version already.")
        return FINE
    say(
        f"Submitted: {name}, version {len(kept.submission.versions)}, by {author}. "
        f"Tournaments name it {name}, which is its newest version, or {version}, which is always this one."
    )
    return FINE


def print_withdraw(name: str, home: Path | None) -> None:
    """`arena withdraw`."""
    if not withdraw(name, home):
        say(f"Nothing changed: {name} was withdrawn before.")
        return
    say(
        f"{name} is withdrawn: no new plan finds it. Tournaments that had it go on with "
        f"{name}@{submitted(home)[name].newest.short}; submitting it again brings it back."
    )


def isolation_of(name: str) -> Isolation:
    """A level of isolation by its name."""
    for isolation in get_args(Isolation):
        if isolation == name:
            return isolation
    raise ConfigError(f"--isolation {name}: not a choice{did_you_mean(name, get_args(Isolation))}")


def print_board_check(board: BoardCheck) -> None:
    """One board of a check, in a line."""
    told = ", ".join(problem.cause for problem in board.problems) or "ok"
    if board.timed and not board.problems:
        told += ", not compared because it plays by the clock"
    if board.walls:
        told += f"; a move {_span(board.median)}, worst {_span(max(board.walls))} (processor {_span(max(board.cpus))})"
    say(f"{board.title}: {told}")


def print_verdict(report: Report) -> None:
    """What a check comes to: what failed, why, and what to do."""
    failed = sum(bool(board.problems) for board in report.boards)
    for cause, found in report.causes().items():
        board, problem = found[0]
        say(f"\n{cause} on {len(found)} of {len(report.boards)} boards; {board.title}, {problem.where}:")
        print_detail(problem.detail or "nothing was said")
        say(f"{ADVICE.get(cause, '')} See it again:")
        print(f"  {problem.command}")
    verdict = f"failed on {failed} of {len(report.boards)} boards" if failed else "fine on every board"
    limit = f"{report.limits.seconds_per_move:g} s for a move, {report.limits.memory:,} MiB of memory"
    say(f"\n{report.bot.spec}, isolation {report.bot.isolation}: {verdict}. Limits: {limit}.")


def print_detail(text: str) -> None:
    """The end of what a bot said when it failed, indented; of a traceback its own part."""
    if BUNDLED.search(text):
        text = BUNDLED.sub("", OUR_FRAME.sub("", text))
    end = "\n".join(text.splitlines()[-MOST_DETAIL:]).strip("\n")
    Output().print(Padding(end, (0, 0, 0, 4), expand=False))


def _span(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 1 else f"{seconds * 1000:.2g} ms"


# Single matches


def print_match(
    game: str,
    bots: Sequence[str],
    seed: int,
    opening: str | None,
    isolation: str | None,
    show: bool,
    home: Path | None,
) -> None:
    """`arena match`."""
    level = isolation_of(isolation) if isolation is not None else None
    stored = api.play_match(game, bots, seed, opening, level, home)
    say(f"{stored.game}, {stored.players} players, seed {seed}, opening of {stored.opening} random plies")
    _print_plies(stored, list(replay(stored)), show)


def print_replay(match: str, target: str | None, audit: bool, show: bool, home: Path | None) -> None:
    """`arena replay`."""
    stored, _ = api.find_match(target, match, home)
    name = match_id(stored.identity, stored.lineup)
    say(
        f"{name}\n{stored.game}, {stored.players} players, round {stored.round}, "
        f"opening of {stored.opening} random plies"
    )
    plies = list(replay(stored, keys_of(stored) if audit else None))
    _print_plies(stored, plies, show)
    if audit:
        _print_audit(plies)
        if stored.secret:
            say(f"The secret key fits its hash {stored.secret.hash}.")


def _print_audit(plies: Sequence[Ply]) -> None:
    drawn = [ply for ply in plies if ply.expected is not None]
    wrong = [ply for ply in drawn if ply.expected != ply.text]
    if wrong:
        ply = wrong[0]
        raise StoreError(f"audit: ply {ply.number + 1} ({ply.by}) is {ply.text} in the log, {ply.expected} by the keys")
    say(
        f"Audit: {len(drawn)} draws recomputed from the keys, all as recorded; "
        f"{len(plies) - len(drawn)} moves by bots or forced."
    )


def _print_plies(stored: StoredMatch, plies: Sequence[Ply], show: bool) -> None:
    for seat, bot in enumerate(stored.bots):
        say(f"  seat {seat}: {bot}")
    notes = dict(stored.notes)
    for ply in plies:
        who = "dice" if ply.seat == engine.CHANCE else f"seat {ply.seat}"
        mark = "" if ply.by in ("bot", "dice") else f" ({ply.by})"
        note = f"  — {notes[ply.number]}" if ply.number in notes else ""
        say(f"{ply.number + 1:4} {who}: {ply.text}{mark}{note}")
        if show:
            print(f"\n{ply.state}\n")
    for seat, (cause, at) in stored.falls.items():
        detail = stored.details.get(seat, "").strip()
        when = "before play" if at < 0 else f"at ply {at + 1}"
        one_line = "\n" not in detail
        say(f"seat {seat} forfeited {when}: {cause}{f' ({detail})' if detail and one_line else ''}")
        if not one_line:
            print_detail(detail)
    places = ", ".join(
        f"seat {seat} ({bot}) place {rank + 1}"
        for seat, (bot, rank) in enumerate(zip(stored.bots, stored.ranks, strict=True))
    )
    say(f"Ended: {stored.ended}. {places}.")
    if stored.scores and stored.scores[0] is not None:
        say(f"Scores: {', '.join(map(str, stored.scores))}")
