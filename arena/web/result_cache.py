"""Results that are kept: made once at a time, whoever asks, and again when their log has changed.

`cachetools.LRUCache` would replace three lines of these: it bounds what is kept, at 0.4 µs a look-up against 0.2, and
knows no versions, no budgets and no callers that wait for one computation. It asks for the size of an entry once, when
it is put in; here that is before its result is there.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReadyError
from typing import Any, Generic, NamedTuple, TypeVar

from arena.web.compute_process import ComputeProcess
from arena.web.value_sizes import size_of

T = TypeVar("T")

MAX_RESULTS = 512
"""Results kept at once; those asked for longest ago go first."""
MAX_RESULT_BYTES = 2**27
"""Most memory of all that are kept, but for the newest one, which is kept in any case."""
REFRESH_SHARE = 0.01
"""Most of a core that is spent on making results of one kind again because logs change all the time."""
RETRY_SECONDS = 2.0
"""Time after which what has failed is tried again: its log may have been locked for a while."""


class CachedResult(NamedTuple, Generic[T]):
    """A result, and the version of the log that it was made from."""

    value: T
    version: Hashable


class RefreshBudget:
    """Processor time that may be spent in the long run."""

    def __init__(self, share: float = REFRESH_SHARE) -> None:
        self._share = share
        self._free = 0.0
        """When all that has been spent is paid for, by the monotonic clock."""

    def has_some(self) -> bool:
        """Whether something may be begun."""
        return time.monotonic() >= self._free

    def spend(self, seconds: float) -> None:
        """Pay for processor time."""
        self._free = max(self._free, time.monotonic()) + seconds / self._share


def in_this_thread(compute: Callable[[], T]) -> tuple[T, float]:
    """Return what a function returns, and the processor seconds that it took."""
    begun = time.thread_time()
    return compute(), time.thread_time() - begun


class CacheEntry(Generic[T]):
    """One result, made again for another version as often as the budget allows.

    `run` computes it, and returns it with the processor seconds that it took.
    """

    def __init__(
        self, budget: RefreshBudget, run: Callable[[Callable[[], T]], tuple[T, float]] = in_this_thread
    ) -> None:
        self._budget, self._run = budget, run
        self._lock = threading.Lock()
        self._latest: CachedResult[T] | None = None
        self._failed: tuple[Hashable, BaseException, float] | None = None
        """Version, error, and when it was, by the monotonic clock."""
        self._running: Future[T] | None = None
        self._begun = 0.0
        self.size = 0
        """Bytes of the latest result, roughly."""

    def get(
        self,
        version: Hashable,
        compute: Callable[[], T],
        executor: ThreadPoolExecutor,
        patience: float | None,
        urgent: bool = False,
        done: Callable[[], None] = lambda: None,
    ) -> CachedResult[T] | None:
        """Return the result of this version, or else the latest one; None when `patience` is over before the first.

        `done` is called when a result that this begins is there, or has failed.

        `patience` is in seconds since it was begun, None to wait for this version in any case. An `urgent` version is
        begun at once, whatever the last one cost. Raises what `compute` raised for this version.
        """
        with self._lock:
            if self._latest is not None and self._latest.version == version:
                return self._latest
            if self._failed is not None:
                failed, error, when = self._failed
                if failed == version and time.monotonic() < when + RETRY_SECONDS:
                    raise error.with_traceback(None)
            known = self._latest
            due = known is None or urgent or patience is None or self._budget.has_some()
            if self._running is None and due:
                self._running, self._begun = executor.submit(self._make, version, compute, done), time.monotonic()
            running = self._running
            left = None if patience is None else max(0.0, self._begun + patience - time.monotonic())
        if running is None or (known is not None and patience is not None):
            return known
        try:
            running.result(left)
        except NotReadyError:
            return None
        if patience is None and self._latest is not None and self._latest.version != version:
            return self.get(version, compute, executor, patience, urgent, done)  # another version was under way
        return self._latest

    def _make(self, version: Hashable, compute: Callable[[], T], done: Callable[[], None]) -> T:
        try:
            return self._made(version, compute)
        finally:
            done()

    def _made(self, version: Hashable, compute: Callable[[], T]) -> T:
        try:
            value, seconds = self._run(compute)
        except BaseException as error:
            with self._lock:
                self._failed, self._running = (version, error, time.monotonic()), None
            raise
        size = size_of(value)
        with self._lock:
            self.size = size
            if self._latest is not None:  # the first time is nobody's fault
                self._budget.spend(seconds)
            self._latest, self._failed, self._running = CachedResult(value, version), None, None
        return value


class ResultCache:
    """Results that are kept, by key; slow ones are computed in another process where there is one.

    At most `most` of them are kept, of at most `most_bytes`, and so many `threads` compute those that are not slow.
    """

    def __init__(
        self,
        computer: ComputeProcess | None = None,
        most: int = MAX_RESULTS,
        threads: int = 8,
        most_bytes: int = MAX_RESULT_BYTES,
    ) -> None:
        self._computer, self._most, self._most_bytes = computer, most, most_bytes
        self._slow = ThreadPoolExecutor(2 if computer is None else 1, thread_name_prefix="slow")
        self._quick = ThreadPoolExecutor(threads, thread_name_prefix="quick")
        self._lock = threading.Lock()
        self._budgets: dict[str, RefreshBudget] = {}
        """By kind, so that standings need not wait until figures are paid for."""
        self._entries: OrderedDict[Hashable, CacheEntry[Any]] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        """Bytes of each, as they are counted."""
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """Memory of all that are kept, roughly."""
        return self._bytes

    def get(
        self,
        key: Hashable,
        version: Hashable,
        compute: Callable[[], T],
        patience: float | None = None,
        urgent: bool = False,
        slow: bool = False,
        kind: str = "",
        done: Callable[[], None] = lambda: None,
    ) -> CachedResult[T] | None:
        """Return the result of a key as `CacheEntry.get` does; what is `slow` does not keep others waiting.

        Results of one `kind` share what may be spent on making them again.
        """
        run = self._computer.run if slow and self._computer is not None else in_this_thread
        with self._lock:
            kept = self._entries.setdefault(key, CacheEntry(self._budgets.setdefault(kind, RefreshBudget()), run))
            self._entries.move_to_end(key)
            if len(self._entries) > self._most:
                self._drop_oldest()

        def made() -> None:
            self._count(key, kept)
            done()

        return kept.get(version, compute, self._slow if slow else self._quick, patience, urgent, made)

    def _count(self, key: Hashable, kept: CacheEntry[Any]) -> None:
        """Count the bytes of a result that is there now; where they are too many, those asked for longest ago go."""
        with self._lock:
            if self._entries.get(key) is not kept:  # it was dropped meanwhile
                return
            self._bytes += kept.size - self._sizes.get(key, 0)
            self._sizes[key] = kept.size
            while self._bytes > self._most_bytes and len(self._entries) > 1:
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        key, _ = self._entries.popitem(last=False)
        self._bytes -= self._sizes.pop(key, 0)

    def close(self) -> None:
        """End the process, and the threads when they have done what they are at."""
        for executor in (self._slow, self._quick):
            executor.shutdown(wait=False, cancel_futures=True)
        if self._computer is not None:
            self._computer.close()
