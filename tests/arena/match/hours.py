"""Bots that spend time on a clock that tests turn, and programs that do as processes."""

import engine
from arena.core.limits import Limits
from arena.isolation.launched import LaunchedBot
from arena.match.alarm import Clock
from arena.match.faults import Fault
from arena.match.player import Answer, LocalBot, ProcesslessPlayer
from arena.match.referee import play_match
from arena.registry.manifest import bundle_program
from bots.random_bot import Random
from tests.arena.match.playing import streams

MINUTE = 64.0  # seconds; sums of such minutes are exact
HARDLY = 2.0**-30


class Hours:
    """A clock that stands still unless somebody spends; processor time runs with it, or a share of it."""

    def __init__(self):
        self.wall = self.cpu = 0.0

    def spend(self, wall, share=1.0):
        self.wall += wall
        self.cpu += share * wall

    @property
    def clock(self):
        return Clock(lambda: self.wall, lambda: self.cpu)


def spender(hours, moves=(), prepares=(), share=1.0):
    """A bot that spends the seconds listed, one by one over all matches, then none; `told` is what it was given."""
    spending, preparing = iter(moves), iter(prepares)

    class Spender(Random):
        told = []  # noqa: RUF012 - one list for all instances
        made = 0

        def prepare(self):
            Spender.made += 1
            hours.spend(next(preparing, 0.0), share)

        def choose(self, state):
            self.told.append(self.seconds_left)
            hours.spend(next(spending, 0.0), share)
            return super().choose(state)

    return Spender


def play(hours, *bots, block=7, opening=0, **limits):
    seats = [LocalBot(bot, {}) if isinstance(bot, type) else bot for bot in bots]
    game = engine.load_game("epicycle", players=len(bots))
    return play_match(game, seats, streams(block), opening, Limits(**limits), clock=hours.clock)


# Processes


class Distant(ProcesslessPlayer):
    """A bot elsewhere, as the referee sees it: it keeps to limits by itself, on the same made-up clock."""

    guarded = False

    def __init__(self, hours, starts=0.0, prepares=0.0, moves=()):
        self.hours, self.starts, self.prepares, self.moves = hours, starts, prepares, iter(moves)
        self.limits = []

    def join(self, match, seat):
        self.match, self.used = match, 0.0
        return self

    def spend(self, seconds, limit):
        self.limits.append(limit)
        latest = limit + self.match.margin(self.match.players.index(self))
        self.hours.wall += min(seconds, latest)
        self.used += min(seconds, latest)  # its processor time is its own
        if seconds > latest:
            raise Fault("timeout", f"no answer within {limit:g} s")

    def start(self, limit):
        self.spend(self.starts, limit)

    def prepare(self, limit):
        self.spend(self.prepares, limit)
        return False

    def choose(self, limit):
        self.spend(next(self.moves, 0.0), limit)
        return Answer(self.match.state.legal_actions()[0], None)

    def cpu(self):
        return self.used

    def close(self):
        self.limits.append("closed")


def program(folder, code, resettable=False):
    """A program that speaks the protocol; `code` says what it does with a `message`."""
    folder.mkdir(exist_ok=True)
    lines = ["import json, sys, time", "for line in sys.stdin:", "    message = json.loads(line)"]
    answer = "    if message['type'] in ('hello', 'newgame'): print('{\"type\":\"ready\"}', flush=True)"
    (folder / "bot.py").write_text("\n".join([*lines, f"    {code}", answer, MOVES]))
    resets = "resettable = true\n" if resettable else ""
    (folder / "bot.toml").write_text('command = ["python3", "bot.py"]\n' + resets)
    bundle = bundle_program(folder / "bot.toml")
    return LaunchedBot(folder.name, bundle, "", {}, "process", hash(code))


MOVES = """
    if message["type"] == "move":
        answer = {"type": "action", "action": message["legal"][0], "note": json.dumps(message["clock"])}
        print(json.dumps(answer), flush=True)
"""

BUSY, ASLEEP = "any(iter(int, 1))", "time.sleep(3600)"


def starved(hours, moves, prepares=()):
    return spender(hours, moves, prepares, share=0.5 - HARDLY)
