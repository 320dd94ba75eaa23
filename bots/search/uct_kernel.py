"""Template: Monte-Carlo tree search over one game's rules.

The tree is an array of nodes; node 0 is the root, and 0 where a node is named means none. The children of a decision
lie side by side, in random order, one a legal action. The children of a chance node are the outcomes drawn so far, a
chain of siblings. A node gets its children on its second visit; when the array is full, no more do.
"""

from typing import NamedTuple

import numpy as np

from engine.chance import below, next_word

RULES = (
    "current_player",
    "legal_actions",
    "apply_action",
    "chance_outcomes",
    "sample_chance",
    "apply_chance",
    "ranks",
    "used_words",
)
OPTIONAL = ()

CHANCE, UNKNOWN, TERMINAL = -1, -2, -4
NOWHERE = -1

FIELDS = [
    ("label", np.int64),  # the action that leads here, or the key of the chance outcome
    ("visits", np.int32),
    ("points", np.int32),  # gained in them by the seat that chose this node: 2 a seat beaten, 1 a seat tied with
    ("value", np.float32),  # mean worth of those points, a win being 1; UNTRIED before the first visit
    ("doubt", np.float32),  # 1 / sqrt(visits), 1 before the first visit; with priors prior / (1 + visits)
    ("first", np.int32),  # first child
    ("sibling", np.int32),  # next outcome of the same chance node
    ("count", np.int32),  # how many children lie from `first` on; at a chance node 1 = one was proven lately
    ("who", np.int32),  # seat to move, CHANCE, TERMINAL, or UNKNOWN before the second visit
]
AMAF_FIELDS = [
    ("amaf_visits", np.int32),  # simulations through the parent in which its seat made this action then or later
    ("amaf_points", np.int32),  # gained in those
    ("amaf_value", np.float32),  # mean worth of those points
    ("share", np.float32),  # how much of it is mixed into the value: 0 without any, 1 before the first visit
]
PROOF = [("proven", np.int64)]  # 1 + the points that seat 0 is proven to gain, or 0
PRIOR_FIELD = [("prior", np.float32)]  # the share of its parent's visits that one ply of look-ahead suggests


def node_type(rave, solve, prior):
    """Return the record of a node, with what `rave`, `solve` and `prior` need."""
    return np.dtype((np.record, FIELDS + AMAF_FIELDS * rave + PRIOR_FIELD * prior + PROOF * solve))


WEIGHTS = np.dtype(
    (
        np.record,
        [
            ("exploration", np.float64),
            ("scale", np.float64),  # worth of a point, a win being 1
            ("rave", np.float64),  # visits, a legal action, at which all moves as first and own simulations count alike
            ("prior", np.float64),  # returns by which an action is behind the best one when its prior is a quarter
        ],
    )
)


class Scratch(NamedTuple):
    """Arrays that simulations write to."""

    path: np.ndarray  # (depth,) int64: the nodes from the root to the leaf
    played: np.ndarray  # (players, actions) int64: the stamp of the last simulation in which the seat made the action
    actions: np.ndarray  # (actions,) int64
    words: np.ndarray  # uint64: the state
    after: np.ndarray  # uint64: the state after an action
    place: np.ndarray  # (players,) int64: final ranks
    gains: np.ndarray  # (8,) int64: points by seat
    outcomes: np.ndarray  # (outcomes,) int64: what can be rolled
    odds: np.ndarray  # (outcomes,) int64: their weights
    totals: np.ndarray  # (actions, 8) int64: by action of the root, points by seat in simulations, and their number
    valued: tuple[np.ndarray, np.ndarray]  # the `memory` of what values states


AVOIDED = -0.5  # the upper bound of an action that is proven to gain nothing
UNTRIED = 10.0  # the upper bound of an action that nothing is known of

LOGARITHMS = 4096


def _logarithms():
    """Return natural logarithms of 0 (taken as 0) to LOGARITHMS - 1, by + - * / alone: the same on every machine."""
    table = np.zeros(LOGARITHMS)
    for n in range(2, LOGARITHMS):
        z = 1.0 / (2 * n - 1)  # ln(n / (n - 1)) = 2 artanh(z)
        term, series = z, z
        for odd in range(3, 41, 2):
            term *= z * z
            series += term / odd
        table[n] = table[n - 1] + 2.0 * series
    return table


LN = _logarithms()
LN_2 = float(LN[2])
ROOT_LN = np.sqrt(LN)


def root_of_logarithm(n):
    """Return the square root of the natural logarithm of a whole number from 1, to four digits."""
    if n < LOGARITHMS:
        return ROOT_LN[n]
    shifted = 0.0
    while n >= LOGARITHMS:
        n >>= 1
        shifted += LN_2
    return np.sqrt(LN[n] + shifted)


