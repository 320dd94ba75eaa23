"""Clocks: what the referee measures, forgives and forfeits. Time is made up wherever it can be.

Made-up time is spent in whole minutes, so that the referee's alarm, which is real, never rings by itself.
"""

import itertools
import json
import math
import re
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from arena import api
from arena.core.errors import WorkerError
from arena.core.limits import Limits
from arena.core.records import decode, encode
from arena.match import referee
from arena.match.alarm import Clock
from arena.match.faults import MAX_DETAIL, Fault
from arena.match.player import Answer, Contestant
from arena.match.referee import play_match
from arena.match.result import Clocking, MatchRow, row_of
from arena.registry.manifest import bundle_program
from arena.store import Store
from arena.workers.sandbox import bot_process, programs
from arena.workers.sandbox.process_pool import ProcessPool, RemoteContestant
from arena.workers.sandbox.process_source import RemoteBot
from bots import Bot
from bots.random_bot import Random
from tests.arena.match.test_referee import replayed, streams
from tests.support import samples
from tests.support.tournaments import home_of, rows, write

MINUTE = 64.0  # seconds; sums of such minutes are exact
HARDLY = 2.0**-30


class Hours:
    """A clock that stands still unless somebody spends; processor time runs with it, or a share of it."""

    def __init__(self):
        self.wall = self.cpu = 0.0

    def spend(self, wall, share=1.0):
        self.wall += wall
        self.cpu += share * wall

    @property
    def clock(self):
        return Clock(lambda: self.wall, lambda: self.cpu)


def spender(hours, moves=(), prepares=(), share=1.0):
    """A bot that spends the seconds listed, one by one over all matches, then none; `told` is what it was given."""
    spending, preparing = iter(moves), iter(prepares)

    class Spender(Random):
        told = []  # noqa: RUF012 - one list for all instances
        made = 0

        def prepare(self):
            Spender.made += 1
            hours.spend(next(preparing, 0.0), share)

        def choose(self, state):
            self.told.append(self.seconds_left)
            hours.spend(next(spending, 0.0), share)
            return super().choose(state)

    return Spender


def play(hours, *bots, block=7, opening=0, **limits):
    seats = [Contestant(bot, {}) if isinstance(bot, type) else bot for bot in bots]
    game = engine.load_game("epicycle", players=len(bots))
    return play_match(game, seats, streams(block), opening, Limits(**limits), clock=hours.clock)


def facts(result):
    return (result.ranks, result.moves, result.ended, result.forfeits, result.timed)


# One move


@pytest.mark.parametrize("margin", [0.0, 3 * MINUTE])
@pytest.mark.parametrize("over", [False, True])
def test_a_move_may_take_its_limit_and_the_margin_and_not_a_moment_more(margin, over):
    hours = Hours()
    bot = spender(hours, [MINUTE, 2 * MINUTE + margin + over * HARDLY])
    result = play(hours, bot, Random, seconds_per_move=2 * MINUTE, margin=margin)
    assert bot.told[:2] == [2 * MINUTE, 2 * MINUTE]  # the margin is not for use
    assert bool(result.forfeits) == over == result.timed
    if over:
        forfeit = result.forfeits[0]
        assert (result.ranks, result.ended, forfeit.cause, len(bot.told)) == ([1, 0], "forfeit", "timeout", 2)
        assert f"more than 128 s ({128 + margin:g} s of processor time)" in forfeit.detail


def test_an_overrun_is_a_timeout_whatever_the_bot_answers():
    hours = Hours()

    class Late(Bot):
        def choose(self, state):
            hours.spend(2 * MINUTE)
            return 99

    result = play(hours, Late, Random, seconds_per_move=MINUTE)
    assert result.forfeits[0].cause == "timeout"


def test_an_error_is_a_crash_however_late_it_comes():
    hours = Hours()

    class Late(Bot):
        def choose(self, state):
            hours.spend(2 * MINUTE)
            raise ValueError

    assert play(hours, Late, Random, seconds_per_move=MINUTE).forfeits[0].cause == "crash"


