"""Keep a worker on every processor of a Ray cluster and pass messages on; the one place that knows Ray.

`arena.workers.ray.pool` runs it and talks to it over a socket. It is a process of its own because Ray blocks for ever,
or ends the process it is in, when a cluster's head is lost; so it may be ended at any moment, and nothing is lost with
it.

A Ray worker is an actor that owns one `WorkerProcess`: bots run in that child, so that a bot that crashes or hangs
takes neither the actor nor Ray with it, and a match is played by the same code as on a local worker.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import os
import platform
import queue
import shutil
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

os.environ.setdefault("RAY_worker_niceness", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_DEDUP_LOGS", "0")
os.environ.setdefault("RAY_memory_monitor_refresh_ms", "0")  # the kernel ends the bot, Ray would end the actor
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from arena.core.errors import WorkerError
from arena.core.process_trees import kill_descendants
from arena.core.versions import code_hash, differences, versions
from arena.workers import messages
from arena.workers.process import WorkerProcess
from arena.workers.ray.messages import (
    ClusterAlive,
    ClusterEvent,
    ClusterFailed,
    ClusterOrder,
    Remark,
    Ticket,
    TicketReply,
    WorkerDown,
    WorkerUp,
)

LOOK_SECONDS = 1.0
"""Seconds between two looks at which nodes the cluster has."""
ALONE_SECONDS = 60.0
"""Seconds that a run waits when no worker plays any more."""
START_SECONDS = 180.0
"""The same before the first worker has played."""
STOP_SECONDS = 2.0
PROBE_SECONDS = 10.0
EMPTY_SETTINGS = b"\0\0\0\4\0\0\0\0\0"
"""A frame of HTTP/2 (RFC 9113, 4.1), which gRPC uses: length, kind, flags, stream. Both sides send settings first."""
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + EMPTY_SETTINGS
SURVEY_SECONDS = 30.0
MAX_LOSSES = 8
"""Workers that a node may lose in a row, for each of its processors, before it is left out."""


class RayWorker:
    """One worker process, on whichever node Ray put this actor."""

    def __init__(self, folder: str | None) -> None:
        self._worker = WorkerProcess(folder)

    def start(self, plan: messages.WorkerPlan, code: str, theirs: dict[str, str]) -> tuple[str, list[str]]:
        """Spawn the process and tell it the plan; its host, and what is worth a remark.

        `code` and `theirs` are the driver's. Raises `WorkerError` when this node cannot play or would play otherwise.
        """
        if code != code_hash():
            raise WorkerError("it has another version of engine or arena than this command; install the same")
        refused, remarks = differences(versions(), theirs)
        if refused:
            raise WorkerError(f"{'; '.join(refused)}; install the same versions")
        self._worker.give_plan(plan)
        return platform.node(), remarks

    def play(self, chunk: bytes) -> tuple[str, bytes | messages.WorkerDeath]:
        """Return the process's name for the log, and its reply to a chunk."""
        reply = self._worker.play(chunk)
        return self._worker.name, reply

    def stop(self) -> None:
        self._worker.stop()


ACTOR: Any = ray.remote(num_cpus=1, max_restarts=0)(RayWorker)
ACTOR_ENVIRONMENT = {"RAY_kill_child_processes_on_worker_exit": "false"}
"""A worker process ends by itself when its actor is gone, and cleans up before; Ray would not let it."""


@dataclass
class Node:
    """A machine of the cluster."""

    name: str
    slots: int
    """Its processors."""
    workers: set[int] = field(default_factory=set)
    losses: int = 0
    """Workers lost since one of its workers last played."""
    refusal: str = ""
    """Why it is left out."""


@dataclass
class Worker:
    """An actor of ours."""

    node: str
    actor: Any
    up: bool = False
    tickets: set[int] = field(default_factory=set)
    """Numbers of those that it has not answered."""


