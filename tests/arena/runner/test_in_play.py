"""Matches in play, from worker to run to whoever watches."""

import json
import mmap
import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.match.heartbeat import HEARTBEAT_BYTES, MAX_SHOWN_EVALUATIONS, MAX_SHOWN_MOVES, Heartbeat, ShownMatch
from arena.runner import in_play
from arena.runner.in_play import (
    MAX_PACKET_BYTES,
    MAX_READERS,
    MAX_SHOWN_MATCHES,
    SOCKET_NAME,
    InPlay,
    InPlayBroadcast,
    InPlayFeed,
    Packet,
    decode,
    encode,
)
from tests.support.tournaments import PATIENCE

STEPS = st.integers(-1000, 1000)


@pytest.fixture
def heartbeat():
    with tempfile.TemporaryFile() as file:
        file.truncate(HEARTBEAT_BYTES)
        made = Heartbeat(mmap.mmap(file.fileno(), HEARTBEAT_BYTES))
        made.hide_moves()
        yield made
        made.close()


@given(
    number=st.integers(0, 10_000),
    moves=st.lists(st.integers(0, 2**31 - 1), max_size=300),
    values=st.lists(st.tuples(STEPS, STEPS, STEPS), max_size=300),
)
def test_the_driver_reads_the_moves_and_evaluations_that_a_worker_shows(number, moves, values):
    with tempfile.TemporaryFile() as file:
        file.truncate(HEARTBEAT_BYTES)
        heartbeat = Heartbeat(mmap.mmap(file.fileno(), HEARTBEAT_BYTES))
        evaluations = [(ply, each) for ply, each in enumerate(values[: len(moves)])]
        heartbeat.show_moves(number, moves, evaluations)
        assert heartbeat.moves() == (number, moves, [(ply, *each) for ply, each in evaluations])
        heartbeat.hide_moves()
        assert heartbeat.moves() is None
        heartbeat.close()


