"""`arena play`: a match in the browser, or in the terminal."""

from __future__ import annotations

import re
import secrets
import sys
import textwrap
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from arena.cli.arguments import SessionOptions
from arena.cli.output import SCREEN_COLUMNS, board_in_colours, print_to_stderr
from arena.cli.play_sentences import asked, concluded, names_of, told
from arena.core.errors import ArenaError, ConfigError
from arena.core.paths import home_path
from arena.match.person import PERSON, is_person
from arena.sessions import saving
from arena.sessions.analysis import AnalysisPool, request_for
from arena.sessions.registry import SessionRegistry
from arena.sessions.session import PlaySession, RefusedError
from arena.sessions.setup import PersonClock, SessionSetup
from arena.sessions.view import Phase, SessionView
from engine import CHANCE, EngineError, game_type

COMMANDS_HELP = """A move in the game's notation, or:
  ?         list the legal moves
  hint [N]  show what a search of N simulations (default 10,000) finds best
  back      take the last move back
  board     draw the board again
  resign    give up
  quit      leave the match"""
DEFAULT_OPPONENT = "greedy"
"""Who plays against a person when nobody is named."""


def play(game: str | None, options: SessionOptions, terminal: bool, port: int, open: bool, home: Path | None) -> int:
    """Run `arena play`; return its exit code."""
    setup = None
    if game is not None:
        seats = seats_of(game, list(options.against or ()), options.players, options.seat, options.name)
        clock = PersonClock(60.0 * options.minutes, options.increment)
        opening = options.opening or "none"
        setup = SessionSetup(game, seats, options.seed, opening, options.position, clock=clock, keeps=options.keep)
        setup.load()
    elif terminal or options != type(options)():
        raise ConfigError("GAME: name the game to play, such as epicycle; `arena games` lists them")
    if terminal:
        assert setup is not None
        return play_in_terminal(setup, home)
    serve_session(setup, port, open, home)
    return 0


def seats_of(game: str, against: list[str], players: int | None, seat: int, name: str | None) -> tuple[str, ...]:
    """Return who sits where: a person in one seat, then the bots in order, the last one in all seats that are left."""
    kind = game_type(game)
    count = players or max(kind.min_players, min(len(against) + 1, kind.max_players))
    if not 0 <= seat < count:
        raise ConfigError(f"--seat {seat}: must be 0 to {count - 1}")
    if len(against) > count - 1:
        raise ConfigError(f"--against: {len(against)} bots for the {count - 1} seats beside yours")
    bots = against or [DEFAULT_OPPONENT]
    bots += [bots[-1]] * (count - 1 - len(bots))
    person = f"{PERSON}:{name}" if name else PERSON
    return (*bots[:seat], person, *bots[seat:])


def serve_session(setup: SessionSetup | None, port: int, open: bool, home: Path | None) -> None:
    """Serve the pages, with a session that is open already, until Ctrl-C."""
    from arena.web.addresses import Addresses
    from arena.web.play_routes import session_address
    from arena.web.server import serve

    registry = SessionRegistry(home_path(home).absolute())
    page = "play"
    if setup is not None:
        registry.files |= {who for who in setup.seats if not is_person(who)}
        page = session_address(registry.open(setup, secrets.token_urlsafe(24), claim=True))

    def ready(address: str) -> None:
        print(f"{address}{page} (Ctrl-C ends it)", flush=True)
        if open and not webbrowser.open(f"{address}{page}"):
            print_to_stderr(f"no browser was found; open {address}{page}")

    try:
        serve(home, Addresses(port=port), ready, registry)
    finally:
        registry.close()


def play_in_terminal(setup: SessionSetup, home: Path | None) -> int:
    """Play a match in plain text; return the exit code, 130 where Ctrl-C or the end of input ended it."""
    session = PlaySession(setup, home_path(home).absolute())
    analyses = AnalysisPool(1, home)
    try:
        return _play_loop(session, analyses)
    except (KeyboardInterrupt, EOFError):
        print("\nThe match is closed; this match is not kept.")
        return 130
    finally:
        session.close()
        analyses.close()


def _play_loop(session: PlaySession, analyses: AnalysisPool) -> int:
    print(f"{session.game.spec}, {session.game.players} players. Type ? for the legal moves, help for everything else.")
    shown, version = 0, -1
    while True:
        view = _wait_for_view(session, version)
        version = view.version
        if len(view.plies) < shown:
            print(f"Back to ply {len(view.plies)}.")
        first = min(shown, len(view.plies))
        for number, sentence in enumerate(told(session, view, first), start=first):
            _print_ply(view, number, sentence)
        shown = len(view.plies)
        if view.phase == Phase.FAILED:
            raise ArenaError(view.line)
        if view.phase == Phase.OVER:
            _print_end(session, view)
            return 0
        if view.phase == Phase.WAITING:
            print(
                "\n".join(
                    [
                        "",
                        board_in_colours(session.game.type, _fitted(str(view.state))),
                        "",
                        *filter(None, [asked(view)]),
                    ]
                )
            )
            _ask(session, view, analyses)


