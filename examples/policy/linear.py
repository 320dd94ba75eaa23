"""A policy in a file of one's own: a linear one, whose weights lie beside it."""

from pathlib import Path

import numpy as np

from bots.policy import PolicyBot

BUNDLE_FILES = ["linear.npz"]
WEIGHTS = np.load(Path(__file__).with_name("linear.npz"))["weights"]


class Linear(PolicyBot):
    """Drop where the weights of the stones on the board point to."""

    games = ("connect_four",)

    def policy(self, observations, legal_masks):
        return observations @ WEIGHTS
