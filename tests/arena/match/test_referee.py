"""The referee: faults, forfeits, substitutes, openings, and what a bot can and cannot do to a match."""

import dataclasses
import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from arena.core.errors import BotError, WorkerError
from arena.match.faults import KnownFault
from arena.match.heartbeat import NOBODY
from arena.match.player import LocalBot
from arena.match.referee import play_match
from arena.match.result import final_hash, ranks_with_forfeits
from bots import Bot
from bots.random_bot import Random
from tests.arena.match.playing import faulty, noting, play, raising, replayed, streams

LONG = 60.0
LIMIT = 1.0  # long enough for a machine that is busy with other things


def seconds(result, seat):
    """Wall-clock seconds of all of a seat's calls."""
    return sum(clocking.wall for clocking in result.clocks if clocking.seat == seat)


def swallow(state):
    try:
        time.sleep(LONG)
    except BaseException:
        return state.legal_actions()[0]


def spoil(state):
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    return -1


class Liar:
    """Calls itself equal to everything."""

    def __eq__(self, other):
        return True


class Unprintable:
    def __repr__(self):
        raise RuntimeError


class LeavesWhenPrinted:
    def __repr__(self):
        raise SystemExit


FAULTS = {
    "raises": (raising(ZeroDivisionError("oh")), "crash", "ZeroDivisionError: oh"),
    "leaves": (raising(SystemExit(0)), "crash", "SystemExit"),
    "interrupts": (raising(KeyboardInterrupt()), "crash", "KeyboardInterrupt"),
    "recurses": (lambda state: (lambda f: f(f))(lambda f: f(f)), "crash", "RecursionError"),
    "out of memory": (raising(MemoryError()), "memory", "MemoryError"),
    "illegal action": (lambda state: 5 - sum(state.legal_actions()) % 2, "illegal_action", "legal: "),
    "unknown action": (lambda state: 99, "illegal_action", "99 is not legal"),
    "negative action": (lambda state: -4, "illegal_action", "-4 is not legal"),
    "enormous action": (lambda state: 10**30, "illegal_action", "legal: "),
    "the referee's own sentinel": (lambda state: engine.game.ILLEGAL, "illegal_action", "legal: "),
    "nothing": (lambda state: None, "illegal_action", "None is no action"),
    "text": (lambda state: str(state.legal_actions()[0]), "illegal_action", "legal: "),
    "fraction": (lambda state: float(state.legal_actions()[0]), "illegal_action", "legal: "),
    "truth": (lambda state: True, "illegal_action", "True is no action"),
    "list": (lambda state: state.legal_actions(), "illegal_action", "legal: "),
    "liar": (lambda state: Liar(), "illegal_action", "legal: "),
    "unprintable": (lambda state: Unprintable(), "illegal_action", "legal: "),
    "leaves when printed": (lambda state: LeavesWhenPrinted(), "crash", "SystemExit"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_forfeits_the_seat_and_ends_a_match_of_two(case):
    fault, cause, detail = FAULTS[case]
    result = play(Random, faulty(fault))
    assert (result.ranks, result.ended) == ([0, 1], "forfeit")
    assert list(result.forfeits) == [1]
    assert result.forfeits[1].cause == cause
    assert detail in result.forfeits[1].detail
    assert result.timed == (cause == "memory")
    state, _ = replayed(result, 2)
    assert (result.forfeits[1].ply, state.current_player()) == (
        len(result.moves),
        1,
    )  # play ends where the bot forfeits
    assert result.final_hash == final_hash(state)


@pytest.mark.parametrize("fault", [lambda state: time.sleep(LONG), swallow], ids=["sleeps", "swallows the alarm"])
def test_a_move_over_the_limit_is_a_timeout(fault):
    result = play(faulty(fault), Random, seconds_per_move=LIMIT)
    assert (result.ranks, result.ended, result.forfeits[0].cause) == ([1, 0], "forfeit", "timeout")
    assert "1 s" in result.forfeits[0].detail
    assert result.timed
    assert LIMIT <= seconds(result, 0) < LONG


def test_preparations_over_the_limit_are_an_init_fault_that_a_clock_had_a_say_in():
    class Slow(Random):
        def prepare(self):
            time.sleep(LONG)

    result = play(Slow, Random, seconds_to_prepare=LIMIT)
    assert (result.ranks, result.forfeits[0].cause, result.forfeits[0].ply, result.timed) == ([1, 0], "init", -1, True)


def fails_to_begin(error):
    def prepare(self):
        raise error

    return type("Unready", (Random,), {"prepare": prepare})


class FailsToExist(Random):
    def __init__(self, *arguments):
        raise RuntimeError("no instance")


@pytest.mark.parametrize(
    ("bot", "cause"),
    [
        (fails_to_begin(RuntimeError("no")), "init"),
        (fails_to_begin(SystemExit(1)), "init"),
        (fails_to_begin(MemoryError()), "memory"),
        (FailsToExist, "init"),
    ],
)
def test_a_bot_that_cannot_be_set_up_loses_before_play(bot, cause):
    result = play(bot, Random, opening=2)
    assert (result.ranks, result.ended, result.moves) == ([1, 0], "forfeit", [])
    assert (result.forfeits[0].cause, result.forfeits[0].ply) == (cause, -1)


class CannotBeBrought:
    """An entrant that does not get as far as to take its seat."""

    def __init__(self, error):
        self.error = error

    def join(self, match, seat):
        raise self.error


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (BotError("'a\nb' is no plain path"), "init"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates"), "init"),
        (ValueError("embedded null byte"), "init"),
        (FileNotFoundError(2, "No such file"), "init"),
        (RecursionError(), "init"),
        (SystemExit(3), "init"),
        (MemoryError(), "memory"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_goes_wrong_in_bringing_a_bot_to_the_table_is_its_fault_and_nobody_elses(error, cause):
    seats = [LocalBot(Random, {}), CannotBeBrought(error), LocalBot(Random, {})]
    result = play_match(engine.load_game("epicycle", 3), seats, streams())
    assert {seat: (forfeit.cause, forfeit.ply) for seat, forfeit in result.forfeits.items()} == {1: (cause, -1)}
    assert result.ranks[1] == 2
    assert str(error).replace("\n", " ") in result.forfeits[1].detail


@pytest.mark.parametrize("error", [WorkerError("the parent of bots' processes ended"), OSError(28, "No space left")])
def test_what_the_machine_lacks_is_no_fault_of_the_bot_that_needs_it(error):
    with pytest.raises(type(error)):
        play_match(engine.load_game("epicycle", 2), [CannotBeBrought(error), LocalBot(Random, {})], streams())


@pytest.mark.parametrize(
    ("failing", "ranks"),
    [
        ({0, 1}, [1, 1, 0]),
        ({1, 2}, [0, 1, 1]),
        ({0, 1, 2}, [0, 0, 0]),
        ({0, 2, 3}, [1, 0, 1, 1]),
    ],
)
def test_bots_that_fail_before_play_fall_at_once_and_share_a_rank(failing, ranks):
    bots = [FailsToExist if seat in failing else Random for seat in range(len(ranks))]
    result = play(*bots)
    assert (result.ranks, result.ended) == (ranks, "forfeit")
    assert {seat: forfeit.ply for seat, forfeit in result.forfeits.items()} == dict.fromkeys(failing, -1)


def test_with_three_players_a_substitute_plays_on_and_the_game_ranks_the_others():
    for block in range(8):
        result = play(Random, faulty(raising(ValueError())), Random, block=block)
        state, who = replayed(result, 3)
        assert state.is_terminal()
        assert result.ended == state.ended
        assert who[result.forfeits[1].ply] == 1
        order = [state.ranks()[seat] for seat in (0, 2)]
        assert result.ranks == [int(order[0] > order[1]), 2, int(order[1] > order[0])]


def test_substitutes_draw_uniform_legal_moves_from_a_stream_of_their_own():
    result = play(Random, fails_to_begin(ValueError()), Random)
    state = engine.load_game("epicycle", players=3).new_initial_state()
    draws = itertools.count()
    for text in result.moves:
        legal = state.legal_actions()
        action = state.string_to_action(text)
        if state.current_player() == 1 and len(legal) > 1:
            assert action == legal[streams().draw("substitute/1", next(draws), len(legal))]
        state.apply_action(action)
    assert next(draws) > 0


def test_seats_that_forfeit_rank_in_reverse_order_of_falling():
    fall_at = {0: 2, 1: 0, 3: 1}  # own moves before the fault
    bots = [faulty(raising(ValueError()), after=fall_at[seat]) if seat in fall_at else Random for seat in range(4)]
    result = play(*bots, block=2)
    assert [seat for seat, _ in sorted(result.forfeits.items(), key=lambda item: item[1].ply)] == [1, 3, 0]
    assert (result.ranks, result.ended) == ([1, 3, 0, 2], "forfeit")


def test_a_seat_that_lost_by_the_rules_ranks_before_one_that_forfeited():
    out_before = 0
    for block in range(60):
        result = play(Random, Random, faulty(raising(ValueError()), after=2), block=block)
        state, _ = replayed(result, 3)
        if 2 in result.forfeits:
            assert result.ranks[2] == 2
            out_before += state.ranks()[2] < 2  # another seat lost by the rules, and still ranks before it
    assert out_before > 0


def test_forced_moves_are_not_asked_for():
    asked = []

    class Attentive(Random):
        def choose(self, state):
            asked.append((state.current_player(), len(state.history()), len(state.legal_actions())))
            return super().choose(state)

    result = play(Attentive, Attentive, block=3)
    state = engine.load_game("epicycle", players=2).new_initial_state()
    expected = []
    for ply, text in enumerate(result.moves):
        if len(state.legal_actions()) > 1:
            expected.append((state.current_player(), ply, len(state.legal_actions())))
        state.apply_action(state.string_to_action(text))
    assert asked == expected
    assert len(asked) < len(result.moves)


def test_what_a_bot_does_to_its_copy_of_the_state_changes_nothing():
    class Reckless(Random):
        def choose(self, state):
            action = super().choose(state)
            state.legal_actions().clear()
            spoil(state)
            return action

    assert facts(play(Reckless, Reckless)) == facts(play(Random, Random))


def test_whole_numbers_of_numpy_are_actions():
    class Numpy(Random):
        def choose(self, state):
            return np.int64(super().choose(state))

    assert facts(play(Numpy, Numpy)) == facts(play(Random, Random))


@pytest.mark.parametrize("spec", ["epicycle", "epicycle(setup=random)"])
def test_the_opening_is_the_same_for_all_line_ups_of_a_block(spec):
    class First(Bot):
        def choose(self, state):
            return state.legal_actions()[0]

    class Last(Bot):
        def choose(self, state):
            return state.legal_actions()[-1]

    begun = 4 + (spec != "epicycle")
    played = [
        play(*bots, opening=4, spec=spec).moves for bots in itertools.permutations([First, Last, Random, FailsToExist])
    ]
    assert len({tuple(moves[:begun]) for moves in played}) == 1
    assert len({tuple(moves) for moves in played}) > 1


def test_openings_differ_between_blocks():
    assert len({tuple(play(Random, Random, block=block, opening=3).moves[:3]) for block in range(20)}) > 3


def test_opening_plies_are_drawn_from_the_opening_stream():
    result = play(Random, Random, opening=5)
    state = engine.load_game("epicycle", players=2).new_initial_state()
    for ply, text in enumerate(result.moves[:5]):
        legal = state.legal_actions()
        assert state.string_to_action(text) == legal[streams().draw("opening", ply, len(legal))]
        state.apply_action(state.string_to_action(text))


def test_an_opening_never_ends_a_match():
    class Witness(Random):
        asked = 0

        def choose(self, state):
            Witness.asked += 1
            return super().choose(state)

    for block in range(50):
        result = play(Witness, Witness, opening=999, block=block)
        state = engine.load_game("epicycle", players=2).new_initial_state()
        drawn = 0
        while True:
            legal = state.legal_actions()
            action = legal[streams(block).draw("opening", drawn, len(legal))]
            if state.child(action).is_terminal():
                break
            drawn += 1
            state.apply_action(action)
        begun, _ = replayed(result, 2)
        assert len(result.moves) > drawn
        assert begun.history()[:drawn] == state.history()
    assert Witness.asked > 0


def facts(result):
    """All of a result that a plan decides: everything but the seconds."""
    forfeits = {seat: (forfeit.cause, forfeit.ply) for seat, forfeit in result.forfeits.items()}
    return dataclasses.replace(result, forfeits=forfeits, calls=[])


@given(block=st.integers(0, 2**64), players=st.integers(2, 5), opening=st.integers(0, 6), random_setup=st.booleans())
def test_a_result_is_a_pure_function_of_its_inputs(block, players, opening, random_setup):
    spec = "epicycle(setup=random)" if random_setup else "epicycle"
    bots = [Random, faulty(raising(ValueError()), after=2), *[noting("well")] * (players - 2)]
    first, second = (play(*bots, block=block, opening=opening, spec=spec) for _ in range(2))
    assert facts(first) == facts(second)


@given(block=st.integers(0, 2**64), players=st.integers(2, 5))
def test_a_match_among_sound_bots_ends_and_ranks_by_the_game(block, players):
    result = play(*[Random] * players, block=block, spec="epicycle(setup=random)")
    state, _ = replayed(result, players, "epicycle(setup=random)")
    assert state.is_terminal()
    assert (result.ranks, result.ended) == (state.ranks(), state.ended)
    assert result.final_hash == final_hash(state)
    assert not result.forfeits
    assert not result.timed


def test_bots_are_told_their_game_seat_seed_and_parameters():
    told = []

    class Curious(Random):
        depth: int = 0

        def prepare(self):
            told.append((self.game.spec, self.game.players, self.seat, self.seed, self.depth))

    game = engine.load_game("epicycle(setup=random)", players=3)
    play_match(game, [LocalBot(Curious, {"depth": depth}) for depth in (4, 5, 6)], streams())
    seeds = [streams().bot_seed(seat) for seat in range(3)]
    assert told == [("epicycle(setup=random)", 3, seat, seeds[seat], 4 + seat) for seat in range(3)]
    assert len(set(seeds)) == 3


def test_a_bot_that_plays_by_the_clock_makes_its_matches_timed():
    class Clocked(Random):
        timed = True

    assert play(Clocked, Random).timed
    assert not play(Random, Random).timed


@pytest.mark.parametrize(("cause", "timed"), [("timeout", True), ("memory", True), ("crash", False)])
def test_a_charge_makes_the_seat_fall_when_it_is_next_to_be_asked(cause, timed):
    clean = play(Random, Random)
    asked = []

    class Watched(Random):
        def choose(self, state):
            asked.append(len(state.history()))
            return super().choose(state)

    play(Watched, Random)
    charged = play(Watched, Random, known_faults=[KnownFault(0, asked[1], cause)])
    assert (charged.forfeits[0].cause, charged.forfeits[0].ply, charged.timed) == (cause, asked[1], timed)
    assert charged.moves[: asked[1]] == clean.moves[: asked[1]]
    assert charged.ranks == [1, 0]


def test_a_charge_from_before_play_is_an_init_fault():
    result = play(Random, Random, Random, known_faults=[KnownFault(1, -1, "timeout")])
    assert (result.forfeits[1].cause, result.forfeits[1].ply, result.timed) == ("init", -1, True)
    assert result.ranks[1] == 2


def test_whoever_watches_is_told_who_is_at_work_and_when_nobody_is():
    reports = []
    limits = {"seconds_per_move": 5, "seconds_to_prepare": 9, "margin": 0}
    result = play(Random, faulty(raising(ValueError())), more=[lambda *told: reports.append(told)], **limits)
    assert reports[:2] == [(NOBODY, -1, 0.0)] * 2
    reports = reports[2:]
    assert reports[:4] == [(0, -1, 9), (NOBODY, -1, 0.0), (1, -1, 9), (NOBODY, -1, 0.0)]
    assert all(report[0] == NOBODY for report in reports[1::2])
    moves, dismissals = reports[4:-4:2], reports[-4::2]
    assert all(report[2] == 5 for report in moves)
    _, who = replayed(result, 2)
    assert all([*who, 1][ply] == seat for seat, ply, _ in moves)
    assert [seat for seat, _, _ in dismissals] == [0, 1]


def ranked_naively(game_ranks, fell_at):
    """The rule as a list of groups, best first: who did not forfeit by the game, then who did, the latest first."""
    stayed = [seat for seat in range(len(game_ranks)) if seat not in fell_at]
    groups = [[seat for seat in stayed if game_ranks[seat] == rank] for rank in sorted(set(game_ranks))]
    for ply in sorted(set(fell_at.values()), reverse=True):
        groups.append([seat for seat in fell_at if fell_at[seat] == ply])
    ranks, place = {}, 0
    for group in groups:
        for seat in group:
            ranks[seat] = place
        place += len(group)
    return [ranks[seat] for seat in range(len(game_ranks))]


@given(st.data())
def test_ranks_with_forfeits_follow_the_rule(data):
    players = data.draw(st.integers(2, 6))
    game_ranks = data.draw(st.lists(st.integers(0, players - 1), min_size=players, max_size=players))
    fell_at = data.draw(st.dictionaries(st.integers(0, players - 1), st.integers(-1, 4)))
    assert ranks_with_forfeits(game_ranks, fell_at) == ranked_naively(game_ranks, fell_at)