# A match


@st.composite
def spendings(draw):
    """Limits, and what each seat spends on each of its moves, in minutes."""
    minutes = st.integers(1, 6)
    limits = {
        "seconds_per_move": draw(minutes),
        "seconds_per_match": draw(st.sampled_from([0, *range(2, 13)])),
        "increment": draw(st.integers(0, 3)),
        "margin": draw(st.sampled_from([0.5, 1.5])),  # whole minutes never use it up, so that no alarm rings at once
    }
    seats = draw(st.integers(2, 4))
    moves = draw(st.lists(st.lists(st.integers(0, 4), max_size=8), min_size=seats, max_size=seats))
    return limits, moves


def kept_by_hand(limits, spent):
    """What a bot is told before each of its moves, and whether the last of them is one too late; in minutes."""
    told, left = [], limits["seconds_per_match"] or math.inf
    for minutes in spent:
        told.append(max(0, min(limits["seconds_per_move"], left)))
        if minutes > min(limits["seconds_per_move"], left) + limits["margin"]:
            return told, True
        left += limits["increment"] - minutes
    return told, False


@given(spendings(), st.integers(0, 2**32))
@settings(max_examples=200)
def test_clocks_agree_with_books_kept_by_hand(spending, block):
    limits, moves = spending
    hours = Hours()
    bots = [spender(hours, [MINUTE * minutes for minutes in spent]) for spent in moves]
    result = play(hours, *bots, block=block, **{key: value * MINUTE for key, value in limits.items()})
    for seat, (bot, spent) in enumerate(zip(bots, moves, strict=True)):
        asked = len(bot.told)
        told, late = kept_by_hand(limits, [*spent, *[0] * asked][:asked])
        assert bot.told == [minutes * MINUTE for minutes in told]
        assert (seat in result.forfeits) == late
    assert all(forfeit.cause == "timeout" for forfeit in result.forfeits.values())


def test_what_a_move_leaves_counts_for_the_next_and_each_brings_its_increment():
    hours = Hours()
    bot = spender(hours, [3 * MINUTE, 0.0, 2 * MINUTE, 5 * MINUTE])
    limits = {"seconds_per_match": 6 * MINUTE, "increment": MINUTE, "seconds_per_move": 100 * MINUTE}
    result = play(hours, bot, Random, block=10, **limits)
    assert [told / MINUTE for told in bot.told[:4]] == [6, 4, 5, 4]
    assert (result.forfeits[0].cause, len(bot.told)) == ("timeout", 4)


@pytest.mark.parametrize("remote", [False, True])
def test_a_match_gives_no_more_than_one_margin_however_many_moves_nibble_at_it(remote):
    hours = Hours()
    nibbles = [2 * MINUTE, MINUTE, MINUTE, HARDLY]
    bot = Distant(hours, moves=nibbles) if remote else spender(hours, nibbles)
    result = play(hours, bot, Random, block=10, seconds_per_match=2 * MINUTE, margin=2 * MINUTE)
    late = [clocking for clocking in result.clocks if clocking.seat == 0][-1]
    assert (result.forfeits[0].cause, late.ply) == ("timeout", result.forfeits[0].ply)
    moves = [clocking.wall for clocking in result.clocks if clocking.seat == 0 and clocking.ply >= 0]
    assert len(moves) == len(nibbles)
    assert sum(moves[:-1]) == 4 * MINUTE


def test_neither_preparations_nor_the_others_take_time_from_the_match():
    hours = Hours()
    bot = spender(hours, prepares=[4 * MINUTE])
    other = spender(hours, moves=[MINUTE] * 2)
    result = play(hours, bot, other, seconds_per_match=2 * MINUTE, seconds_per_move=2 * MINUTE)
    assert not result.forfeits
    assert set(bot.told) == {2 * MINUTE}


