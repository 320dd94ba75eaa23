"""Epicycle's rules, section by section, against the rulebook and against a naive engine."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import engine
from engine import Game, PositionError, State
from engine.state import KernelState
from tests.engine import naive_epicycle as naive
from tests.engine.matches import walk
from tests.engine.perft import perft

SEEDS = st.integers(0, 2**32 - 1)
PLAYERS = st.integers(2, 5)
DEALS = [
    "".join(deal)
    for deal in sorted(set(itertools.permutations("SMLSMLSML")), key=lambda d: ["SML".index(c) for c in d])
]
LOOP = ["L-", "S+", "S+", "M-"]  # from the start for two back to the same position, three slots further round


def play(state: State, *plays: str) -> State:
    """Return the state after some plays in notation."""
    for text in plays:
        state.apply_action(state.string_to_action(text))
    return state


def legal(state: State) -> list[str]:
    """Return the legal plays in notation."""
    return [state.action_to_string(action) for action in state.legal_actions()]


def fields(state: State) -> tuple[str, list[str], str, int]:
    """Return PIE, HANDS, SEAT and TURN of a position."""
    pie, hands, seat, turn = state.position.split(" ")
    return pie, hands.split("/"), seat, int(turn)


def from_the_gap(pie: str) -> str:
    """Return the nine letters clockwise from the gap."""
    before, after = pie.split(".")
    return after + before


# The whole game, held against the naive engine


@given(players=PLAYERS, seed=SEEDS, deal=st.sampled_from(DEALS))
@example(players=3, seed=0, deal="SMLSMLLMS")
def test_matches_go_as_the_naive_engine_says(players, seed, deal):
    rng = random.Random(seed)
    game = engine.load_game("epicycle", players, setup="random", repetition=0, max_turns=10_000)
    state, table = play(game.new_initial_state(), deal), naive.start(players, deal)
    while table.seat is not None:
        pie, hands, seat, _ = fields(state)
        assert from_the_gap(pie) == table.pie
        assert ["" if "x" in hand else "".join(sorted(hand)) for hand in hands] == list(table.hands)
        assert int(seat) == state.current_player() == table.seat
        assert legal(state) == naive.plays(table, table.seat)
        choice = rng.choice(legal(state))
        state, table = play(state, choice), naive.play(table, choice)
    assert state.ended == "normal"
    assert state.ranks() == naive.ranks(table)


@given(players=PLAYERS, seed=SEEDS)
@settings(max_examples=30)
def test_a_play_moves_two_pieces_and_only_the_seats_that_fall_take_any_away(players, seed):
    game = engine.load_game("epicycle", players, setup="random")
    match = (state.clone() for state in walk(game, seed))
    next(match)
    before = next(match)
    for after in match:
        fallen = sum("x" in hand for hand in fields(after)[1]) - sum("x" in hand for hand in fields(before)[1])
        gone = pieces(before) - pieces(after)
        assert not pieces(after) - pieces(before)
        assert gone.total() == 3 * fallen
        assert fallen or all(count == 3 + players for count in pieces(after).values()) or "x" in before.position
        mover = before.current_player()
        others = zip(fields(before)[1], fields(after)[1], strict=True)
        assert all(one == other or "x" in other for seat, (one, other) in enumerate(others) if seat != mover)
        before = after


def pieces(state: State) -> Counter:
    """Return the pieces on the pie and in the hands."""
    pie, hands, _, _ = fields(state)
    return Counter(pie.replace(".", "")) + Counter("".join(hand for hand in hands if "x" not in hand))


# §1 to §3


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_start_is_as_the_rulebook_lays_it_out(players):
    state = engine.load_game("epicycle", players).new_initial_state()
    assert state.position == f"SMLSMLSML. {'/'.join(['SML'] * players)} 0 0"
    assert legal(state) == ["S-", "L-"]


def test_a_play_leaves_its_piece_in_the_gap_and_takes_the_other():
    start = engine.load_game("epicycle", 2).new_initial_state()
    assert play(start.clone(), "S-").position == "SMLSMLSM.S MLL/SML 1 1"
    assert play(start.clone(), "L-").position == "SMLSML.MLL SSM/SML 1 1"


def test_perft_counted_by_hand():
    """After `S+` seat 1 is stuck: small pieces on both sides, medium ones two slots away.

    After `S-` it may play `S-` and `M-`, after `L+` it may play `S+` and `M+`; `L-` would take a large piece.
    """
    state = engine.load_game("epicycle", 2).state_from_position("MSMLLSLMM. SLL/SSM 0 2")
    assert legal(state) == ["S+", "S-", "L+"]
    assert legal(play(state.clone(), "S-")) == ["S-", "M-"]
    assert legal(play(state.clone(), "L+")) == ["S+", "M+"]
    counts = [perft(state, depth) for depth in (1, 2)]
    assert [(count.sequences, count.terminal) for count in counts] == [(3, 1), (4, 0)]


# §4 Falling


def end_of(position: str, *plays: str, players: int, **options: object) -> State:
    """Return what comes of some plays from a position."""
    return play(engine.load_game("epicycle", players, **options).state_from_position(position), *plays)


def test_three_alike_in_hand_lose():
    state = end_of("MMLSLLSLS. SMM/SML 0 2", "S+", players=2)
    assert (state.ranks(), state.ended, state.position.split(" ")[1]) == ([1, 0], "normal", "x1/SML")


def test_a_seat_that_cannot_move_loses_and_play_need_not_reach_it():
    state = end_of("MSMLLSLMM. SLL/SSM 0 2", "S+", players=2)
    assert (state.ranks(), state.returns(), state.ended) == ([0, 1], [1.0, -1.0], "normal")
    assert state.position == ".SMLLSLMMS MLL/x1 - 3"


def test_several_seats_fall_one_after_another_and_the_first_is_last():
    state = end_of("MSMLLSLLM. SMM/SSM/SLL 0 3", "S+", players=3)
    assert (state.ranks(), state.returns(), state.ended) == ([2, 1, 0], [-1.0, 0.0, 1.0], "normal")


def test_play_passes_on_from_a_seat_that_fell():
    state = end_of("MSMSLLLLM. SMM/SML/SSL 0 3", "S+", players=3)
    assert (state.position, legal(state)) == (".SMSLLLLMS x2/SML/SSL 1 4", ["L+"])
    assert play(state, "L+").position.split(" ")[1:] == ["x2/SSM/SSL", "2", "5"]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_last_seat_wins_even_if_it_could_not_move(players):
    game = engine.load_game("epicycle", players, setup="random")
    for middle in itertools.permutations("SML"):
        state = play(game.new_initial_state(), f"SML{''.join(middle)}LMS")
        assert (state.ended, state.ranks()) == ("normal", list(range(players - 1, -1, -1)))
        hands = [f"x{rank}" for rank in range(players - 1, 0, -1)]
        assert state.position.split(" ")[1:] == ["/".join([*hands, "SML"]), "-", "0"]


# §5 Repetition


@pytest.mark.parametrize("repetition", range(2, 11))
def test_a_loop_ends_when_the_start_occurs_for_the_last_time_allowed(repetition):
    state = engine.load_game("epicycle", 2, repetition=repetition).new_initial_state()
    for times in range(1, repetition):
        assert (state.ended, state.record.turn) == ("", 4 * (times - 1))
        play(state, *LOOP)
    assert (state.ended, state.ranks(), state.returns()) == ("repetition", [0, 0], [0.0, 0.0])


LOOPS = [
    ("LLSSMLSMS. MLL/SSM/MML 0 3", "L- S- L- S- L- S+"),
    ("SSLMMLMLS. SML/SML/SML 0 3", "M+ L- S- L- M- M- S+ S+ L-"),
    ("SMSLLLMSM. SML/SML/SML/SML 0 4", "S- M+ S+ M- M- S+ M+ S-"),
    ("SLSSMLMLS. SMM/MLL/SML/SML/SML 2 2", "L+ S- L- S+ L+ S- L- S- L+ S-"),
]


@pytest.mark.parametrize("repetition", [2, 3, 5])
@pytest.mark.parametrize(("position", "loop"), LOOPS, ids=[f"{position.count('/') + 1}p" for position, _ in LOOPS])
def test_a_loop_of_all_seats_ends_when_its_start_occurs_for_the_last_time_allowed(position, loop, repetition):
    game = engine.load_game("epicycle", position.count("/") + 1, repetition=repetition)
    state = game.state_from_position(position)
    for _ in range(repetition - 1):
        assert state.ended == ""
        play(state, *loop.split())
    assert (state.ended, state.ranks()) == ("repetition", [0] * game.players)


def test_the_used_words_hold_the_positions_seen():
    state = play(engine.load_game("epicycle", 2).new_initial_state(), *LOOP)
    words = np.full_like(state.words, 7)
    state.game.compiled.copy_state(state.words, words)
    assert play(KernelState(state.game, words), *LOOP).ended == "repetition"


def test_slot_numbers_do_not_tell_positions_apart():
    state = play(engine.load_game("epicycle", 2).new_initial_state(), *LOOP)
    assert (fields(state)[0], from_the_gap(fields(state)[0])) == ("SMLSML.SML", "SMLSMLSML")


def test_without_the_rule_a_loop_goes_on_to_the_cap():
    state = engine.load_game("epicycle", 2, repetition=0, max_turns=1000).new_initial_state()
    play(state, *LOOP * 250)
    assert (state.ended, state.ranks(), len(state.history())) == ("cap", [0, 0], 1000)


def test_a_position_read_from_text_is_a_first_occurrence():
    state = end_of("SMLSMLSML. SML/SML 0 40", *LOOP, players=2)
    assert state.ended == ""
    assert play(state, *LOOP).ended == "repetition"


def test_seats_out_keep_their_rank_and_the_others_share_the_best():
    state = end_of("SMLSMLSML. x2/SML/SML 1 4", *LOOP * 2, players=3)
    assert (state.ended, state.ranks(), state.returns()) == ("repetition", [2, 0, 0], [-1.0, 0.5, 0.5])


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_match_ends_at_the_first_position_that_occurs_twice_when_that_is_the_rule(players):
    free = engine.load_game("epicycle", players, repetition=0)
    repeated = [ends_at_the_first_repetition(free, seed) for seed in range(200)]
    assert 0 < sum(repeated) < 200


def ends_at_the_first_repetition(free: Game, seed: int) -> bool:
    """Return whether a match repeats a position; fails unless the same match with `repetition=2` ends just there."""
    state = engine.load_game("epicycle", free.players, repetition=2).new_initial_state()
    seen = set()
    for unruled in walk(free, seed):
        for action in unruled.history()[-1:]:
            state.apply_action(action)
        if unruled.is_terminal():
            assert (state.ended, state.ranks()) == (unruled.ended, unruled.ranks())
            return False
        pie, hands, seat, _ = fields(unruled)
        position = (from_the_gap(pie), *hands, seat)
        if position in seen:
            assert (state.ended, state.ranks()[int(seat)]) == ("repetition", 0)
            return True
        assert state.ended == ""
        seen.add(position)
    raise AssertionError("the match has no end")


# §6 The end


def test_the_cap_ends_a_match_after_that_many_plays():
    state = engine.load_game("epicycle", 3, max_turns=5).new_initial_state()
    for _ in range(4):
        state.apply_action(state.legal_actions()[0])
        assert state.ended == ""
    state.apply_action(state.legal_actions()[0])
    assert (state.ended, state.ranks(), state.position.split(" ")[2:]) == ("cap", [0, 0, 0], ["-", "5"])


def test_repetition_comes_before_the_cap_and_a_fall_before_both():
    start = engine.load_game("epicycle", 2, max_turns=8).new_initial_state()
    assert play(start, *LOOP * 2).ended == "repetition"
    assert end_of("MSMLLSLMM. SLL/SSM 0 2", "S+", players=2, max_turns=3).ended == "normal"
    assert end_of("MSMLLSLMM. SLL/SSM 0 2", "S-", players=2, max_turns=3).ended == "cap"


def test_at_the_cap_seats_out_keep_their_rank():
    state = end_of("MSMSLLLLM. SMM/SML/SSL 0 3", "S+", players=3, max_turns=4)
    assert (state.ended, state.ranks(), state.returns()) == ("cap", [2, 0, 0], [-1.0, 0.5, 0.5])


@pytest.mark.parametrize(
    ("position", "ended", "ranks"),
    [
        ("SMLSMLSML. SML/SML - 7", "repetition", [0, 0]),
        ("SMLSMLSML. SML/SML - 500", "cap", [0, 0]),
        ("SMLSMLSML. SML/x1 - 7", "normal", [0, 1]),
        ("SMLSMLSML. x1/SML - 500", "normal", [1, 0]),
    ],
)
def test_a_finished_position_tells_how_it_ended(position, ended, ranks):
    state = engine.load_game("epicycle", 2).state_from_position(position)
    assert (state.ended, state.ranks(), state.position) == (ended, ranks, position)


# §7 The random set-up


def test_the_deals_come_in_dictionary_order_equally_likely():
    state = engine.load_game("epicycle", 2, setup="random").new_initial_state()
    outcomes = state.chance_outcomes()
    assert [state.action_to_string(outcome) for outcome, _ in outcomes] == DEALS
    assert [outcome for outcome, _ in outcomes] == list(range(1680))
    assert {weight for _, weight in outcomes} == {1}
    assert (DEALS[0], DEALS[1], DEALS[-1]) == ("SSSMMMLLL", "SSSMMLMLL", "LLLMMMSSS")
    assert state.rolling_seat() == -1
    assert state.position == ".......... SML/SML - 0"


def test_every_deal_lies_in_slots_0_to_8_and_only_six_leave_seat_0_without_a_play():
    start = engine.load_game("epicycle", 2, setup="random").new_initial_state()
    ended = []
    for number, deal in enumerate(DEALS):
        state = start.child(number)
        assert fields(state)[0] == f"{deal}."
        if state.is_terminal():
            ended.append((deal, state.ranks()))
    assert ended == [(f"SML{middle}LMS", [1, 0]) for middle in ("SML", "SLM", "MSL", "MLS", "LSM", "LMS")]


def test_the_standard_deal_gives_the_standard_start():
    dealt = play(engine.load_game("epicycle", 2, setup="random").new_initial_state(), "SMLSMLSML")
    assert dealt.position == engine.load_game("epicycle", 2).new_initial_state().position


# §9 Notation


def test_the_actions_are_numbered_by_size_and_side():
    state = engine.load_game("epicycle", 2).new_initial_state()
    assert [state.action_to_string(action) for action in range(6)] == ["S+", "S-", "M+", "M-", "L+", "L-"]


REFUSED = [
    # count of fields
    (2, {}, "", "count"),
    (2, {}, "SMLSMLSML. SML/SML 0", "count"),
    (2, {}, "SMLSMLSML.  SML/SML 0 0", "count"),
    (2, {}, "SMLSMLSML. SML/SML 0 0 ", "count"),
    # bad syntax
    (2, {}, "SMLSMLSMLS SML/SML 0 2", "PIE"),
    (2, {}, ".MLSMLSML. SML/SML 0 2", "PIE"),
    (2, {}, "XMLSMLSML. SML/SML 0 2", "PIE"),
    (2, {}, "smlsmlsml. SML/SML 0 2", "PIE"),
    (2, {}, "SMLSMLSM. SML/SML 0 2", "PIE"),
    (2, {}, "SMLSMLSML.. SML/SML 0 2", "PIE"),
    (2, {}, "SMLSMLSML. SML 0 2", "HANDS"),
    (2, {}, "SMLSMLSML. SML/SML/SML 0 2", "HANDS"),
    (2, {}, "SMLSMLSML. SML/MSL 0 2", "HANDS"),
    (2, {}, "SMLSMLSML. SML/SM 0 2", "HANDS"),
    (2, {}, "SMLSMLSML. SML/SMLL 0 2", "HANDS"),
    (2, {}, "SMLSMLSML. SML/ 0 2", "HANDS"),
    (2, {}, "SMLSMLSML. SML/x - 2", "HANDS"),
    (2, {}, "SMLSMLSML. SML/X1 - 2", "HANDS"),
    (2, {}, "SMLSMLSML. SML/SML x 2", "SEAT"),
    (2, {}, "SMLSMLSML. SML/SML 00 2", "SEAT"),
    (2, {}, "SMLSMLSML. SML/SML 2 2", "SEAT"),
    (2, {}, "SMLSMLSML. SML/SML -1 2", "SEAT"),
    (2, {}, "SMLSMLSML. SML/SML 0 02", "TURN"),
    (2, {}, "SMLSMLSML. SML/SML 0 -2", "TURN"),
    (2, {}, "SMLSMLSML. SML/SML 0 two", "TURN"),
    (2, {}, "SMLSMLSML. SML/SML 0 99999999999999999999", "TURN"),
    # more than 3 + players pieces of a size, fewer while nobody is out
    (2, {}, "SSLSMLSML. SML/SML 0 2", "PIE"),
    (2, {}, "SMLSMLSML. SSL/SML 0 2", "PIE"),
    (3, {}, "SSSSSSSML. x2/SML/SML 1 4", "PIE"),
    # three alike in a hand
    (2, {}, "SMLSMLSML. SML/SSS 0 2", "HANDS"),
    # a seat to move that is out, stuck, or alone
    (3, {}, "SMLSMLSML. x2/SML/SML 0 6", "SEAT"),
    (2, {}, "SMSMLLLMS. SSM/MLL 0 2", "SEAT"),
    (2, {}, "SMLSMLSML. SML/x1 0 2", "SEAT"),
    # a seat to move other than TURN modulo players while nobody is out
    (2, {}, "SMLSMLSML. SML/SML 0 3", "SEAT"),
    (3, {}, "SMLSMLSML. SML/SML/SML 2 4", "SEAT"),
    # ranks that are not the last ones without a gap
    (3, {}, "SMLSMLSML. x1/SML/SML 1 4", "HANDS"),
    (3, {}, "SMLSMLSML. x2/x2/SML - 4", "HANDS"),
    (4, {}, "SMLSMLSML. x3/x1/SML/SML 2 4", "HANDS"),
    (3, {}, "SMLSMLSML. x2/x1/x0 - 4", "HANDS"),
    (2, {}, "SMLSMLSML. x2/SML - 4", "HANDS"),
    # a TURN 0 that is not a start
    (2, {}, "SMLSMLSM.L SML/SML 0 0", "TURN"),
    (2, {}, "LMSSMLSML. SML/SML 0 0", "TURN"),
    (2, {}, "SMLSMLSML. SML/SML - 0", "TURN"),
    (2, {"setup": "random"}, "SMLSMLSM.L SML/SML 0 0", "TURN"),
    (2, {"setup": "random"}, "SMLSMLSML. x1/SML - 0", "TURN"),
    (2, {"setup": "random"}, "SMLSSMLMS. SML/SLL 0 0", "PIE"),
    # TURN above the cap
    (2, {}, "SMLSMLSML. SML/SML - 501", "TURN"),
    (2, {"max_turns": 7}, "SMLSMLSML. SML/SML 0 8", "TURN"),
    # a seat to move at the cap
    (2, {}, "SMLSMLSML. SML/SML 0 500", "SEAT"),
    (3, {"max_turns": 7}, "SMLSMLSML. SML/SML/SML 1 7", "SEAT"),
    # before the deal
    (2, {}, ".......... SML/SML - 0", "PIE"),
    (2, {"setup": "random"}, ".......... SML/SML 0 0", "PIE"),
    (2, {"setup": "random"}, ".......... SML/SML - 1", "PIE"),
    (2, {"setup": "random"}, ".......... SML/SSM - 0", "PIE"),
]


@pytest.mark.parametrize(("players", "options", "position", "field"), REFUSED)
def test_a_position_that_the_rulebook_refuses_is_refused_with_its_field(players, options, position, field):
    with pytest.raises(PositionError) as caught:
        engine.load_game("epicycle", players, **options).state_from_position(position)
    assert caught.value.field == field
    assert field in str(caught.value)


def test_the_reasons_say_what_would_be_right():
    game = engine.load_game("epicycle", 2)
    for position, reason in [
        ("SMSMLLLMS. SSM/MLL 0 2", "position, field SEAT: 0 has no legal play, so it would be out"),
        ("SMLSMLSML. SML/SML 0 3", "position, field SEAT: 0 is not TURN modulo players, 1"),
        ("SSLSMLSML. SML/SML 0 2", "position, field PIE: 6 pieces of size S with the hands, where 5 are in play"),
        ("SMLSMLSML. SML/SML - 501", "position, field TURN: 501 is above the cap, max_turns=500"),
    ]:
        with pytest.raises(PositionError) as caught:
            game.state_from_position(position)
        assert str(caught.value) == reason


def test_the_drawing_marks_the_gap_the_last_play_and_the_seat_to_move():
    state = play(engine.load_game("epicycle", 3).new_initial_state(), "S-")
    text = str(state)
    assert (text.count("_"), text.count("[S]")) == (1, 1)
    assert [line[:8] for line in text.splitlines() if "seat" in line and "legal" not in line] == [
        "  seat 0",
        "> seat 1",
        "  seat 2",
    ]
    assert text.splitlines()[-1] == "  after 1 play, legal: S- M+ M- L+"


def test_a_position_is_no_key_of_a_state_but_the_key_is():
    """Two states of one position, of which a play ends one by repetition and not the other."""
    game = engine.load_game("epicycle", 2, repetition=2)
    first, second = game.new_initial_state(), game.new_initial_state()
    for one, other in zip((5, 5, 0, 2, 1, 1, 2, 5), (5, 5, 2, 0, 5, 2, 0, 5), strict=True):
        first.apply_action(one)
        second.apply_action(other)
    assert first.position == second.position
    endings = [[state.child(action).ended for action in state.legal_actions()] for state in (first, second)]
    assert sorted(map(set, endings), key=len) == [{""}, {"", "repetition"}]
    assert first.key != second.key and first != second and len({first, second}) == 2


def test_the_key_forgets_in_what_order_positions_occurred():
    game = engine.load_game("epicycle", 2)
    ways: dict[object, set[tuple[int, ...]]] = {}
    for seed in range(300):
        for ply, state in enumerate(walk(game, seed)):
            if ply > 6:
                break
            ways.setdefault(state.key, set()).add(tuple(state.history()))
    for histories in ways.values():
        assert len({tuple(sorted(positions_on_the_way(game, history))) for history in histories}) == 1


def positions_on_the_way(game, history):
    """Return the pie from the gap, the hands and the mover, before every play."""
    state = game.new_initial_state()
    for action in history:
        yield int(state.record.pie), int(state.record.hands), int(state.record.seat)
        state.apply_action(action)
