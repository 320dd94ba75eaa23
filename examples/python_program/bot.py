"""A bot that is a program of its own: it speaks the arena's protocol (arena/isolation/PROTOCOL.md).

In Python a class is less work, see ../my_bot.py; this one shows in forty lines what a bot in any language does.
"""

import json
import sys


class Generator:
    """Splitmix64: from the same seed the same numbers in every language."""

    def __init__(self, seed):
        self.state = seed

    def draw(self):
        """A whole number from 0 to 2^64 - 1."""
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        mixed = (self.state ^ self.state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        return mixed ^ mixed >> 31


def choose(legal, generator, boldness):
    """In `boldness` of 100 moves any legal action, all equally likely; in the others the first."""
    bold = generator.draw() % 100 < boldness
    return legal[generator.draw() % len(legal)] if bold else legal[0]


def say(**answer):
    print(json.dumps(answer), flush=True)


for line in sys.stdin.buffer:  # bytes: lines are UTF-8, whatever the locale is
    message = json.loads(line)
    match message["type"]:
        case "hello":
            say(type="ready")
        case "newgame":
            generator = Generator(int(message["seed"]))
            boldness = message["options"]["boldness"]
            say(type="ready")
        case "move":
            say(type="action", action=choose(message["legal"], generator, boldness))
        case "quit":
            break
