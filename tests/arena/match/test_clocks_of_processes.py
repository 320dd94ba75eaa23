"""Clocks of bots in processes of their own: limits to start, to prepare and to move."""

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

import engine
from arena.core.errors import WorkerError
from arena.isolation import bot_process, programs
from arena.isolation.process_pool import RemoteContestant
from arena.match import calls
from arena.match.alarm import Clock
from arena.match.faults import MAX_DETAIL_CHARS, Fault
from arena.match.referee import play_match
from bots.random_bot import Random
from tests.arena.match.hours import ASLEEP, BUSY, MINUTE, Distant, Hours, play, program
from tests.arena.match.playing import streams

LIMITS = {"seconds_to_start": 2 * MINUTE, "seconds_to_prepare": 3 * MINUTE, "seconds_per_move": 4 * MINUTE}


def test_starting_preparing_and_moving_have_a_limit_each():
    hours = Hours()
    bot = Distant(hours, MINUTE, 2 * MINUTE, [3 * MINUTE])
    result = play(hours, bot, Random, **LIMITS)
    assert bot.limits[:3] == [2 * MINUTE, 3 * MINUTE, 4 * MINUTE]
    assert result.clocks[:2] == [(0, -1, MINUTE, MINUTE, 0.0), (0, -1, 2 * MINUTE, 2 * MINUTE, 0.0)]
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
        play_match(engine.load_game("epicycle", 3), bots, streams(7), on_activity=lambda *told: reports.append(told))
    assert reports == [(-1, -1, 0.0)] * 3
    assert [bot.limits for bot in bots] == [["closed"], ["closed"], []]


class Verbose(Distant):
    """A bot that says a lot when it fails."""

    def choose(self, limit):
        raise Fault("crash", 60_000 * "long " + "end")


def test_no_more_is_kept_of_a_fault_than_fits_a_log():
    result = play(Hours(), Verbose(Hours()), Random)
    assert len(result.forfeits[0].detail) == MAX_DETAIL_CHARS
    assert result.forfeits[0].detail.endswith("long end")


@pytest.mark.parametrize("deed", [BUSY, ASLEEP], ids=["busy", "asleep"])
@pytest.mark.parametrize("at", ["hello", "newgame", "move"])
def test_a_process_that_does_not_answer_is_late_and_its_processor_time_is_its_own(
    tmp_path, pool, monkeypatch, at, deed
):
    monkeypatch.setattr(calls, "STARVED_CPU_SHARE", 0.0)  # at once, however busy the machine
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
    monkeypatch.setattr(bot_process, "POLL_SECONDS", 1e-6)  # all the time, from the first moment on
    monkeypatch.setattr(bot_process, "MAX_FILES", 20)  # the machine has more
    bot = RemoteContestant(replace(program(tmp_path / "bot", "pass"), isolation="sandbox"), pool)
    for never_made in (False, True):
        if never_made:
            monkeypatch.setattr(
                programs, "BotProcess", lambda *parts: bot_process.BotProcess(*(*parts[:4], "/proc/self/root/tmp"))
            )
        assert play(SimpleNamespace(clock=Clock()), bot, Random, block=never_made).forfeits == {}
    monkeypatch.undo()
    monkeypatch.setattr(bot_process, "MAX_FILES", 20)
    hoard = "any(open(f'/tmp/{number}', 'w').close() for number in range(30)); time.sleep(20)"
    bot = RemoteContestant(replace(program(tmp_path / "hoarder", hoard), isolation="sandbox"), pool)
    forfeit = play(SimpleNamespace(clock=Clock()), bot, Random).forfeits[0]
    assert (forfeit.cause, forfeit.detail.splitlines()[-1]) == ("memory", "it made more than 20 files")
