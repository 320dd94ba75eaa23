"""Template: a game's `observe` as Python calls it."""

RULES = ()
OPTIONAL = ()


def observe_words(words, seat, out):
    """Write what the seat sees of a state, all of `out`."""
    observe(words.view(STATE)[0], seat, out)
