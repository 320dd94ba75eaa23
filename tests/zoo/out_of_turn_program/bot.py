"""Answers, and speaks again before it is asked."""

from talking import say, say_action, talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}


def move(legal):
    say_action(legal)
    say('{"type":"ready"}')


talk(move)
