"""Attacks on the sandbox: two bots of one match, or one bot in matches at once, in turn, and in two tournaments.

Each tries to run, to hear or to leave a word when it should not. What remains is in `docs/explanation/isolation.md`.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.core.process_trees import is_stopped, resident_bytes
from arena.isolation import outside_users
from arena.isolation.bot_process import BETWEEN_SECONDS
from arena.isolation.fork_client import ForkClient
from arena.isolation.launch import HELD_OUT
from arena.match.faults import Fault
from tests.support.cells import Cell, Cells

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="system calls are named by their numbers there")
REFUSED = ("ENOSYS", "EPERM", "EINVAL", "EOPNOTSUPP", "ENOLCK", "ENOTTY")
SIGCONT = 18


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cells]:
    made = Cells(tmp_path_factory.mktemp("cells"))
    yield made
    made.close()


@pytest.fixture
def alice(cells: Cells) -> Iterator[Cell]:
    with cells.open(0) as cell:
        yield cell


@pytest.fixture
def bob(cells: Cells) -> Iterator[Cell]:
    with cells.open(1) as cell:
        yield cell


def cpu(cell: Cell) -> float:
    """Seconds of processor time of a cell's process, now."""
    return time.clock_gettime(~cell.process.pid << 3 | 2)


WAKERS = {
    "kill": "kill(os.getpid(), 18)",
    "killpg": "killpg(0, 18)",
    "tkill": "syscall(200, threading.get_native_id(), 18)",
    "tgkill": "syscall(234, os.getpid(), threading.get_native_id(), 18)",
    "tgkill with more bits": "syscall(234, os.getpid(), threading.get_native_id(), 18 | 1 << 32)",
    "rt_sigqueueinfo": "syscall(129, os.getpid(), 18, INFO)",
    "rt_tgsigqueueinfo": "syscall(297, os.getpid(), threading.get_native_id(), 18, INFO)",
    "pidfd_send_signal": "syscall(424, 3, 18, 0, 0)",
    "timer_create": "syscall(222, 1, EVENT, INFO)",
    "mq_notify": "syscall(244, 3, EVENT)",
    "io_setup": "syscall(206, 1, INFO)",
    "io_uring_setup": "syscall(425, 8, INFO)",
    "F_SETSIG": "syscall(72, 3, 10, 18)",
    "F_SETOWN": "syscall(72, 3, 8, os.getpid())",
    "F_SETOWN_EX": "syscall(72, 3, 15, INFO)",
    "FIOSETOWN": "syscall(16, 3, 0x8901, EVENT)",
    "F_NOTIFY": "syscall(72, 3, 1026, 1)",
    "PR_SET_PDEATHSIG": "syscall(157, 1, 18, 0, 0, 0)",
    "a child's end": "syscall(56, 18, 0, 0, 0, 0)",
}


@pytest.mark.parametrize("call", WAKERS.values(), ids=WAKERS)
def test_no_call_that_sends_signals_wakes_a_bot_that_is_stopped(call, alice):
    buffers = "INFO = ctypes.create_string_buffer(128); EVENT = ctypes.create_string_buffer(b'\\x12' * 64, 64)"
    code = call if call.startswith("syscall") else f"attempt(lambda: os.{call})"
    assert alice.run(f"{buffers}; result = {code}") in REFUSED


def test_threads_that_would_continue_their_process_do_not_run_while_others_move(alice):
    alice.run(
        """
def again():
    while True:
        attempt(lambda: os.kill(os.getpid(), 18))
for _ in range(4):
    threading.Thread(target=again, daemon=True).start()
"""
    )
    before = cpu(alice)
    for _ in range(50):
        assert is_stopped(alice.process.pid)
        time.sleep(0.002)
    assert cpu(alice) == before


def test_whatever_works_on_beyond_its_bound_between_moves_is_a_fault(cells):
    with cells.open(0) as cell:
        cell.process.allowed_between = -1.0  # seconds
        with pytest.raises(
            Fault, match=rf"more than {BETWEEN_SECONDS:g} s of processor time between its moves"
        ) as fault:
            cell.run("result = 1")
    assert fault.value.cause == "timeout"


