"""How processes ended, by what their parents are told."""

import signal
import subprocess
import sys

import pytest

from arena.core.exit_codes import FROM_ANYBODY, in_words, may_be_from_outside, tells_of_a_kill, unwrapped

ENDS = [*FROM_ANYBODY, signal.SIGSEGV, signal.SIGUSR1, signal.SIGXCPU]


@pytest.mark.parametrize("number", ENDS)
def test_a_signal_is_known_also_from_behind_a_shell(number):
    """And only five tell of others."""
    alone = ["sh", "-c", f"kill -{int(number)} $$"]
    code = subprocess.run(alone).returncode
    behind = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", *alone]).returncode
    assert (code, behind, unwrapped(behind), unwrapped(code)) == (-number, 128 + number, -number, -number)
    assert may_be_from_outside(code) == (number in FROM_ANYBODY)
    assert tells_of_a_kill(f"words\nits process ended ({in_words(code)})") == (number in FROM_ANYBODY)
    assert tells_of_a_kill(f"the worker process ended at work: {in_words(code)}") == (number in FROM_ANYBODY)


@pytest.mark.parametrize("code", [0, 1, 127, 128, 200, 255])
def test_other_codes_are_no_signals(code):
    found = subprocess.run([sys.executable, "-S", "-c", f"import os; os._exit({code})"]).returncode
    assert (unwrapped(found), may_be_from_outside(unwrapped(found))) == (code, False)
    assert in_words(unwrapped(found)) == f"it ended with code {code}"


def test_only_the_end_of_a_faults_detail_counts():
    """Before it may be anything that the bot has written."""
    assert not tells_of_a_kill("its process ended (killed by SIGTERM)\nits process ended (it ended with code 1)")
    assert not may_be_from_outside(None)
