"""Template: the compiled functions that every game offers to Python, and random playouts.

The functions leave the rules' names open; `engine.kernel.bind` joins them to one game. `words` is a state as plain
uint64 words (what Python keeps), viewed as the game's record once at each entry.
"""

from engine.chance import below

RULES = (
    "current_player",
    "rolling_seat",
    "legal_actions",
    "apply_action",
    "chance_outcomes",
    "sample_chance",
    "apply_chance",
    "ranks",
    "ended",
    "used_words",
)
OPTIONAL = ("random_action", "random_finish", "scores")

CHANCE, TERMINAL = -1, -4
ILLEGAL = -9


def copy_state(source, target):
    """Copy the used words of a state."""
    copy_words(source, target, used_words(source.view(STATE)[0]))


def copy_words(source, target, count):
    """Copy the first words; for a state copied many times, since viewing it as a record costs 20 ns."""
    for i in range(count):
        target[i] = source[i]


def look(words, actions):
    """Return (who, count): the seat to move, its legal actions in `actions`; CHANCE or TERMINAL with 0."""
    state = words.view(STATE)[0]
    who = current_player(state)
    return who, legal_actions(state, actions) if who >= 0 else 0


def step(words, action, actions):
    """Apply a legal action, then return as `look`; (ILLEGAL, 0) and no change when it is not legal."""
    state = words.view(STATE)[0]
    count = legal_actions(state, actions)
    for i in range(count):
        if actions[i] == action:
            apply_action(state, action)
            who = current_player(state)
            return who, legal_actions(state, actions) if who >= 0 else 0
    return ILLEGAL, 0


def list_outcomes(words, outcomes, weights):
    """Write the chance outcomes and their weights; return how many."""
    return chance_outcomes(words.view(STATE)[0], outcomes, weights)


def roll(words, outcome, outcomes, weights, actions):
    """Apply a chance outcome that is possible here, then return as `look`; (ILLEGAL, 0) when it is not."""
    state = words.view(STATE)[0]
    for i in range(chance_outcomes(state, outcomes, weights)):
        if outcomes[i] == outcome:
            apply_chance(state, outcome)
            who = current_player(state)
            return who, legal_actions(state, actions) if who >= 0 else 0
    return ILLEGAL, 0


def whose_roll(words):
    return rolling_seat(words.view(STATE)[0])


def final_ranks(words, out):
    """Write the ranks by seat; return the ending's number."""
    state = words.view(STATE)[0]
    ranks(state, out)
    return ended(state)


def scores(state, out):
    """Write zeros, in games without a score of their own."""
    out[:] = 0


def read_scores(words, out):
    scores(words.view(STATE)[0], out)


def points_of(place, seat):
    """Return two points for each seat beaten and one for each tied with."""
    points = -1  # the loop meets the seat itself as one that it ties with
    for other in range(place.size):
        points += 2 * (place[other] > place[seat]) + (place[other] == place[seat])
    return points


def random_action(state, rng, actions):
    """Return a legal action, all equally likely."""
    return actions[below(rng, legal_actions(state, actions))]


def random_finish(state, rng, actions):
    """Play uniformly at random to the end; return (decisions, plies), a chance outcome being a ply too."""
    decisions = plies = 0
    who = current_player(state)
    while who != TERMINAL:
        if who == CHANCE:
            apply_chance(state, sample_chance(state, rng))
        else:
            apply_action(state, random_action(state, rng, actions))
            decisions += 1
        plies += 1
        who = current_player(state)
    return decisions, plies


def playouts(start, count, rng, actions, scratch, place, rank_sums, endings):
    """Play `count` matches at random from `start`, adding up ranks and endings; return (decisions, plies)."""
    decisions = plies = 0
    used = used_words(start.view(STATE)[0])
    state = scratch.view(STATE)[0]
    for _ in range(count):
        copy_words(start, scratch, used)
        made, passed = random_finish(state, rng, actions)
        decisions += made
        plies += passed
        ranks(state, place)
        for seat in range(rank_sums.size):
            rank_sums[seat] += place[seat]
        endings[ended(state)] += 1
    return decisions, plies
