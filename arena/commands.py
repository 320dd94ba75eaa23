"""What the commands print; each calls the API and shows what it returns."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

import engine
from arena import api
from arena.cli import FINE, INTERRUPTED, NOT_ALL_PLAYED
from arena.config import FORMATS
from arena.errors import ConfigError, StoreError
from arena.live import Live, Plain
from arena.plan import Plan, resolve_bots
from arena.registry import find_bot, named_bots
from arena.replay import Ply, replay
from arena.report import markdown, records
from arena.schedule import match_id
from arena.store import StoredMatch
from engine.errors import did_you_mean


def console() -> Console:
    """Standard output: the terminal's width, 100 columns when there is no terminal."""
    return Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else 100)


# Running


def run_tournament(
    config: Path, workers: int | None, backend: str, address: str | None, fresh: bool, home: Path | None, quiet: bool
) -> int:
    """`arena run`; the exit code."""
    started = time.monotonic()
    if fresh and not quiet:
        _announce_fresh(config, home)
    screen = Live() if sys.stderr.isatty() and not quiet else Plain(quiet)

    def planned(plan: Plan, folder: Path) -> None:
        for line in plan.left_out if not quiet else ():
            print(line)
        screen.begin(plan)

    try:
        result = api.run(config, home, workers, backend, address, fresh, screen.show, planned)
    finally:
        screen.end()
    outcome, progress = result.outcome, result.outcome.progress
    for (game, players), frame in result.leaderboards.items():
        print_board(game, players, frame)
    if not quiet:
        _print_summary(result, time.monotonic() - started)
    for line in outcome.not_played:
        print(f"not played: {line}", file=sys.stderr)
    if outcome.interrupted:
        saved = progress.found + progress.played
        print(f"Interrupted: {saved:,} of {progress.total:,} matches are saved. To go on:\n  {_command(config, home)}")
        return INTERRUPTED
    return NOT_ALL_PLAYED if outcome.not_played else FINE


def _announce_fresh(config: Path, home: Path | None) -> None:
    from arena.config import load_config

    log = api.home_folder(home) / load_config(config).name / api.LOG
    if log.exists():
        print(f"The old log is kept as {api.aside_name(log)}.")


def _command(config: Path, home: Path | None) -> str:
    return shlex.join(["arena", "run", str(config), *(["--home", str(home)] if home else [])])


def _print_summary(result: api.RunResult, seconds: float) -> None:
    progress = result.outcome.progress
    if progress.played == 0 and not result.outcome.interrupted and not result.outcome.not_played:
        print(f"Nothing to play: all {progress.total:,} matches were in the log already.")
    else:
        before = f", {progress.found:,} were there before" if progress.found else ""
        rate = progress.played / max(result.outcome.seconds, 1e-9)
        print(f"{progress.played:,} matches played in {result.outcome.seconds:.1f} s ({rate:,.0f} a second){before}.")
    if progress.forfeits:
        print(f"{progress.forfeits:,} seats forfeited; see the boards' forfeits and `arena export --what matches`.")
    print(f"Leaderboards, plan and log: {result.folder}{os.sep}")


# Leaderboards


def print_board(game: str, players: int, frame: pd.DataFrame) -> None:
    """A leaderboard as a table for a person; all columns are in the files."""
    table = Table(title=f"{game}, {players} players", title_justify="left", title_style="bold", padding=(0, 1))
    scored = "mean_margin" in frame
    for name in ("#", "bot", "rating", "mu ± sigma", "matches", "wins", "ties", "rank", "return ± 95 %"):
        table.add_column(name, justify="left" if name == "bot" else "right", overflow="fold", no_wrap=name != "bot")
    if scored:
        table.add_column("margin", justify="right")
    if len(frame) and frame["forfeits"].sum():
        table.add_column("forfeits", justify="right")
    for row in frame.to_dict("records"):
        half = (row["return_high"] - row["return_low"]) / 2
        interval = f"{row['mean_return']:+.3f} ± " + (f"{half:.3f}" if half == half else "?")
        cells = [
            str(row["rank"]),
            row["bot"],
            f"{row['rating']:.2f}",
            f"{row['mu']:.2f} ± {row['sigma']:.2f}",
            f"{row['matches']:,}",
            f"{row['wins']:,}",
            f"{row['ties']:,}",
            f"{row['mean_rank']:.2f}",
            interval,
        ]
        if scored:
            cells.append(f"{row['mean_margin']:+.2f}")
        if frame["forfeits"].sum():
            cells.append(f"{row['forfeits']:,}")
        table.add_row(*cells)
    if not len(frame):
        table.add_row("", "no complete block yet")
    console().print(table)


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
        table = Table(show_edge=False, box=None, padding=(0, 2, 0, 0))
        for column in ("game", "players", "designer", "what it is"):
            table.add_column(column, overflow="fold")
        for each in engine.game_names():
            kind = engine.game_type(each)
            table.add_row(kind.name, _range(kind.min_players, kind.max_players), kind.credit.designer, kind.summary)
        console().print(table)
        print("\n`arena games GAME` shows options and credits.")
        return
    kind = engine.game_type(name)
    print(f"{kind.title} ({kind.name}), {_range(kind.min_players, kind.max_players)} players\n{kind.summary}\n")
    if kind.parameters:
        print("Options:")
        print_parameters([_parameter(parameter) for parameter in kind.parameters])
    credit = kind.credit
    print(f"\nDesigner: {credit.designer}\nSource:   {credit.source}\nTerms:    {credit.terms}")


