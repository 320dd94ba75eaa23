"""Adjudication: when all bots agree or a search proves it, never by what one bot claims, and found again in logs."""

import dataclasses
import itertools
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from arena.core.adjudication import AGREEMENT, CERTAINTY, AdjudicationRules, adjudication_in_words
from arena.core.errors import StoreError
from arena.core.limits import Limits
from arena.match.adjudication import Adjudicator, check_adjudication, expected_ranks, verdicts
from arena.match.player import LocalBot
from arena.match.proof import proved_ranks
from arena.match.referee import play_match
from arena.match.replay import walk_plies
from arena.match.result import row_of
from arena.match.stored import PlannedMatch, stored_match
from bots.random_bot import Random
from tests.arena.match.playing import faulty, play, raising, replayed, streams

SEAT_0_TO_MOVE: Any = SimpleNamespace(current_player=lambda: 0)
DRAW = (0, 0)


class Claims(Random):
    """Plays at random and gives the evaluations of its class by turns; None for a move without one."""

    evaluations: ClassVar[Any] = ()

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.turn = itertools.cycle(self.evaluations)

    def choose(self, state):
        given = next(self.turn)
        if given is not None:
            self.evaluation = given
        return super().choose(state)


def claiming(*evaluations):
    return type("Claiming", (Claims,), {"evaluations": evaluations})


def adjudicated(rules, *bots, spec="magic_mids", opening=0, block=7):
    game = engine.load_game(spec, players=len(bots))
    seats = [LocalBot(bot, {}) for bot in bots]
    return play_match(game, seats, streams(block), opening, Limits(), adjudication=rules)


def as_logged(result, spec="magic_mids", players=2, opening=0):
    """A result as it is read back from a log."""
    place = PlannedMatch(b"i" * 16, b"b" * 16, 0, spec, players, 0, opening, 1)
    return stored_match(place, row_of(result, 0, 0.1), ["bot"] * players)


def check(match, rules):
    game = engine.load_game(match.game, match.players)
    return len(list(check_adjudication(match, walk_plies(match, game, None), rules)))


@given(st.integers(2, 5), st.randoms(use_true_random=False), st.integers(0, 199))
def test_an_evaluation_near_the_returns_of_places_expects_these_places(players, rng, most):
    ranks = rng.sample(range(players), players)
    exact = [round(1000 * (players - 1 - 2 * rank) / (players - 1)) for rank in ranks]
    near = [value + rng.randint(-most, most) for value in exact]
    assert expected_ranks(near, most + 1) == tuple(ranks)
    off = [*near[:-1], exact[-1] + (most + 2 if ranks[-1] else -most - 2)]
    assert expected_ranks(off, most) is None


@pytest.mark.parametrize("evaluation", [(), DRAW, (500, 500), (1000, -400), (1000, 0, 0), (334, 333, -667)])
def test_an_evaluation_that_may_be_doubt_or_a_tie_expects_nothing(evaluation):
    assert expected_ranks(evaluation, 50) is None


@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([(), (980, 10, -990), (10, 980, -990), (0, 0, 0)]))),
)
def test_agreement_is_that_the_last_evaluations_of_every_bot_expect_the_same(times, told):
    adjudicator = Adjudicator(AdjudicationRules(agreement=times), 3)
    heard: list[list[Any]] = [[], [], []]
    for seat, evaluation in told:
        adjudicator.hear(seat, evaluation)
        heard[seat].append(expected_ranks(evaluation, 50))
        last = [each for words in heard for each in (words[-times:] if len(words) >= times else [None])]
        wanted = last[0] if last[0] is not None and set(last) == {last[0]} else None
        found = adjudicator.verdict(SEAT_0_TO_MOVE)
        assert (found and found.ranks) == wanted


def test_a_match_ends_as_soon_as_both_bots_have_expected_the_same_winner_often_enough():
    both = claiming((-0.97, 0.96))
    result = adjudicated(AdjudicationRules(agreement=2), both, both)
    whole = play(both, both, spec="magic_mids")
    assert result.ended == AGREEMENT and result.ranks == [1, 0]
    *before, last = (replayed(whole, 2, "magic_mids")[1][ply] for ply, *_ in result.estimates)
    assert min(map(before.count, (0, 1))) < 2 == min(map([*before, last].count, (0, 1)))
    assert result.moves == whole.moves[: len(result.moves)] and len(whole.moves) > len(result.moves)