def test_a_bot_that_leaves_garbage_threads_and_matrices_behind_is_not_at_fault(alice):
    alice.process.begin_match()
    for _ in range(30):
        alice.run(
            """
import gc
import numpy
rubbish = [[each] for each in range(20_000)]
for each in rubbish:
    each.append(each)
product = numpy.ones((200, 200)) @ numpy.ones((200, 200))
result = None
"""
        )
    assert alice.process.between < BETWEEN_SECONDS


def test_a_bot_cannot_tell_how_much_the_parent_of_all_bots_has_worked(alice):
    own = alice.run("result = attempt(lambda: time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID))")
    assert own > 0
    for clock in (~1 << 3 | 2, ~1 << 3, ~1 << 3 | 1, (~1 << 3 | 2) & 0xFFFFFFFF):
        stamp = "ctypes.create_string_buffer(16)"
        assert alice.run(f"result = syscall(228, {clock}, {stamp})") in REFUSED
        assert alice.run(f"result = syscall(230, {clock}, 0, {stamp}, 0)") in REFUSED


FILE = """
import mmap
file = open("/usr/bin/env", "rb")
page = libc.mmap
page.restype = ctypes.c_void_p
place = page(None, ctypes.c_size_t(4096), 1, {flags}, file.fileno(), ctypes.c_size_t(0))
word = ctypes.cast(place, ctypes.POINTER(ctypes.c_int))[0]
span = struct.pack("qq", 1, 0)
"""


@pytest.mark.parametrize("flags", [1, 2], ids=["shared", "private"])
def test_nobody_is_woken_by_a_futex_in_a_page_of_a_file_that_all_read(flags, alice, bob):
    for cell in (alice, bob):
        cell.run(FILE.format(flags=flags))
    for wait in (0, 9, 9 | 256):
        bits = ", 0, -1" if wait else ""
        assert alice.run(f"result = syscall(202, ctypes.c_void_p(place), {wait}, word, span{bits})") == "EAGAIN"
    for wake in (1, 3, 4, 5, 6, 10, 11, 12, 13):
        assert bob.run(f"result = syscall(202, ctypes.c_void_p(place), {wake}, 1, 1, 0, word)") in REFUSED


def test_the_end_of_a_thread_wakes_nobody_elsewhere(alice, bob):
    """Linux itself wakes whoever waits for the futex that a thread's end clears; so nobody waits for such a one."""
    for cell in (alice, bob):
        cell.run(FILE.format(flags=1))
    waits = """
until = time.monotonic() + 2
result = set()
while time.monotonic() < until:
    result.add(syscall(202, ctypes.c_void_p(place), 9, word, span, 0, -1))
result = sorted(result, key=str)
"""
    ends = """
def end():
    syscall(218, ctypes.c_void_p(place))
for _ in range(20):
    thread = threading.Thread(target=end); thread.start(); thread.join()
"""
    with alice.running(waits) as heard:
        bob.run(ends)
    assert heard == [["EAGAIN"]]


def test_threads_can_be_joined_all_the_same(alice):
    assert alice.run(
        """
done = []
threads = [threading.Thread(target=done.append, args=[number]) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
result = sorted(done)
"""
    ) == [*range(8)]


DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
TOUCHES = """
for path in {devices}:
    name = path.encode()
    handle = os.open(path, os.O_RDWR if path != "/dev/random" else os.O_RDONLY)
    for number, arguments in [
        (197, (name, b"user.word")), (198, (name, b"user.word")), (199, (handle, b"user.word")),
        (188, (name, b"user.word", b"1", 1, 0)), (190, (handle, b"user.word", b"1", 1, 0)),
        (197, (name, b"security.word")), (197, (name, b"trusted.word")),
        (90, (name, 0o600)), (91, (handle, 0o600)), (92, (name, 65534, 65534)), (132, (name, 0)),
        (280, (-100, name, 0, 0)), (452, (-100, name, 0o600, 0)),
    ]:
        syscall(number, *arguments)
    attempt(lambda: os.write(handle, b"word"))
    attempt(lambda: os.read(handle, 1))
    attempt(lambda: os.ftruncate(handle, 0))
    os.close(handle)
"""


