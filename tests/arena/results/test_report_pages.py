"""Pages: a tournament's report is a pure function of its log, a match's page holds what the engine draws."""

import base64
import html
import json
import os
import re
import signal
import zlib
from dataclasses import replace

import pytest

import arena
from arena import api
from arena.cli.app import run_command
from arena.core.errors import StoreError
from arena.match.estimates import pack_estimates
from arena.match.replay import follow, replay
from arena.results.pages.figures import FIGURES
from arena.results.pages.replay import replay_page, replay_values, write_replay
from arena.results.pages.report import Sameness, compare_reports
from arena.results.pages.templates import unpacked
from arena.runner.run import Run
from engine import load_game
from engine.state import KernelState
from engine.words import Names, colour_name

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e" + "x" * 300


def data_of(page: bytes):
    """Return what a page carries."""
    packed = re.search(rb'id="data">([^<]*)<', page)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed), -15))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return the home folder of a small finished tournament called `shown`."""
    home = tmp_path_factory.mktemp("home")
    bots = [{"bot": "random"}, {"bot": "greedy"}, {"bot": "random", "label": "R & D"}]
    games = [{"game": "epicycle", "players": [2]}, {"game": "pyramid_punch", "players": [3]}]
    arena.run({"name": "shown", "blocks": 4, "seed": 3, "games": games, "bots": bots}, home=home, workers=1)
    return home


@pytest.fixture(scope="module")
def report(played):
    """Return the path of its report."""
    return api.export("shown", played, what=["report"])[0]


def test_a_report_is_the_same_bytes_again_loads_nothing_and_runs_nothing(played, report, tmp_path):
    page = report.read_bytes()
    assert api.export("shown", played, tmp_path, ["report"])[0].read_bytes() == page
    text = page.decode()
    assert "default-src 'none'" in html.unescape(text) and "script-src" not in text
    assert not re.search(r"<script(?! type=\"text/plain\")|\son\w+=|<link|<iframe|src=|@import|url\((?!#)", text)
    assert set(re.findall(r"https?://[^\"' )<]*", text)) <= {"http://www.w3.org/2000/svg"}


def test_names_of_bots_are_text_in_a_report(report):
    text = report.read_text()
    assert "R & D" not in text and html.escape("R & D", quote=False) in text


def test_every_figure_has_its_table_its_sentence_and_its_data(played, report):
    text, data = report.read_text(), data_of(report.read_bytes())
    assert list(data) == ["epicycle, 2 players", "pyramid_punch, 3 players"]
    for figures in data.values():
        assert set(figures) <= set(FIGURES) and {"ratings", "crosstable", "convergence", "clocks"} <= set(figures)
        assert {row["bot"] for row in figures["clocks"]} == {"random", "greedy", "R & D"}
    count = sum(map(len, data.values()))
    assert [text.count(f"<{tag}") for tag in ("figcaption", "figure ", "summary>Table")] == [count] * 3
    board = api.leaderboard("shown", played)["epicycle", 2]
    ratings = data["epicycle, 2 players"]["ratings"]
    assert [(row["bot"], row["rating"]) for row in ratings] == list(zip(board["bot"], board["rating"], strict=True))


def test_verify_finds_a_report_that_is_not_what_the_log_says(played, report, capsys):
    page = report.read_bytes()
    try:
        assert run_command(["verify", "shown", "--home", str(played)]) == 0
        report.write_bytes(page.replace(b"random", b"rondom", 1))
        assert run_command(["verify", "shown", "--home", str(played)]) == 1
        assert "index.html" in capsys.readouterr().out
        report.write_bytes(redrawn(page))
        assert run_command(["verify", "shown", "--home", str(played)]) == 0
        assert "Note: index.html was drawn by other versions of libraries" in " ".join(capsys.readouterr().out.split())
    finally:
        report.write_bytes(page)


def redrawn(page: bytes) -> bytes:
    """Return a report as other versions of the libraries that draw would write it."""
    return page.replace(b"altair ", b"altair 9", 1).replace(b"<path ", b'<path opacity="0.9" ')


def test_a_report_drawn_by_other_versions_is_compared_in_all_but_its_pictures(report):
    page = report.read_bytes()
    assert compare_reports(page, page) is Sameness.ALL
    assert compare_reports(redrawn(page), page) is Sameness.ALL_BUT_PICTURES
    assert compare_reports(redrawn(page).replace(b"altair 9", b"altair ", 1), page) is Sameness.NONE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"<td>greedy<", b"<td>gredy<"),
        (b"<figcaption>", b"<figcaption>Not "),
        (b"</svg>", b"<p>greedy is best</p></svg>"),
        (b"</svg>", b"</svg><p>greedy is best</p>"),
        (b"</svg>", b"<style>td{color:red}</style></svg>"),
        (b"<svg ", b'<svg style="position:fixed" '),
        (b"<svg ", b'<svg overflow="visible" '),
        (b"<path ", b'<path onclick="alert(1)" '),
        (b"<text ", b'<text style="position:fixed" '),
        (b'id="data">', b'id="data">A'),
        (b"</body>", b'<script type="text/plain" id="data"></script></body>'),
        (b"default-src 'none'", b"default-src *"),
        (b"<title>", b'<meta name="generator" content="other"><title>'),
    ],
    ids=lambda text: text.decode(),
)
def test_a_forged_report_is_not_excused_by_the_libraries_that_it_names(report, before, after):
    page = report.read_bytes()
    before, after = (text.replace(b"'", b"&#39;") if b"src" in text else text for text in (before, after))
    forged = redrawn(page).replace(before, after, 1)
    assert forged != redrawn(page) and compare_reports(forged, page) is Sameness.NONE


def test_data_of_a_report_are_compared_however_zlib_packed_them_and_unpacked_no_further_than_ours(report):
    page = report.read_bytes()
    packed = re.search(rb'id="data">([^<]*)<', page)[1]

    def carrying(text: bytes) -> bytes:
        deflate = zlib.compressobj(1, zlib.DEFLATED, -15)
        return page.replace(packed, base64.b64encode(deflate.compress(text) + deflate.flush()))

    text = unpacked(packed)
    assert carrying(text) != page and compare_reports(carrying(text), page) is Sameness.ALL
    for other in (text.replace(b"greedy", b"gredy", 1), text + b" ", text[:-1], bytes(2**25)):
        assert compare_reports(carrying(other), page) is Sameness.NONE
    assert unpacked(packed, len(text)) == text and unpacked(packed, len(text) - 1) == b""
    assert unpacked(packed[:-8]) == b"" and unpacked(b"?") == b""


@pytest.mark.parametrize("kind", ["svg", "png", "pdf", "json"])
def test_a_figure_is_written_in_every_format(played, tmp_path, kind):
    (path,) = api.plot("shown", "ratings", "epicycle", 2, played, kind, tmp_path)
    begins = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "json": b"{"}
    assert path.name == f"epicycle_2p_ratings.{kind}" and path.read_bytes().startswith(begins[kind])


def test_a_figure_that_there_is_not_is_refused_in_a_line(played, capsys):
    assert run_command(["plot", "shown", "ratingz", "--home", str(played)]) == 2
    assert capsys.readouterr().err == "error: no figure 'ratingz'; did you mean 'ratings'?\n"


@pytest.mark.parametrize("game", ["epicycle", "magic_mids", "midgard(variant=odin)", "pyramid_punch"])
def test_the_page_of_a_match_holds_every_position_as_the_engine_draws_it(game):
    match = api.play_match(game, ["random", "random"], 4)
    page = replay_page(match)
    data = data_of(page)
    state = load_game(match.game, match.players).new_initial_state()
    assert [ply["text"] for ply in data["plies"]] == match.moves
    for number in range(len(match.moves) + 1):
        drawn = "".join(data["elements"][element] for element in data["pictures"][number])
        assert (drawn, data["texts"][number]) == (state.picture(names=match.names), str(state))
        narrow = "".join(data["elements"][element] for element in data["narrow"][number])
        assert narrow == state.picture(names=match.names, narrow=True)
        if number < len(match.moves):
            action = state.string_to_action(match.moves[number])
            assert data["plies"][number]["says"] == state.tell(action, Names.of_players(match.names)).text
            state.apply_action(action)
    assert html.escape(state.verdict(None, Names.of_players(match.names)).text) in page.decode()
    assert "default-src 'none'" in html.unescape(page.decode()) and page.count(b"<script>") == 1


def test_a_match_is_drawn_without_copies_of_its_states(monkeypatch):
    match = api.play_match("midgard", ["random", "random"], 4)
    before = [(ply.state.position, ply.text) for ply in replay(match)]
    copies = []
    clone = KernelState.clone
    monkeypatch.setattr(KernelState, "clone", lambda state: copies.append(state) or clone(state))
    followed = [(state.position, ply.state.position, ply.text) for state, ply in follow(match)]
    assert len(copies) == 2, "of the start: games without copies would play a match again for each copy"
    assert [each[1:] for each in followed] == before
    assert [each[0] for each in followed[1:]] == [position for position, _ in before[:-1]]


def test_the_notes_and_names_of_bots_are_text_on_the_page_of_a_match():
    match = api.play_match("epicycle", ["random", "random"], 4)
    match = replace(match, notes=[(2, HOSTILE)], bots=[HOSTILE, "b"])
    page = replay_page(match)
    assert HOSTILE.encode() not in page and b"onerror=alert(1)>" not in page
    assert html.escape(HOSTILE[:20]).encode() in page, "it stands in the title, as text"
    assert data_of(page)["plies"][2]["note"] == HOSTILE


@pytest.mark.parametrize(("game", "chance"), [("magic_mids", "dice"), ("midgard(variant=loki)", "chance")])
def test_chance_is_called_dice_where_somebody_rolls_them_alone(game, chance):
    _, values = replay_values(api.play_match(game, ["random", "random"], 4))
    assert values["rolls"] and values["chance"] == chance


def test_the_page_of_a_match_has_what_bots_expected_with_its_graph_and_marks_where_they_erred():
    match = api.play_match("epicycle", ["random", "random"], 4)
    states = [ply.state for ply in replay(match)]
    movers = [ply.seat for ply in replay(match)]
    ply = next(number for number in range(1, len(movers)) if len(states[number - 1].legal_actions()) > 1)
    again = next(number for number in range(ply + 1, len(movers)) if movers[number] == movers[ply])
    own = [500 if seat == movers[ply] else -500 for seat in range(2)]
    line = [states[ply - 1].string_to_action(match.moves[ply]), 99]
    kept = [(ply, own, line, []), (again, [-value // 2 for value in own], [], [])]
    match = replace(match, packed_estimates=pack_estimates(kept))
    page = replay_page(match).decode()
    plies = data_of(page.encode())["plies"]
    assert plies[ply]["evaluation"] == [value / 1000 for value in own] and plies[ply]["line"] == [match.moves[ply]]
    assert plies[ply]["kinds"] == [] and plies[again]["kinds"] == ["mistake"]
    assert plies[again]["marks"] == [f"random ({colour_name(movers[ply])}) expects 0.75 less than before"]
    x, y = 600 * (ply + 1) / len(movers), 40
    assert f'points="{round(x, 1):g},{y}' in page and page.count("<polyline") == 2
    plain = replay_page(replace(match, packed_estimates="")).decode()
    assert "<polyline" not in plain and 'id="graph"' not in plain


def _raise(state):
    raise OSError("no ink")


def _hang(state):
    while True:
        pass


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        (_raise, "its game fails when it is drawn: OSError: no ink"),
        (_hang, "its game did not draw a position within 0.2 s"),
        (lambda state: None, "svg() must return text"),
        (lambda state: "<svg>" * 10**6, "svg() must return text"),
    ],
    ids=["raises", "hangs", "draws nothing", "draws too much"],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_game_that_cannot_be_drawn_is_told_in_a_line(monkeypatch, tmp_path, capsys, draw, told, first):
    match = api.play_match("connect_four", ["random", "random"], 4)
    monkeypatch.setattr("arena.results.pages.replay.GAME_CPU_SECONDS", 0.2)
    kind = type(load_game("connect_four", 2).new_initial_state())
    drawn, picture = [], kind.picture

    def drawing(state, **options):
        return draw(state) if first or drawn else drawn.append(1) or picture(state, **options)

    monkeypatch.setattr(kind, "picture", drawing)
    with pytest.raises(StoreError) as error:
        write_replay(tmp_path / "match.html", match)
    assert told in str(error.value) and "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_a_match_is_written_as_a_page_by_the_commands(tmp_path, capsys):
    page = tmp_path / "a folder" / "match.html"
    page.parent.mkdir()
    assert run_command(["match", "epicycle", "random", "random", "--html", str(page)]) == 0
    assert capsys.readouterr().out.rstrip().endswith(str(page))
    assert page.read_bytes().startswith(b"<!doctype html>")


def intervals_drawn(page: bytes) -> int:
    """The intervals in the first figure of ratings on a page."""
    figure = re.search(r"<h3>Ratings</h3>.*?</figure>", page.decode(), re.S)[0]
    return len(re.findall(r'<line [^>]*stroke-width="2"', figure))


def test_what_no_interval_is_known_of_is_drawn_without_one(report, tmp_path):
    bots = [{"bot": "random"}, {"bot": "greedy"}]
    config = {"name": "short", "blocks": 1, "games": [{"game": "epicycle", "players": [2]}], "bots": bots}
    arena.run(config, tmp_path, workers=1)
    page = api.export("short", tmp_path, what=["report"])[0].read_bytes()
    ratings = data_of(page)["epicycle, 2 players"]["ratings"]
    assert [(row["rating_ci_low"], row["rating_ci_high"]) for row in ratings] == [(None, None)] * 2
    assert intervals_drawn(page) == 0 and b"NaN" not in page
    assert intervals_drawn(report.read_bytes()) == 3, "of a bot of known interval it is drawn"


TINY = """
name = "tiny"
blocks = 2
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "random" }, { bot = "random", label = "other" }]
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Return the path of a configuration, with reports at the end of runs as usual."""
    monkeypatch.delenv("ARENA_NO_REPORT")
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "tiny.toml"
    config.write_text(TINY)
    return config


def run(*options: str) -> int:
    return run_command(["run", "tiny.toml", "--workers", "1", *options])


def test_a_run_ends_by_writing_its_report_and_prints_its_address_last(tiny, tmp_path, capsys):
    assert run() == 0
    page = tmp_path / "reports" / "tiny" / "index.html"
    assert capsys.readouterr().out.splitlines()[-1] == f"Report: {page.as_uri()}"
    (again,) = [path for path in api.export("tiny", out=tmp_path / "again", what=["report"]) if path.suffix == ".html"]
    assert page.read_bytes() == again.read_bytes()
    tiny.write_text(TINY.replace("blocks = 2", "blocks = 3"))
    assert run("--quiet") == 0  # resumed and complete
    assert "Report:" not in capsys.readouterr().out
    assert "6 matches" in page.read_text() and run_command(["verify", "tiny"]) == 0


def test_no_report_is_written_where_none_is_wanted(tiny, tmp_path, capsys, monkeypatch):
    page = tmp_path / "reports" / "tiny" / "index.html"
    assert run("--no-report") == 0 and not page.exists()
    assert "Report:" not in capsys.readouterr().out
    tiny.write_text(f"{TINY}[output]\nreport = false\n")
    assert run() == 0 and not page.exists()
    tiny.write_text(TINY)
    monkeypatch.setenv("ARENA_NO_REPORT", "1")
    assert run() == 0 and not page.exists()
    assert run("--report") == 0 and page.exists()


def test_an_interrupted_run_leaves_ratings_and_report_to_the_next_one(tiny, tmp_path):
    page = tmp_path / "reports" / "tiny" / "index.html"

    def stop(progress):
        if progress.played >= 2 and not progress.stopping:
            os.kill(os.getpid(), signal.SIGINT)

    long = TINY.replace("blocks = 2", "blocks = 400")
    tiny.write_text(long)
    result = api.run(tiny, workers=1, show=stop)
    assert result.outcome.interrupted
    assert (result.leaderboards, result.files, result.report) == ({}, [], None)
    assert {path.name for path in page.parent.iterdir()} <= {"matches.db", "matches.lock"}
    api.export("tiny", what=["report"])
    before = page.read_bytes()
    assert api.run(tiny, workers=1, show=stop).outcome.interrupted and page.read_bytes() == before
    tiny.write_text(TINY)
    result = api.run(tiny, workers=1)
    assert result.outcome.complete and result.report.absolute() == page
    assert result.leaderboards and page.read_bytes() != before


def test_a_run_that_is_interrupted_while_its_last_progress_is_shown_is_not_rated(tiny, monkeypatch):
    finish, last = Run.finish, []
    monkeypatch.setattr(Run, "finish", lambda run, resumes: (last.append(True), finish(run, resumes)))

    def stop(progress):
        if last:
            last.clear()
            os.kill(os.getpid(), signal.SIGINT)

    result = api.run(tiny, workers=1, show=stop)
    assert result.outcome.progress.stopping and result.outcome.progress.left == 0
    assert (result.leaderboards, result.files, result.report) == ({}, [], None)