def seed_rng(words, rng):
    """Mix the state into a seeded generator."""
    for i in range(used_words(words.view(STATE)[0])):
        rng[0] ^= words[i]
        rng[0] = next_word(rng)


def plant(tree, pool):
    """Start a tree: a root, which counts as visited once."""
    add_node(tree, 0, 0)
    tree[0].visits = 1
    pool[0] = 1


def add_node(tree, node, label):
    """Write a node without visits."""
    tree[node].label = label
    tree[node].visits = tree[node].points = 0
    tree[node].value = UNTRIED
    tree[node].doubt = 1.0
    tree[node].first = tree[node].count = tree[node].sibling = 0
    tree[node].who = UNKNOWN
    if RAVE:
        tree[node].amaf_visits = tree[node].amaf_points = 0
        tree[node].amaf_value = tree[node].share = 0.0
    if PRIOR:
        tree[node].prior = 0.0
    if SOLVE:
        tree[node].proven = 0


def search(words, simulations, weights, rng, tree, pool, scratch):
    """Run some more simulations from the root, whose state is `words`, until it is proven."""
    # taken out once: in the loop it would cost a fifth of the time
    path, played, actions, copy, after, place, gains, outcomes, odds, totals, valued = scratch
    used = used_words(words.view(STATE)[0])
    state = copy.view(STATE)[0]
    for _ in range(simulations):
        if SOLVE and tree[0].proven != 0:
            return
        copy_words(words, copy, used)
        depth = select(state, weights[0], rng, tree, pool, path, actions, outcomes, odds, copy, after, place, valued)
        proven = 0
        if SOLVE:
            proven = proof_of(state, tree, path[depth], place, gains)
        if proven == 0:
            if VALUED and current_player(state) != TERMINAL:
                write_worths(state, place.size, gains, valued)
            else:
                if RAVE:
                    finish_and_mark(state, rng, actions, played, pool[1] + 1)
                else:
                    simulate(state, rng, actions)
                ranks(state, place)
                write_gains(place, gains)
                refine(gains)
        elif VALUED:
            refine(gains)
        backpropagate(depth, tree, path, gains, weights[0].scale)
        if SEVERAL and depth > 0:
            count_for_all(path[1] - tree[0].first, place.size, gains, totals)
        if RAVE:
            pool[1] += 1
            backpropagate_amaf(depth, weights[0], tree, path, played, pool[1], gains)
        if SOLVE and proven != 0:
            prove(depth, tree, path, proven)


def select(state, weights, rng, tree, pool, path, actions, outcomes, odds, words, after, place, valued):
    """Follow the tree to a leaf or a proven node, playing along in `state`; write the path and return its length.

    `words` are those of `state`.
    """
    node = depth = 0
    path[0] = 0
    while depth + 1 < path.size:
        if tree[node].who == UNKNOWN:
            if tree[node].visits == 0:
                break
            expand(state, rng, tree, pool, node, actions)
            if PRIOR and tree[node].who >= 0:
                look_ahead(words, tree, node, weights.prior, after, place, valued)
        if SOLVE and tree[node].proven != 0:
            break
        if tree[node].who == CHANCE:
            if SOLVE and tree[node].count != 0 and prove_chance(state, tree, node, outcomes, odds):
                break
            chosen = roll_child(state, rng, tree, pool, node)
        elif tree[node].who >= 0:
            chosen = best_child(weights, tree, node)
            apply_action(state, tree[chosen].label)
        else:
            break
        if chosen == 0:
            break
        depth += 1
        path[depth] = node = chosen
    return depth


def expand(state, rng, tree, pool, node, actions):
    """Note who is to move and add the children of a decision, if there is room."""
    who = current_player(state)
    if who >= 0:
        count = legal_actions(state, actions)
        first = pool[0]
        if first + count > tree.size:
            return
        for i in range(count):
            j = i + below(rng, count - i)
            add_node(tree, first + i, actions[j])
            actions[j] = actions[i]
        tree[node].first = first
        tree[node].count = count
        pool[0] = first + count
    tree[node].who = who


def look_ahead(words, tree, node, tolerance, after, place, valued):
    """Value the states after all actions, and share out the visits that they should get."""
    seat, first, count = tree[node].who, tree[node].first, tree[node].count
    used = used_words(words.view(STATE)[0])
    highest = -1.0
    for child in range(first, first + count):
        copy_words(words, after, used)
        state = after.view(STATE)[0]
        apply_action(state, tree[child].label)
        if current_player(state) == TERMINAL:
            ranks(state, place)
            worth = points_of(place, seat) / (place.size - 1) - 1.0
        else:
            worth = assess(state, seat, valued)
        tree[child].value = 0.5 * (worth + 1.0)
        highest = max(highest, worth)
    total = 0.0
    for child in range(first, first + count):
        behind = 1.0 + (highest + 1.0 - 2.0 * tree[child].value) / tolerance
        tree[child].prior = 1.0 / (behind * behind)
        total += tree[child].prior
    for child in range(first, first + count):
        tree[child].prior /= total
        tree[child].doubt = tree[child].prior