def test_a_bot_without_any_time_left_is_interrupted_at_once():
    hours = Hours()

    class Sleeper(Random):
        def choose(self, state):
            if self.seconds_left == 0.0:
                time.sleep(60)
            hours.spend(MINUTE)
            return super().choose(state)

    result = play(hours, Sleeper, Random, seconds_per_match=MINUTE, seconds_per_move=MINUTE, margin=0.0)
    assert result.forfeits[0].cause == "timeout"


def test_forced_moves_openings_and_substitutes_cost_nothing_and_bring_nothing():
    hours = Hours()
    bots = [spender(hours, [MINUTE] * 99), spender(hours, [3 * MINUTE]), spender(hours, [MINUTE] * 99)]
    limits = {"seconds_per_match": 32 * MINUTE, "seconds_per_move": 2 * MINUTE, "increment": MINUTE}
    result = play(hours, *bots, opening=2, **limits)
    assert list(result.forfeits) == [1]
    state = engine.load_game("epicycle", players=3).new_initial_state()
    expected = [(seat, -1) for seat in range(3)]
    for ply, text in enumerate(result.moves):
        seat = state.current_player()
        if ply >= 2 and len(state.legal_actions()) > 1 and (seat != 1 or ply == result.forfeits[1].ply):
            expected.append((seat, ply))
        state.apply_action(state.string_to_action(text))
    assert [(clocking.seat, clocking.ply) for clocking in result.clocks] == expected
    assert len(expected) < 3 + len(result.moves) - 2


def test_wall_and_processor_time_are_recorded_for_every_call_in_order():
    hours = Hours()
    first = spender(hours, [MINUTE, 3 * MINUTE], prepares=[2 * MINUTE], share=0.25)
    result = play(hours, first, spender(hours, [4 * MINUTE]), seconds_per_move=5 * MINUTE)
    _, who = replayed(result, 2)
    spent = {0: iter([(MINUTE, 16.0), (3 * MINUTE, 48.0)]), 1: iter([(4 * MINUTE, 4 * MINUTE)])}
    assert result.clocks[:2] == [Clocking(0, -1, 2 * MINUTE, 32.0), Clocking(1, -1, 0.0, 0.0)]
    for clocking in result.clocks[2:]:
        assert clocking == (who[clocking.ply], clocking.ply, *next(spent[clocking.seat], (0.0, 0.0)))
    assert not [*spent[0], *spent[1]]


# Processes


class Distant:
    """A bot elsewhere, as the referee sees it: it keeps to limits by itself, on the same made-up clock."""

    guarded = False

    def __init__(self, hours, starts=0.0, prepares=0.0, moves=()):
        self.hours, self.starts, self.prepares, self.moves = hours, starts, prepares, iter(moves)
        self.limits = []

    def join(self, match, seat):
        self.match, self.used = match, 0.0
        return self

    def spend(self, seconds, limit):
        self.limits.append(limit)
        latest = limit + self.match.margin(self.match.players.index(self))
        self.hours.wall += min(seconds, latest)
        self.used += min(seconds, latest)  # its processor time is its own
        if seconds > latest:
            raise Fault("timeout", f"no answer within {limit:g} s")

    def start(self, limit):
        self.spend(self.starts, limit)

    def prepare(self, limit):
        self.spend(self.prepares, limit)
        return False

    def choose(self, limit):
        self.spend(next(self.moves, 0.0), limit)
        return Answer(self.match.state.legal_actions()[0], None)

    def cpu(self):
        return self.used

    def close(self):
        self.limits.append("closed")


LIMITS = {"seconds_to_start": 2 * MINUTE, "seconds_to_prepare": 3 * MINUTE, "seconds_per_move": 4 * MINUTE}


