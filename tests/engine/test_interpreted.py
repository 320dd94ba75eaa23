"""The rules are one text: interpreted they do what they do compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def played(disable_jit: str) -> dict:
    """Return what the matches come to in a process of its own."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": disable_jit}
    command = [sys.executable, "-W", "error", "-m", "tests.engine.interpreted_matches"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_the_interpreted_rules_play_the_same_matches_as_the_compiled_ones():
    interpreted, compiled = played("1"), played("0")
    assert (interpreted["compiled"], compiled["compiled"]) == (False, True)
    assert list(interpreted["outcomes"]) == list(compiled["outcomes"])
    for table, expected in compiled["outcomes"].items():
        assert interpreted["outcomes"][table] == expected, table
