"""Cautious keeps its hand mixed."""

import engine
from bots import make_bot
from bots.cautious import Cautious
from bots.random_bot import Random
from tests.bots.matches import decisions, immediate_returns, mean_return

EPICYCLE = engine.load_game("epicycle", players=2)


def choices(state, seeds=20):
    """Return what it may choose, in notation."""
    bots = [make_bot(Cautious, state.game, state.current_player(), seed) for seed in range(seeds)]
    return {state.action_to_string(bot.choose(state)) for bot in bots}


def sizes_held(state, play, seat):
    """Return the different sizes in the hand after a play, worked out from the rules page."""
    pie, hands, _, _ = state.position.split(" ")
    size, side = state.action_to_string(play)
    steps = "SML".index(size) + 1
    taken = pie[(pie.index(".") + (steps if side == "+" else -steps)) % 10]
    return set(hands.split("/")[seat].replace(size, "", 1) + taken)


def test_of_all_plays_one_that_leaves_the_most_sizes_in_hand_is_taken():
    for players in (2, 3, 5):
        for state in decisions(engine.load_game("epicycle", players), 200):
            seat = state.current_player()
            variety = {play: len(sizes_held(state, play, seat)) for play in state.legal_actions()}
            assert variety[make_bot(Cautious, state.game, seat, 1).choose(state)] == max(variety.values())


def test_a_loss_in_one_is_avoided():
    found = 0
    for state in decisions(EPICYCLE, 300):
        returns = immediate_returns(state)
        if -1.0 in returns.values() and set(returns.values()) != {-1.0}:
            found += 1
            assert returns[make_bot(Cautious, EPICYCLE, state.current_player(), 1).choose(state)] != -1.0
    assert found >= 50


def test_both_first_plays_leave_two_alike_and_are_chosen_among_by_the_seed():
    assert choices(EPICYCLE.new_initial_state()) == {"S-", "L-"}


def test_a_pair_is_broken_up_when_that_is_possible():
    state = EPICYCLE.state_from_position("SMLSMLSS.L MML/SML 0 6")
    assert {state.action_to_string(play) for play in state.legal_actions()} == {"M+", "M-", "L+"}
    assert choices(state) == {"M+", "M-"}


def test_cautious_beats_random_clearly():
    for players in (2, 4):
        game = engine.load_game("epicycle", players)
        assert mean_return(game, (Cautious, {}), (Random, {}), rounds=40) > 0.4
