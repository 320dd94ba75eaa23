"""Template: playouts in which some seats follow a rollout policy and the others play at random."""

RULES = (
    "current_player",
    "rolling_seat",
    "apply_action",
    "legal_actions",
    "sample_chance",
    "apply_chance",
    "ranks",
    "random_action",
    "used_words",
)
OPTIONAL = ()

CHANCE, TERMINAL = -1, -4


def playouts(start, count, seats, rng, actions, scratch, place, points):
    """Play `count` matches from `start`, those in the set `seats` by the policy; add up points by seat.

    Two points a seat beaten, one a seat tied with, as the returns have it. Returns the number of decisions.
    """
    decisions = 0
    state = scratch.view(STATE)[0]
    for _ in range(count):
        for i in range(used_words(start.view(STATE)[0])):
            scratch[i] = start[i]
        decisions += finish_by_policy(state, seats, rng, actions)
        ranks(state, place)
        for seat in range(points.size):
            for other in range(points.size):
                points[seat] += (place[other] > place[seat]) + (place[other] >= place[seat])
            points[seat] -= 1
    return decisions


def finish_by_policy(state, seats, rng, actions):
    """Play to the end; return how many decisions that took."""
    decisions = 0
    who = current_player(state)
    while who != TERMINAL:
        if who == CHANCE:
            apply_chance(state, sample_chance(state, rng))
        else:
            if seats >> who & 1:
                apply_action(state, rollout_action(state, rng, actions))
            else:
                apply_action(state, random_action(state, rng, actions))
            decisions += 1
        who = current_player(state)
    return decisions


def draws(words, count, rng, actions, drawn):
    """Write `count` actions of the policy in a state."""
    for i in range(count):
        drawn[i] = rollout_action(words.view(STATE)[0], rng, actions)