class Driver:
    """Serves one `arena.workers.ray.pool.RayPool`; everything but looking and listening happens in one thread."""

    def __init__(self, connection: Connection, order: ClusterOrder) -> None:
        self.connection, self.order = connection, order
        self.events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.nodes: dict[str, Node] = {}
        self.workers: dict[int, Worker] = {}
        self.numbers = itertools.count()
        self.remarks: set[str] = set()
        self.alone_until = time.monotonic() + START_SECONDS
        self.joined = self.ended = False

    def run(self) -> None:
        """Run until told to stop, or until there is nothing left to play on."""
        threading.Thread(target=self.listen, daemon=True).start()  # a pool may go while Ray waits for a head
        connect(self.order)
        self.joined = True
        self.home = ray.get_runtime_context().get_node_id()
        self.plan = ray.put(self.order.plan)
        threading.Thread(target=self.watch, daemon=True).start()
        while not self.ended:
            self.events.get()()
        self.close()

    def listen(self) -> None:
        """Turn what the pool says into events until it is gone, then end: at once where Ray was started here."""
        with contextlib.suppress(EOFError, OSError):
            while (message := self.connection.recv()) is not None:
                self.events.put(functools.partial(self.play, message))
        if self.order.address is not None and self.joined:
            self.events.put(self.stop)
            time.sleep(4 * STOP_SECONDS)
        self.leave()  # at once what is ours; Ray does not always let go of a cluster

    def leave(self) -> None:
        """End this process and all that it has started, whatever its threads are doing."""
        kill_descendants(os.getpid())
        shutil.rmtree(self.order.folder, ignore_errors=True)  # a pool that was killed cannot
        os._exit(1)

    def watch(self) -> None:
        """Look which nodes there are, time and again. Without a head this blocks for ever, which the pool notices."""
        while True:
            self.events.put(functools.partial(self.look, ray.nodes()))
            time.sleep(LOOK_SECONDS)

    def look(self, table: list[dict[str, Any]]) -> None:
        """Follow the cluster: give up what was on nodes that are gone, start what is missing on the others."""
        alive = {row["NodeID"]: row for row in table if row["Alive"]}
        if self.home not in alive:
            return self.fail("Ray has ended on this machine")
        for node in set(self.nodes) - set(alive):
            for number in list(self.nodes.pop(node).workers):
                self.forget(number)
        for node, row in alive.items():
            slots = int(row["Resources"].get("CPU", 0))
            if node not in self.nodes and slots:
                self.nodes[node] = Node(f"{row['NodeManagerHostname']} ({row['NodeName']})", slots)
        for node, known in self.nodes.items():
            while len(known.workers) < known.slots and not known.refusal:
                self.start(node)
        self.send(ClusterAlive())
        self.check()

    def check(self) -> None:
        """Give up when nothing plays and nothing is to be hoped for."""
        if any(worker.up for worker in self.workers.values()):
            self.alone_until = time.monotonic() + ALONE_SECONDS
            return
        refusals = [f"{node.name} is left out: {node.refusal}" for node in self.nodes.values() if node.refusal]
        if refusals and len(refusals) == len(self.nodes):
            self.fail("; ".join(refusals))
        elif time.monotonic() > self.alone_until:
            self.fail("; ".join(["no processor of the cluster is free or ready to play", *refusals]))

    def start(self, node: str) -> None:
        """Ask for an actor on a node; whether and when it comes is another matter."""
        number = next(self.numbers)
        where = NodeAffinitySchedulingStrategy(node, soft=False)
        actor = ACTOR.options(scheduling_strategy=where, runtime_env={"env_vars": ACTOR_ENVIRONMENT}).remote(
            None if self.order.address else self.order.folder
        )
        self.workers[number] = Worker(node, actor)
        self.nodes[node].workers.add(number)
        self.when_done(actor.start.remote(self.plan, code_hash(), versions()), self.started, number)

    def when_done(self, reference: Any, call: Callable[..., None], *arguments: Any) -> None:
        """Have `call(*arguments, future)` among the events when a result is there, or never will be."""
        reference.future().add_done_callback(
            lambda future: self.events.put(functools.partial(call, *arguments, future))
        )

    def started(self, number: int, future: Any) -> None:
        if number not in self.workers:
            return
        node = self.nodes[self.workers[number].node]
        error = future.exception()
        if error is None:
            host, remarks = future.result()
            self.remark(*(f"{host}: {remark}" for remark in remarks))
            self.workers[number].up = True
            self.send(WorkerUp(number))
        elif isinstance(error, (ray.exceptions.RayActorError, ray.exceptions.ActorUnschedulableError)):
            self.on_worker_lost(number, error)
        else:
            self.refuse(node, _reason(error))

    def refuse(self, node: Node, why: str) -> None:
        """Leave a node out for good."""
        node.refusal = why
        self.remark(f"{node.name} is left out: {why}")
        for number in list(node.workers):
            self.forget(number)

    def remark(self, *lines: str) -> None:
        """Say something to the user, once."""
        for line in lines:
            if line not in self.remarks:
                self.remarks.add(line)
                self.send(Remark(line))

    def play(self, ticket: Ticket) -> None:
        worker = self.workers.get(ticket.worker)
        if worker is None:
            return self.send(TicketReply(ticket.number, "", messages.WorkerLost(in_play=False)))
        worker.tickets.add(ticket.number)
        self.when_done(worker.actor.play.remote(ticket.chunk), self.played, ticket.worker, ticket.number)

    def played(self, number: int, ticket: int, future: Any) -> None:
        worker = self.workers.get(number)
        if worker is None:
            return
        error = future.exception()
        if error is not None:
            return self.on_worker_lost(number, error)
        worker.tickets.discard(ticket)
        self.nodes[worker.node].losses = 0
        self.send(TicketReply(ticket, *future.result()))

    def on_worker_lost(self, number: int, error: BaseException) -> None:
        """Replace an actor that ended; no bot is to blame, as bots die in processes of their own.

        When its whole node ended, that is found out at one of the next looks.
        """
        node = self.nodes[self.workers[number].node]
        self.forget(number)
        node.losses += 1
        if node.losses > MAX_LOSSES * node.slots:
            self.refuse(node, f"its workers are lost again and again: {_reason(error)}")

    def forget(self, number: int) -> None:
        """Give up an actor, and give back what it had."""
        worker = self.workers.pop(number)
        if worker.node in self.nodes:
            self.nodes[worker.node].workers.discard(number)
        self.send(WorkerDown(number))
        for place, ticket in enumerate(sorted(worker.tickets)):
            self.send(TicketReply(ticket, "", messages.WorkerLost(in_play=place == 0)))
        with contextlib.suppress(Exception):
            ray.kill(worker.actor)

    def send(self, event: ClusterEvent) -> None:
        with contextlib.suppress(OSError):  # the pool is gone, which `listen` notices
            self.connection.send(event)

    def fail(self, why: str) -> None:
        self.send(ClusterFailed(why))
        self.stop()

    def stop(self) -> None:
        self.ended = True

    def close(self) -> None:
        """End the actors, and Ray if it was started here."""
        actors = [worker.actor for worker in self.workers.values()]
        stopped = [actor.stop.remote() for actor in actors]
        with contextlib.suppress(Exception):
            ray.wait(stopped, num_returns=len(stopped), timeout=STOP_SECONDS)
        for actor in actors:
            ray.kill(actor)
        ray.shutdown()
        shutil.rmtree(self.order.folder, ignore_errors=True)  # a pool that was killed cannot


