"""Clocks: what the referee measures, forgives and forfeits. Time is made up wherever it can be.

Made-up time is spent in whole minutes, so that the referee's alarm, which is real, never rings by itself.
"""

import json
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from arena import api
from arena.core.records import decode, encode
from arena.match.result import CallDuration, MatchRow, row_of
from arena.store import Store
from bots import Bot
from bots.random_bot import Random
from tests.arena.match.hours import HARDLY, MINUTE, Distant, Hours, play, spender, starved
from tests.arena.match.playing import replayed
from tests.support import samples
from tests.support.rows import rows_of
from tests.support.tournaments import home_of, rows, write

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
    assert result.clocks[:2] == [CallDuration(0, -1, 2 * MINUTE, 32.0), CallDuration(1, -1, 0.0, 0.0)]
    for clocking in result.clocks[2:]:
        assert clocking == (who[clocking.ply], clocking.ply, *next(spent[clocking.seat], (0.0, 0.0)), 0.0)
    assert not [*spent[0], *spent[1]]


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
    ((clocks,),) = rows_of(tmp_path / "matches.db", "SELECT clocks FROM timings")
    assert stored.retried == retried
    ply = result.clocks[2].ply
    assert clocks.startswith(f"0,-1,2000000,1000000,0 1,-1,0,0,0 0,{ply},125,62,0 ")
    assert [clocking[:2] for clocking in stored.clocks] == [clocking[:2] for clocking in result.clocks]
    for clocking, (_, _, wall, cpu, _) in zip(stored.clocks, result.clocks, strict=True):
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
