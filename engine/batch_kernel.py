"""Template: many matches of one game stepped at once, each with streams of chance of its own.

`choose(words, seat, rng, legal, scratch)` returns the action of a seat that is not asked; it may be replaced by `bind`.
"""

import numpy as np

from engine.chance import next_word

RULES = ("current_player", "legal_actions", "apply_action", "sample_chance", "apply_chance", "ranks", "used_words")
OPTIONAL = ()

CHANCE, TERMINAL = -1, -4
DICE, LUCK = 0, 1
MOST_SKIPPED = 1000


def choose(words, seat, rng, legal, scratch):
    """Return a legal action, all equally likely."""
    return random_action(words.view(STATE)[0], rng, legal)


def seed_stream(rng, seed, match, episode, role):
    """Make `rng` the beginning of the stream for one match of the batch, one of the matches in it, and a role."""
    rng[0] = seed
    rng[0] = next_word(rng) ^ np.uint64(match)
    rng[0] = next_word(rng) ^ np.uint64(2 * episode + role)
    rng[0] = next_word(rng)


def find_illegal(states, actions, legal):
    """Return the first match whose action is not legal, -1 when all are."""
    for i in range(actions.size):
        count = legal_actions(states[i].view(STATE)[0], legal)
        found = False
        for n in range(count):
            found |= legal[n] == actions[i]
        if not found:
            return i
    return -1


def begin(i, start, states, seed, episodes, dice, luck):
    """Begin the next match at place `i` of the batch."""
    used = used_words(start.view(STATE)[0])
    for word in range(used):
        states[i, word] = start[word]
    seed_stream(dice[i], seed, i, episodes[i], DICE)
    seed_stream(luck[i], seed, i, episodes[i], LUCK)
    episodes[i] += 1


def advance(words, asked, dice, luck, legal, scratch):
    """Roll, and play for the seats that are not asked; return the seat to be asked, or TERMINAL."""
    state = words.view(STATE)[0]
    while True:
        who = current_player(state)
        if who == CHANCE:
            apply_chance(state, sample_chance(state, dice))
        elif who == TERMINAL or asked[who]:
            return who
        else:
            apply_action(state, choose(words, who, luck, legal, scratch))


def step_matches(
    first,
    last,
    restart,
    actions,
    start,
    states,
    asked,
    seed,
    episodes,
    dice,
    luck,
    observations,
    masks,
    to_move,
    returns,
    done,
    legal,
    place,
    scratch,
):
    """Step the matches from `first` to before `last`, or begin new ones; return -1, or the first that cannot begin."""
    players = place.size
    for i in range(first, last):
        words = states[i]
        done[i] = False
        for seat in range(players):
            returns[i, seat] = 0
        if restart:
            begin(i, start, states, seed, episodes, dice, luck)
        else:
            apply_action(words.view(STATE)[0], actions[i])
        who = advance(words, asked, dice[i], luck[i], legal, scratch)
        if who == TERMINAL and not restart:
            done[i] = True
            ranks(words.view(STATE)[0], place)
            for seat in range(players):
                returns[i, seat] = (points_of(place, seat) + 1 - players) / (players - 1)
        skipped = 0
        while who == TERMINAL:
            if skipped == MOST_SKIPPED:
                return i
            skipped += 1
            begin(i, start, states, seed, episodes, dice, luck)
            who = advance(words, asked, dice[i], luck[i], legal, scratch)
        to_move[i] = who
        state = words.view(STATE)[0]
        for action in range(masks.shape[1]):
            masks[i, action] = False
        for n in range(legal_actions(state, legal)):
            masks[i, legal[n]] = True
        observe(state, who, observations[i])
    return -1
