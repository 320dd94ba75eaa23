"""Template: a link of a chain of policies, which finds the one that plays by its number.

`scratch` is a pair: a tuple with the scratch of each number that `policy` plays, and the pair of the links behind. At
the end of the chain any number plays at random.
"""

RULES = ()
OPTIONAL = ()


def others(number, words, seat, rng, legal, scratch):
    """Return a legal action, all equally likely."""
    return random_action(words.view(STATE)[0], rng, legal)


def choose(number, words, seat, rng, legal, scratch):
    """Return the action that the policy of this number chooses."""
    own, behind = scratch
    if number < len(own):
        return policy(words, seat, rng, legal, own[number])
    return others(number - len(own), words, seat, rng, legal, behind)
