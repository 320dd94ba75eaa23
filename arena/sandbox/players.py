"""Bots that play in processes of their own: who starts them, feeds them and ends them, in the worker's process."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from arena.bundle import MANIFEST, Bundle, imported_names, pack
from arena.errors import WorkerError
from arena.loader import is_house
from arena.referee import Answer, Fault, Match, Player, clean_note
from arena.sandbox.channel import Channel, Pipes
from arena.sandbox.client import PROTOCOL
from arena.sandbox.levels import Spawn, import_paths, lacking, program_paths, python, python_paths
from arena.sandbox.program import Program, read_program
from arena.sandbox.seccomp import bpf
from arena.schedule import Limits
from engine import CHANCE, Game
from engine.errors import EngineError
from engine.game import ILLEGAL, returns_from_ranks
from engine.kernel import cache_root
from engine.specs import Value

if TYPE_CHECKING:
    from arena.config import Isolation

FORKSERVER = Path(__file__).with_name("forkserver.py")
PREPARE_LIMIT = 600.0
"""Seconds that a fork server may take to start, or to load a game."""
BUILD_LIMIT = 300.0
BUILD_MEMORY = 2048
BUILD_BYTES = 256 * 2**20
LEAVE_LIMIT = 0.2
"""Seconds that a program may take to end by itself when its match is over."""
LONGEST = 86_400.0
LIBRARIES = ("numpy", "numba", "scipy", "pandas")
"""Installed packages that are loaded before the fork when a bot imports them."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class RemoteBot:
    """A contestant that plays in a process of its own."""

    name: str
    bundle: Bundle
    class_name: str
    params: Mapping[str, Value]
    isolation: Isolation
    key: int = 0
    """Tells contestants of one plan apart."""


class Host(Protocol):
    """What can give a bot a process for a match."""

    def open(self, bot: RemoteBot, limits: Limits) -> Channel:
        """A process to talk to; raises `Fault`."""

    def release(self, channel: Channel | None, over: dict[str, Any] | None) -> None:
        """The match is over for the bot; `over` is the message that tells it so, None after a fault."""

    def close(self) -> None:
        """End what is left."""


class Hosts:
    """All that one worker has running for bots: fork servers, which serve any Python bot, and programs.

    A fork server has one child at a time, so that bots of one match never share one.
    """

    def __init__(self) -> None:
        self._servers: dict[Isolation, list[ForkServer]] = {"process": [], "sandbox": []}
        self._programs: dict[int, ProgramHost] = {}

    def host(self, bot: RemoteBot, game: Game | None) -> Host:
        """A host for a bot, ready for a game, until it is released."""
        if bot.bundle.is_program:
            if bot.key not in self._programs:
                self._programs[bot.key] = ProgramHost(bot)
            return self._programs[bot.key]
        servers = self._servers[bot.isolation]
        for dead in [each for each in servers if not each.is_alive]:
            servers.remove(dead)
            dead.close()
        server = next((each for each in servers if not each.busy), None)
        if server is None:
            server = ForkServer(bot.isolation)
            servers.append(server)
        server.busy = True
        server.get_ready(bot, game)
        return server

    def close(self) -> None:
        """End everything."""
        hosts: list[Host] = [*self._programs.values(), *self._servers["process"], *self._servers["sandbox"]]
        for host in hosts:
            host.close()
        self._programs.clear()
        for servers in self._servers.values():
            servers.clear()


@dataclass(frozen=True)
class RemoteContestant:
    """A bot in a process of its own, as something that can take a seat."""

    bot: RemoteBot
    hosts: Hosts

    def join(self, match: Match, seat: int) -> Player:
        return RemotePlayer(self.bot, self.hosts.host(self.bot, match.game), match, seat)


