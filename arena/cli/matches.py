"""`arena match` and `arena replay`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import engine
from arena import api
from arena.cli.output import (
    SCREEN_COLUMNS,
    Output,
    board_in_colours,
    print_detail,
    print_json,
    print_text,
    print_to_stderr,
    wrong_estimates_in_words,
)
from arena.cli.rules import print_notation
from arena.cli.warming import compiling_shown
from arena.core.adjudication import adjudication_in_words
from arena.core.errors import ArenaError, ConfigError, RecordError
from arena.core.files import check_output_file, write_file
from arena.core.paths import home_folder
from arena.core.text import without_controls
from arena.isolation import Isolation
from arena.match.alarm import GAME_CPU_SECONDS, Alarm
from arena.match.game_faults import GameError, GameFault, replay_fault
from arena.match.json_lines import match_as_data, read_matches
from arena.match.replay import ReplayedPly, check_draws, game_of, replay
from arena.match.stored import StoredMatch
from arena.plan.files import with_key
from engine.errors import one_line

LAST_PLIES = 20
"""Plies shown before the failure of a game."""


class _Pages(NamedTuple):
    """What `arena replay` writes of a match beside what it prints."""

    html: Path | None
    open: bool
    gif: Path | None
    png: Path | None
    ply: int | None

    def check(self) -> None:
        """Raise `ConfigError` for options that do not go together, and for files that cannot be written."""
        if self.ply is not None and self.png is None:
            raise ConfigError("--ply: names the position that --png writes; add --png FILE")
        named: dict[Path, str] = {}
        for name, file in (("--html", self.html), ("--gif", self.gif), ("--png", self.png)):
            if file is not None:
                check_output_file(file, name, f".{name[2:]}")
                if (other := named.setdefault(file.absolute(), name)) != name:
                    raise ConfigError(f"{name} {file}: is the file of {other} already; name another one")

    def wanted(self) -> list[str]:
        """Return the options that write a file."""
        given = {"--html": self.html, "--open": self.open, "--gif": self.gif, "--png": self.png}
        return [name for name, value in given.items() if value]

    def write(self, stored: StoredMatch, home: Path | None) -> None:
        """Write what is wanted of a match, and print where it is."""
        drawn: list[tuple[Path, bytes]] = []
        if self.gif is not None or self.png is not None:
            from arena.results.pages.pixels import draw_pixels

            drawn = draw_pixels(stored, self.png, self.gif, self.ply)  # before a file is written: it may be refused
        _write_page(stored, self.html, self.open, home)
        for path, content in drawn:
            print_text(f"{write_file(path, [content])}")


def print_match(
    game: str,
    bots: Sequence[str],
    seed: int | None,
    opening: str | None,
    isolation: Isolation | None,
    show: bool,
    html: Path | None,
    open: bool,
    as_json: bool,
    home: Path | None,
) -> None:
    """Run `arena match`."""
    if show and as_json:
        raise ConfigError("--show: has no effect with --json, which draws nothing; leave one of them out")
    if html is not None:
        check_output_file(html, "--html", ".html")
    try:
        with compiling_shown() as show_compiling:
            stored = api.play_match(game, bots, seed, opening, isolation, home, show_compiling)
    except GameError as error:
        print_to_stderr(error.fault.trace.rstrip())
        raise
    if as_json:
        print_json(_match_data(stored))
        _write_page(stored, html, open, home, print_to_stderr)
        return
    print_text(f"{stored.game}, {stored.players} players, seed {stored.seed}, opening of {stored.opening} random plies")
    if seed is None and stored.secret:
        print_text(f"The seed was drawn at random; --seed {stored.seed} plays the match again.")
    _print_plies(stored, api.retold(stored, audit=False, drawn=show), show)
    _write_page(stored, html, open, home)


def print_replay(
    match_id: str,
    target: str | None,
    audit: bool,
    show: bool,
    match: str | None,
    html: Path | None,
    open: bool,
    gif: Path | None,
    png: Path | None,
    ply: int | None,
    home: Path | None,
) -> None:
    """Run `arena replay`."""
    pages = _Pages(html, open, gif, png, ply)
    pages.check()
    if Path(match_id).suffix == ".jsonl" or Path(match_id).is_file():
        stored = _replay_file(Path(match_id), match, audit, show)
        if stored is not None:
            pages.write(stored, home)
        elif pages.html or pages.open:
            raise ConfigError(f"{match_id} has several matches; name one with --match to write its page")
        elif wanted := pages.wanted():
            raise ConfigError(f"{match_id} has several matches; name one with --match for {wanted[0]}")
        return
    if match is not None:
        raise ConfigError("--match is for a file of matches")
    fault = api.find_game_fault(target, match_id, home)
    if fault is not None:
        _print_fault(fault, show)
    stored, _ = api.find_match(target, match_id, home, lambda line: print_to_stderr(f"warning: {line}"))
    game_of(stored)  # where there is nothing to replay, nothing is printed
    _print_stored(stored, audit, show)
    pages.write(stored, home)


def _match_data(stored: StoredMatch) -> dict[str, Any]:
    """Return a match outside any log as plain data, by the keys of a line of matches."""
    data = match_as_data(replace(stored, labels=stored.bots, rules_version=game_of(stored).type.rules_version))
    for forfeit in data["forfeits"]:
        forfeit["detail"] = stored.details.get(forfeit["seat"], "").strip()
    printed = [{"seat": seat, "text": text} for seat, text in sorted(stored.printed.items())]
    return {name: value for name, value in data.items() if name not in ("block", "identities")} | {"printed": printed}


def _write_page(
    stored: StoredMatch,
    html: Path | None,
    open: bool,
    home: Path | None,
    show_path: Callable[[str], None] = print,
) -> None:
    """Write the page of a match, if one is wanted."""
    if html is None and not open:
        return
    from arena.cli.pages import show
    from arena.results.pages.replay import write_replay

    name = stored.id
    show([write_replay(html or home_folder(home) / "replays" / f"{name}.html", stored)], open, show_path)


def _print_fault(fault: GameFault, show: bool) -> NoReturn:
    """Replay a match up to the failure of its game; raise `GameError` with how it fails now."""
    print_text(f"{fault.match}\n{fault.game}, {fault.players} players: not finished, for the game failed")
    for seat, bot in enumerate(fault.bots):
        print_text(f"  seat {seat}: {bot}")
    with Alarm() as alarm:
        alarm.arm(GAME_CPU_SECONDS)
        now = replay_fault(fault)
    for number, word in enumerate(fault.moves[-LAST_PLIES:], max(1, len(fault.moves) - LAST_PLIES + 1)):
        print_text(f"{number:4} {word}")
    if show and now.position:
        print(f"\n{now.position}\n")
    if now.what:
        print_to_stderr(now.trace.rstrip())
        raise GameError(now)
    print_to_stderr(fault.trace.rstrip())
    raise ArenaError(f"the game {fault.game} no longer fails in this match; it failed before: {fault.what}")


def _replay_file(path: Path, chosen: str | None, audit: bool, show: bool) -> StoredMatch | None:
    """Replay the chosen match of a file, or all of them; a single one is drawn and returned."""
    first, count = None, 0
    for line, stored in read_matches(path):
        if chosen is None or stored.begins_with(chosen):
            match = with_key(stored, path.with_name("plan.json")) if audit else stored
            try:
                check_draws(replay(match, match.keys if audit else None))
            except ArenaError as error:
                raise RecordError(f"{path}, line {line}: {error}") from None
            first, count = first or match, count + 1
    if first is None:
        raise RecordError(f"{path}: has no match" + (f" whose id begins with '{chosen}'" if chosen else ""))
    if count == 1:
        _print_stored(first, audit, show)
        return first
    print_text(f"{count:,} matches replayed, all as recorded" + (" and as the keys say." * audit or "."))
    return None


def _print_stored(stored: StoredMatch, audit: bool, show: bool) -> None:
    name = stored.id
    print_text(
        f"{name}\n{stored.game}, {stored.players} players, round {stored.round}, "
        f"opening of {stored.opening} random plies"
    )
    plies = api.retold(stored, audit, drawn=show)
    _print_plies(stored, plies, show)
    if audit:
        drawn = check_draws(plies)
        print_text(
            f"Audit: {drawn} draws recomputed from the keys, all as recorded; "
            f"{len(plies) - drawn} moves by bots or forced."
        )
        if stored.secret:
            print_text(f"The secret key fits its hash {stored.secret.hash}.")


def _expected(ply: ReplayedPly) -> str:
    """Return what a bot expected at a ply, in words."""
    returns = " ".join(f"{value:+.3f}" for value in ply.evaluation or ())
    parts = [f"expects {returns}"] * bool(returns) + [f"line {' '.join(ply.line)}"] * bool(ply.line)
    return f"  [{'; '.join(parts)}]" if parts else ""


def _print_plies(stored: StoredMatch, plies: Sequence[ReplayedPly], show: bool) -> None:
    for seat, bot in enumerate(stored.names):
        print_text(f"  seat {seat}: {one_line(bot)}")
    notes = dict(stored.notes)
    if show:
        print_notation(stored.game)
    width = min(SCREEN_COLUMNS, Output().width)
    for ply in plies:
        who = "dice" if ply.seat == engine.CHANCE else f"seat {ply.seat}"
        mark = "" if ply.by in ("bot", "dice") else f" ({ply.by})"
        note = f"  — {without_controls(notes[ply.number])}" if ply.number in notes else ""
        print_text(f"{ply.number + 1:4} {who}: {ply.text}{mark}{note}{_expected(ply)}")
        if ply.sentence:
            indent = " " * 5
            print(textwrap.fill(without_controls(ply.sentence), width, initial_indent=indent, subsequent_indent=indent))
        if show:
            print(f"\n{board_in_colours(game_of(stored).type, ply.drawing)}\n")
    for seat, (cause, at) in stored.forfeits.items():
        detail = stored.details.get(seat, "").strip()
        when = "before play" if at < 0 else f"at ply {at + 1}"
        short = "\n" not in detail
        print_text(f"seat {seat} forfeited {when}: {cause}{f' ({detail})' if detail and short else ''}")
        if not short:
            print_detail(detail)
    for seat in stored.printed.keys() - stored.forfeits.keys():  # what is said of a forfeit has it
        print_text(f"seat {seat} ({one_line(stored.names[seat])}) printed, at the end:")
        print_detail(stored.printed[seat])
    for seat, count in sorted(stored.dropped.items()):
        print_text(f"seat {seat} ({one_line(stored.names[seat])}) gave {wrong_estimates_in_words(count)}")
    places = ", ".join(
        f"seat {seat} ({one_line(bot)}) place {rank + 1}"
        for seat, (bot, rank) in enumerate(zip(stored.names, stored.ranks, strict=True))
    )
    ended = adjudication_in_words(stored.ended, len(stored.moves)) or one_line(stored.ended)
    print_text(f"Ended: {ended}. {places}.")
    if stored.scores and stored.scores[0] is not None:
        own = game_of(stored).type.own_utilities
        print_text(f"{'Utilities' if own else 'Scores'}: {', '.join(map(str, stored.scores))}")