def _wait_for_view(session: PlaySession, version: int) -> SessionView:
    """Return the next view in which there is something to see; the wait is short, so that Ctrl-C is heard."""
    line = ""
    while True:
        view = session.view()
        if view.version > version and view.line != line and view.line and view.phase != Phase.FAILED:
            line = view.line
            print_to_stderr(line)
        if view.version > version and view.phase in (Phase.WAITING, Phase.OVER, Phase.FAILED):
            return view
        session.wait(view.version, 0.2)


def _print_ply(view: SessionView, number: int, sentence: str) -> None:
    ply = view.plies[number]
    if ply.seat == CHANCE:
        who = "set-up" if ply.rolled_by < 0 else f"dice of seat {ply.rolled_by}"
    else:
        who = f"seat {ply.seat} ({view.seats[ply.seat].name})"
    forfeit = view.seats[ply.seat].forfeit if ply.seat >= 0 else None
    substitute = forfeit is not None and number >= forfeit[1]
    why = " (forced)" if ply.forced else " (opening)" if ply.opening else " (at random)" if substitute else ""
    note = f"  {view.notes[number]}" if number in view.notes else ""
    print(f"{number + 1:4} {who}: {ply.text}{why}{note}")
    if sentence:
        print(sentence)


def _print_end(session: PlaySession, view: SessionView) -> None:
    print(f"\n{_fitted(str(view.state))}\n\nEnded: {view.ended}, seed {view.seed}.")
    if sentence := concluded(view):
        print(sentence)
    assert view.ranks is not None
    for seat in sorted(range(len(view.seats)), key=view.ranks.__getitem__):
        forfeit = view.seats[seat].forfeit
        why = f", forfeited: {forfeit[0].replace('_', ' ')}" if forfeit else ""
        print(f"  place {view.ranks[seat] + 1}: seat {seat} ({view.seats[seat].name}){why}")
    if session.setup.keeps:
        name = saving.save(session)
        print(f"Kept in {name}. To see it again: arena replay {name.rpartition('/')[2]}")


def _ask(session: PlaySession, view: SessionView, analyses: AnalysisPool) -> None:
    """Read commands until one changes the session."""
    while True:
        words = input(f"seat {view.seat} ({view.seats[view.seat].name})> ").strip()
        command, _, rest = words.partition(" ")
        try:
            match command:
                case "":
                    continue
                case "?":
                    print(_columns([view.state.action_to_string(action) for action in view.state.legal_actions()]))
                case "help":
                    print(COMMANDS_HELP)
                case "board":
                    print(_fitted(str(view.state)))
                case "hint":
                    _hint(session, view, analyses, rest)
                case "back":
                    return session.take_back()
                case "resign":
                    return session.resign()
                case "quit":
                    raise EOFError
                case _:
                    return session.choose_text(words, names_of(view))
        except RefusedError as error:
            print(textwrap.fill(str(error), SCREEN_COLUMNS))


def _hint(session: PlaySession, view: SessionView, analyses: AnalysisPool, words: str) -> None:
    budget = int(words) if re.fullmatch(r"[0-9]{1,7}", words) else 10_000
    try:
        asked, state = request_for(session.game, session.setup.position, tuple(view.state.history()))
        while (found := analyses.look(asked, state, budget)).running:
            analyses.wait(asked, found.version, 0.2)
    except EngineError as error:
        raise RefusedError(str(error)) from None
    if found.line:
        print(found.line)
        return
    print(f"{found.simulations:,} simulations; returns expected from -1 (last) to 1 (first)")
    for best in found.best[:5]:
        value = "" if best.value is None else f"{best.value:+.3f}"
        print(
            f"  {best.text:8} {best.visits:9,} visits {value}{' proven' if best.proven else ''}  {' '.join(best.line)}"[
                :SCREEN_COLUMNS
            ]
        )


def _columns(words: Sequence[str]) -> str:
    """Return words in columns that fit."""
    width = max(map(len, words)) + 2
    each = max(1, SCREEN_COLUMNS // width)
    lines = ["".join(word.ljust(width) for word in words[at : at + each]) for at in range(0, len(words), each)]
    return "\n".join(line.rstrip() for line in lines)


def _fitted(text: str) -> str:
    """Return a drawing in text; lines that are too long are cut where the terminal would break them."""
    if not sys.stdout.isatty():
        return text
    return "\n".join(
        line[i : i + SCREEN_COLUMNS] for line in text.splitlines() for i in range(0, max(1, len(line)), SCREEN_COLUMNS)
    )
