"""Template: Monte-Carlo tree search over one game's rules.

The tree is an array of nodes; node 0 is the root, and 0 where a node is named means none. The children of a decision
lie side by side, in random order, one a legal action. The children of a chance node are the outcomes drawn so far, a
chain of siblings. A node gets its children on its second visit; when the array is full, no more do.
"""

import numpy as np

from engine.chance import below, next_word

RULES = ("current_player", "legal_actions", "apply_action", "sample_chance", "apply_chance", "ranks", "used_words")
OPTIONAL = ("random_action",)

CHANCE, UNKNOWN, TERMINAL = -1, -2, -4

NODE = np.dtype(
    (
        np.record,
        [
            ("label", np.int64),  # the action that leads here, or the key of the chance outcome
            ("visits", np.int32),
            ("points", np.int32),  # gained in those by the seat that chose this node: 2 a seat beaten, 1 a seat tied with
            ("first", np.int32),  # first child
            ("count", np.int32),  # how many children lie from there on; of a chance node, which has a chain, 0
            ("sibling", np.int32),  # next outcome of the same chance node
            ("who", np.int32),  # seat to move, CHANCE, TERMINAL, or UNKNOWN before the second visit
        ],
    )
)
AMAF = np.dtype(
    (
        np.record,
        [
            ("visits", np.int32),  # simulations through the parent in which its seat made this action at any time after it
            ("points", np.int32),
        ],
    )
)

LOGARITHMS = 4096


def _logarithms():
    """Natural logarithms of 0 (taken as 0) to LOGARITHMS - 1, by + - * / alone: the same on every machine."""
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


def logarithm(n):
    """The natural logarithm of a whole number, to four digits."""
    shifted = 0.0
    while n >= LOGARITHMS:
        n >>= 1
        shifted += LN_2
    return LN[n] + shifted


def seed_rng(words, rng):
    """Make the generator hang on the state as well as on its seed."""
    for i in range(used_words(words.view(STATE)[0])):
        rng[0] ^= words[i]
        rng[0] = next_word(rng)


def plant(tree, pool):
    """Start a tree: a root, which counts as visited once."""
    add_node(tree, 0, 0)
    tree[0].visits = 1
    pool[0] = 1


def add_node(tree, node, label):
    tree[node].label = label
    tree[node].visits = tree[node].points = 0
    tree[node].first = tree[node].count = tree[node].sibling = 0
    tree[node].who = UNKNOWN


def search(words, simulations, weights, rng, tree, amaf, pool, path, played, actions, scratch, place):
    """Run some more simulations from the root, whose state is `words`."""
    used = used_words(words.view(STATE)[0])
    state = scratch.view(STATE)[0]
    for _ in range(simulations):
        copy_words(words, scratch, used)
        depth = descend(state, weights, rng, tree, amaf, pool, path, actions)
        if RAVE:
            pool[1] += 1
            finish_and_mark(state, rng, actions, played, pool[1])
        else:
            finish(state, rng, actions)
        ranks(state, place)
        back_up(depth, tree, path, place)
        if RAVE:
            back_up_amaf(depth, tree, amaf, path, played, pool[1], place)


def descend(state, weights, rng, tree, amaf, pool, path, actions):
    """Follow the tree to a leaf, playing along in `state`; write the path, return its length."""
    node = depth = 0
    path[0] = 0
    while depth + 1 < path.size:
        if tree[node].who == UNKNOWN:
            if tree[node].visits == 0:
                break
            expand(state, rng, tree, amaf, pool, node, actions)
        if tree[node].who == CHANCE:
            child = draw_child(state, rng, tree, amaf, pool, node)
        elif tree[node].who >= 0:
            child = best_child(weights, tree, amaf, node)
            apply_action(state, tree[child].label)
        else:
            break
        if child == 0:
            break
        depth += 1
        path[depth] = node = child
    return depth


def expand(state, rng, tree, amaf, pool, node, actions):
    """Say who is to move and lay down the children of a decision, if there is room."""
    who = current_player(state)
    if who >= 0:
        count = legal_actions(state, actions)
        first = pool[0]
        if first + count > tree.size:
            return
        for i in range(count):
            j = i + below(rng, count - i)
            chosen, actions[j] = actions[j], actions[i]
            add_node(tree, first + i, chosen)
            if RAVE:
                amaf[first + i].visits = amaf[first + i].points = 0
        tree[node].first = first
        tree[node].count = count
        pool[0] = first + count
    tree[node].who = who


def draw_child(state, rng, tree, amaf, pool, node):
    """Roll, and return the child for what was rolled; 0 when it is new and there is no room for it."""
    outcome = sample_chance(state, rng)
    key = outcome_key(state, outcome)
    apply_chance(state, outcome)
    child = tree[node].first
    while child != 0 and tree[child].label != key:
        child = tree[child].sibling
    if child == 0 and pool[0] < tree.size:
        child = pool[0]
        pool[0] += 1
        add_node(tree, child, key)
        tree[child].sibling = tree[node].first
        tree[node].first = child
    return child


