"""Matches in play as pages show them."""

import base64
import json
import os
import random
import urllib.request
import zlib
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import pytest

from arena import api
from arena.match.estimates import EVALUATION_STEPS
from arena.match.heartbeat import ShownMatch
from arena.match.replay import replay
from arena.results.pages.replay import outcome_of
from arena.runner import in_play
from arena.runner.in_play import SOCKET_NAME, InPlay, InPlayBroadcast, InPlayFeed
from arena.tournament.tournament import Tournament
from arena.web.catalog import LogCatalog, LogPlan
from arena.web.links import Links
from arena.web.pages import live_boards
from arena.web.pages.live_boards import MAX_BACKLOG, MAX_FRAMES, MAX_MISSING_TICKS, RESULT_TICKS, LiveBoard, Watcher
from arena.web.rendering import fragment
from engine import load_game
from engine.words import Names
from tests.support.tournaments import (
    PATIENCE,
    home_of,
    results,
    start_arena,
    wait_until,
    workers_of,
    write,
)

SLOW = """
import os, time

from bots import Bot


class Slow(Bot):
    def choose(self, state):
        while os.path.exists(os.environ.get("TEST_HOLD", "")):
            time.sleep(0.01)
        time.sleep(0.4)
        self.evaluation = [0.25 if seat == self.seat else -0.25 for seat in range(2)]
        return state.legal_actions()[0]
"""
CONFIG = """
name = "small"
seed = 3
blocks = 1
games = [{ game = "magic_mids", players = 2 }]
bots = [{ bot = "b.py:Slow" }, { bot = "random" }]
limits = { seconds_per_move = 3600 }  # a move waits until a server has started, however long that takes
"""


@pytest.fixture
def catalog(home):
    found = LogCatalog(home)
    yield found
    found.close()


@pytest.fixture
def played(catalog):
    """The first match of the tournament, as the log has it."""
    with Tournament.open(catalog.log("shown").path) as tournament:
        block = next(iter(tournament.schedule.blocks()))
        spec = tournament.schedule.matches(block)[0]
        yield spec, tournament.match(block.identity, spec.lineup)


@pytest.fixture
def actions(played):
    return [*replay(played[1])][-1].state.history()


