"""A bot that had too little of the processor is given the same match once more, and no other moves."""

import re
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from arena.isolation.process_pool import RemoteContestant
from arena.match import calls
from arena.match.alarm import Clock
from bots import Bot
from bots.random_bot import Random
from tests.arena.match.hours import ASLEEP, MINUTE, Hours, play, program, spender, starved


def facts(result):
    return (result.ranks, result.moves, result.ended, result.forfeits, result.timed)


# A starved machine


def test_a_bot_that_was_busy_for_half_of_its_time_forfeits_at_once():
    hours = Hours()
    bot = spender(hours, [4 * MINUTE], share=0.5)
    result = play(hours, bot, Random, seconds_per_move=MINUTE)
    assert (result.forfeits[0].cause, result.retried, bot.made) == ("timeout", False, 1)


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
    assert result.clocks[-1] == (0, forfeit.ply, 4 * MINUTE, MINUTE, 0.0)  # the call that counts is in the log


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
    monkeypatch.setattr(calls, "STARVED_CPU_SHARE", 2.0)  # starved, whatever the machine
    mark = str(tmp_path / "was here")
    once = f"message['type'] == 'move' and not os.path.exists({mark!r})"
    code = f"import os\n    if {once}: os.mkdir({mark!r}); {ASLEEP}"
    bot = RemoteContestant(program(tmp_path / "bot", code), pool)
    result = play(SimpleNamespace(clock=Clock()), bot, Random, seconds_per_move=3)
    assert (result.retried, result.forfeits, result.ended) == (True, {}, "normal")


def test_a_process_that_sleeps_and_then_plays_otherwise_loses_where_it_slept(tmp_path, pool, monkeypatch):
    monkeypatch.setattr(calls, "STARVED_CPU_SHARE", 2.0)  # starved, whatever the machine
    mark = str(tmp_path / "was here")
    otherwise = f"message['type'] == 'move' and os.path.exists({mark!r}): message['legal'].reverse()"
    second = "message['type'] == 'move' and len(message['plies']) > 1"
    code = f"import os\n    if {otherwise}\n    elif {second}: os.mkdir({mark!r}); {ASLEEP}"
    bot = RemoteContestant(program(tmp_path / "bot", code), pool)
    result = play(SimpleNamespace(clock=Clock()), bot, Random, seconds_per_move=3)
    forfeit = result.forfeits[0]
    assert (result.retried, forfeit.cause, forfeit.ply, result.timed) == (True, "timeout", len(result.moves), True)
    assert "when the match was played again, it chose" in forfeit.detail
