"""Games and positions of Magic Mids for its tests."""

import random
from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st

import engine
from engine.magic_mids.text import OUTCOMES
from tests.engine import naive_magic_mids as naive

EMPTY = "......../......../......../......../........"

SMOOTH = settings(deadline=None, max_examples=150)


def load(players=2, **options):
    return engine.load_game("magic_mids", players, **options)


def read(position, **options):
    return load(len(position.split(" ")[1].split("/")), **options).state_from_position(position)


def position(mids, players=2, roll="-", turn=0):
    """Return a running match with mids such as `0La2 1Me5` on the board, the others in hand."""
    board = {("abcde".index(mid[2]), "2345".index(mid[3])): mid[:2] for mid in mids.split()}
    standing = Counter(board.values())
    hands = [
        {size: int(stock) - standing[f"{seat}{size}"] for size, stock in zip("SML", naive.STOCK[players], strict=True)}
        for seat in range(players)
    ]
    return naive.write(board, hands, turn % players, roll, turn)


def played(position, action, **options):
    state = read(position, **options)
    state.apply_action(state.string_to_action(action))
    return state


def random_match(game, seed):
    """Return all states of one random match."""
    chooser = random.Random(seed)
    state = game.new_initial_state()
    while True:
        yield state
        if state.is_terminal():
            return
        outcomes = state.chance_outcomes()
        state = state.child(
            chooser.choices(*zip(*outcomes, strict=True))[0] if outcomes else chooser.choice(state.legal_actions())
        )


@st.composite
def positions(draw):
    """Return position strings of running matches with a roll to be used; reachable or not, but never refused."""
    players = draw(st.integers(2, 4))
    stock = {(seat, size): int(naive.STOCK[players][i]) for seat in range(players) for i, size in enumerate("SML")}
    mids = st.one_of(st.none(), st.tuples(st.integers(0, players - 1), st.sampled_from("SML")))
    board = {}
    for place, mid in enumerate(draw(st.lists(mids, min_size=20, max_size=20))):
        last_in_hand = mid and sum(count for (seat, _), count in stock.items() if seat == mid[0]) == 1
        if mid and stock[mid] and not last_in_hand and len(board) < 19:
            stock[mid] -= 1
            board[divmod(place, 4)] = f"{mid[0]}{mid[1]}"
    hands = [{size: stock[seat, size] for size in "SML"} for seat in range(players)]
    turn = draw(st.integers(0, 1999))
    roll = draw(st.sampled_from(OUTCOMES))
    if not naive.legal(naive.write(board, hands, turn % players, roll, turn)):
        roll = "bbb"
    return naive.write(board, hands, turn % players, roll, turn)


# §6 The end

AROUND_E5 = (
    "0Sd4 0Sd5 0Sd2 0Se4 0Se2 0Ma4 0Ma5 0Ma2"  # the eight neighbours of e5, so that a mid there captures nothing
)
THE_REST = ("a3", "b2", "b3", "b4", "b5", "c2", "c3", "c4", "c5", "d3", "e3")


def all_but_e5(*mids):
    """Return nineteen mids that leave e5 free."""
    return f"{AROUND_E5} {' '.join(mid + square for mid, square in zip(mids, THE_REST, strict=True))}"


RUNNING_BEHIND = all_but_e5(*["1S"] * 5, *["1M"] * 5, "1L")  # with e5 seat 0 has 9 mids on the board, seat 1 has 11

LAST_MID = all_but_e5("0M", "0M", *["0L"] * 4, *["1S"] * 5)
