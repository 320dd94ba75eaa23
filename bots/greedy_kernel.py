"""Template: one ply of look-ahead, the compiled twin of `bots.greedy.look_ahead`."""

RULES = ("current_player", "legal_actions", "apply_action", "chance_outcomes", "apply_chance", "ranks")
OPTIONAL = ()

CHANCE, TERMINAL = -1, -4


def look_ahead(words, seat, luck, actions, values, child, rolled, outcomes, weights, place):
    """Write the legal actions and what each is worth to the seat; return how many there are."""
    count = legal_actions(words.view(STATE)[0], actions)
    for i in range(count):
        copy_state(words, child)
        apply_action(child.view(STATE)[0], actions[i])
        if current_player(child.view(STATE)[0]) == CHANCE:
            values[i] = mean_over_chance(child, seat, luck, rolled, outcomes, weights, place)
        else:
            values[i] = worth(child.view(STATE)[0], seat, place)
    return count


def worth(state, seat, place):
    """Return the seat's return after the end, the evaluation before it."""
    if current_player(state) != TERMINAL:
        return evaluate(state, seat)
    ranks(state, place)
    return (points_of(place, seat) + 1 - place.size) / (place.size - 1)


def mean_over_chance(words, seat, luck, rolled, outcomes, weights, place):
    """Return the mean worth over all outcomes by their weights, or over MOST of them drawn systematically."""
    count = chance_outcomes(words.view(STATE)[0], outcomes, weights)
    total = 0
    for i in range(count):
        total += weights[i]
    sum_of_worths = 0.0
    if count <= MOST:
        for i in range(count):
            sum_of_worths += weights[i] * worth_after(words, outcomes[i], seat, rolled, place)
        return sum_of_worths / total
    drawn, passed = 0, weights[0]
    for i in range(MOST):
        point = ((luck * total >> 32) + i * total) // MOST
        while passed <= point:
            drawn += 1
            passed += weights[drawn]
        sum_of_worths += worth_after(words, outcomes[drawn], seat, rolled, place)
    return sum_of_worths / MOST


def worth_after(words, outcome, seat, rolled, place):
    """Return the worth of a state after a chance outcome, without the chance outcomes that follow it."""
    copy_state(words, rolled)
    apply_chance(rolled.view(STATE)[0], outcome)
    return worth(rolled.view(STATE)[0], seat, place)
