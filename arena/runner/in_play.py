"""Matches in play, from the process that runs them to those that show them: a socket of the log's folder.

The run listens. It sends only while somebody is connected, never waits, and reads nothing: a reader that is slow misses
packets, and each packet is whole. The socket is no part of the log.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import socket
import stat
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena.match.estimates import EVALUATION_STEPS
from arena.match.heartbeat import MAX_SHOWN_MOVES, ShownMatch
from arena.schedule.blocks import MatchSpec

SOCKET_NAME = "playing.sock"
MAX_SHOWN_MATCHES = 4
"""Matches that are sent."""
MAX_READERS = 8
"""Connections at once; a server has one for all who watch the same log."""
LOOK_SECONDS = 0.1
"""Time between two looks for readers."""
SEND_SECONDS = 0.5
"""Time between two packets of a match."""
MAX_UNREAD_SECONDS = 10.0
"""Time after which a reader that reads nothing is disconnected."""
MAX_PACKET_BYTES = 2**17
MAX_PACKETS_A_READ = 64
"""Packets that a reader takes at once; what comes faster is no run of ours."""
PEER_CREDENTIALS = struct.Struct("3i")
"""Process, user and group."""


class InPlay(NamedTuple):
    """A match in play, by those who played it; its moves are to be checked by the rules."""

    id: str
    board: int
    seats: tuple[int, ...]
    """Entries."""
    moves: list[int]
    """Actions and chance outcomes so far."""
    evaluations: list[tuple[int, ...]]
    """Ply, and what its bot expected for each seat, in steps."""


class Packet(NamedTuple):
    """What is sent at once."""

    ids: list[str]
    """Of all matches that are shown."""
    match: InPlay | None
    """One of them; None where there is none."""


def encode(packet: Packet) -> bytes:
    """Return a packet as it is sent, without evaluations where it would be too large."""
    text = json.dumps(packet, separators=(",", ":")).encode()
    if len(text) > MAX_PACKET_BYTES and packet.match is not None:
        return encode(packet._replace(match=packet.match._replace(evaluations=[])))
    return text


def decode(data: bytes) -> Packet | None:
    """Return the packet of some data; None where it is none."""
    try:
        ids, match = json.loads(data) if len(data) <= MAX_PACKET_BYTES else (None, None)
        if not isinstance(ids, list) or len(ids) > MAX_SHOWN_MATCHES or not all(_is_id(each) for each in ids):
            return None
        shown = None if match is None else _in_play(*match)
    except (ValueError, TypeError, RecursionError):
        return None
    return None if shown is not None and shown.id not in ids else Packet(ids, shown)


def _is_id(name: Any) -> bool:
    return isinstance(name, str) and re.fullmatch(r"[0-9a-f]{8,64}-[0-9]{1,9}", name) is not None


def _in_play(match: Any, board: Any, seats: Any, moves: Any, evaluations: Any) -> InPlay:
    """Return a match from its parts; raises `ValueError` or `TypeError` for parts of no match."""
    numbers = [board, *seats, *moves]
    fits = all(type(number) is int and number >= 0 for number in numbers)
    if not fits or not seats or len(moves) > MAX_SHOWN_MOVES:
        raise ValueError
    found = [tuple(each) for each in evaluations]
    for ply, *values in found:
        whole = type(ply) is int and all(type(value) is int and abs(value) <= EVALUATION_STEPS for value in values)
        if not whole or not 0 <= ply < len(moves) or len(values) != len(seats):
            raise ValueError
    return InPlay(match, board, tuple(seats), moves, found)


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    """Yield the address of the socket in a folder, which is short however long the folder's path is."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET_NAME}"
    finally:
        os.close(descriptor)


def _new_socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # a packet comes whole or not at all
    made.setblocking(False)
    return made


class _Reader(NamedTuple):
    connection: socket.socket
    since: float
    """When it read something last, as far as that is known."""


