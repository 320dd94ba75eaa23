"""Template: many matches of one game stepped at once, each with streams of chance of its own.

`choose(number, words, seat, rng, legal, scratch)` returns the action of a seat that the policy of that number plays; it
may be replaced by `bind`.
"""

import numpy as np

from engine.chance import next_word

RULES = ("current_player", "legal_actions", "apply_action", "sample_chance", "apply_chance", "ranks", "used_words")
OPTIONAL = ()

CHANCE, TERMINAL = -1, -4
CALLER_PLAYS = -1
STREAMS = 64  # of a match: the dice, then each seat's
MAX_SKIPPED_MATCHES = 1000


def choose(number, words, seat, rng, legal, scratch):
    """Return a legal action, all equally likely."""
    return random_action(words.view(STATE)[0], rng, legal)


def seed_stream(rng, seed, place, episode, role):
    """Make `rng` the beginning of a stream: role 0 is the dice of a match, role 1 + seat what chooses for the seat."""
    rng[0] = seed
    rng[0] = next_word(rng) ^ np.uint64(place)
    rng[0] = next_word(rng) ^ np.uint64(STREAMS * episode + role)
    rng[0] = next_word(rng)


def find_illegal(states, actions, legal):
    """Return the first match whose action is not legal, -1 when all are."""
    for i in range(actions.size):
        if not is_legal(states[i].view(STATE)[0], actions[i], legal):
            return i
    return -1


def is_legal(state, action, legal):
    """Return whether an action of the seat to move is legal."""
    found = False
    for n in range(legal_actions(state, legal)):
        found |= legal[n] == action
    return found


def begin(i, start, states, seed, episodes, dice, luck, seating, rotation, seats):
    """Begin the next match at place `i` of the batch."""
    used = used_words(start.view(STATE)[0])
    for word in range(used):
        states[i, word] = start[word]
    seed_stream(dice[i], seed, i, episodes[i], 0)
    players = seating.size
    shift = rotation[0] * i + rotation[1] * episodes[i]
    for place in range(players):
        seat = (place + shift) % players
        seats[i, seat] = seating[place]
        if seating[place] != CALLER_PLAYS:
            seed_stream(luck[i, seat], seed, i, episodes[i], 1 + seat)
    episodes[i] += 1


def play_opening(words, plies, rng, before, legal):
    """Play random moves and roll between them, but none that would end the match; `before` is room for a state."""
    state = words.view(STATE)[0]
    while plies > 0 and current_player(state) != TERMINAL:
        if current_player(state) == CHANCE:
            apply_chance(state, sample_chance(state, rng))
            continue
        copy_state(words, before)
        apply_action(state, random_action(state, rng, legal))
        if current_player(state) == TERMINAL:
            copy_state(before, words)
            return
        plies -= 1


def advance(i, words, seats, dice, luck, legal, scratch):
    """Roll, and play for the seats that are not asked; return the seat to be asked, or TERMINAL."""
    # rows are taken where they are needed: each costs several nanoseconds
    state = words.view(STATE)[0]
    while True:
        who = current_player(state)
        if who == CHANCE:
            apply_chance(state, sample_chance(state, dice[i]))
        elif who == TERMINAL or seats[i, who] == CALLER_PLAYS:
            return who
        else:
            apply_action(state, choose(seats[i, who], words, who, luck[i, who], legal, scratch))


def step_matches(
    first,
    last,
    restart,
    lenient,
    actions,
    start,
    states,
    seed,
    episodes,
    dice,
    luck,
    seating,
    rotation,
    opening,
    seats,
    ends,
    finals,
    observations,
    masks,
    to_move,
    returns,
    done,
    before,
    legal,
    place,
    scratch,
):
    """Step the matches from `first` to before `last`, or begin new ones; return -1, or the first that cannot begin.

    Where `lenient`, an action that is not legal ends its match; else all are legal.
    """
    players = place.size
    for i in range(first, last):
        words = states[i]
        state = words.view(STATE)[0]
        done[i] = False
        for seat in range(players):
            returns[i, seat] = 0
        refused = not restart and lenient and not is_legal(state, actions[i], legal)
        who = TERMINAL
        if restart:
            begin(i, start, states, seed, episodes, dice, luck, seating, rotation, seats)
            play_opening(states[i], opening, dice[i], before, legal)
        elif not refused:
            apply_action(state, actions[i])
        if not refused:
            who = advance(i, words, seats, dice, luck, legal, scratch)
        if who == TERMINAL and not restart:
            done[i] = True
            for word in range(words.size):
                ends[i, word] = words[word]
            observe(state, to_move[i], finals[i])
            if refused:
                returns[i, to_move[i]] = -1
            else:
                write_returns(i, state, place, returns)
        skipped = 0
        while who == TERMINAL:
            if skipped == MAX_SKIPPED_MATCHES:
                return i
            skipped += 1
            begin(i, start, states, seed, episodes, dice, luck, seating, rotation, seats)
            play_opening(states[i], opening, dice[i], before, legal)
            who = advance(i, words, seats, dice, luck, legal, scratch)
        to_move[i] = who
        observe(state, who, observations[i])
        write_mask(i, state, masks, legal)
    return -1


def write_mask(i, state, masks, legal):
    """Write which actions are legal."""
    for action in range(masks.shape[1]):
        masks[i, action] = False
    for n in range(legal_actions(state, legal)):
        masks[i, legal[n]] = True


def write_returns(i, state, place, returns):
    """Write the returns of a match that has ended, by seat."""
    ranks(state, place)
    for seat in range(place.size):
        returns[i, seat] = (points_of(place, seat) + 1 - place.size) / (place.size - 1)