def connect(order: ClusterOrder) -> None:
    """Join the cluster, or start Ray on this machine; Ray's own log stays off the terminal."""
    os.environ["PYTHONHASHSEED"] = "0"
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False, "configure_logging": True}
    if order.address is not None:
        probe(order.address)
        ray.init(address=order.address, **quiet)
    else:
        ray.init(num_cpus=order.workers, include_dashboard=False, _temp_dir=order.folder, **quiet)


def probe(address: str) -> None:
    """Raise `WorkerError` when no head answers at an address; Ray itself would try for minutes, or for ever."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    remedy = "`ray start --head` starts a head"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), PROBE_SECONDS) as connection:
            if os.environ.get("RAY_USE_TLS", "0") not in ("1", "true"):
                connection.sendall(GREETING)
                if connection.recv(len(EMPTY_SETTINGS), socket.MSG_WAITALL)[3:4] != EMPTY_SETTINGS[3:4]:
                    raise WorkerError(f"what answers at {address} is no head of Ray; {remedy}")
    except TimeoutError:
        raise WorkerError(f"nothing answers at {address} in {PROBE_SECONDS:g} s; {remedy}") from None
    except (OSError, OverflowError) as error:
        raise WorkerError(f"nothing answers at {address} ({error}); {remedy}") from None


def _reason(error: BaseException) -> str:
    """Return in one line what an actor failed with."""
    lines = str(getattr(error, "cause", None) or error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__


def survey(address: str) -> list[dict[str, Any]]:
    """Return the live nodes of a cluster: host, cores, versions, code hash, seconds that their clock is ahead.

    A node that does not answer has an `error` instead.
    """

    def tell() -> dict[str, Any]:  # sent as it is written: a node may lack the arena, or have another one
        import platform
        import time
        from importlib.metadata import PackageNotFoundError, version

        try:
            from arena.core.versions import code_hash, versions

            arena, code, all_versions = version("pyramid-arena"), code_hash(), versions()
        except (ImportError, PackageNotFoundError):
            arena, code, all_versions = "", "", {}
        found = {"python": platform.python_version(), "ray": version("ray"), "arena": arena, "code": code}
        return {**found, "versions": all_versions, "time": time.time()}

    try:
        connect(ClusterOrder(address, 1, "", None))
    except Exception as error:
        raise WorkerError(f"no Ray cluster at {address}: {_reason(error)}") from None
    try:
        rows = []
        for node in (node for node in ray.nodes() if node["Alive"]):
            where = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            row: dict[str, Any] = {"host": node["NodeManagerHostname"], "cpus": int(node["Resources"].get("CPU", 0))}
            try:
                task = ray.remote(num_cpus=0, max_retries=0)(tell).options(scheduling_strategy=where)
                answer: Any = ray.get(task.remote(), timeout=SURVEY_SECONDS)
                row |= answer
                row["ahead"] = row.pop("time") - time.time()
            except Exception as error:
                row["error"] = _reason(error)
            rows.append(row)
        return sorted(rows, key=lambda row: str(row["host"]))
    finally:
        ray.shutdown()


def main(descriptor: int) -> None:
    """Serve the pool at the other end of a socket; it sends the order first."""
    connection = Connection(descriptor)
    driver = Driver(connection, connection.recv())
    try:
        driver.run()
    except Exception as error:
        driver.send(ClusterFailed(_reason(error)))
        driver.leave()
