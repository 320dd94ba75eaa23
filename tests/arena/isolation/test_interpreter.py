"""What a bot sets for the whole of a worker's process: put back before each match, or the worker is replaced."""

from __future__ import annotations

import _thread
import builtins
import decimal
import gc
import locale
import os
import signal
import sys
import threading
import warnings

import numpy as np
import pytest

from arena import api
from tests.support.tournaments import home_of, rows, write

HARM = f"""
import _thread
import builtins
import decimal
import fractions
import os
import signal
import sys
import threading
import time
import warnings

import numpy as np

from bots import Bot

NICE = {os.getpriority(os.PRIO_PROCESS, 0)}


class Low(Bot):
    def choose(self, state):
        return state.legal_actions()[0]


class Harm(Low):
    '''Set what others need, in its own matches.'''

    def choose(self, state):
        DEED
        return super().choose(state)


class Honest(Low):
    def choose(self, state):
        assert (_thread._count() < 2, os.getpriority(os.PRIO_PROCESS, 0)) == (True, NICE)
        self.dig(150)
        divmod(fractions.Fraction(7, 2), 2)
        warnings.warn("of no consequence")
        np.divide(np.ones(1), 0)
        decimal.Decimal(1) / 3
        assert os.environ["PATH"]
        print("all is well")
        return super().choose(state)

    def dig(self, depth):
        return depth and 1 + self.dig(depth - 1)
"""
CONFIG = """
name = "small"
seed = 3
blocks = 1
forfeit_limit = 0
opening = "none"
games = [{ game = "epicycle", players = 2 }]
schedule = "gauntlet"
bots = [{ bot = "b.py:Low", isolation = "none" }, { bot = "b.py:Harm", isolation = "none" },
        { bot = "b.py:Honest", isolation = "none" }]
"""
DEEDS = {
    "recursion": "sys.setrecursionlimit(len(__import__('inspect').stack()) + 80)",
    "builtins": "builtins.divmod = None",
    "warnings": "warnings.simplefilter('error')",
    "errors of numpy": "np.seterr(all='raise')",
    "traps": "decimal.getcontext().traps[decimal.Inexact] = True",
    "environment": "os.environ.clear()",
    "masked alarm": "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])",
    "thread": "threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()",
    "raw thread": "_thread.start_new_thread(time.sleep, (3600,)); time.sleep(0.1)",
    "closed output": "sys.stdout.close()",
    "niceness": "os.nice(1)",
}
LEFT = {
    "recursion": lambda: sys.setrecursionlimit(5000),
    "switches": lambda: sys.setswitchinterval(1.0),
    "digits": lambda: sys.set_int_max_str_digits(1000),
    "builtins changed": lambda: setattr(builtins, "divmod", None),
    "builtins added": lambda: setattr(builtins, "zoo", None),
    "collector": gc.disable,
    "thresholds": lambda: gc.set_threshold(1, 1, 1),
    "mask": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]),
    "handlers": lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN),
    "timer": lambda: signal.setitimer(signal.ITIMER_VIRTUAL, 1000),
    "folder": lambda: os.chdir("/"),
    "umask": lambda: os.umask(0o777),
    "environment changed": lambda: os.environ.update(HOME="/zoo"),
    "filters": lambda: warnings.simplefilter("ignore"),
    "precision": lambda: setattr(decimal.getcontext(), "prec", 2),
    "locale": lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8"),
    "errors of numpy": lambda: np.seterr(all="raise"),
    "hook": lambda: setattr(sys, "excepthook", print),
    "streams": lambda: setattr(sys, "stdout", None),
    "threads' profile": lambda: threading.setprofile(print),
}


@pytest.mark.parametrize("what", LEFT)
def test_what_can_be_put_back_is(what):
    from arena.isolation.interpreter import SHARED, Interpreter

    kept = Interpreter()
    kept.restore()
    LEFT[what]()
    changed = kept.builtins != vars(builtins) or kept.shared != [each.read() for each in SHARED]
    kept.restore()
    kept.accept_threads()
    assert changed
    assert kept.builtins == vars(builtins)
    assert kept.shared == [each.read() for each in SHARED]
    assert not kept.is_spoiled()


def test_a_thread_that_goes_on_spoils_the_process_until_it_ends():
    from arena.isolation.interpreter import Interpreter

    kept, gate = Interpreter(), threading.Event()
    kept.restore()
    kept.accept_threads()
    before = _thread._count()
    thread = threading.Thread(target=gate.wait)
    thread.start()
    spoiled = kept.is_spoiled()
    gate.set()
    thread.join()
    assert (spoiled, _thread._count()) == (True, before)


@pytest.mark.system
@pytest.mark.parametrize("deed", DEEDS)
def test_a_bot_in_the_workers_process_makes_no_bot_forfeit_another_match(tmp_path, deed):
    config = write(tmp_path, CONFIG, HARM.replace("DEED", DEEDS[deed]))
    outcome = api.run(config, home_of(config), workers=1, backend="local").outcome
    assert (outcome.not_played, outcome.progress.played) == ([], 4)
    faults = "SELECT spec, cause FROM seats JOIN bots USING (bot) WHERE cause IS NOT NULL"
    assert [each for each in rows(config, faults) if each[0] != "Harm"] == []


@pytest.mark.system
def test_the_rest_of_a_chunk_goes_to_another_process(tmp_path):
    config = write(tmp_path, CONFIG.replace("blocks = 1", "blocks = 6"), HARM.replace("DEED", DEEDS["raw thread"]))
    outcome = api.run(config, home_of(config), workers=1, backend="local").outcome
    assert (outcome.not_played, outcome.progress.played) == ([], 24)
    assert rows(config, "SELECT max(attempts), count(*) FROM timings") == [(1, 24)]


def test_a_recursion_limit_that_a_module_sets_holds_in_the_matches_of_its_bots(tmp_path):
    """Whatever the order of matches, and also where the worker that plans plays."""
    text = HARM.replace("DEED", "self.dig(3000)").replace(
        "class Harm(Low):", "class Harm(Low):\n    dig = lambda self, n: n and 1 + self.dig(n - 1)\n"
    )
    config = write(tmp_path, CONFIG, f"import sys\nsys.setrecursionlimit(5000)\n{text}")
    (tmp_path / "c.py").write_text(HARM.replace("self.dig(150)", "assert sys.getrecursionlimit() < 5000"))
    config.write_text(config.read_text().replace("b.py:Honest", "c.py:Honest").replace("b.py:Low", "c.py:Low"))
    assert api.run(config, home_of(config), workers=1, backend="local").outcome.progress.forfeits == 0