def test_starting_preparing_and_moving_have_a_limit_each():
    hours = Hours()
    bot = Distant(hours, MINUTE, 2 * MINUTE, [3 * MINUTE])
    result = play(hours, bot, Random, **LIMITS)
    assert bot.limits[:3] == [2 * MINUTE, 3 * MINUTE, 4 * MINUTE]
    assert result.clocks[:2] == [(0, -1, MINUTE, MINUTE), (0, -1, 2 * MINUTE, 2 * MINUTE)]
    assert not result.forfeits


@pytest.mark.parametrize(
    ("slow", "asked"), [({"starts": 2.5 * MINUTE}, 1), ({"prepares": 3.5 * MINUTE}, 2)], ids=["start", "preparations"]
)
def test_who_is_late_before_play_is_asked_nothing_more_and_an_init_fault(slow, asked):
    hours = Hours()
    bot = Distant(hours, **slow)
    result = play(hours, bot, Random, **LIMITS)
    assert bot.limits == [*[2 * MINUTE, 3 * MINUTE][:asked], "closed"]
    assert (result.forfeits[0].cause, result.forfeits[0].ply, result.timed, result.ranks) == ("init", -1, True, [1, 0])


class Gone(Distant):
    """A bot whose source is gone."""

    def join(self, match, seat):
        raise WorkerError("gone")


def test_each_bot_may_take_its_time_to_join_and_those_that_have_are_let_go_when_one_cannot():
    hours, reports = Hours(), []
    bots = [Distant(hours), Distant(hours), Gone(hours)]
    with pytest.raises(WorkerError):
        play_match(engine.load_game("epicycle", 3), bots, streams(7), report=lambda *told: reports.append(told))
    assert reports == [(-1, -1, 0.0)] * 3
    assert [bot.limits for bot in bots] == [["closed"], ["closed"], []]


class Verbose(Distant):
    """A bot that says a lot when it fails."""

    def choose(self, limit):
        raise Fault("crash", 60_000 * "long " + "end")


def test_no_more_is_kept_of_a_fault_than_fits_a_log():
    result = play(Hours(), Verbose(Hours()), Random)
    assert len(result.forfeits[0].detail) == MAX_DETAIL
    assert result.forfeits[0].detail.endswith("long end")


def program(folder, code, resettable=False):
    """A program that speaks the protocol; `code` says what it does with a `message`."""
    folder.mkdir(exist_ok=True)
    lines = ["import json, sys, time", "for line in sys.stdin:", "    message = json.loads(line)"]
    answer = "    if message['type'] in ('hello', 'newgame'): print('{\"type\":\"ready\"}', flush=True)"
    (folder / "bot.py").write_text("\n".join([*lines, f"    {code}", answer, MOVES]))
    resets = "resettable = true\n" if resettable else ""
    (folder / "bot.toml").write_text('command = ["python3", "bot.py"]\n' + resets)
    bundle = bundle_program(folder / "bot.toml")
    return RemoteBot(folder.name, bundle, "", {}, "process", hash(code))