class RemotePlayer:
    """A seat's bot at the other end of a channel."""

    guarded = False

    def __init__(self, bot: RemoteBot, host: Host, match: Match, seat: int) -> None:
        self.bot, self.host, self.match, self.seat = bot, host, match, seat
        self.channel: Channel | None = None
        self.told = 0
        self.fallen = False

    def start(self, limit: float) -> None:
        """Get its process up; raises `Fault`."""
        begun = time.monotonic()
        with self._faults():
            if isinstance(self.host, ProgramHost):
                self.host.rest_of(self.match.streams.block_id, self.match.game)
            self.channel = self.host.open(self.bot, self.match.limits)
            if not self.channel.greeted:
                left = max(0.0, begun + limit - time.monotonic())
                self._ask({"type": "hello", "protocol": PROTOCOL}, left, "ready")
                self.channel.greeted = True

    def prepare(self, limit: float) -> bool:
        match = self.match
        message = {
            "type": "newgame",
            "game": match.game.name,
            "params": dict(match.game.params),
            "spec": match.game.spec,
            "players": match.game.players,
            "seat": self.seat,
            "seed": str(match.streams.bot_seed(self.seat)),
            "options": dict(self.bot.params),
            "position": match.state.position if match.game.position else None,
            "clock": self._clock(match.limits.seconds_per_move),
        }
        with self._faults():
            return self._ask(message, limit, "ready").get("timed") is True

    def choose(self, limit: float) -> Answer:
        state = self.match.state
        legal = state.legal_actions()
        message = {
            "type": "move",
            "plies": self._news(),
            "position": state.position if self.match.game.position else None,
            "legal": [state.action_to_string(action) for action in legal],
            "clock": self._clock(limit),
        }
        with self._faults():
            answer = self._ask(message, limit, "action")
            text, note = answer.get("action"), answer.get("note")
            if not isinstance(text, str):
                raise Fault("protocol", 'an answer without an "action" that is a text')
            try:
                action = state.string_to_action(text)
            except EngineError as error:
                raise Fault("illegal_action", str(error)) from None
            return Answer(action, clean_note(note)) if action in legal else Answer(ILLEGAL, None, self._refuse(action))

    def _refuse(self, action: int) -> str:
        return str(self.match.state.refuse(action))

    def _clock(self, limit: float) -> dict[str, float | None]:
        limits = self.match.limits
        left = round(self.match.left[self.seat], 6) if limits.seconds_per_match else None
        return {"move": round(limit, 6), "match": left, "increment": limits.increment}

    def _news(self) -> list[list[Any]]:
        """The plies since the last message, each with who moved."""
        match, since = self.match, self.told
        self.told = len(match.course)
        news = zip(match.movers[since:], match.course[since:], strict=True)
        return [["chance" if who == CHANCE else who, text] for who, text in news]

    def _ask(self, message: dict[str, Any], limit: float, expected: str) -> dict[str, Any]:
        assert self.channel is not None
        answer = self.channel.request(message, limit, self.match.limits.margin)
        if answer["type"] != expected:
            raise Fault("protocol", f'{expected} was due, it answered "{answer["type"]}"')
        return answer

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """A fault ends the process; what it wrote to stderr goes with the fault."""
        try:
            yield
        except Fault as fault:
            self.fallen = True
            words = ""
            if self.channel is not None:
                self.channel.close()
                words = self.channel.last_words
            raise Fault(fault.cause, f"{words}\n{fault}" if words else str(fault)) from None

    def cpu(self) -> float:
        return self.channel.cpu if self.channel is not None else 0.0

    def close(self) -> None:
        over = None if self.fallen or not self.match.finished else self._farewell()
        self.host.release(self.channel, over)

    def _farewell(self) -> dict[str, Any]:
        ranks = self.match.ranks()
        return {
            "type": "gameover",
            "plies": self._news(),
            "ranks": ranks,
            "returns": returns_from_ranks(ranks),
            "scores": self.match.state.scores(),
            "ended": self.match.ended,
        }