def test_of_a_very_long_match_the_first_moves_and_evaluations_are_shown(heartbeat):
    heartbeat.show_moves(2, range(MAX_SHOWN_MOVES + 5), [(ply, (0,) * 4) for ply in range(MAX_SHOWN_MOVES + 5)])
    number, moves, evaluations = heartbeat.moves()
    assert (number, moves) == (2, [*range(MAX_SHOWN_MOVES)])
    assert evaluations == [(ply, 0, 0, 0, 0) for ply in range(MAX_SHOWN_EVALUATIONS // 5)]


def test_an_evaluation_of_a_ply_that_is_not_shown_is_not_shown(heartbeat):
    heartbeat.show_moves(0, [4, 5], [(1, (3, -3)), (2, (7, -7))])
    assert heartbeat.moves().evaluations == [(1, 3, -3)]


def test_whatever_a_bot_has_written_there_is_read_without_harm(heartbeat):
    numbers = (-(2**63), -2, 0, 5, 2**63 - 1, MAX_SHOWN_MOVES, 5 * (MAX_SHOWN_MOVES + 1), 7 * MAX_SHOWN_EVALUATIONS)
    for head in numbers:
        for values_head in numbers:
            heartbeat.words[4], heartbeat.words[5] = head, values_head
            found = heartbeat.moves()
            assert found is None or len(found.moves) <= MAX_SHOWN_MOVES
            assert found is None or sum(map(len, found.evaluations)) <= MAX_SHOWN_EVALUATIONS


def match(number: int, board: int = 0, seats: tuple[int, ...] = (0, 1)) -> Any:
    """A match as a run knows it."""
    return SimpleNamespace(id=f"{number:032x}-0", block=SimpleNamespace(board=board), seats=seats)


@pytest.fixture
def no_pauses(monkeypatch):
    """A run looks for readers, and sends, whenever it is asked."""
    monkeypatch.setattr(in_play, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(in_play, "SEND_SECONDS", 0.0)


@pytest.fixture
def broadcast(tmp_path, no_pauses):
    made = InPlayBroadcast(tmp_path)
    made.open()
    yield made
    made.close()


@pytest.fixture
def feed(tmp_path):
    made = InPlayFeed(tmp_path)
    yield made
    made.close()


def talk(connection):
    """Send without end."""
    for _ in range(100_000):
        connection.send(b"x" * 1000)


def connected(folder):
    """A reader of a test's own."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.connect(str(folder / SOCKET_NAME))
    return made


def test_a_reader_gets_the_matches_in_play_as_they_go_on(broadcast, feed):
    assert feed.read() == []  # connected now
    broadcast.update(lambda: [(match(1), ShownMatch(0, [3, 4], [(0, 500, -500)]))])
    assert feed.read() == [InPlay(match(1).id, 0, (0, 1), [3, 4], [(0, 500, -500)])]
    assert feed.read() == [InPlay(match(1).id, 0, (0, 1), [3, 4], [(0, 500, -500)])]
    broadcast.update(
        lambda: [(match(2, 3, (7, 5, 6)), ShownMatch(0, [], [])), (match(1), ShownMatch(0, [3, 4, 5], []))]
    )
    assert [(each.id, each.board, each.seats, each.moves) for each in feed.read()] == [
        (match(1).id, 0, (0, 1), [3, 4, 5]),
        (match(2).id, 3, (7, 5, 6), []),
    ]
    broadcast.update(lambda: [])
    assert feed.read() == []


def test_nobody_asks_for_matches_while_nobody_watches(broadcast, feed):
    def refuse():
        raise AssertionError("asked")

    broadcast.update(refuse)
    feed.read()
    broadcast.update(lambda: [])
    feed.close()
    broadcast.update(lambda: [])  # it finds out that the reader has gone
    broadcast.update(refuse)


def test_a_bounded_number_of_matches_is_shown_and_one_that_is_shown_stays(broadcast, feed):
    feed.read()
    many = [(match(number), ShownMatch(0, [1], [])) for number in range(9)]
    broadcast.update(lambda: many)
    first = [each.id for each in feed.read()]
    assert len(first) == MAX_SHOWN_MATCHES
    broadcast.update(lambda: many[1:][::-1])
    assert [each.id for each in feed.read()][:3] == first[1:]


def test_a_reader_that_comes_later_gets_everything_at_once(broadcast, feed, tmp_path, monkeypatch):
    feed.read()
    broadcast.update(lambda: [(match(1), ShownMatch(0, [1], []))])
    monkeypatch.setattr(in_play, "SEND_SECONDS", PATIENCE)
    other = InPlayFeed(tmp_path)
    other.read()
    broadcast.update(lambda: [(match(1), ShownMatch(0, [1, 2], []))])
    assert other.read()[0].moves == [1, 2]
    broadcast.update(lambda: [(match(1), ShownMatch(0, [1, 2, 3], []))])
    assert other.read()[0].moves == [1, 2]
    other.close()


def test_a_reader_that_stops_reading_keeps_nobody_waiting_and_is_disconnected(broadcast, feed, tmp_path, monkeypatch):
    stopped = connected(tmp_path)
    feed.read()
    long = ShownMatch(0, [*range(MAX_SHOWN_MOVES)], [])
    for ply in range(200):
        begun = time.monotonic()
        broadcast.update(lambda: [(match(1), long._replace(moves=[*long.moves[:-1], ply])) for ply in [ply]])
        assert time.monotonic() - begun < PATIENCE / 10
        assert feed.read()[0].moves[-1] == ply
    assert len(broadcast.readers) == 2
    monkeypatch.setattr(in_play, "MAX_UNREAD_SECONDS", 0.0)
    broadcast.update(lambda: [(match(1), long)])
    assert len(broadcast.readers) == 1
    stopped.close()


def test_a_reader_that_talks_is_not_heard(broadcast, feed, tmp_path):
    talker = connected(tmp_path)
    talker.setblocking(False)
    feed.read()
    broadcast.update(lambda: [])
    with pytest.raises(BlockingIOError):
        talk(talker)  # until the buffer of the run is full, which is all that happens
    broadcast.update(lambda: [(match(1), ShownMatch(0, [1], []))])
    assert len(feed.read()) == 1
    talker.close()


def test_a_bounded_number_of_readers_is_let_in(broadcast, tmp_path):
    readers = []
    for _ in range(3 * MAX_READERS):
        readers.append(connected(tmp_path))
        broadcast.update(lambda: [])
    assert len(broadcast.readers) == MAX_READERS
    assert [reader.recv(100) != b"" for reader in readers] == [True] * MAX_READERS + [False] * 2 * MAX_READERS
    for reader in readers:
        reader.close()
    broadcast.update(lambda: [])
    assert broadcast.readers == []


def test_only_the_owner_may_connect(broadcast, tmp_path):
    mode = os.stat(tmp_path / SOCKET_NAME).st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600


def test_another_user_is_refused(broadcast, tmp_path):
    become = "os.setgid(65534); os.setuid(65534)" if os.geteuid() == 0 else f"os.chmod({SOCKET_NAME!r}, 0)"
    program = f"""
import os, socket
reader = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
os.chdir({str(tmp_path)!r})
{become}
reader.connect({SOCKET_NAME!r})
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "PermissionError" in ended.stderr


def test_where_modes_do_not_count_another_user_is_disconnected(broadcast, tmp_path, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    reader = connected(tmp_path)
    monkeypatch.setattr(in_play, "PEER_CREDENTIALS", SimpleNamespace(size=12, unpack=lambda found: (1, 54321, 1)))
    broadcast.update(lambda: [])
    assert broadcast.readers == [] and reader.recv(10) == b""
    reader.close()


def test_the_socket_is_gone_with_the_run_and_readers_notice(broadcast, feed, tmp_path):
    feed.read()
    broadcast.update(lambda: [(match(1), ShownMatch(0, [1], []))])
    broadcast.close()
    assert not (tmp_path / SOCKET_NAME).exists()
    assert feed.read() == [] == feed.read()


def test_the_socket_of_a_killed_run_is_replaced(tmp_path, feed, no_pauses):
    remnant = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    remnant.bind(str(tmp_path / SOCKET_NAME))
    remnant.close()
    assert feed.read() == []
    broadcast = InPlayBroadcast(tmp_path)
    broadcast.open()
    feed.read()
    broadcast.update(lambda: [(match(1), ShownMatch(0, [1], []))])
    assert len(feed.read()) == 1
    broadcast.close()


@pytest.mark.parametrize("make", [lambda path: path.write_text("mine"), lambda path: path.mkdir()])
def test_what_is_no_socket_is_left_alone_and_nobody_watches(tmp_path, feed, make):
    make(tmp_path / SOCKET_NAME)
    broadcast = InPlayBroadcast(tmp_path)
    broadcast.open()
    broadcast.update(lambda: [(match(1), ShownMatch(0, [1], []))])
    assert feed.read() == []
    broadcast.close()
    assert (tmp_path / SOCKET_NAME).exists() and not (tmp_path / SOCKET_NAME).is_socket()


def test_a_folder_with_a_very_long_path_has_a_socket_too(tmp_path, no_pauses):
    folder = tmp_path / ("a" * 200) / ("b" * 200)
    folder.mkdir(parents=True)
    broadcast, feed = InPlayBroadcast(folder), InPlayFeed(folder)
    broadcast.open()
    feed.read()
    broadcast.update(lambda: [(match(1), ShownMatch(0, [1], []))])
    assert len(feed.read()) == 1
    feed.close()
    broadcast.close()


def test_a_folder_that_is_gone_is_no_error(tmp_path):
    broadcast, feed = InPlayBroadcast(tmp_path / "none"), InPlayFeed(tmp_path / "none")
    broadcast.open()
    broadcast.update(lambda: [])
    assert feed.read(0.1) == []
    broadcast.close()


ID = match(1).id
GARBAGE = [
    *(
        "",
        "{",
        "[]",
        "null",
        "5",
        "[" * 10**5,
        '"a"',
        f'[["{ID}"]]',
        f'["{ID}", null]',
        "[[1], null]",
        '[["../x"], null]',
    ),
    json.dumps([[ID] * 5, None]),
    json.dumps([[], [ID, 0, [0, 1], [], []]]),
    *(
        json.dumps([[ID], parts])
        for parts in (
            [ID, 0, [0, 1], [True], []],
            [ID, -1, [0], [], []],
            [1, 0, [0], [], []],
            [ID, 0, 5, [], []],
            [ID, 0, [], [], []],
            [ID, 0, [0], [0] * (MAX_SHOWN_MOVES + 1), []],
            [ID, 0, [0, 1], [5], [[0, 1001, 0]]],
            [ID, 0, [0, 1], [5], [[0, 1]]],
            [ID, 0, [0, 1], [5], [[1, 1, 1]]],
            [ID, 0, [0, 1], [5], [[0, 0.5, 0]]],
            [ID, 0, [0, 1], [5], [[]]],
            [ID, 0, [0, 1], [5], 7],
            [ID, 0, [0, 1], [5]],
        )
    ),
    " " * (MAX_PACKET_BYTES + 1),
]


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_what_cannot_be_read_is_no_match_in_play(text):
    assert decode(text.encode()) is None


@given(st.binary(max_size=200))
def test_bytes_that_are_no_packet_are_none(data):
    assert decode(data) is None or data.lstrip().startswith(b"[")


def test_garbage_from_the_socket_of_a_log_is_passed_over(tmp_path, feed):
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(tmp_path / SOCKET_NAME))
    listening.listen()
    feed.read()
    connection, _ = listening.accept()
    for text in GARBAGE:
        if text:
            connection.send(text.encode())
    assert feed.read() == []
    connection.send(encode(Packet([ID], InPlay(ID, 0, (0, 1), [1], []))))
    assert len(feed.read()) == 1
    for _ in range(100):
        connection.send(b"\xff")
    assert len(feed.read()) == 1
    connection.close()
    listening.close()
    assert feed.read() == [] == feed.read()


def test_a_reader_waits_for_a_while_and_no_longer(tmp_path, feed):
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(tmp_path / SOCKET_NAME))
    listening.listen()
    assert feed.read(0.05) == []
    listening.close()


def test_of_a_match_with_too_much_to_tell_the_moves_are_sent():
    moves = [2**31 - 1] * MAX_SHOWN_MOVES
    evaluations = [(ply, -1000, -1000, -1000) for ply in range(MAX_SHOWN_MOVES)]
    packet = Packet([ID], InPlay(ID, 0, (0, 1, 2), moves, evaluations))
    text = encode(packet)
    assert len(text) <= MAX_PACKET_BYTES
    assert decode(text) == Packet([ID], InPlay(ID, 0, (0, 1, 2), moves, []))


def test_what_a_bot_has_written_wrongly_is_not_sent(broadcast, feed):
    feed.read()
    wrong = [(0, 1, 1), (0, 2000, 0), (5, 1, 1), (-1, 1, 1), (1, 1)]
    broadcast.update(lambda: [(match(1), ShownMatch(0, [1, 2], wrong))])
    assert feed.read()[0].evaluations == [(0, 1, 1)]