MOVES = """
    if message["type"] == "move":
        answer = {"type": "action", "action": message["legal"][0], "note": json.dumps(message["clock"])}
        print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def pool():
    running = ProcessPool()
    yield running
    running.close()


BUSY, ASLEEP = "any(iter(int, 1))", "time.sleep(3600)"


@pytest.mark.parametrize("deed", [BUSY, ASLEEP], ids=["busy", "asleep"])
@pytest.mark.parametrize("at", ["hello", "newgame", "move"])
def test_a_process_that_does_not_answer_is_late_and_its_processor_time_is_its_own(
    tmp_path, pool, monkeypatch, at, deed
):
    monkeypatch.setattr(referee, "STARVED", 0.0)  # at once, however busy the machine
    bot = RemoteContestant(program(tmp_path / "bot", f"if message['type'] == '{at}': {deed}"), pool)
    short = {"hello": "seconds_to_start", "newgame": "seconds_to_prepare", "move": "seconds_per_move"}[at]
    result = play(SimpleNamespace(clock=Clock()), bot, Random, **{short: 0.4})
    assert (result.forfeits[0].cause, result.timed, result.retried) == (
        "timeout" if at == "move" else "init",
        True,
        False,
    )
    assert "no answer within 0." in result.forfeits[0].detail
    late = [clocking for clocking in result.clocks if clocking.seat == 0][-1]
    assert late.wall >= 0.4
    if at != "hello":  # where the start of the interpreter is in it
        assert late.cpu > 0.004 if deed == BUSY else late.cpu < 0.2


def test_a_process_is_told_its_clocks(tmp_path, pool):
    bot = RemoteContestant(program(tmp_path / "bot", "pass"), pool)
    hours = Hours()  # as the referee sees it, no time goes by
    limits = {"seconds_per_move": 5 * MINUTE, "seconds_per_match": 2 * MINUTE, "increment": 2 * MINUTE}
    result = play(hours, bot, Random, **limits)
    told = [json.loads(note) for _, note in result.notes]
    assert [each["match"] for each in told] == [128.0 * (number + 1) for number in range(len(told))]
    assert [each["move"] for each in told] == [min(320.0, each["match"]) for each in told]
    assert {each["increment"] for each in told} == {128.0}


def test_a_process_that_lives_on_its_margin_is_told_that_nothing_is_left(tmp_path, pool):
    bot = RemoteContestant(program(tmp_path / "bot", "pass"), pool)
    minutes = itertools.count(0, MINUTE)
    ticking = SimpleNamespace(clock=Clock(lambda: next(minutes), lambda: 0.0))  # every call takes a minute
    result = play(ticking, bot, Random, block=10, seconds_per_match=1.5 * MINUTE, margin=MINUTE)
    told = [json.loads(note)["match"] / MINUTE for _, note in result.notes]
    assert told == [1.5, 0.5, 0.0]
    assert result.forfeits[0].cause == "timeout"


@pytest.mark.system
def test_a_process_for_many_matches_has_the_processor_time_of_a_whole_one_in_each(tmp_path, pool, monkeypatch):
    monkeypatch.setattr(programs, "processor_seconds", lambda limits: 1.0)  # room for a slow start and one burn
    burn = "until = time.process_time() + 0.3 if message['type'] == 'newgame' else 0"
    code = f"{burn}\n    while time.process_time() < until: pass"
    bot = RemoteContestant(program(tmp_path / "bot", code, resettable=True), pool)
    played = [play(SimpleNamespace(clock=Clock()), bot, Random, block=number) for number in range(12)]
    assert [result.forfeits for result in played] == [{}] * 12
    starts, preparations = zip(*[[call.cpu for call in result.clocks if call.seat == 0][:2] for result in played])
    assert 0.0 in starts[1:]  # a process that is there already has used nothing in this match
    assert min(preparations) >= 0.3


def test_a_program_is_charged_with_its_own_files_and_not_with_the_machines_while_its_sandbox_is_made(
    tmp_path, pool, monkeypatch
):
    monkeypatch.setattr(bot_process, "LOOK", 1e-6)  # all the time, from the first moment on
    monkeypatch.setattr(bot_process, "MOST_FILES", 20)  # the machine has more
    bot = RemoteContestant(replace(program(tmp_path / "bot", "pass"), isolation="sandbox"), pool)
    for never_made in (False, True):
        if never_made:
            monkeypatch.setattr(
                programs, "BotProcess", lambda *parts: bot_process.BotProcess(*(*parts[:4], "/proc/self/root/tmp"))
            )
        assert play(SimpleNamespace(clock=Clock()), bot, Random, block=never_made).forfeits == {}
    monkeypatch.undo()
    monkeypatch.setattr(bot_process, "MOST_FILES", 20)
    hoard = "any(open(f'/tmp/{number}', 'w').close() for number in range(30)); time.sleep(0.2)"
    bot = RemoteContestant(replace(program(tmp_path / "hoarder", hoard), isolation="sandbox"), pool)
    forfeit = play(SimpleNamespace(clock=Clock()), bot, Random).forfeits[0]
    assert (forfeit.cause, forfeit.detail.splitlines()[-1]) == ("memory", "it made more than 20 files")


# A starved machine


def test_a_bot_that_was_busy_for_half_of_its_time_forfeits_at_once():
    hours = Hours()
    bot = spender(hours, [4 * MINUTE], share=0.5)
    result = play(hours, bot, Random, seconds_per_move=MINUTE)
    assert (result.forfeits[0].cause, result.retried, bot.made) == ("timeout", False, 1)


def starved(hours, moves, prepares=()):
    return spender(hours, moves, prepares, share=0.5 - HARDLY)


@pytest.mark.parametrize("where", ["move", "preparations"])
def test_a_bot_that_had_the_processor_for_less_is_given_the_same_match_once_more(where):
    hours = Hours()
    limits = {"seconds_per_move": MINUTE, "seconds_to_prepare": MINUTE}
    bot = starved(hours, [0.0, 4 * MINUTE]) if where == "move" else starved(hours, [], [4 * MINUTE])
    result = play(hours, bot, Random, **limits)
    assert facts(result) == facts(play(Hours(), Random, Random, **limits))  # not timed: no clock decided anything
    assert (result.retried, bot.made) == (True, 2)
    assert sum(clocking.wall for clocking in result.clocks) == 0.0  # of the match that counts


@pytest.mark.parametrize("others", [[4 * MINUTE], [4 * MINUTE, 4 * MINUTE]], ids=["later", "at the same move"])
def test_there_is_no_third_match(others):
    hours = Hours()
    bot = starved(hours, [4 * MINUTE, *[0.0] * (2 - len(others)), *others])
    result = play(hours, bot, Random, seconds_per_move=MINUTE)
    assert (result.forfeits[0].cause, result.retried, result.timed, bot.made) == ("timeout", True, True, 2)


def test_a_second_match_is_for_all_seats_and_all_of_it():
    """The first try ends with one bot starved, the second with another: that one forfeits."""
    hours = Hours()
    first, second = starved(hours, [4 * MINUTE]), starved(hours, [4 * MINUTE])
    result = play(hours, first, second, Random, seconds_per_move=MINUTE, seconds_per_match=8 * MINUTE)
    assert list(result.forfeits) == [1]
    assert (first.made, second.made, result.retried) == (2, 2, True)
    assert first.told[:2] == [MINUTE, MINUTE]  # its clock began anew


def starved_at(hours, pick, choices, tries=1, timed=False):
    """A bot that runs out of time at its `choices`-th choice in its first matches; how it picks is its own affair."""

    class Starving(Bot):
        made, asked, overrun = 0, [], None

        def prepare(self):
            Starving.made += 1
            Starving.asked = []
            self.timed = timed

        def choose(self, state):
            self.asked.append(len(state.history()))
            if len(self.asked) == choices and Starving.made <= tries:
                if Starving.overrun is None:
                    Starving.overrun = [state.game.spec, *state.history()]
                hours.spend(4 * MINUTE, 0.25)
            return pick(self, state)

    return Starving


def by_seed(bot, state):
    return bot.pick(state.legal_actions())


def first_then_last(bot, state):
    """A chance of its own, such as `os.urandom`: the second match brings other moves."""
    return state.legal_actions()[0 if bot.made == 1 else -1]


def history(result, players):
    state = engine.load_game("epicycle", players=players).new_initial_state()
    for text in result.moves:
        state.apply_action(state.string_to_action(text))
    return [state.game.spec, *state.history()]


@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(2, 5), st.integers(0, 3), st.booleans())
@settings(max_examples=60)
def test_only_who_repeats_itself_is_forgiven_and_nobody_gets_other_moves(block, players, choices, seat, honest):
    hours, seat = Hours(), seat % players
    bots = [starved_at(hours, first_then_last, 0) for _ in range(players)]  # all others choose anew each time
    bots[seat] = starved_at(hours, by_seed if honest else first_then_last, choices)
    result = play(hours, *bots, block=block, opening=2, seconds_per_move=MINUTE)
    before = bots[seat].overrun
    assert result.retried == (before is not None)
    if before is None:
        return
    assert history(result, players)[: len(before)] == before
    if honest:
        assert (result.forfeits, result.timed) == ({}, False)
        assert bots[seat].asked[choices - 1] == len(before) - 1
    else:
        (forfeit,) = result.forfeits.items()
        assert (forfeit[0], forfeit[1].cause, forfeit[1].ply, result.timed) == (seat, "timeout", len(before) - 1, True)
        assert result.ranks[seat] == players - 1
        assert len(bots[seat].asked) == 1  # it was found out at once


def test_a_bot_that_buys_another_match_by_sleeping_loses_the_one_that_it_left():
    hours = Hours()
    bot = starved_at(hours, first_then_last, 2)
    result = play(hours, bot, Random, seconds_per_move=MINUTE)
    forfeit = result.forfeits[0]
    assert (result.ranks, result.ended, result.timed, result.retried) == ([1, 0], "forfeit", True, True)
    assert history(result, 2) == bot.overrun
    assert re.search(
        r"took 256 s, .*; when the match was played again, it chose \S+ at ply 1, before \S+$", forfeit.detail
    )
    assert result.clocks[-1] == (0, forfeit.ply, 4 * MINUTE, MINUTE)  # the call that counts is in the log


def test_a_bot_that_plays_by_the_clock_has_no_second_match():
    hours = Hours()
    bot = starved_at(hours, by_seed, 2, timed=True)
    result = play(hours, bot, Random, seconds_per_move=MINUTE)
    assert (result.forfeits[0].cause, result.retried, bot.made) == ("timeout", False, 1)


def test_faults_of_others_in_the_match_that_a_sleeper_left_stand_with_it():
    hours = Hours()

    class Wrong(Bot):
        asked = 0

        def choose(self, state):
            Wrong.asked += 1
            return 99 if Wrong.asked == 1 else state.legal_actions()[0]

    result = play(hours, starved_at(hours, first_then_last, 2), Wrong, Random, seconds_per_move=MINUTE)
    assert {seat: forfeit.cause for seat, forfeit in result.forfeits.items()} == {0: "timeout", 1: "illegal_action"}
    assert (result.ranks, Wrong.asked) == ([1, 2, 0], 1)


def test_faults_that_have_nothing_to_do_with_clocks_never_bring_a_second_match():
    hours = Hours()

    class Wrong(starved(hours, [MINUTE / 2])):  # type: ignore[misc]  # a class made for this test
        def choose(self, state):
            super().choose(state)
            return 99

    result = play(hours, Wrong, Random, seconds_per_move=MINUTE)
    assert (result.forfeits[0].cause, result.retried) == ("illegal_action", False)


def test_a_sleeping_process_is_played_again_with_a_fresh_one(tmp_path, pool, monkeypatch):
    monkeypatch.setattr(referee, "STARVED", 2.0)  # starved, whatever the machine
    mark = str(tmp_path / "was here")
    once = f"message['type'] == 'move' and not os.path.exists({mark!r})"
    code = f"import os\n    if {once}: os.mkdir({mark!r}); {ASLEEP}"
    bot = RemoteContestant(program(tmp_path / "bot", code), pool)
    result = play(SimpleNamespace(clock=Clock()), bot, Random, seconds_per_move=1)
    assert (result.retried, result.forfeits, result.ended) == (True, {}, "normal")


def test_a_process_that_sleeps_and_then_plays_otherwise_loses_where_it_slept(tmp_path, pool, monkeypatch):
    monkeypatch.setattr(referee, "STARVED", 2.0)  # starved, whatever the machine
    mark = str(tmp_path / "was here")
    otherwise = f"message['type'] == 'move' and os.path.exists({mark!r}): message['legal'].reverse()"
    second = "message['type'] == 'move' and len(message['plies']) > 1"
    code = f"import os\n    if {otherwise}\n    elif {second}: os.mkdir({mark!r}); {ASLEEP}"
    bot = RemoteContestant(program(tmp_path / "bot", code), pool)
    result = play(SimpleNamespace(clock=Clock()), bot, Random, seconds_per_move=1)
    forfeit = result.forfeits[0]
    assert (result.retried, forfeit.cause, forfeit.ply, result.timed) == (True, "timeout", len(result.moves), True)
    assert "when the match was played again, it chose" in forfeit.detail


# In the log


@pytest.mark.parametrize("retried", [False, True])
def test_the_row_in_the_log_says_what_each_call_took_and_whether_the_match_was_played_again(tmp_path, retried):
    hours = Hours()
    moves = [4 * MINUTE] if retried else []
    bot = starved(hours, [*moves, 0.000125], [*[0.0] * len(moves), 2.0])
    result = play(hours, bot, Random, seconds_per_move=MINUTE)
    plan = samples.schedule(["a", "b"], blocks=1)
    spec = samples.all_matches(plan)[0]
    row = decode(MatchRow, encode(row_of(result, spec.lineup, 1.0)))
    with Store.create(tmp_path / "matches.db") as store:
        store.add(plan, [samples.finished(spec, row)], samples.begin(store, plan))
        stored = store.match(spec.block.identity, spec.lineup)
        (clocks,) = store._db.execute("SELECT clocks FROM timings").fetchone()
    assert stored.retried == retried
    ply = result.clocks[2].ply
    assert clocks.startswith(f"0,-1,2000000,1000000 1,-1,0,0 0,{ply},125,62 ")
    assert [clocking[:2] for clocking in stored.clocks] == [clocking[:2] for clocking in result.clocks]
    for clocking, (_, _, wall, cpu) in zip(stored.clocks, result.clocks, strict=True):
        assert (clocking.wall, clocking.cpu) == pytest.approx((wall, cpu), abs=1e-6)


CLOCKED = """
from bots import Bot