def roll_child(state, rng, tree, pool, node):
    """Roll and return the child for the outcome, 0 when it is new and there is no room for it."""
    outcome = sample_chance(state, rng)
    key = outcome_key(state, outcome)
    apply_chance(state, outcome)
    child = child_with(tree, node, key)
    if child == 0 and pool[0] < tree.size:
        child = pool[0]
        pool[0] += 1
        add_node(tree, child, key)
        tree[child].sibling = tree[node].first
        tree[node].first = child
    return child


def best_child(weights, tree, node):
    """Return the child with the highest upper confidence bound."""
    visits = tree[node].visits
    spread = weights.exploration * (np.sqrt(float(visits)) if PRIOR else root_of_logarithm(visits))
    best, highest = 0, -1.0
    first = tree[node].first
    for child in range(first, first + tree[node].count):
        bound = float(tree[child].value)
        if RAVE:
            bound += tree[child].share * (tree[child].amaf_value - tree[child].value)
        bound += spread * tree[child].doubt
        if bound > highest:
            best, highest = child, bound
    return best


def write_gains(place, gains):
    """Write the points of each of up to seven seats; those at index 7, where CHANCE & 7 points to, stay 0."""
    for seat in range(place.size):
        gains[seat] = points_of(place, seat)


def write_worths(state, players, gains, valued):
    """Write what a running state is worth to each seat, in points of which GRAIN make a whole one."""
    for seat in range(players):
        if players == 2 and seat == 1:
            gains[1] = 2 * GRAIN - gains[0]
        else:
            gains[seat] = np.int64((assess(state, seat, valued) + 1.0) * ((players - 1) * GRAIN) + 0.5)


def refine(gains):
    """Turn whole points into points of which GRAIN make a whole one."""
    for seat in range(7):
        gains[seat] *= GRAIN


def assess(state, seat, valued):
    """Return nothing but 0, in searches that play to the end."""
    return 0.0


def backpropagate(depth, tree, path, gains, scale):
    """Count the simulation at every node of the path, with the points of the seat that chose the node."""
    tree[0].visits += 1
    chooser = tree[0].who
    for i in range(1, depth + 1):
        node = path[i]
        visits = tree[node].visits + 1
        points = tree[node].points + gains[chooser & 7]
        once = 1.0 / visits
        tree[node].visits, tree[node].points = visits, points
        tree[node].value = points * scale * once
        tree[node].doubt = tree[node].prior / (1.0 + visits) if PRIOR else np.sqrt(once)
        chooser = tree[node].who


def count_for_all(action, players, gains, totals):
    """Count the simulation for an action of the root, with the points of every seat."""
    for seat in range(players):
        totals[action, seat] += gains[seat]
    totals[action, 7] += 1


# Proofs, in games for two, where one seat loses what the other gains


def proof_of(state, tree, leaf, place, gains):
    """Return what the leaf is proven to be worth, its points in `gains`, or 0."""
    if tree[leaf].proven != 0:
        gains[0] = tree[leaf].proven - 1
        gains[1] = 2 - gains[0]
        return tree[leaf].proven
    if tree[leaf].who == CHANCE or current_player(state) != TERMINAL:
        return 0
    ranks(state, place)
    write_gains(place, gains)
    return gains[0] + 1


def prove(depth, tree, path, proven):
    """Note what the leaf is proven to be worth, and go up as far as that proves the nodes above."""
    for i in range(depth, -1, -1):
        node = path[i]
        if i < depth and tree[node].who == CHANCE:
            tree[node].count = 1
            return
        if i < depth:
            proven = proven_by_children(tree, node)
            if proven == 0:
                return
        tree[node].proven = proven
        if i > 0 and tree[path[i - 1]].who != CHANCE:
            points = points_proven(proven, tree[path[i - 1]].who)
            tree[node].value = 0.5 * points if points > 0 else AVOIDED
            tree[node].doubt = 0.0
            if RAVE:
                tree[node].share = 0.0


def points_proven(proven, seat):
    return proven - 1 if seat == 0 else 3 - proven


def proven_by_children(tree, node):
    """Return what a decision is proven to be worth, by a child that wins or by all children, or 0."""
    seat, first = tree[node].who, tree[node].first
    best, highest, unproven = 0, -1, tree[node].count == 0
    for child in range(first, first + tree[node].count):
        proven = tree[child].proven
        if proven == 0:
            unproven = True
        elif points_proven(proven, seat) > highest:
            best, highest = proven, points_proven(proven, seat)
    return best if highest == 2 or not unproven else 0


