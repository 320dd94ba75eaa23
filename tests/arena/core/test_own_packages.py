"""A script finds the arena's packages whatever is called like them beside it."""

import subprocess
import sys

import pytest

SCRIPT = """
import arena
match = arena.play_match("epicycle", ["greedy", "random"], seed=1)
print(match.ended)
"""


def run(folder, script):
    (folder / "script.py").write_text(script)
    command = [sys.executable, "script.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("beside", ["bots/__init__.py", "engine.py", "bots/my_bot.py"])
def test_our_packages_win_over_what_lies_beside_a_script_and_one_line_says_so(tmp_path, beside):
    (tmp_path / beside).parent.mkdir(exist_ok=True)
    (tmp_path / beside).touch()
    done = run(tmp_path, SCRIPT)
    assert (done.returncode, done.stdout) == (0, "normal\n"), done.stderr
    advice = [line for line in done.stderr.splitlines() if line.startswith("arena: ")]
    hidden = beside != "bots/my_bot.py"
    assert len(advice) == hidden and all(line.endswith(": rename yours") for line in advice)


def test_a_module_of_that_name_that_is_imported_already_is_named(tmp_path):
    (tmp_path / "bots.py").touch()
    done = run(tmp_path, "import bots\nimport arena\n")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "bots.py is imported already, and the arena has a package 'bots': rename yours"
    )