def test_nothing_of_a_device_changes_that_another_match_could_see(cells):
    look = (
        f"result = [list(os.stat(path)) + [os.stat(path).st_ctime_ns, os.stat(path).st_atime_ns] for path in {DEVICES}]"
    )
    with cells.open(0) as first:
        before = first.run(look)
        first.run(TOUCHES.format(devices=DEVICES))
    with cells.open(1) as second:
        assert second.run(look) == before


COUNTERS = {
    "contexts of asynchronous I/O": "syscall(206, 64, ctypes.create_string_buffer(8))",
    "descriptors in flight": "attempt(lambda: socket.send_fds(socket.socketpair()[0], [b'x'], [3]))",
    "messages with descriptors": "syscall(46, 3, ctypes.create_string_buffer(56), 0)",
    "size of a pipe": "syscall(72, os.pipe()[0], 1031, 1 << 20)",
    "size of a pipe, asked": "syscall(72, os.pipe()[0], 1032, 0)",
    "a pipe of notices": "syscall(293, ctypes.create_string_buffer(8), 0o200)",
    "signals with a value": "attempt(lambda: syscall(129, os.getpid(), 40, ctypes.create_string_buffer(128)))",
    "signals of real time": "attempt(lambda: os.kill(os.getpid(), 40))",
    "watches": "syscall(294, 0)",
    "fanotify": "syscall(300, 0, 0)",
    "locks of a file": "attempt(lambda: __import__('fcntl').flock(os.open('/usr/bin/env', 0), 2 | 4))",
    "locks of a part": "attempt(lambda: __import__('fcntl').lockf(os.open('/usr/bin/env', 0), 1 | 4))",
    "leases": "syscall(72, os.open('/usr/bin/env', 0), 1024, 0)",
    "keys": "syscall(250, 0, -4, 1)",
    "messages of System V": "syscall(68, 7, 0o1666)",
    "shared memory of System V": "syscall(29, 7, 4096, 0o1666)",
    "semaphores": "syscall(64, 7, 1, 0o1666)",
    "queues of POSIX": "syscall(240, b'word', 0o102, 0o600, 0)",
    "nameless files in memory": "syscall(319, b'word', 0)",
    "sockets of the network": "attempt(lambda: socket.socket())",
    "names of sockets": "attempt(lambda: socket.socketpair()[0].bind(b'\\0word'))",
    "buffers of sockets": "attempt(lambda: socket.socketpair()[0].setsockopt(1, 7, 1 << 22))",
    "buffers of sockets, asked": "attempt(lambda: socket.socketpair()[0].getsockopt(1, 7))",
    "datagrams": "attempt(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].fileno())",
    "merging of equal pages, all": "syscall(157, 67, 1, 0, 0, 0)",
    "merging of equal pages": "syscall(28, MAP, 4096, 12)",
    "huge pages of the machine": "syscall(9, 0, 1 << 21, 3, 0x40022, -1, 0)",
    "what is cached": "syscall(27, MAP, 4096, ctypes.create_string_buffer(8))",
    "what is cached, newer": "syscall(451, 3, ctypes.create_string_buffer(16), ctypes.create_string_buffer(64), 0)",
    "what is cached, by reading": "syscall(327, 3, ctypes.create_string_buffer(16), 1, 0, 0, 8)",
    "dropping from the cache": "syscall(221, os.open('/usr/bin/env', 0), 0, 0, 4)",
    "reading ahead": "syscall(187, os.open('/usr/bin/env', 0), 0, 4096)",
    "the state of the machine": "syscall(99, ctypes.create_string_buffer(128))",
    "room on disks": "attempt(lambda: os.statvfs('/usr').f_bfree)",
    "numbers of mounts": "syscall(332, -100, b'/', 0, 0x1000, ctypes.create_string_buffer(256))",
    "barriers of all processors": "syscall(324, 1, 0, 0)",
    "a processor of its choice": "attempt(lambda: os.sched_setaffinity(0, {0}))",
    "priority": "attempt(lambda: os.setpriority(0, 0, 5))",
    "priority of disks": "syscall(251, 1, 0, 1)",
    "the page cache of a pipe": "syscall(278, os.pipe()[1], ctypes.create_string_buffer(16), 1, 0)",
    "another program": "attempt(lambda: os.execv('/bin/true', ['true']))",
    "processes": "attempt(lambda: os.fork())",
    "processes, newer": "syscall(435, ctypes.create_string_buffer(88), 88)",
    "namespaces": "syscall(272, 0x10000000)",
    "a filter of its own": "syscall(317, 1, 0, ctypes.create_string_buffer(16))",
    "entropy of the machine": "syscall(16, os.open('/dev/urandom', 0), 0x80045200, ctypes.create_string_buffer(8))",
    "faults in user space": "syscall(323, 0)",
    "events of the processor": "syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)",
    "a limit of processor time": "syscall(302, 0, 0, ctypes.create_string_buffer(16), 0)",
    "limits of others": "syscall(302, 1, 7, 0, ctypes.create_string_buffer(16))",
}