def prove_chance(state, tree, node, outcomes, odds):
    """Prove a chance node if every outcome is proven to be worth the same; return whether it is."""
    tree[node].count = 0
    proven = tree[tree[node].first].proven
    if proven == 0:
        return False
    for i in range(chance_outcomes(state, outcomes, odds)):
        child = child_with(tree, node, outcome_key(state, outcomes[i]))
        if child == 0 or tree[child].proven != proven:
            return False
    tree[node].proven = proven
    return True


def backpropagate_amaf(depth, weights, tree, path, played, stamp, gains):
    """Count the simulation also at every child whose action the same seat made then or later on."""
    for i in range(depth - 1, -1, -1):
        node = path[i]
        chooser = tree[node].who
        if chooser >= 0:
            played[chooser, tree[path[i + 1]].label] = stamp
            equivalence = weights.rave * tree[node].count
            first = tree[node].first
            for child in range(first, first + tree[node].count):
                if played[chooser, tree[child].label] == stamp:
                    count_amaf(tree, child, gains[chooser], weights.scale, equivalence)


def count_amaf(tree, node, gained, scale, equivalence):
    """Count a simulation in the all-moves-as-first statistics of a node."""
    if SOLVE and tree[node].proven != 0:
        return
    visits, points = tree[node].amaf_visits + 1, tree[node].amaf_points + gained
    tree[node].amaf_visits, tree[node].amaf_points = visits, points
    tree[node].amaf_value = points * scale / visits
    tree[node].share = np.sqrt(equivalence / (3.0 * tree[node].visits + equivalence))


# Rollouts


def rollout_action(state, rng, actions):
    """Return a random action, in games without a rollout policy of their own."""
    return random_action(state, rng, actions)


def simulate(state, rng, actions):
    """Play by the rollout policy to the end of the match."""
    who = current_player(state)
    while who != TERMINAL:
        if who == CHANCE:
            apply_chance(state, sample_chance(state, rng))
        else:
            apply_action(state, rollout_action(state, rng, actions))
        who = current_player(state)


def finish_and_mark(state, rng, actions, played, stamp):
    """Play by the rollout policy to the end and write `stamp` to `played[seat, action]` for every action made."""
    who = current_player(state)
    while who != TERMINAL:
        if who == CHANCE:
            apply_chance(state, sample_chance(state, rng))
        else:
            action = rollout_action(state, rng, actions)
            played[who, action] = stamp
            apply_action(state, action)
        who = current_player(state)


def outcome_key(state, outcome):
    """Return the outcome itself, in games whose heuristics do not say which outcomes are alike."""
    return outcome


# The principal variation


def follow_visits(node, tree, line):
    """Write a child of the root and those visited most below it, up to a chance node; return how many plies."""
    line[0] = tree[node].label
    for ply in range(1, line.size):
        if tree[node].who < 0:
            return ply
        first = tree[node].first
        best = first
        for child in range(first + 1, first + tree[node].count):
            if tree[child].visits > tree[best].visits:
                best = child
        if tree[best].visits == 0:
            return ply
        node = best
        line[ply] = tree[node].label
    return line.size


# Keeping a part of the tree


def follow(words, plies, tree, scratch):
    """Return the node that `plies` lead to from the root, or NOWHERE when the tree does not go so far."""
    copy_words(words, scratch, used_words(words.view(STATE)[0]))
    state = scratch.view(STATE)[0]
    node = 0
    for i in range(plies.size):
        label = plies[i]
        if tree[node].who == CHANCE:
            label = outcome_key(state, plies[i])
            apply_chance(state, plies[i])
        elif tree[node].who >= 0:
            apply_action(state, plies[i])
        node = child_with(tree, node, label)
        if node == 0:
            return NOWHERE
    return node


def child_with(tree, node, label):
    """Return the child of that label, or 0."""
    child = tree[node].first
    if tree[node].who == CHANCE:
        while child != 0 and tree[child].label != label:
            child = tree[child].sibling
        return child
    for i in range(tree[node].count):
        if tree[child + i].label == label:
            return child + i
    return 0


def transplant(node, tree, new_tree, pool):
    """Copy the subtree of a node into another array, level by level; until its turn a copy names its old children."""
    new_tree[0] = tree[node]
    filled, copied = 1, 0
    while copied < filled:
        child = new_tree[copied].first
        if child != 0:
            new_tree[copied].first = filled
        if new_tree[copied].who == CHANCE:
            while child != 0:
                new_tree[filled] = tree[child]
                child = tree[child].sibling
                filled += 1
                new_tree[filled - 1].sibling = filled if child != 0 else 0
        else:
            for i in range(new_tree[copied].count):
                new_tree[filled] = tree[child + i]
                filled += 1
        copied += 1
    pool[0] = filled