HOSTILE = {
    "silence": None,
    "its own win": (-1.0, 1.0),
    "a draw": (0.0, 0.0),
    "doubt": (0.9, -0.9),
    "too much": (2.0, -2.0),
    "no numbers": (float("nan"), float("nan")),
    "too few": (1.0,),
    "nonsense": "1.0",
}


@pytest.mark.parametrize("claim", HOSTILE.values(), ids=HOSTILE)
def test_what_one_bot_claims_ends_no_match_while_another_says_otherwise(claim):
    rules = AdjudicationRules(agreement=1)
    bots = claiming((1.0, -1.0)), claiming(claim)
    result, whole = adjudicated(rules, *bots), play(*bots, spec="magic_mids")
    assert (result.ended, result.moves, result.ranks) == (whole.ended, whole.moves, whole.ranks)


def test_all_of_three_bots_have_to_agree_and_on_every_place():
    rules, order = AdjudicationRules(agreement=1), (1.0, 0.0, -1.0)
    result = adjudicated(rules, *[claiming(order)] * 3)
    assert (result.ended, result.ranks) == (AGREEMENT, [0, 1, 2])
    for other in (None, (0.0, 1.0, -1.0), (1.0, -1.0, 0.0), (1.0, -0.5, -0.5)):
        assert adjudicated(rules, claiming(order), claiming(order), claiming(other)).ended != AGREEMENT


def test_a_move_without_an_evaluation_begins_the_count_anew():
    sure = claiming((1.0, -1.0))
    assert adjudicated(AdjudicationRules(agreement=2), sure, claiming((1.0, -1.0), None)).ended != AGREEMENT
    assert adjudicated(AdjudicationRules(agreement=1), sure, claiming((1.0, -1.0), None)).ended == AGREEMENT


def test_a_match_with_a_forfeit_is_played_to_its_end():
    sure = claiming((1.0, 0.0, -1.0))
    failing = faulty(raising(RuntimeError("oh")))
    result = adjudicated(AdjudicationRules(agreement=1, certainty=100), sure, sure, failing)
    assert result.forfeits.keys() == {2} and "adjudicated" not in result.ended


def test_without_rules_every_match_is_played_to_its_end():
    both = claiming((1.0, -1.0))
    assert adjudicated(None, both, both).moves == play(both, both, spec="magic_mids").moves


# The referee's search


class Tree:
    """A position of a made-up game: who is to move, and what follows; or final ranks."""

    def __init__(self, who, *after, ranks=None):
        self.who, self.after, self.final = who, after, ranks
        self.game: Any = None

    def current_player(self):
        return self.who

    def legal_actions(self):
        return [*range(len(self.after))] if self.who >= 0 else []

    def chance_outcomes(self):
        return [(number, 1) for number in range(len(self.after))]

    def child(self, action):
        found = self.after[action]
        found.game = self.game
        return found

    def ranks(self):
        return [*self.final]


def over(*ranks):
    return Tree(engine.TERMINAL, ranks=ranks)


def proved(tree, positions=1000):
    tree.game = SimpleNamespace(players=len(_ranks_below(tree)))
    return proved_ranks(tree, positions)


def _ranks_below(tree):
    while tree.final is None:
        tree = tree.after[0]
    return tree.final


def long_way(tree, plies=5000):
    for number in range(plies):
        tree = Tree(number % 2, tree)
    return tree


A, B, TIE = over(0, 1), over(1, 0), over(0, 0)
TREES = {
    "a win is taken, whatever else there is": (Tree(0, long_way(B), A), (0, 1)),
    "a draw is not proved while a win may be left": (Tree(0, long_way(A), TIE), None),
    "the best of what there is": (Tree(0, B, TIE), (0, 0)),
    "the opponent chooses too": (Tree(0, Tree(1, A, B), Tree(1, TIE, A)), (0, 0)),
    "dice that change nothing": (Tree(engine.CHANCE, A, A), (0, 1)),
    "dice that decide": (Tree(engine.CHANCE, A, B), None),
    "a win against all dice": (Tree(0, Tree(engine.CHANCE, A, B), Tree(engine.CHANCE, A, A)), (0, 1)),
    "one seat decides whom of two others it lets win": (Tree(2, over(0, 1, 2), over(1, 0, 2)), None),
    "three seats, one result": (Tree(2, over(0, 1, 2), Tree(0, over(0, 1, 2))), (0, 1, 2)),
    "three seats, the best for who chooses": (Tree(2, over(0, 1, 2), over(0, 2, 1)), (0, 2, 1)),
}