class InPlayBroadcast:
    """The socket of a run, which has the log's lock. No method waits, or raises because of a reader."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listening: socket.socket | None = None
        self.readers: list[_Reader] = []
        self._shown: list[str] = []
        """Ids of the matches that were sent last."""
        self._looked = self._sent = 0.0

    def open(self) -> None:
        """Listen for readers of the same user; where the folder can hold no socket nobody can watch."""
        listening = _new_socket()
        try:
            with _address(self._folder) as address:
                self._remove(address)
                os.fchmod(listening.fileno(), 0o600)  # what Linux makes the file with
                listening.bind(address)
                listening.listen(MAX_READERS)
            self._listening = listening
        except OSError:
            listening.close()

    def _remove(self, address: str) -> None:
        """Remove the socket of a run that was killed, and nothing else."""
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.lstat(address).st_mode):
                os.unlink(address)

    def update(self, matches: Callable[[], Sequence[tuple[MatchSpec, ShownMatch]]]) -> None:
        """Send the matches in play to those who watch; `matches` is only asked when somebody does."""
        now = time.monotonic()
        if self._listening is None or now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        came = self._accept(now)
        if not self.readers or (not came and now - self._sent < SEND_SECONDS):
            return
        self._sent = now
        packets = [encode(packet) for packet in self._packets(matches())]
        self.readers = [each for reader in self.readers if (each := _send(reader, packets, now)) is not None]

    def _accept(self, now: float) -> bool:
        """Let readers in; return whether one has come."""
        assert self._listening is not None
        came = False
        with contextlib.suppress(OSError):  # nobody else waits
            for _ in range(MAX_READERS):
                connection, _address = self._listening.accept()
                if len(self.readers) < MAX_READERS and _is_own(connection):
                    connection.setblocking(False)
                    self.readers.append(_Reader(connection, now))
                    came = True
                else:
                    connection.close()
        return came

    def _packets(self, matches: Sequence[tuple[MatchSpec, ShownMatch]]) -> list[Packet]:
        """Return what is sent: matches that were shown before first, as long as they are in play."""
        found = {spec.id: (spec, shown) for spec, shown in matches}
        kept = [each for each in self._shown if each in found]
        self._shown = [*kept, *(each for each in found if each not in kept)][:MAX_SHOWN_MATCHES]
        shown = [Packet(self._shown, _in_play_of(*found[each])) for each in self._shown]
        return shown or [Packet([], None)]

    def close(self) -> None:
        """Disconnect all readers, and remove the socket."""
        for reader in self.readers:
            reader.connection.close()
        self.readers = []
        if self._listening is not None:
            self._listening.close()
            self._listening = None
            with contextlib.suppress(OSError), _address(self._folder) as address:
                self._remove(address)


def _in_play_of(spec: MatchSpec, shown: ShownMatch) -> InPlay:
    """Return a match for a packet; what a bot may have written wrongly is left out."""
    evaluations = [
        (ply, *values)
        for ply, *values in shown.evaluations
        if 0 <= ply < len(shown.moves)
        and len(values) == len(spec.seats)
        and all(abs(value) <= EVALUATION_STEPS for value in values)
    ]
    return InPlay(spec.id, spec.block.board, spec.seats, shown.moves, evaluations)


def _is_own(connection: socket.socket) -> bool:
    """Return whether a reader is of this user, or of root: some file systems keep no modes."""
    size = PEER_CREDENTIALS.size
    _, user, _ = PEER_CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return user in (0, os.geteuid())


def _send(reader: _Reader, packets: Sequence[bytes], now: float) -> _Reader | None:
    """Send packets as far as there is room; return the reader, None when it has gone or reads nothing."""
    since = reader.since
    try:
        for packet in packets:
            reader.connection.send(packet)
            since = now
    except BlockingIOError:
        if now - since < MAX_UNREAD_SECONDS:
            return reader._replace(since=since)
    except OSError:
        pass
    else:
        return reader._replace(since=since)
    reader.connection.close()
    return None


class InPlayFeed:
    """A reader of the matches in play in a log's folder. Not to be used by two threads at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._connection: socket.socket | None = None
        self._known: dict[str, InPlay] = {}
        self._ids: list[str] | None = None
        """Of the matches in play; None before the first packet."""

    def read(self, wait: float = 0.0) -> list[InPlay]:
        """Return the matches in play as they were sent last; none where no run sends any.

        Wait up to `wait` seconds until each has come once.
        """
        if self._connection is None:
            self._connect()
        deadline = time.monotonic() + wait
        while self._connection is not None:
            self._take(self._connection)
            left = deadline - time.monotonic()
            if (self._ids is not None and len(self._known) == len(self._ids)) or left <= 0:
                break
            if self._connection is not None:
                waiting = select.poll()
                waiting.register(self._connection, select.POLLIN)
                waiting.poll(left * 1000)
        return [self._known[each] for each in self._ids or () if each in self._known]

    def _connect(self) -> None:
        connection = _new_socket()
        try:
            with _address(self._folder) as address:
                connection.connect(address)
            self._connection = connection
        except OSError:  # nothing runs, or a remnant of a run that was killed
            connection.close()

    def _take(self, connection: socket.socket) -> None:
        """Take the packets that have come; forget everything when the run is gone."""
        try:
            for _ in range(MAX_PACKETS_A_READ):
                data = connection.recv(MAX_PACKET_BYTES + 1)
                if not data:
                    self.close()
                    return
                self._on_packet(data)
        except BlockingIOError:
            pass
        except OSError:
            self.close()

    def _on_packet(self, data: bytes) -> None:
        packet = decode(data)
        if packet is None:
            return
        self._ids = packet.ids
        if packet.match is not None:
            self._known[packet.match.id] = packet.match
        self._known = {name: match for name, match in self._known.items() if name in packet.ids}

    def close(self) -> None:
        """Disconnect."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._known, self._ids = {}, None
