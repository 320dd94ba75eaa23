"""`arena match` and `arena replay`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import engine
from arena import api
from arena.commands.output import isolation_of, print_detail, say
from arena.errors import StoreError
from arena.replay import Ply, keys_of, replay
from arena.schedule import match_id
from arena.store import StoredMatch


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
