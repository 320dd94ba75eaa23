"""How processes ended, by what their parents are told."""

import signal
import subprocess
import sys

import pytest

from arena.core.exit_codes import (
    EXTERNAL_SIGNALS,
    exit_description,
    may_be_external_kill,
    mentions_external_kill,
    unwrapped_exit_code,
)

ENDS = [*EXTERNAL_SIGNALS, signal.SIGSEGV, signal.SIGUSR1, signal.SIGXCPU]


@pytest.mark.parametrize("number", ENDS)
def test_a_signal_is_known_also_from_behind_a_shell(number):
    """And only five tell of others."""
    alone = ["sh", "-c", f"kill -{int(number)} $$"]
    code = subprocess.run(alone).returncode
    behind = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", *alone]).returncode
    assert (code, behind, unwrapped_exit_code(behind), unwrapped_exit_code(code)) == (
        -number,
        128 + number,
        -number,
        -number,
    )
    assert may_be_external_kill(code) == (number in EXTERNAL_SIGNALS)
    assert mentions_external_kill(f"words\nits process ended ({exit_description(code)})") == (
        number in EXTERNAL_SIGNALS
    )
    assert mentions_external_kill(f"the worker process ended at work: {exit_description(code)}") == (
        number in EXTERNAL_SIGNALS
    )


@pytest.mark.parametrize("code", [0, 1, 127, 128, 200, 255])
def test_other_codes_are_no_signals(code):
    found = subprocess.run([sys.executable, "-S", "-c", f"import os; os._exit({code})"]).returncode
    assert (unwrapped_exit_code(found), may_be_external_kill(unwrapped_exit_code(found))) == (code, False)
    assert exit_description(unwrapped_exit_code(found)) == f"it ended with code {code}"


def test_only_the_end_of_a_faults_detail_counts():
    """Before it may be anything that the bot has written."""
    assert not mentions_external_kill("its process ended (killed by SIGTERM)\nits process ended (it ended with code 1)")
    assert not may_be_external_kill(None)