class ForkServer:
    """A parent of Python bots' processes (`arena.sandbox.forkserver`), from outside."""

    def __init__(self, isolation: Isolation) -> None:
        _must_be_able(isolation)
        self.isolation = isolation
        self.busy = False
        self._bundles: dict[str, tuple[int, list[str]]] = {}
        self._stack = contextlib.ExitStack()
        folder = "/tmp"
        if isolation == "process":
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="bots-", dir=os.getcwd()))
        try:
            self._start(folder)
        except BaseException:
            self._stack.close()
            raise

    def _start(self, folder: str) -> None:
        self._complaints = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - closed with the stack
        ours, theirs = socket.socketpair()
        self._socket = self._stack.enter_context(ours)
        self._connection = self._stack.enter_context(Connection(os.dup(ours.fileno())))
        with theirs:
            spawn = Spawn(
                [python(), "-s", "-S", "-P", str(FORKSERVER), self.isolation, *import_paths()],
                self.isolation,
                environment=_environment(folder),
                readable=[*python_paths(), os.environ["NUMBA_CACHE_DIR"]],
                folder=folder,
                divides=True,
            )
            self._stack.enter_context(spawn.start(theirs.fileno(), subprocess.DEVNULL, self._complaints.fileno()))
        self._call({"do": "hello", "filter": bpf().hex() if self.isolation == "sandbox" else ""})

    @property
    def is_alive(self) -> bool:
        """Whether its process is there: a bot at level `process` may have ended it."""
        return not self._connection.poll()

    def get_ready(self, bot: RemoteBot, game: Game | None) -> None:
        """Load what the bot uses and the game: the arena's own time, on no bot's clock."""
        key = bot.bundle.hash
        if key not in self._bundles:
            modules = trusted_modules(bot.bundle)
            self._call({"do": "load", "modules": modules})
            descriptor = pack(bot.bundle)
            self._stack.callback(os.close, descriptor)
            self._bundles[key] = descriptor, modules
        if game is not None:
            modules = self._bundles[key][1]
            self._call({"do": "warm", "modules": modules, "game": game.spec, "players": game.players})

    def open(self, bot: RemoteBot, limits: Limits) -> Channel:
        (bot_in, to_bot), (from_bot, bot_out), (stderr, bot_err) = os.pipe(), os.pipe(), os.pipe()
        try:
            message = {
                "do": "fork",
                "class": bot.class_name,
                "memory": limits.memory,
                "seconds": processor_seconds(limits),
            }
            with contextlib.suppress(OSError):  # there will be no reply either
                self._connection.send_bytes(json.dumps(message).encode())
                socket.send_fds(self._socket, [b"."], [bot_in, bot_out, bot_err, self._bundles[bot.bundle.hash][0]])
            self._reply()
            process = socket.recv_fds(self._socket, 1, 1)[1][0]
        finally:
            for descriptor in (bot_in, bot_out, bot_err):
                os.close(descriptor)
        return Channel(Pipes(to_bot, from_bot, stderr), _number_of(process), process, limits.memory)

    def release(self, channel: Channel | None, over: dict[str, Any] | None) -> None:
        self.busy = False
        if channel is not None:
            channel.close()
        with contextlib.suppress(OSError):  # the next call tells that it is gone
            self._connection.send_bytes(b'{"do": "sweep"}')

    def _call(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # there will be no reply either
            self._connection.send_bytes(json.dumps(message).encode())
        self._reply()

    def _reply(self) -> None:
        """Wait for the answer to the last message; raises `WorkerError` when there is none."""
        with contextlib.suppress(EOFError, OSError):
            if self._connection.poll(PREPARE_LIMIT):
                self._connection.recv_bytes()
                return
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        raise WorkerError(f"the parent of bots' processes ended: {lines[-1] if lines else 'no word from it'}")

    def close(self) -> None:
        self._stack.close()


class ProgramHost:
    """A program's process: started anew for each match, unless it says that it can begin afresh by itself."""

    def __init__(self, bot: RemoteBot) -> None:
        _must_be_able(bot.isolation)
        self.bot = bot
        self.program = read_program(bot.bundle.files[MANIFEST], bot.name)
        self._stack = contextlib.ExitStack()
        self._channel: Channel | None = None
        self._blocks: set[bytes] = set()
        self.failure = ""
        try:
            self.folder = built(bot.bundle, self.program, bot.isolation)
        except Fault as fault:
            self.failure = str(fault)

    def rest_of(self, block: bytes, game: Game) -> None:
        """Before a match: a process that knows the dice of this block may not play again in it."""
        if block in self._blocks and game.explicit_chance:
            self.close()
            self._blocks.clear()
        self._blocks.add(block)

    def open(self, bot: RemoteBot, limits: Limits) -> Channel:
        if self.failure:
            raise Fault("init", self.failure)
        if self._channel is None or not self._channel.open:
            self.close()
            self._channel = self._start(limits)
        return self._channel

    def _start(self, limits: Limits) -> Channel:
        inside = "/bot" if self.bot.isolation == "sandbox" else str(self.folder)
        spawn = Spawn(
            self.program.command,
            self.bot.isolation,
            environment={"HOME": "/tmp", "TMPDIR": "/tmp"},
            readable=program_paths(self.program.command[0]),
            bound=[(str(self.folder), inside)] if self.bot.isolation == "sandbox" else [],
            folder=inside,
            limits={"memory": limits.memory, "seconds": processor_seconds(limits)},
        )
        (bot_in, to_bot), (from_bot, bot_out), (stderr, bot_err) = os.pipe(), os.pipe(), os.pipe()
        try:
            _, number = self._stack.enter_context(spawn.start(bot_in, bot_out, bot_err))
            process = os.pidfd_open(number)
        except OSError as error:
            for descriptor in (to_bot, from_bot, stderr):
                os.close(descriptor)
            raise Fault("init", f"'{self.program.command[0]}' cannot be started: {error}") from None
        finally:
            for descriptor in (bot_in, bot_out, bot_err):
                os.close(descriptor)
        tmp = f"/proc/{number}/root/tmp" if self.bot.isolation == "sandbox" else ""
        return Channel(Pipes(to_bot, from_bot, stderr), number, process, limits.memory, tmp)

    def release(self, channel: Channel | None, over: dict[str, Any] | None) -> None:
        if channel is None or over is None:
            self.close()
            return
        channel.tell(over)
        if not self.program.resettable:
            channel.leave(LEAVE_LIMIT)
            self.close()

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel = None
        self._stack.close()


def processor_seconds(limits: Limits) -> float:
    """A bound on a process's processor time in one match, all threads together: far above what its clocks allow."""
    if not limits.seconds_per_match:
        return LONGEST
    clocks = limits.seconds_to_start + limits.seconds_to_prepare + limits.seconds_per_match + 1000 * limits.increment
    return min(LONGEST, clocks * (os.cpu_count() or 1))


def trusted_modules(bundle: Bundle) -> list[str]:
    """Modules that a bundle uses and that are not the bot author's: a few installed packages, our own bots."""
    found = {name for name in imported_names(bundle) if name.partition(".")[0] in LIBRARIES}
    own = {name.partition("/")[0].removesuffix(".py") for name in bundle.files}
    trusted = sorted(name for name in found if name.partition(".")[0] not in own)
    if is_house(bundle.files):
        names = [Path(name).with_suffix("") for name in bundle.files if name.startswith("bots/") and name[-3:] == ".py"]
        trusted += sorted(".".join(name.parts).removesuffix(".__init__") for name in names)
    return trusted


def _must_be_able(isolation: Isolation) -> None:
    if isolation == "sandbox" and lacking():
        raise WorkerError(f"{_machine()} cannot sandbox bots: {lacking()}")


def _machine() -> str:
    return os.uname().nodename


@functools.cache
def _flags() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}