@pytest.mark.parametrize(("tree", "ranks"), TREES.values(), ids=TREES)
def test_the_search_proves_what_follows_if_nobody_errs_and_nothing_else(tree, ranks):
    assert proved(tree) == ranks


def test_the_search_looks_at_no_more_positions_than_it_may():
    assert proved(Tree(0, *[Tree(1, B, B)] * 9, A), 9) is None
    assert proved(Tree(0, *[Tree(1, B, B)] * 9, A), 10) == (0, 1)


@pytest.mark.parametrize(("spec", "players"), [("epicycle", 2), ("epicycle", 3), ("magic_mids", 2)])
def test_a_match_ends_where_the_search_proves_its_result_and_the_log_bears_it_out(spec, players):
    rules, found = AdjudicationRules(certainty=100), 0
    for block in range(6):
        result = adjudicated(rules, *[Random] * players, spec=spec, opening=2, block=block)
        whole = play(*[Random] * players, spec=spec, opening=2, block=block)
        assert result.moves == whole.moves[: len(result.moves)]
        found += result.ended == CERTAINTY
        assert check(as_logged(result, spec, players, 2), rules) == len(result.moves)
    assert found or players > 2


# In logs


@pytest.fixture(scope="module")
def agreed():
    both = claiming((-0.97, 0.96))
    return as_logged(adjudicated(AdjudicationRules(agreement=2), both, both))


@pytest.fixture(scope="module")
def played_on():
    both = claiming((-0.97, 0.96))
    return as_logged(play(both, both, spec="magic_mids"))


def test_an_adjudicated_match_is_borne_out_by_its_rules_alone(agreed):
    assert check(agreed, AdjudicationRules(agreement=2)) == len(agreed.moves)
    wrong = (None, *(AdjudicationRules(*each) for each in ((1,), (3,), (2, 0.98), (0, 0.95, 10))))
    for rules in wrong:
        with pytest.raises(StoreError):
            check(agreed, rules)


FALSIFIED = {
    "ranks": {"ranks": [0, 1]},
    "ranks that cannot be": {"ranks": [0, 2]},
    "a tie": {"ranks": [0, 0]},
    "kind": {"ended": CERTAINTY},
    "no adjudication": {"ended": "normal"},
    "a forfeit": {"forfeits": {0: ("crash", 1)}},
    "no evaluations": {"packed_estimates": ""},
}


@pytest.mark.parametrize("change", FALSIFIED.values(), ids=FALSIFIED)
def test_a_falsified_adjudication_is_found(agreed, change):
    with pytest.raises(StoreError):
        check(dataclasses.replace(agreed, **change), AdjudicationRules(agreement=2))


def test_a_match_that_goes_on_where_its_rules_end_it_is_found(played_on):
    with pytest.raises(StoreError, match="goes on in the log"):
        check(played_on, AdjudicationRules(agreement=2))
    assert check(played_on, None) == len(played_on.moves)


def test_rules_would_have_ended_a_whole_match_where_they_ended_it_in_play(agreed, played_on):
    plies = walk_plies(played_on, engine.load_game("magic_mids", players=2), None)
    ends = [(ply.number + 1, found) for ply, found in verdicts(played_on, plies, AdjudicationRules(agreement=2))]
    first = next((number, found) for number, found in ends if found is not None)
    assert first == (len(agreed.moves), (agreed.ended, tuple(agreed.ranks)))


def test_people_are_told_when_and_why_a_match_was_adjudicated():
    assert adjudication_in_words(AGREEMENT, 1060) == "adjudicated at ply 1,060, as all bots expected this"
    assert adjudication_in_words("normal", 60) == ""
