"""Template: perft by an explicit stack (recursive kernels cannot be cached)."""

import numpy as np

RULES = ("current_player", "legal_actions", "apply_action", "chance_outcomes", "apply_chance", "used_words")
OPTIONAL = ()

CHANCE, TERMINAL = -1, -4


def list_choices(state, choices, weights):
    who = current_player(state)
    if who == TERMINAL:
        return 0
    if who == CHANCE:
        return chance_outcomes(state, choices, weights)
    return legal_actions(state, choices)


def count(stack, choices, weights, depth):
    """Return sequences of exactly `depth` plies from `stack[0]`, and those that end the match there."""
    sequences = terminal = 0
    left = np.zeros(depth + 1, np.int64)
    left[0] = list_choices(stack[0].view(STATE)[0], choices[0], weights)
    level = 0
    while level >= 0:
        if left[level] == 0:
            level -= 1
            continue
        left[level] -= 1
        parent = stack[level].view(STATE)[0]
        for i in range(used_words(parent)):
            stack[level + 1, i] = stack[level, i]
        child = stack[level + 1].view(STATE)[0]
        choice = choices[level, left[level]]
        if current_player(parent) == CHANCE:
            apply_chance(child, choice)
        else:
            apply_action(child, choice)
        if level + 1 < depth:
            level += 1
            left[level] = list_choices(child, choices[level], weights)
        else:
            sequences += 1
            terminal += current_player(child) == TERMINAL
    return sequences, terminal
