"""Learned evaluations: sums of weights of a game's features, trained by self-play."""
