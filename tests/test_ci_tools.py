"""`.ci/tools` brings or names what the tests need besides Python; `.ci/run` runs them as on a new machine."""

import os
import subprocess
from pathlib import Path

import pytest

CI = Path(__file__).parents[1] / ".ci"
TOOLS = CI / "tools"
MAKE = """
if [ "$*" = "test test-system" ]; then
    find "$HOME" "$TMPDIR" -mindepth 1
    env | grep -v -e ^PATH= -e ^PWD= -e ^SHLVL= -e ^_=
    touch "$HOME/left" "$TMPDIR/left"
else
    echo "$ARENA_CACHE: make $*"
fi
"""


@pytest.fixture
def tools(tmp_path):
    """Runs .ci/tools on a machine that has bash and the commands given, each with its script; what it says."""

    def run(ci: str = "", *options: str, **commands: str) -> list[str]:
        for name, script in commands.items():
            (tmp_path / name).write_text(f"#!/bin/bash\n{script}\n")
            (tmp_path / name).chmod(0o755)
        done = subprocess.run(
            ["/bin/bash", TOOLS, *options],
            env={"PATH": str(tmp_path), "CI": ci},
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


def test_a_browser_and_compilers_are_installed_for_the_long_tests_alone(tools):
    said = tools("", "--system", node="", cc="", bwrap="", rustc="exit 1", **{"apt-get": 'echo "$@"', "id": "echo 0"})
    assert said[0] == "installing for the tests: chromium golang-go rustc musl-tools uidmap"


def test_what_is_missing_is_an_error_in_ci(tools):
    with pytest.raises(subprocess.CalledProcessError):
        tools("true", node="", id="echo 1000")
    assert tools("true", node="", cc="", bwrap="") == []


@pytest.mark.parametrize("commands", [{"id": "echo 1000", "apt-get": "echo called"}, {"id": "echo 0"}])
def test_where_nothing_can_be_installed_one_line_says_what_is_missing(tools, commands):
    assert tools(node="", **commands) == [
        "the tests need programs that are missing here: apt-get install gcc libc6-dev bubblewrap"
    ]


@pytest.mark.parametrize("ci", [{}, {"CI": "true"}])
def test_the_tests_of_ci_see_nothing_that_an_earlier_run_left(tmp_path, ci):
    (tmp_path / "make").write_text(f"#!/bin/bash\n{MAKE}")
    (tmp_path / "make").chmod(0o755)
    found = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), "RAY_TMPDIR": str(tmp_path)}
    found = {**found, **ci, "ARENA_CACHE": "kept"}
    done = subprocess.run([CI / "run"], env=found, capture_output=True, text=True, check=True)
    before, *variables = done.stdout.splitlines()
    assert before == "kept: make tools lint docs"
    folders = dict(line.split("=") for line in variables)
    assert {name: folders.pop(name) for name in ci} == ci
    assert sorted(folders) == ["HOME", "TMPDIR"]
    assert all(len(folder) < 20 and not Path(folder).exists() for folder in folders.values())