@pytest.fixture
def broadcast(home, monkeypatch):
    """A run that plays nothing, in the folder of the tournament."""
    monkeypatch.setattr(in_play, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(in_play, "SEND_SECONDS", 0.0)
    monkeypatch.setattr(live_boards, "FIRST_WAIT_SECONDS", 0.0)
    made = InPlayBroadcast(home / "shown")
    made.open()
    yield made
    made.close()


@pytest.fixture
def watcher(catalog, broadcast):
    made = Watcher(catalog, Links(), "shown")
    assert made.look() == (False, [])
    yield made
    made.close()


def shown_by(event):
    """The boards of an event."""
    return json.loads(zlib.decompress(base64.b64decode(json.loads(event)["boards"]), -15))


def test_a_match_in_play_is_drawn_ply_by_ply_and_then_its_end(watcher, broadcast, played, actions):
    spec, match = played
    plies = [*replay(match)]
    seen = {}
    for number in range(1, len(actions) + 1):
        broadcast.update(lambda number=number: [(spec, ShownMatch(0, actions[:number], []))])
        (board,) = shown_by(watcher.event())
        assert board["id"] == spec.id and not board["verdict"] and not board["address"]
        seen |= {frame["ply"]: frame for frame in board["frames"]}
    broadcast.update(lambda: [])
    (board,) = shown_by(watcher.event())
    assert sorted(seen) == [*range(1, len(actions) + 1)]
    names = Names.of_players(match.names)
    for ply, before in zip(plies[1:], plies, strict=False):
        frame = seen[ply.number + 1]
        assert frame["picture"] == ply.state.picture(names=match.names, narrow=True) and frame["text"] == str(ply.state)
        assert frame["says"] == before.state.tell(actions[ply.number], names, ply.state).text
    assert board["verdict"] == outcome_of(match, plies[-1].state, names)
    assert board["address"] == Links().match("shown", spec.id)
    for _ in range(RESULT_TICKS):
        broadcast.update(lambda: [])
        assert len(shown_by(watcher.event())) == 1
    broadcast.update(lambda: [])
    assert shown_by(watcher.event()) == []


def test_a_match_that_is_already_under_way_begins_with_its_present_position(watcher, broadcast, played, actions):
    broadcast.update(lambda: [(played[0], ShownMatch(0, actions[:-1], []))])
    (board,) = shown_by(watcher.event())
    assert [frame["ply"] for frame in board["frames"]] == [len(actions) - 1]


def test_an_event_without_news_is_the_same(watcher, broadcast, played, actions):
    broadcast.update(lambda: [(played[0], ShownMatch(0, actions[:2], []))])
    first = watcher.event()
    broadcast.update(lambda: [(played[0], ShownMatch(0, actions[:2], []))])
    assert watcher.event() == first


@pytest.fixture(scope="module")
def long():
    """A match of many plies, and the plan that it is of."""
    entries = [SimpleNamespace(label=label) for label in ("a", "b")]
    schedule = SimpleNamespace(boards=[SimpleNamespace(game="magic_mids", players=2)], entries=entries)
    plan = LogPlan(None, schedule)
    state = load_game("magic_mids", 2).new_initial_state()
    rng = random.Random(1)
    while not state.is_terminal():
        state.apply_action(rng.choice(state.chances()[0] if state.is_chance_node() else state.legal_actions()))
    assert len(state.history()) > 3 * MAX_BACKLOG
    return plan, state.history()


def board_at(plan, moves):
    """A board that has drawn so many moves."""
    board = LiveBoard(plan, of(moves))
    board.take(of(moves))
    board.draw()
    return board


def of(moves, *evaluations):
    """A match in play."""
    return InPlay(f"{5:032x}-0", 0, (0, 1), moves, [*evaluations])


def test_plies_that_wait_are_drawn_a_few_at_a_time_and_too_many_are_left_out(long):
    plan, actions = long
    board = board_at(plan, actions[:1])
    board.take(of(actions[: 1 + MAX_BACKLOG]))
    drawn = []
    while board.draw():
        assert len(board.frames) <= MAX_FRAMES
        drawn += [frame.ply for frame in board.frames]
    assert drawn == [*range(2, 2 + MAX_BACKLOG)]
    board = board_at(plan, actions[:1])
    board.take(of(actions[: 2 + MAX_BACKLOG]))
    assert board.draw()
    assert [frame.ply for frame in board.frames] == [*range(3 + MAX_BACKLOG - MAX_FRAMES, 3 + MAX_BACKLOG)]


def test_the_graph_of_a_long_match_has_a_bounded_number_of_points_and_its_last_value(long, monkeypatch):
    plan, actions = long
    monkeypatch.setattr(live_boards, "MAX_CURVE_POINTS", 5)
    board = board_at(plan, actions[:1])
    board.take(of(actions, *((ply, ply, -ply) for ply in range(len(actions)))))
    while board.draw():
        pass
    for points in (curve.split() for curve in board.curves()):
        assert 2 <= len(points) <= 6
        assert points == sorted(points, key=lambda point: int(point.partition(",")[0]))


def test_a_match_that_is_played_again_begins_again(long):
    plan, actions = long
    board = board_at(plan, actions[:6])
    start = board.game.new_initial_state()
    possible = start.chances()[0] if start.is_chance_node() else start.legal_actions()
    other = next(each for each in possible if each != actions[0])
    board.take(of([other]))
    assert board.draw()
    assert [frame.ply for frame in board.frames] == [1]


def test_evaluations_are_those_of_a_seats_own_bot_or_else_of_the_others(catalog, played, actions):
    spec, _ = played
    board = LiveBoard(catalog.plan(catalog.log("shown")), InPlay(spec.id, 0, spec.seats, [], []))
    steps = EVALUATION_STEPS // 2
    board.take(InPlay(spec.id, 0, spec.seats, actions[:4], []))
    board.draw()
    assert board.frames[-1].values == [None, None]
    movers = [ply.seat for ply in replay(played[1])]
    ply = movers.index(0)
    board.take(InPlay(spec.id, 0, spec.seats, actions[: ply + 2], [(ply, steps, -steps)]))
    board.begin()
    board.draw()
    assert board.frames[-1].values == [0.5, -0.5]
    assert board.curves() == [f"{ply + 1},-0.5", f"{ply + 1},0.5"]


@pytest.mark.parametrize(
    ("board", "seats", "moves"),
    [
        (0, None, [10**9]),
        (0, None, [10**30]),
        (7, None, [0]),
        (0, (0, 99), [0]),
        (0, (0, 1, 2), [0]),
        (0, (10**30, 1), []),
    ],
)
def test_moves_that_the_rules_do_not_allow_are_not_shown(watcher, broadcast, played, actions, board, seats, moves):
    wrong = SimpleNamespace(id=f"{7:032x}-0", block=SimpleNamespace(board=board), seats=seats or played[0].seats)
    for _ in range(3):
        broadcast.update(lambda: [(wrong, ShownMatch(0, moves, [])), (played[0], ShownMatch(0, actions[:2], []))])
        assert [each["id"] for each in shown_by(watcher.event())] == [played[0].id]


def test_a_match_whose_worker_or_run_has_died_is_shown_no_more_after_a_while(watcher, broadcast, played, actions):
    lost = SimpleNamespace(id=f"{7:032x}-0", block=SimpleNamespace(board=0), seats=played[0].seats)
    broadcast.update(lambda: [(lost, ShownMatch(0, actions[:2], []))])
    assert len(shown_by(watcher.event())) == 1
    broadcast.close()
    for _ in range(MAX_MISSING_TICKS):
        assert len(shown_by(watcher.event())) == 1
    assert shown_by(watcher.event()) == []


def test_a_log_that_nobody_plays_has_nothing_to_watch(catalog, client):
    watcher = Watcher(catalog, Links(), "shown")
    assert shown_by(watcher.event()) == []
    watcher.close()
    page = client.get("/tournaments/shown/live")
    assert page.status_code == 200 and "No match can be watched now" in page.text
    assert client.get("/tournaments/none/live").status_code == 404
    assert client.get("/tournaments/none/live/events").status_code == 404


def test_without_scripts_the_page_has_the_present_position_and_a_link_to_the_next(watcher, played, actions, catalog):
    spec, match = played
    watcher.close()
    watcher.feed = SimpleNamespace(read=lambda wait: [InPlay(spec.id, 0, spec.seats, actions[:3], [])], close=list)
    _, (board,) = watcher.look()
    values = live_boards.template_values(Links(), "shown", board)
    still = fragment("live_board.html", Links(), picture=board.frames[-1].picture, **values)
    assert board.frames[-1].picture in still and "Ply 3" in still
    assert all(label in still for label in match.names)


VIEWERS = 100
MANY_PLIES = 12
"""Of a match that has been played for some seconds."""


def shown(events):
    return [board for event in events for board in shown_by(event)]


def frames_of(boards):
    """Every frame that was shown, by match and ply."""
    found = {}
    for board in boards:
        found.setdefault(board["id"], {}).update((frame["ply"], frame) for frame in board["frames"])
    return found


def has_event(stream):
    """Read a line of a stream; return whether it is an event."""
    return b"data: " in stream.readline()


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """The same tournament run twice: by nobody watched, and watched, also by a server with many viewers that is killed,
    and a reader that reads nothing.
    """
    hold = tmp_path_factory.mktemp("hold") / "on"
    hold.touch()
    alone = write(tmp_path_factory.mktemp("alone"), CONFIG, SLOW)
    config = write(tmp_path_factory.mktemp("watched"), CONFIG, SLOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_HOLD", str(hold))
        other, process = (
            start_arena("run", each, "--workers", 1, "--no-report", folder=each.parent) for each in (alone, config)
        )
    folder, events = home_of(config) / "small", []
    wait_until(lambda: (folder / SOCKET_NAME).exists(), "the run listens")
    catalog, idle = LogCatalog(home_of(config)), InPlayFeed(folder)
    watcher = Watcher(catalog, Links(), "small")
    idle.read()

    def look():
        events.append(watcher.event())
        return process.poll() is not None

    server = start_arena("serve", "--home", home_of(config), "--port", 0, folder=config.parent)
    address = server.stdout.readline().split()[0]
    place = f"{address}tournaments/small/live/events"
    streams = [urllib.request.urlopen(place, timeout=PATIENCE) for _ in range(VIEWERS)]
    for stream in streams:
        wait_until(partial(has_event, stream), "the server sends every viewer an event")
    wait_until(lambda: look() or shown(events), "a match is shown")
    hold.unlink()
    for stream in streams:
        wait_until(partial(has_event, stream), "it sends every viewer the next one")
    server.kill()
    server.communicate()
    for stream in streams:
        stream.close()
    wait_until(look, "the run has ended")
    for _ in range(10):
        look()
    watcher.close()
    idle.close()
    catalog.close()
    for each in (process, other):
        _, errors = each.communicate()
        assert each.returncode == 0, errors
    return config, alone, shown(events)


@pytest.mark.system
def test_plies_and_evaluations_of_a_run_are_shown_and_are_those_that_the_log_has_in_the_end(watched):
    config, _, boards = watched
    with Tournament.open(home_of(config) / "small" / api.LOG_FILE) as tournament:
        matches = {board["id"]: tournament.match(*tournament.store.find_matches(board["id"])[0]) for board in boards}
    shown_frames = frames_of(boards)
    assert matches
    for name, match in matches.items():
        plies, frames = [*replay(match)], shown_frames[name]
        assert len(frames) > 3 and len(plies) in frames
        steps = {after - before for before, after in pairwise(sorted(frames))}
        assert all(step == 1 or step > MAX_BACKLOG - MAX_FRAMES for step in steps)  # else none is left out
        for ply in (each for each in plies if each.number + 1 in frames):
            frame = frames[ply.number + 1]
            assert frame["picture"] == ply.state.picture(names=match.names, narrow=True) and frame["text"] == str(
                ply.state
            )
        assert any(0.25 in frame["values"] and -0.25 in frame["values"] for frame in frames.values())
        assert [board["verdict"] for board in boards if board["id"] == name][-1]


@pytest.mark.system
def test_a_log_that_a_hundred_watched_is_the_same_as_one_that_nobody_watched(watched):
    config, alone, _ = watched
    assert results(config) == results(alone)


def test_a_run_that_nobody_may_watch_has_no_socket(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(InPlayBroadcast, "open", lambda self: seen.append(self))
    config = {"name": "none", "blocks": 1, "games": [{"game": "epicycle", "players": 2}]}
    bots = [{"bot": "random"}, {"bot": "greedy"}]
    api.run({**config, "bots": bots}, tmp_path, workers=1, report=False, watchable=False)
    assert seen == []
    api.run({**config, "bots": bots, "seed": 1}, tmp_path, workers=1, report=False)
    assert len(seen) == 1


@pytest.mark.system
def test_nothing_of_it_is_left_when_the_run_has_ended(watched):
    config, alone, _ = watched
    for each in (config, alone):
        assert not (home_of(each) / "small" / SOCKET_NAME).exists()


@pytest.mark.system
def test_when_a_worker_or_the_run_is_killed_who_watches_goes_on(tmp_path, monkeypatch):
    hold = tmp_path / "hold"
    monkeypatch.setenv("TEST_HOLD", str(hold))
    config = write(tmp_path, CONFIG, SLOW)
    folder = home_of(config) / "small"
    process = start_arena("run", config, "--workers", 1, "--no-report", folder=tmp_path)
    wait_until(lambda: (folder / SOCKET_NAME).exists(), "the run listens")
    catalog = LogCatalog(home_of(config))
    watcher = Watcher(catalog, Links(), "small")

    def newest_plies():
        return [board["frames"][-1]["ply"] for board in shown_by(watcher.event())]

    wait_until(lambda: max(newest_plies(), default=0) >= MANY_PLIES, "a match is under way")
    hold.touch()  # the match that begins again waits where its bot moves first
    for worker in workers_of(process.pid):
        os.kill(worker, 9)
    wait_until(lambda: min(newest_plies(), default=MANY_PLIES) < MANY_PLIES, "it is shown from its start again")
    process.kill()
    process.communicate()
    hold.unlink()
    wait_until(lambda: not shown_by(watcher.event()), "nothing is shown any more")
    assert (folder / SOCKET_NAME).exists()
    again = start_arena("run", config, "--workers", 1, "--no-report", folder=tmp_path)
    wait_until(lambda: shown_by(watcher.event()) or again.poll() is not None, "the next run is watched")
    assert again.poll() is None
    _, errors = again.communicate()
    assert again.returncode == 0, errors
    assert not (folder / SOCKET_NAME).exists()
    watcher.close()
    catalog.close()
