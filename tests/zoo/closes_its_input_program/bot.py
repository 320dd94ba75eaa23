"""Answers once and listens no more."""

import os

from talking import say_action, talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}


def move(legal):
    os.close(0)
    say_action(legal)
    while True:
        pass


talk(move)
