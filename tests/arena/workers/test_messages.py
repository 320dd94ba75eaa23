"""Messages between drivers and workers survive their encoding, and nothing else is taken for one."""

import pytest

from arena.core.limits import Limits
from arena.core.match_ids import DiceKind
from arena.isolation.launched import LaunchedBot
from arena.match.faults import KnownFault
from arena.match.game_faults import GameFault
from arena.match.replay import ReplayedPly
from arena.match.result import SeatRow
from arena.match.stored import PlannedMatch, SecretKey, stored_match
from arena.registry.bundles import Bundle
from arena.schedule.blocks import Block, MatchSpec
from arena.schedule.boards import Board
from arena.workers import messages
from arena.workers.messages import (
    Compile,
    Compiled,
    ContinueSearch,
    Describe,
    Description,
    DiskFull,
    EndSession,
    GameStopped,
    Greeting,
    Hello,
    MatchOrder,
    MoveReply,
    MoveRequest,
    PlannedBot,
    PlanReply,
    PlayChunk,
    Played,
    PlayedLast,
    ReplayReply,
    ReplayRequest,
    SearchCandidate,
    SearchReport,
    SessionUpdate,
    StartSearch,
    StartSession,
    WorkerPlan,
    decode,
    encode,
    is_kind,
)
from tests.support.samples import row

BUNDLE = Bundle("mine", {"mine.py": b"\x00\xff"})
BOT = PlannedBot("mine", "mine", "Mine", BUNDLE.hash, {"depth": 2, "style": "é"}, "depth=2", "sandbox")
BOARD = Board("epicycle", "{}", 2, 1, (0,), 1, 1)
SPEC = MatchSpec(Block(0, 3, (1, 0), b"\x01", b"\x02", DiceKind.COMMON, "key"), 1, (1, 0))
FORFEIT = row(0, [0, 1], seats=[SeatRow(0, 1.5), SeatRow(1, -2, "crash", 7)], details={1: "\ud800\n"}, notes=[(3, "?")])
PLACE = PlannedMatch(
    b"\x01", b"\x02", 0, "epicycle", 2, 0, 2, 7, DiceKind.SECRET, SecretKey(b"\x03", "hash", "today", None)
)
SAMPLES = [
    Hello(),
    Greeting("code", {"python": "3"}, 17, "host"),
    Describe(LaunchedBot("mine", BUNDLE, "Mine", {}, "process"), [("epicycle", 2)]),
    Description({"about": ["anything", None, 1.5, 2**70, -0.0, float("inf")]}),
    WorkerPlan({"": (b"a", b"b")}, Limits(1.0), [BOARD], [BOT], {BUNDLE.hash: BUNDLE.files}, {"g.py": b""}),
    PlanReply("no sandbox"),
    PlayChunk([MatchOrder(SPEC, [KnownFault(0, 3, "crash", "how")])], [1], True),
    Played([row(0, [1, 0]), FORFEIT], {1: [0, 4]}, {1: {0: "a\n", 4: "\ud800"}}),
    PlayedLast([FORFEIT], {}, {}),
    Compile([(0, -1), (0, 1)]),
    Compiled(),
    GameStopped(2, GameFault("what", "trace", ["a1"], "position", bots=("one", "two"))),
    DiskFull("what", "remedy"),
    StartSession(MatchOrder(SPEC, [KnownFault(1, 3, "resigned", known="?")]), [0], "position", [3, 1]),
    SessionUpdate(1, [3, 1], [(0, "note")], {0: ("crash", 2, "detail")}),
    MoveRequest(0, [], [], {}),
    MoveReply(4, "", ""),
    EndSession(),
    StartSearch(None, [1, 2]),
    ContinueSearch(1000, 0.5),
    SearchReport(
        10, False, [0.5, -0.5], [SearchCandidate(3, 8, 0.25, True, [3, 1]), SearchCandidate(4, 0, None, False, [4])], ""
    ),
    ReplayRequest(stored_match(PLACE, FORFEIT, ["one", "two"]), (b"a", b"b"), True),
    ReplayReply([ReplayedPly(0, 1, "S+", "bot", None, "drawing", (0.5, -0.5), ("S+", "L-"))], "why"),
]


def test_there_is_a_sample_of_every_kind():
    assert {type(sample) for sample in SAMPLES} == {*messages._KINDS.values()}


@pytest.mark.parametrize("message", SAMPLES, ids=lambda message: type(message).__name__)
def test_a_message_is_the_same_after_its_way_down_to_the_types_of_its_rows(message):
    received = decode(encode(message))
    assert received == message
    assert repr(received) == repr(message)  # named tuples equal plain ones


BROKEN = [b"", b"Hello", b"Hello \x91\x01", b"Hello [1]", b"Hallo []", b"DiskFull [1", b"DiskFull {}", b"DiskFull 5"]
OF_OTHER_TYPES = [b"DiskFull \x92\x01\x02", b"DiskFull [1, 2]", b"DiskFull \x92\xa1\xff\xa1a"]


@pytest.mark.parametrize("frame", [*BROKEN, *OF_OTHER_TYPES, encode(SAMPLES[12])[:-1]])
def test_what_is_no_message_is_refused(frame):
    with pytest.raises(ValueError):
        decode(frame)


def test_a_frame_tells_its_kind_without_being_parsed():
    assert is_kind(encode(SAMPLES[8]), PlayedLast) and not is_kind(encode(SAMPLES[8]), Played)
    assert not is_kind(encode(SAMPLES[7]), PlayedLast)
