"""Messages between a Ray pool and its driver process. Both are ours and run no bots: `Connection` pickles for them."""

from __future__ import annotations

from typing import NamedTuple

from arena.workers.messages import WorkerDeath, WorkerLost, WorkerPlan


class ClusterOrder(NamedTuple):
    """First message of a Ray pool to its driver process: what to join or to start, and what is played."""

    address: str | None
    """None: Ray on this machine alone."""
    workers: int
    """Workers, when Ray is on this machine alone."""
    folder: str
    """Where the driver may keep files, on this machine."""
    plan: WorkerPlan | None


class Ticket(NamedTuple):
    """An encoded chunk for a Ray worker."""

    worker: int
    number: int
    """Of the ticket; the reply has the same."""
    chunk: bytes


class TicketReply(NamedTuple):
    """Reply of a Ray worker to a ticket."""

    number: int
    worker_name: str
    """Of the worker process, for the log."""
    answer: bytes | WorkerDeath | WorkerLost


class ClusterAlive(NamedTuple):
    """The cluster's head has answered."""


class WorkerUp(NamedTuple):
    """A Ray worker can play."""

    worker: int


class WorkerDown(NamedTuple):
    """A Ray worker is gone."""

    worker: int


class Remark(NamedTuple):
    """A line for the user."""

    line: str


class ClusterFailed(NamedTuple):
    """The cluster cannot play, and why."""

    why: str


ClusterEvent = ClusterAlive | WorkerUp | WorkerDown | Remark | ClusterFailed | TicketReply
"""What a Ray pool's driver process says."""