class Clocked(Bot):
    def prepare(self):
        assert self.seconds_left == float("inf")
        self.timed = self.game.players == 2

    def choose(self, state):
        self.note = f"{self.seconds_left:g}"
        return state.legal_actions()[0]
"""
LEVELS = """
name = "small"
games = [{ game = "epicycle", players = [2, 3] }]
blocks = 1
opening = "none"
schedule = "gauntlet"
limits = { seconds_per_move = 321.5 }
bots = [
    { bot = "random" },
    { bot = "b.py:Clocked", label = "none", isolation = "none" },
    { bot = "b.py:Clocked", label = "process", isolation = "process" },
    { bot = "b.py:Clocked", label = "sandbox", isolation = "sandbox" },
]
"""


def test_a_bot_sees_its_clock_and_says_that_it_does_at_every_level_of_isolation(tmp_path):
    config = write(tmp_path, LEVELS, CLOCKED)
    outcome = api.run(config, home_of(config), workers=1, backend="local").outcome
    assert (outcome.progress.played, outcome.progress.forfeits) == (3 * 2 + 3 * 3, 0)
    joined = "matches JOIN blocks USING (block) JOIN boards USING (board)"
    timed = f"SELECT players, sum(timed), count(*) FROM {joined} GROUP BY players ORDER BY players"
    assert rows(config, timed) == [(2, 6, 6), (3, 0, 9)]
    notes = [json.loads(notes) for (notes,) in rows(config, "SELECT notes FROM matches")]
    assert {text for said in notes for _, text in said} == {"321.5"}
    assert all(notes)
