"""`.ci/tools` brings or names what the tests need besides Python."""

import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / ".ci" / "tools"


@pytest.fixture
def tools(tmp_path):
    """Runs .ci/tools on a machine that has bash and the commands given, each with its script; what it says."""

    def run(**commands: str) -> list[str]:
        for name, script in commands.items():
            (tmp_path / name).write_text(f"#!/bin/bash\n{script}\n")
            (tmp_path / name).chmod(0o755)
        done = subprocess.run(
            ["/bin/bash", TOOLS],
            env={"PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return (done.stdout + done.stderr).splitlines()

    return run


def test_nothing_is_installed_where_nothing_is_missing(tools):
    assert tools(node="", cc="", bwrap="", **{"apt-get": "echo called", "id": "echo 0"}) == []


def test_root_installs_what_is_missing(tools):
    said = tools(cc="", **{"apt-get": 'echo "$@"', "id": "echo 0"})
    assert said[0] == "installing for the tests: nodejs bubblewrap"
    assert said[-1].startswith("install ")
    assert said[-1].endswith(" nodejs bubblewrap")


@pytest.mark.parametrize("commands", [{"id": "echo 1000", "apt-get": "echo called"}, {"id": "echo 0"}])
def test_where_nothing_can_be_installed_one_line_says_what_is_missing(tools, commands):
    assert tools(node="", **commands) == [
        "the tests need programs that are missing here: apt-get install gcc libc6-dev bubblewrap"
    ]