@pytest.mark.parametrize("call", COUNTERS.values(), ids=COUNTERS)
def test_what_counts_for_the_machine_or_the_user_is_neither_changed_nor_asked(call, alice):
    alice.run("MAP = ctypes.c_void_p(ctypes.addressof(ctypes.create_string_buffer(8192)) & ~4095)")
    assert alice.run(f"result = {call}") in (*REFUSED, "EAFNOSUPPORT")


def test_sysconf_tells_a_python_bot_its_own_bound_and_always_the_same(cells):
    asked = "result = [os.sysconf(name) for name in ('SC_PHYS_PAGES', 'SC_AVPHYS_PAGES', 'SC_PAGE_SIZE')]"
    found = []
    for server in (0, 1, 0):
        with cells.open(server, memory=300) as cell:
            found.append(cell.run(asked))
    assert found == [[300 * 256, 300 * 256, 4096]] * 3


def test_calls_of_a_foreign_architecture_end_the_process(alice):
    code = """
import mmap
memory = mmap.mmap(-1, 4096, prot=7)
memory.write(bytes.fromhex("b814000000cd80c3"))  # getpid of 32 bits
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
"""
    with pytest.raises(Fault, match="its process ended"):
        alice.run(code)


@pytest.mark.parametrize("number", [0x40000000 | 39, 0x40000000 | 1], ids=["getpid", "write"])
def test_calls_of_x32_are_not_let_in(number, alice):
    with pytest.raises(Fault, match="its process ended"):
        alice.run(f"result = syscall({number}, 3, 0, 0)")


def test_page_tables_count_as_a_bots_memory(cells):
    """A page of tables for each touched place of an address space that holds nothing."""
    with cells.open(0, memory=64) as cell, pytest.raises(Fault, match="uses more than 64 MiB") as fault:
        cell.run(
            """
libc.mmap.restype = ctypes.c_void_p
while True:
    place = libc.mmap(None, ctypes.c_size_t(1 << 36), 1, 0x4022, -1, ctypes.c_size_t(0))
    for offset in range(0, 1 << 36, 1 << 21):
        ctypes.cast(place + offset, ctypes.POINTER(ctypes.c_char))[0]
"""
        )
    assert fault.value.cause == "memory"


def test_what_the_kernel_holds_in_pipes_and_sockets_for_a_bot_is_bounded(alice):
    """Descriptors are few, and no buffer grows: all of them together hold less than 32 MiB."""
    held = alice.run(
        """
held, kept = 0, []
for make in (lambda: [each.detach() for each in reversed(socket.socketpair())], lambda: list(os.pipe())):
    for _ in range(40):
        ends = attempt(make)
        if isinstance(ends, str):
            break
        kept.append(ends)
        os.set_blocking(ends[1], False)
        while isinstance(sent := attempt(lambda: os.write(ends[1], bytes(65536))), int):
            held += sent
    while kept:
        for end in kept.pop(): os.close(end)
result = held
"""
    )
    assert 2**20 < held < 32 * 2**20


def test_signals_that_wait_are_few(alice):
    waiting = alice.run(
        """
signal.pthread_sigmask(signal.SIG_BLOCK, [34])
for _ in range(1000):
    os.kill(os.getpid(), 34)
result = 0
while signal.sigtimedwait([34], 0) is not None:
    result += 1
"""
    )
    assert 0 < waiting <= 65


