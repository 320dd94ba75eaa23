"""Template: the same number of random playouts for every legal action."""

RULES = ("legal_actions", "apply_action", "ranks")
OPTIONAL = ()


def compare_actions(words, seat, playouts, rng, actions, points, totals, child, scratch, wide, place):
    """Write the legal actions and the points that the seat gains in the playouts after each; return how many there are.

    With more than two players `totals` gets those of every seat, by action. A playout is worth two points a seat beaten
    and one a seat tied with. Points are whole numbers in the order of the mean return, which is
    points / (playouts * (players - 1)) - 1.
    """
    count = legal_actions(words.view(STATE)[0], actions)
    for i in range(count):
        copy_state(words, child)
        apply_action(child.view(STATE)[0], actions[i])
        points[i] = 0
        if SEVERAL:
            totals[i] = 0
        for _ in range(playouts):
            copy_state(child, scratch)
            state = scratch.view(STATE)[0]
            random_finish(state, rng, wide)
            ranks(state, place)
            points[i] += points_of(place, seat)
            if SEVERAL:
                for other in range(place.size):
                    totals[i, other] += points_of(place, other)
    return count
