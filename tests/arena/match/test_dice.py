"""The dice: the published vectors, uniformity, independence of streams, and the rejection rule."""

import hashlib
import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import engine
from arena.match.dice import BOTS_PERSON, DICE_PERSON, Dice, Streams, public_key

BLOCK = bytes(range(16))
MAGIC_MIDS_FACES = "ba2345"


def streams(seed=2026, block=BLOCK):
    return Streams(public_key(seed, DICE_PERSON), public_key(seed, BOTS_PERSON), block)


def magic_mids_outcomes():
    """The 56 rolls of three dice in dictionary order, weighted by their orderings."""
    orderings = Counter(tuple(sorted(roll)) for roll in itertools.product(range(6), repeat=3))
    return [
        ("".join(MAGIC_MIDS_FACES[face] for face in roll), orderings[roll])
        for roll in itertools.combinations_with_replacement(range(6), 3)
    ]


def pyramid_punch_outcomes():
    return [(f"{first}-{second}", 1) for first in range(1, 7) for second in range(1, 7)]


def added_up(pairs):
    """Outcomes, and the sums of their weights, as `State.chances` gives them."""
    outcomes, weights = zip(*pairs, strict=True)
    return outcomes, [*itertools.accumulate(weights)]


def number_by_the_page(key, block, stream, index, total):
    """The number that decides, word by word as the dice page says; and how many were refused before it."""
    for attempt in itertools.count():
        data = block + stream.encode("utf-8") + b"\x00" + index.to_bytes(8, "little") + attempt.to_bytes(4, "little")
        number = int.from_bytes(hashlib.blake2b(data, key=key, digest_size=8).digest(), "little")
        if number < (2**64 // total) * total:
            return number % total, attempt


def place_by_the_page(number, weights):
    """The first place whose cumulative weight exceeds the number."""
    return next(place for place in range(len(weights)) if sum(weights[: place + 1]) > number)


def independence(pairs):
    """p-value of the hypothesis that the two faces of a pair know nothing of each other."""
    table = [[0] * 6 for _ in range(6)]
    for first, second in pairs:
        table[first][second] += 1
    return stats.chi2_contingency(table).pvalue


def test_the_public_key_of_a_seed_is_the_published_one():
    assert public_key(2026, DICE_PERSON).hex() == "6eb70c289e185bae6a9f604f93ceef8ef1f538bf9fda083efdcce0e39e7ac356"


@pytest.mark.parametrize(
    ("outcomes", "stream", "expected"),
    [
        (magic_mids_outcomes, "dice/0", "333 ba4 255 b35 ba3 b35 a44 b25"),
        (magic_mids_outcomes, "dice/1", "b25 baa ba3 a35 aa4 ba5 b33 344"),
        (pyramid_punch_outcomes, "dice/0", "2-4 1-1 2-2 1-5 6-1 1-3 6-4 5-2"),
        (pyramid_punch_outcomes, "dice/4", "5-3 1-2 3-2 1-6 4-5 5-4 6-4 4-1"),
    ],
)
def test_rolls_are_the_published_ones(outcomes, stream, expected):
    listed = outcomes()
    numbered = [(number, weight) for number, (_, weight) in enumerate(listed)]
    rolls = [listed[streams().outcome(stream, index, *added_up(numbered))][0] for index in range(8)]
    assert " ".join(rolls) == expected


def test_the_rolls_listed_for_magic_mids_are_56_with_weights_that_sum_to_216():
    listed = magic_mids_outcomes()
    assert (len(listed), sum(weight for _, weight in listed)) == (56, 216)
    assert [text for text, _ in listed[:3]] + [listed[-1][0]] == ["bbb", "bba", "bb2", "555"]


def test_epicycle_deals_are_the_published_ones():
    deal = engine.load_game("epicycle(setup=random)", players=2).new_initial_state()
    dice = Dice(streams())
    assert " ".join(deal.action_to_string(dice.roll(deal)) for _ in range(3)) == "LSMLMLSMS LMMMLLSSS SLLSSMLMM"


def test_bots_seeds_are_the_published_ones():
    assert [streams().bot_seed(seat) for seat in (0, 1)] == [10655871613080765954, 1345423765335515084]


def test_bots_seeds_come_from_another_key_than_the_dice():
    with_other_dice = Streams(bytes(32), public_key(2026, BOTS_PERSON), BLOCK)
    with_other_bots = Streams(public_key(2026, DICE_PERSON), bytes(32), BLOCK)
    assert with_other_dice.bot_seed(0) == streams().bot_seed(0)
    assert with_other_bots.bot_seed(0) != streams().bot_seed(0)
    assert with_other_bots.draw("dice/0", 0, 216) == streams().draw("dice/0", 0, 216)


SEEDS = st.integers(0, 2**63 - 1)
BLOCKS = st.binary(min_size=16, max_size=16)
STREAMS = st.sampled_from(["setup", "opening", "dice/0", "dice/12", "substitute/3"])
INDEXES = st.integers(0, 2**64 - 1)


@given(SEEDS, BLOCKS, STREAMS, INDEXES, st.integers(1, 2**64))
def test_every_number_is_drawn_as_the_page_says(seed, block, stream, index, total):
    number, _ = number_by_the_page(public_key(seed, DICE_PERSON), block, stream, index, total)
    assert streams(seed, block).draw(stream, index, total) == number


@given(SEEDS, BLOCKS, STREAMS, INDEXES, st.lists(st.integers(1, 2**60), min_size=1, max_size=8))
def test_every_outcome_is_drawn_as_the_page_says(seed, block, stream, index, weights):
    number, _ = number_by_the_page(public_key(seed, DICE_PERSON), block, stream, index, sum(weights))
    outcomes = [(f"outcome {place}", weight) for place, weight in enumerate(weights)]
    drawn = streams(seed, block).outcome(stream, index, *added_up(outcomes))
    assert drawn == f"outcome {place_by_the_page(number, weights)}"


def test_numbers_above_the_last_whole_multiple_are_refused_and_drawn_again():
    total = 2**63 + 1  # 2^64 holds it once: nearly every second number is refused
    key = public_key(2026, DICE_PERSON)
    expected = [number_by_the_page(key, BLOCK, "dice/0", index, total) for index in range(200)]
    assert [streams().draw("dice/0", index, total) for index in range(200)] == [number for number, _ in expected]
    assert 60 < sum(refused > 0 for _, refused in expected) < 140


def test_draws_are_uniform():
    counts = Counter(streams().draw("dice/0", index, 216) for index in range(216 * 60))
    assert stats.chisquare([counts[number] for number in range(216)]).pvalue > 1e-4


def test_outcomes_come_in_proportion_to_their_weights():
    weights = [1, 3, 6, 2]
    rolls = [streams().outcome("dice/0", index, *added_up([*enumerate(weights)])) for index in range(12_000)]
    observed = [rolls.count(place) for place in range(4)]
    assert stats.chisquare(observed, [weight * 1000 for weight in weights]).pvalue > 1e-4


@pytest.mark.parametrize(
    ("other", "stream"),
    [
        (streams(), "dice/1"),
        (streams(), "opening"),
        (streams(block=bytes(16)), "dice/0"),
        (streams(seed=2027), "dice/0"),
    ],
    ids=["seat", "stream", "block", "seed"],
)
def test_streams_are_independent_of_each_other(other, stream):
    ours = [streams().draw("dice/0", index, 6) for index in range(3600)]
    theirs = [other.draw(stream, index, 6) for index in range(3600)]
    assert independence(zip(ours, theirs, strict=True)) > 1e-4


def test_neighbours_in_a_stream_are_independent():
    draws = [streams().draw("dice/0", index, 6) for index in range(3601)]
    assert independence(itertools.pairwise(draws)) > 1e-4


def test_each_seat_counts_its_own_rolls_whatever_the_others_do():
    class Roll:
        def __init__(self, seat):
            self.seat = seat

        def current_player(self):
            return engine.CHANCE

        def rolling_seat(self):
            return self.seat

        def chances(self):
            return range(36), range(1, 37)

    def rolls_of(wanted, seats):
        dice = Dice(streams())
        rolled = [(seat, dice.roll(Roll(seat))) for seat in seats]
        return [roll for seat, roll in rolled if seat == wanted]

    alone = rolls_of(1, [1] * 5)
    assert alone == [streams().draw("dice/1", index, 36) for index in range(5)]
    assert rolls_of(1, [0, 1, 2, 0, 1, 1, 0, 1, 2, 1]) == alone
    assert rolls_of(-1, [0, -1, 1, -1]) == [streams().draw("setup", index, 36) for index in range(2)]


def test_opening_and_substitutes_draw_from_the_legal_actions_by_streams_of_their_own():
    state = engine.load_game("epicycle", players=2).new_initial_state()
    legal = state.legal_actions()
    dice = Dice(streams())
    opening = [dice.opening(state) for _ in range(6)]
    substitute = [dice.substitute(state) for _ in range(6)]
    assert opening == [legal[streams().draw("opening", index, 2)] for index in range(6)]
    assert substitute == [legal[streams().draw("substitute/0", index, 2)] for index in range(6)]
