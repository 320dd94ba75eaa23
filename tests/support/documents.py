"""Run the code blocks of a Markdown page in their order, as a reader would, in a folder of their own.

`console` blocks have commands after `$ ` and what they print, in which `...` stands for anything; in `sh` blocks every
line is a command. A `python` or `toml` block whose first line is a comment with a file's name writes that file; a name
with a folder quotes a file beside the page. Other Python blocks are run, other TOML blocks parsed; `text` and `json`
blocks are for reading. A block below `<!-- not run: reason -->` is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"(?:<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<language>\S*)[^\n]*\n(?P<body>.*?)^```$", re.M | re.S
)
FILE = re.compile(r"# ([\w./-]+\.(?:py|toml))\n")
TO_READ = ("text", "json", "{toctree}", "{include}", "{eval-rst}")


def described(name: str, page: str) -> bool:
    """Tell whether a page has a name as code, or as a key of a configuration."""
    text = (ROOT / page).read_text()
    return re.search(rf"`{name}`|^(# )?{name} = |^\[+{name}\]", text, re.MULTILINE) is not None


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    body: str


def pages() -> list[Path]:
    """Return all Markdown pages of the repository that are written by hand."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [
        ROOT / name
        for name in listed.stdout.splitlines()
        if not name.startswith(("reports/sample", "reports/ladder/results"))
    ]


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page that are to be run."""
    for found in FENCE.finditer(page.read_text()):
        if found["reason"] is None:
            yield Block(found["language"], found["body"])


def copy_inputs(folder: Path) -> None:
    """Copy what a reader finds in the repository: configurations and examples."""
    for name in ("configs", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))


def run_page(page: Path, folder: Path) -> None:
    """Run all blocks of a page in a folder; raise `AssertionError` that names the command that failed."""
    copy_inputs(folder)
    for block in blocks(page):
        run_block(block, page, folder)


def run_block(block: Block, page: Path, folder: Path) -> None:
    """Run one block."""
    named = FILE.match(block.body) if block.language in ("python", "toml") else None
    if named and "/" in named[1]:
        assert block.body[named.end() :].rstrip() in (page.parent / named[1]).read_text(), f"not in {named[1]}"
    elif named:
        (folder / named[1]).write_text(block.body)
    elif block.language == "python":
        run([sys.executable, "-c", block.body], folder)
    elif block.language == "toml":
        tomllib.loads(block.body)
    elif block.language == "sh":
        for line in block.body.splitlines():
            run_line(line, folder)
    elif block.language == "console":
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.body, re.M):
            compare(command, shown, run_line(command, folder))
    else:
        assert block.language in TO_READ, f"a block of '{block.language}' is neither run nor for reading"


def run_line(line: str, folder: Path) -> str:
    """Run a command line and return what it prints; of `make` only the target is looked up."""
    if target := re.match(r"make ([\w-]+)", line):
        assert re.search(f"^{target[1]}:", (ROOT / "Makefile").read_text(), re.M), f"no target: {line}"
        return ""
    return run(["bash", "-c", line], folder)


def run(command: list[str], folder: Path) -> str:
    """Run a command with the tests' interpreter first on the path; its output."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "100"}
    environment.pop("ARENA_HOME", None)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def compare(command: str, shown: str, printed: str) -> None:
    """Compare what a page shows with what was printed; spaces at ends of lines do not count."""
    wanted, found = (re.sub(r" +$", "", text.strip("\n"), flags=re.M) for text in (shown, printed))
    pattern = re.escape(wanted).replace(re.escape("..."), ".*")
    assert re.fullmatch(pattern, found, re.S), f"{command}\nprints\n{found}\nnot\n{wanted}"
