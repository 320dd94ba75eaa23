"""Search is one text: interpreted it visits what it visits compiled, and finds the same to the last bit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bots.minimax_findings import found

ROOT = Path(__file__).parents[2]


@pytest.mark.system
def test_interpreted_searches_find_what_compiled_ones_find_in_the_same_number_of_states():
    command = [sys.executable, "-W", "error", "-m", "tests.bots.minimax_findings"]
    interpreted = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(command, env=interpreted, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {"compiled": False, "found": json.loads(json.dumps(found()))}