def _parameter(parameter: engine.Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "default": parameter.default,
        "minimum": parameter.minimum,
        "maximum": parameter.maximum,
        "choices": parameter.choices,
        "help": parameter.help,
    }


def print_parameters(parameters: Sequence[dict[str, Any]]) -> None:
    """Options of a game or a bot, one a line."""
    table = Table(show_edge=False, show_header=False, box=None, padding=(0, 2, 0, 0))
    for parameter in parameters:
        if parameter["choices"]:
            allowed = " | ".join(map(str, parameter["choices"]))
        elif parameter["minimum"] is not None:
            allowed = f"{parameter['minimum']:,g} to {parameter['maximum']:,g}"
        else:
            allowed = ""
        table.add_row(f"  {parameter['name']}={parameter['default']}", allowed, parameter["help"])
    console().print(table)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def print_bots(name: str | None) -> None:
    """`arena bots`."""
    names = [name] if name is not None else sorted(named_bots())
    for each in names:
        find_bot(each)  # so that an unknown name is told without starting a worker
    found = resolve_bots([(each, {}) for each in names], [], where="bots")
    if name is not None:
        bot = found[0]
        print(f"{bot.source.name} ({bot.source.origin}): {bot.summary}")
        print(f"Games: {_any(bot.games)}   players: {_any(bot.players)}   identity: {bot.identity}")
        if bot.parameters:
            print("Parameters:")
            print_parameters(bot.parameters)
        return
    table = Table(show_edge=False, box=None, padding=(0, 2, 0, 0))
    for column in ("bot", "games", "players", "what it does"):
        table.add_column(column, overflow="fold")
    for bot in found:
        options = ",".join(f"{p['name']}={p['default']}" for p in bot.parameters)
        table.add_row(
            bot.source.name + (f":{options}" if options else ""), _any(bot.games), _any(bot.players), bot.summary
        )
    console().print(table)


def _any(values: Sequence[object] | None) -> str:
    return "all" if values is None else ", ".join(map(str, values))


# Single matches


def print_match(game: str, bots: Sequence[str], seed: int, opening: str | None, show: bool) -> None:
    """`arena match`."""
    stored = api.play_match(game, bots, seed, opening)
    print(f"{stored.game}, {stored.players} players, seed {seed}, opening of {stored.opening} random plies")
    _print_plies(stored, list(replay(stored)), show)


def print_replay(match: str, target: str | None, audit: bool, show: bool, home: Path | None) -> None:
    """`arena replay`."""
    stored, resolved = api.find_match(target, match, home)
    name = match_id(stored.identity, stored.lineup)
    print(
        f"{name}\n{stored.game}, {stored.players} players, round {stored.round}, "
        f"opening of {stored.opening} random plies"
    )
    keys = (bytes.fromhex(resolved["dice_key"]), bytes.fromhex(resolved["bots_key"])) if audit else None
    plies = list(replay(stored, keys))
    _print_plies(stored, plies, show)
    if audit:
        _print_audit(plies)


def _print_audit(plies: Sequence[Ply]) -> None:
    drawn = [ply for ply in plies if ply.expected is not None]
    wrong = [ply for ply in drawn if ply.expected != ply.text]
    if wrong:
        ply = wrong[0]
        raise StoreError(f"audit: ply {ply.number + 1} ({ply.by}) is {ply.text} in the log, {ply.expected} by the keys")
    print(
        f"Audit: {len(drawn)} draws recomputed from the keys, all as recorded; "
        f"{len(plies) - len(drawn)} moves by bots or forced."
    )


def _print_plies(stored: StoredMatch, plies: Sequence[Ply], show: bool) -> None:
    for seat, bot in enumerate(stored.bots):
        print(f"  seat {seat}: {bot}")
    notes = dict(stored.notes)
    for ply in plies:
        who = "dice" if ply.seat == engine.CHANCE else f"seat {ply.seat}"
        mark = "" if ply.by in ("bot", "dice") else f" ({ply.by})"
        note = f"  — {notes[ply.number]}" if ply.number in notes else ""
        print(f"{ply.number + 1:4} {who}: {ply.text}{mark}{note}")
        if show:
            print(f"\n{ply.state}\n")
    for seat, (cause, at) in stored.falls.items():
        lines = stored.details.get(seat, "").strip().splitlines()
        when = "before play" if at < 0 else f"at ply {at + 1}"
        print(f"seat {seat} forfeited {when}: {cause}{f' ({lines[-1]})' if lines else ''}")
    places = ", ".join(
        f"seat {seat} ({bot}) place {rank + 1}"
        for seat, (bot, rank) in enumerate(zip(stored.bots, stored.ranks, strict=True))
    )
    print(f"Ended: {stored.ended}. {places}.")
    if stored.scores and stored.scores[0] is not None:
        print(f"Scores: {', '.join(map(str, stored.scores))}")