def best_child(weights, tree, amaf, node):
    """The child with the highest upper confidence bound."""
    exploration, first_play, scale = weights[0], weights[1], weights[2]
    spread = exploration * exploration * logarithm(tree[node].visits)
    best, highest = 0, -1.0
    first = tree[node].first
    for child in range(first, first + tree[node].count):
        visits = tree[child].visits
        if RAVE:
            bound = mixed_bound(visits, tree[child].points, amaf[child].visits, amaf[child].points, spread, weights)
        elif visits == 0:
            bound = first_play
        else:
            once = 1.0 / visits
            bound = tree[child].points * (scale * once) + np.sqrt(spread * once)
        if bound > highest:
            best, highest = child, bound
    return best


def mixed_bound(visits, points, amaf_visits, amaf_points, spread, weights):
    """The same with the mean mixed from the node's own simulations and from those that made its action later."""
    first_play, scale, equivalence = weights[1], weights[2], weights[3]
    if visits == 0:
        return amaf_points * scale / amaf_visits + np.sqrt(spread) if amaf_visits > 0 else first_play
    mean = points * scale / visits
    if amaf_visits > 0:
        share = np.sqrt(equivalence / (3.0 * visits + equivalence))
        mean += share * (amaf_points * scale / amaf_visits - mean)
    return mean + np.sqrt(spread / visits)


def points_of(place, seat):
    """Two points a seat beaten, one a seat tied with."""
    points = -1  # the loop meets the seat itself as one that it ties with
    for other in range(place.size):
        points += 2 * (place[other] > place[seat]) + (place[other] == place[seat])
    return points


def back_up(depth, tree, path, place):
    """Count the simulation at every node of the path, with the points of the seat that chose the node."""
    tree[0].visits += 1
    for i in range(1, depth + 1):
        node, chooser = path[i], tree[path[i - 1]].who
        tree[node].visits += 1
        if chooser >= 0:
            tree[node].points += points_of(place, chooser)


def back_up_amaf(depth, tree, amaf, path, played, stamp, place):
    """Count it also at the siblings of the path whose action the same seat made later on."""
    for i in range(depth - 1, -1, -1):
        node = path[i]
        chooser = tree[node].who
        if chooser >= 0:
            played[chooser, tree[path[i + 1]].label] = stamp
            points = points_of(place, chooser)
            first = tree[node].first
            for child in range(first, first + tree[node].count):
                if played[chooser, tree[child].label] == stamp:
                    amaf[child].visits += 1
                    amaf[child].points += points


# Rollouts


def rollout_action(state, rng, actions):
    """Games without a policy of their own."""
    return random_action(state, rng, actions)


def random_action(state, rng, actions):
    """A legal action, all equally likely."""
    return actions[below(rng, legal_actions(state, actions))]


def finish(state, rng, actions):
    """Play by the rollout policy to the end."""
    who = current_player(state)
    while who != TERMINAL:
        if who == CHANCE:
            apply_chance(state, sample_chance(state, rng))
        else:
            apply_action(state, rollout_action(state, rng, actions))
        who = current_player(state)


def finish_and_mark(state, rng, actions, played, stamp):
    """The same, noting who made which action."""
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
    """Games that say nothing of which outcomes are alike."""
    return outcome


# Keeping a part of the tree


def follow(words, course, tree, scratch):
    """The node that the plies of `course` lead to from the root, or 0 when the tree does not go so far."""
    copy_words(words, scratch, used_words(words.view(STATE)[0]))
    state = scratch.view(STATE)[0]
    node = 0
    for i in range(course.size):
        label = course[i]
        if tree[node].who == CHANCE:
            label = outcome_key(state, course[i])
            apply_chance(state, course[i])
        elif tree[node].who >= 0:
            apply_action(state, course[i])
        else:
            return 0
        node = child_with(tree, node, label)
        if node == 0:
            return 0
    return node


def child_with(tree, node, label):
    """The child of that label, or 0."""
    first = tree[node].first
    if tree[node].who == CHANCE:
        while first != 0 and tree[first].label != label:
            first = tree[first].sibling
        return first
    for child in range(first, first + tree[node].count):
        if tree[child].label == label:
            return child
    return 0


def transplant(node, tree, amaf, new_tree, new_amaf, pool):
    """Copy the tree below a node into another array, level by level; until its turn a copy names its old children."""
    copy_node(node, tree, amaf, 0, new_tree, new_amaf)
    filled, copied = 1, 0
    while copied < filled:
        child = new_tree[copied].first
        if child != 0:
            new_tree[copied].first = filled
        if new_tree[copied].who == CHANCE:
            while child != 0:
                copy_node(child, tree, amaf, filled, new_tree, new_amaf)
                child = tree[child].sibling
                filled += 1
                new_tree[filled - 1].sibling = filled if child != 0 else 0
        else:
            for i in range(new_tree[copied].count):
                copy_node(child + i, tree, amaf, filled, new_tree, new_amaf)
                filled += 1
        copied += 1
    pool[0] = filled


def copy_node(node, tree, amaf, copy, new_tree, new_amaf):
    new_tree[copy] = tree[node]
    if RAVE:
        new_amaf[copy] = amaf[node]
