"""`arena status NAME --watch` in a terminal: one sheet, drawn anew, whatever the terminal does."""

import functools
import io
from dataclasses import replace

import pytest
from rich.console import Console

from arena.cli import status
from arena.cli.status import RunStatusView
from arena.results.run_status import run_status
from arena.store import Store
from tests.support.samples import all_matches, begin, fill, finished, row, schedule
from tests.support.terminal import Screen, Terminal

PLAN = schedule(["alice", "bob", "carol"], players=(2, 3), blocks=4)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "cup" / "matches.db"


@pytest.fixture
def watching(tmp_path):
    opened = []

    def watch(*arguments, **options):
        opened.append(Terminal("status", *arguments, "--watch", folder=tmp_path, **options))
        return opened[-1]

    yield watch
    for terminal in opened:
        terminal.close()


def is_one_sheet(text, count, width):
    """Whether that is all that stands on the screen."""
    lines = text.splitlines()
    once = all(text.count(word) == 1 for word in ("running, ", "forfeits", "Log:", "Written by"))
    return once and lines[0].startswith(f"cup: running, {count} of") and max(map(len, lines)) <= width


def plain(found, width):
    """A sheet as it is printed where there is no live display."""
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(RunStatusView(found))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def test_a_watch_shows_one_readable_sheet_through_looks_a_resize_and_ctrl_c(log, watching):
    with Store.create(log) as store:
        run = begin(store, PLAN)
        terminal = watching(log)
        terminal.wait_for(lambda text: "running, 0 of" in text)
        for count, (spec, width) in enumerate(zip(all_matches(PLAN), (80, 50), strict=False), 1):
            terminal.resize(width, 24)
            store.add(PLAN, [finished(spec, row(spec.lineup, [0, 1, 2][: len(spec.seats)]))], run)
            terminal.wait_for(lambda text, count=count, width=width: is_one_sheet(text, count, width))
        terminal.type("\x03")
        assert terminal.finish() == 130
    left = terminal.screen.text
    assert terminal.screen.main is None, "the ordinary screen is back"
    assert left.startswith("cup: running, 2 of") and left.endswith("error: interrupted")
    assert "Traceback" not in left and left.count("forfeits") == 1


def test_what_a_watch_leaves_on_the_screen_is_what_status_prints(log, watching):
    fill(log, PLAN)
    terminal = watching(log, width=40)
    assert terminal.finish() == 0
    assert terminal.screen.text == plain(run_status(log), 40)


@pytest.mark.parametrize("width", [20, 39, 80, 200])
def test_looks_at_any_width_leave_nothing_of_those_before(log, monkeypatch, width):
    fill(log, PLAN, leave_out=[0, 5])
    found = run_status(log)
    screen, shown = Screen(width, 60), []

    stream = io.StringIO()
    options = {"file": stream, "width": width, "height": 60, "force_terminal": True}
    monkeypatch.setattr(status, "Console", functools.partial(Console, **options))
    monkeypatch.setattr(status, "REDRAWS_PER_SECOND", 0.001)  # only when there is something new

    def looks():
        for matches in (1, 222222, 33):
            yield replace(found, matches=matches)
            screen.feed(stream.getvalue())
            stream.seek(0)
            stream.truncate()
            shown.append(screen.text)

    status.watch_on_screen(looks())
    assert len(shown) == 3 and all(text.count("Log:") == 1 for text in shown)


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(log, watching):
    fill(log, PLAN)
    terminal = watching(log, TERM="dumb")
    assert terminal.finish() == 0
    assert terminal.screen.text.startswith("complete, 36 of 36 matches")


def test_a_log_that_goes_away_while_it_is_watched_ends_the_watch_with_one_line(log, watching):
    with Store.create(log) as store:
        begin(store, PLAN)
        terminal = watching(log)
        terminal.wait_for(lambda text: "running" in text)
        log.rename(log.with_name("gone.db"))
        assert terminal.finish() == 2
        log.with_name("gone.db").rename(log)
    assert terminal.screen.text.replace("\n", "").partition("error: ")[2] == (
        f"{log}: no such match log; `arena run` makes one"
    )