def _environment(folder: str) -> dict[str, str]:
    return {
        **_flags(),
        **dict.fromkeys(THREADS, "1"),
        "NUMBA_CACHE_LOCATOR_CLASSES": "arena.sandbox.compiled.Locator",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ARENA_CACHE": f"{folder}/arena",
        "TMPDIR": folder,
        "HOME": folder,
    }


def _number_of(process: int) -> int:
    """The number, as seen from here, of the process that a descriptor stands for."""
    told = Path(f"/proc/self/fdinfo/{process}").read_text()
    return next(int(line.split()[1]) for line in told.splitlines() if line.startswith("Pid:"))


def built(bundle: Bundle, program: Program, isolation: Isolation) -> Path:
    """The folder with a program's files, built; made once on each machine. Raises `Fault` when it cannot be built."""
    key = hashlib.blake2b(f"{bundle.hash} {isolation}".encode(), digest_size=16).hexdigest()
    folder = cache_root() / "programs" / key
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as desk:
        fresh = Path(desk, "bot")
        for name, content in bundle.files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content)
            (fresh / name).chmod(0o755)
        if program.build:
            _build(program, fresh, isolation)
        with contextlib.suppress(OSError):  # another process was first
            os.rename(fresh, folder)
    return folder


def _build(program: Program, folder: Path, isolation: Isolation) -> None:
    inside = "/bot" if isolation == "sandbox" else str(folder)
    spawn = Spawn(
        program.build,
        isolation,
        environment={"HOME": "/tmp", "TMPDIR": "/tmp"},
        readable=program_paths(program.build[0]),
        writable=[(str(folder), inside)] if isolation == "sandbox" else [],
        folder=inside,
        limits={"memory": BUILD_MEMORY, "seconds": BUILD_LIMIT},
        processes=True,
    )
    with tempfile.TemporaryFile() as said:
        try:
            with spawn.start(subprocess.DEVNULL, said.fileno(), said.fileno()) as (process, _):
                code = process.wait(BUILD_LIMIT)
        except subprocess.TimeoutExpired:
            raise Fault("init", f"its build took longer than {BUILD_LIMIT:g} s") from None
        except OSError as error:
            raise Fault("init", f"its build '{program.build[0]}' cannot be started: {error}") from None
        said.seek(0)
        words = said.read(65_536).decode(errors="replace").strip()
    if code:
        raise Fault("init", f"its build ended with code {code}: {words[-2000:]}")
    if sum(path.lstat().st_size for path in folder.rglob("*")) > BUILD_BYTES:
        shutil.rmtree(folder)
        raise Fault("init", f"its build made more than {BUILD_BYTES >> 20} MiB")
