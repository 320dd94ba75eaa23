"""The match in play that pages show while a run goes on."""

import json
import mmap
import os
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from arena import api
from arena.match.heartbeat import HEARTBEAT_BYTES, MAX_SHOWN_MOVES, Heartbeat
from arena.match.replay import replay
from arena.runner import in_play
from arena.runner.in_play import FILE_NAME, InPlay, read_in_play
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.web.app import create_app
from engine.words import Names
from tests.support.tournaments import PATIENCE, home_of, start_arena, wait_until, write

SLOW = """
import time

from bots import Bot


class Slow(Bot):
    def choose(self, state):
        time.sleep(0.4)
        return state.legal_actions()[0]
"""
CONFIG = """
name = "slow"
seed = 3
blocks = 1
games = [{ game = "magic_mids", players = 2 }]
bots = [{ bot = "b.py:Slow" }, { bot = "random" }]
"""


@pytest.fixture
def heartbeat():
    with tempfile.TemporaryFile() as file:
        file.truncate(HEARTBEAT_BYTES)
        made = Heartbeat(mmap.mmap(file.fileno(), HEARTBEAT_BYTES))
        made.hide_moves()
        yield made
        made.close()


@given(number=st.integers(0, 10_000), moves=st.lists(st.integers(0, 2**31 - 1), max_size=300))
def test_the_driver_reads_the_moves_that_a_worker_shows(number, moves):
    with tempfile.TemporaryFile() as file:
        file.truncate(HEARTBEAT_BYTES)
        heartbeat = Heartbeat(mmap.mmap(file.fileno(), HEARTBEAT_BYTES))
        heartbeat.show_moves(number, moves)
        assert heartbeat.moves() == (number, moves)
        heartbeat.hide_moves()
        assert heartbeat.moves() is None
        heartbeat.close()


def test_of_a_very_long_match_the_first_moves_are_shown(heartbeat):
    heartbeat.show_moves(2, range(MAX_SHOWN_MOVES + 5))
    assert heartbeat.moves() == (2, [*range(MAX_SHOWN_MOVES)])


def test_whatever_a_bot_has_written_there_is_read_without_harm(heartbeat):
    for head in (-(2**63), -2, 2**63 - 1, MAX_SHOWN_MOVES, 5 * (MAX_SHOWN_MOVES + 1)):
        heartbeat._words[4] = head
        found = heartbeat.moves()
        assert found is None or len(found[1]) <= MAX_SHOWN_MOVES


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A run of two slow matches, its log, and what its page showed meanwhile; ended when all is played."""
    config = write(tmp_path_factory.mktemp("slow"), CONFIG, SLOW)
    folder = home_of(config) / "slow"
    process = start_arena("run", config, "--workers", 1, "--no-report", folder=config.parent)
    told, shown = [], []
    with TestClient(create_app(home_of(config)), base_url="http://127.0.0.1:8000") as client:

        def look():
            seen, answer = read_in_play(folder), client.get("/tournaments/slow/latest")
            if seen is not None and seen not in told:
                told.append(seen)
            if answer.status_code == 200 and answer.text:
                shown.append(answer.json())
            return process.poll() is not None

        wait_until(look, "the run has ended")
        look()
    assert process.returncode == 0, process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    return folder, told, shown


@pytest.mark.system
def test_moves_of_a_match_in_play_are_shown_and_are_those_that_the_log_has_in_the_end(running):
    folder, told, shown = running
    with Tournament.open(folder / api.LOG_FILE) as tournament:
        matches = {seen.id: tournament.match(*tournament.store.find_matches(seen.id)[0]) for seen in told}
    assert len(told) > 3 and len({len(seen.moves) for seen in told}) > 3
    for seen in told:
        plies = [*replay(matches[seen.id])]
        assert seen.moves == plies[-1].state.history()[: len(seen.moves)]
    pages = {each["playing"]: each for each in shown if "playing" in each}
    assert len(pages) > 3
    for each in pages.values():
        name, _, ply = each["playing"].partition(" ")
        match, number = matches[name], int(ply)
        plies = [*replay(match)]
        before, state = plies[number - 2].state, plies[number - 1].state
        assert each["picture"] == state.picture(names=match.names) and each["text"] == str(state)
        if number > 1:
            action = before.string_to_action(match.moves[number - 1])
            assert each["caption"] == f"Ply {ply}: {before.tell(action, Names.of_players(match.names), state)}"


@pytest.mark.system
def test_nothing_of_it_is_left_when_the_run_has_ended(running):
    folder, _, shown = running
    assert not (folder / FILE_NAME).exists()
    assert "playing" not in shown[-1]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '["a", 0, [0, 1], [true]]', '["a", -1, [0], []]', "[1, 0, [], []]", '["a", 0, 5, []]', "[" * 10**5],
)
def test_what_cannot_be_read_is_no_match_in_play(tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text)
    assert read_in_play(tmp_path) is None


@pytest.fixture
def no_time_passes(monkeypatch):
    """What was written is not old, however long it takes to come to it."""
    monkeypatch.setattr(in_play, "STALE_SECONDS", PATIENCE)


def test_what_a_killed_run_has_left_is_no_match_in_play(tmp_path, no_time_passes):
    found = InPlay("a", 0, (0, 1), [1, 2])
    (tmp_path / FILE_NAME).write_text(json.dumps(found))
    assert read_in_play(tmp_path) == found
    os.utime(tmp_path / FILE_NAME, (0, 0))
    assert read_in_play(tmp_path) is None


def test_moves_that_the_rules_do_not_allow_are_not_shown(tmp_path, no_time_passes):
    config = write(tmp_path, CONFIG.replace("b.py:Slow", "greedy"))
    api.run(config, home_of(config), workers=1, report=False)
    folder = home_of(config) / "slow"
    with (
        TestClient(create_app(home_of(config)), base_url="http://127.0.0.1:8000") as client,
        Store.create(folder / api.LOG_FILE),
    ):
        for board, seats, moves, is_shown in (
            (0, (0, 1), [0], True),
            (0, (0, 1), [10**9], False),
            (7, (0, 1), [0], False),
            (0, (0, 99), [0], False),
        ):
            (folder / FILE_NAME).write_text(json.dumps(InPlay("a" * 32, board, seats, moves)))
            answer = client.get("/tournaments/slow/latest")
            assert answer.status_code == 200 and ("playing" in answer.json()) == is_shown, moves
            (folder / FILE_NAME).unlink()
