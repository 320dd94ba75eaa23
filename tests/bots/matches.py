"""Seeded matches between bots, and seeded random walks to positions worth looking at."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

import engine
from bots import Bot, make_bot
from engine import Game, State

Player = tuple[type[Bot], dict[str, object]]


def roll(state: State, rng: random.Random) -> None:
    """Apply a chance outcome drawn by weight."""
    outcomes = state.chance_outcomes()
    state.apply_action(rng.choices([outcome for outcome, _ in outcomes], [weight for _, weight in outcomes])[0])


def play_match(game: Game, players: Sequence[Player], seed: int, start: State | None = None) -> State:
    """Return the final state of one match, a pure function of its arguments."""
    rng = random.Random(seed)
    seats = [make_bot(kind, game, seat, rng.getrandbits(64), params) for seat, (kind, params) in enumerate(players)]
    state = start or game.new_initial_state()
    while (who := state.current_player()) != engine.TERMINAL:
        if who == engine.CHANCE:
            roll(state, rng)
        else:
            state.apply_action(seats[who].choose(state))
    return state


def mean_return(game: Game, one: Player, others: Player, rounds: int) -> float:
    """Return the mean return of one player against the others in all other seats, over `rounds` matches a seat."""
    total = 0.0
    for seat in range(game.players):
        line_up = [one if other == seat else others for other in range(game.players)]
        total += sum(play_match(game, line_up, seed).returns()[seat] for seed in range(rounds))
    return total / rounds / game.players


def random_walk(game: Game, seed: int, longest: int = 60) -> Iterator[State]:
    """Yield copies of the decision nodes of a random match; of a long match those of the first `longest` plies."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    for _ in range(longest):
        if state.is_terminal():
            return
        if state.is_chance_node():
            roll(state, rng)
        else:
            yield state.clone()
            state.apply_action(rng.choice(state.legal_actions()))


def decisions(game: Game, count: int) -> list[State]:
    """Return decision nodes with a choice, from all phases of random matches."""
    found: list[State] = []
    seed = 0
    while len(found) < count:
        found += [state for state in random_walk(game, seed, 2000) if len(state.legal_actions()) > 1][::3]
        seed += 1
    return found[:count]


def wins_in_one(game: Game, count: int) -> Iterator[State]:
    """Return that many decision nodes of random matches where some actions win at once and others do not."""
    for seed in itertools.count():
        for state in random_walk(game, seed, 2000):
            returns = set(immediate_returns(state).values())
            if 1.0 in returns and len(returns) > 1:
                yield state
                count -= 1
                if count == 0:
                    return


def must_win(state: State, seat: int, plies: int) -> bool:
    """Return whether the seat wins within so many plies whatever is played."""
    if state.is_terminal():
        return state.returns()[seat] == 1.0
    return plies > 0 and all(must_win(state.child(action), seat, plies - 1) for action in state.legal_actions())


def immediate_returns(state: State) -> dict[int, float | None]:
    """Return for each legal action what it returns to its seat when it ends the match, else None."""
    seat = state.current_player()
    children = {action: state.child(action) for action in state.legal_actions()}
    return {action: child.returns()[seat] if child.is_terminal() else None for action, child in children.items()}


def choices(kind: type[Bot], game: Game, position: str, seeds: int = 30) -> set[str]:
    """Return what a bot may choose in a position, in notation."""
    state = game.state_from_position(position)
    bots = [make_bot(kind, game, state.current_player(), seed) for seed in range(seeds)]
    return {state.action_to_string(bot.choose(state)) for bot in bots}