def test_each_sandbox_has_a_user_of_its_own_outside_and_the_same_number_inside(cells):
    if outside_users.missing():
        pytest.skip(outside_users.missing())
    with cells.open(0) as first, cells.open(1) as second:
        inside = [cell.run("result = [os.getuid(), os.getgid(), os.getgroups()]") for cell in (first, second)]
        status = [Path(f"/proc/{cell.process.pid}/status").read_text() for cell in (first, second)]
    uids = {line.split()[1] for text in status for line in text.splitlines() if line.startswith("Uid:")}
    assert len(uids) == 2 and str(os.getuid()) not in uids
    assert inside[0] == inside[1] and inside[0][:2] == [65534, 65534]


def test_the_namespace_of_a_user_is_held_where_no_program_is_handed_its_pipes():
    with outside_users.lease() as user:
        assert user is None or user.namespace > HELD_OUT


def test_a_bot_cannot_become_the_user_who_runs_the_arena(alice):
    for number, arguments in ((105, (1,)), (117, (1, 1, 1)), (106, (1,)), (119, (1, 1, 1)), (122, (1,)), (116, (0, 0))):
        assert alice.run(f"result = syscall({number}, *{arguments})") in REFUSED


def test_threads_are_bounded_by_the_kernel_where_the_sandbox_has_a_user_of_its_own(cells):
    if outside_users.missing():
        pytest.skip(outside_users.missing())
    with cells.open(0) as cell, pytest.raises(Fault, match="threads") as fault:
        cell.run(
            """
kept = []
threading.stack_size(65536)
try:
    while True:
        kept.append(threading.Thread(target=time.sleep, args=[60], daemon=True)); kept[-1].start()
except RuntimeError:
    time.sleep(5)
"""
        )
    assert fault.value.cause == "memory"


def test_a_stopped_bot_does_not_run_when_its_rival_gives_it_reasons_to(alice, bob):
    """Pipes that fill, timers of its own that end, and signals that wait, are seen only at its next question."""
    alice.run(
        """
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(time.monotonic()))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
"""
    )
    before = cpu(alice)
    bob.run("time.sleep(0.3)")
    assert is_stopped(alice.process.pid) and cpu(alice) == before
    assert alice.run("time.sleep(0.05); result = len(seen)") >= 1


def test_memory_is_counted_with_its_page_tables():
    assert resident_bytes(os.getpid()) > 2**20 and resident_bytes(2**22 + 1) == 0


def test_a_bot_leaves_nothing_in_the_folder_or_names_for_its_next_match(cells):
    left = "result = [sorted(os.listdir('/tmp')), os.environ.get('WORD'), os.listdir('/dev/shm')]"
    with cells.open(0) as untouched:
        before = untouched.run(left)
    with cells.open(0) as first:
        first.run("open('/tmp/word', 'w').write('1'); os.mkdir('/tmp/more'); os.environ['WORD'] = '1'")
    with cells.open(0) as second:
        assert second.run(left) == before
    assert not {"word", "more"} & {*before[0]}


def test_matches_of_one_server_and_of_two_find_the_same_numbers(cells):
    """Process, thread and descriptor numbers, time zones and identities tell nothing of what was played before."""
    asked = (
        "result = [os.getpid(), threading.get_native_id(), os.dup(3), os.getppid(), os.getpgid(0), os.getsid(0),"
        " os.getpriority(0, 0), os.uname().nodename, os.getcwd(), sorted(os.environ.items())]"
    )
    found = []
    for server in (0, 0, 1, 0):
        with cells.open(server) as cell:
            found.append(cell.run(asked))
    assert found[0] == found[1] == found[2] == found[3]


def test_the_parent_of_bots_is_out_of_reach(cells: Cells, alice: Cell):
    server: ForkClient = cells.servers[0]
    for number in (0, 6, 9, 15, 19):
        alice.run(f"result = attempt(lambda: os.kill(1, {number}))")
    assert server.is_alive and alice.run("result = 2") == 2
