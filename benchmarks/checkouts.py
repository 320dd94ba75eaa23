"""Checkouts to measure: this one, another folder, or a commit unpacked beside the caches."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure, Measured, Skipped
from engine.cache import cache_root

BENCHMARKS_FOLDER = Path(__file__).resolve().parent
COMMIT_DIGITS = 10
"""Of a commit, shown and recorded."""
CHILD_PROGRAM = """
import importlib.util, json, os, sys, dataclasses
here, section, full, root = sys.argv[1:]
spec = importlib.util.spec_from_file_location("benchmarks", here + "/__init__.py", submodule_search_locations=[here])
sys.modules["benchmarks"] = importlib.util.module_from_spec(spec)
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
import engine
assert os.path.dirname(os.path.dirname(os.path.realpath(engine.__file__))) == root, engine.__file__
from benchmarks.sections import measure
for found in measure(section, full == "full"):
    print(json.dumps([type(found).__name__, dataclasses.asdict(found)]), file=out, flush=True)
"""
"""Program that measures a section with these benchmarks and the code of the checkout that it is started in."""


class BenchError(Exception):
    """A mistake of the caller's, in one line."""


@dataclass(frozen=True)
class Checkout:
    """A folder with the code, and the Python that runs it."""

    root: Path
    python: str
    commit: str
    """Its first digits, with `+` where files differ from it; empty without git."""

    def measure(self, section: str, full: bool) -> Measured:
        """Yield the figures of a section, measured in a process of its own, or why it cannot be measured."""
        command = [
            self.python,
            "-u",
            "-c",
            CHILD_PROGRAM,
            str(BENCHMARKS_FOLDER),
            section,
            "full" if full else "short",
            str(self.root),
        ]
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(command, cwd=self.root, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
        ):
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    kind, fields = json.loads(line)
                    yield Figure(**fields) if kind == "Figure" else Skipped(**fields)
            except BaseException:
                process.terminate()
                raise
            if process.wait():
                errors.seek(0)
                *_, why = [f"exit code {process.returncode}", *errors.read().splitlines()]
                yield Skipped(section, f"failed: {why}", failed=True)


def this_checkout() -> Checkout:
    """Return the checkout of these benchmarks, with the Python that runs them."""
    return Checkout(BENCHMARKS_FOLDER.parent, sys.executable, commit_of(BENCHMARKS_FOLDER.parent))


def other_checkout(named: str) -> Checkout:
    """Return another folder's checkout, with the Python of its `.venv`; or a commit, unpacked once into the cache.

    A commit is run with the libraries installed here. Raises `BenchError` where there is none.
    """
    root = Path(named)
    if root.is_dir():
        root = root.resolve()
        python = root / ".venv" / "bin" / "python"
        if not (root / "engine").is_dir() or not python.exists():
            raise BenchError(f"{named}: is not a checkout with a .venv; run `make venv` there, or name a commit")
        return Checkout(root, str(python), commit_of(root))
    commit = git("rev-parse", "--verify", "--quiet", f"{named}^{{commit}}")
    if not commit:
        raise BenchError(f"{named}: no such folder, and no commit that git knows here")
    folder = cache_root() / "bench" / commit
    if not (folder / "tree").is_dir():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder / "venv", symlinks=True)
        libraries = sysconfig.get_path("purelib")
        of_venv = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
        examples = folder / "tree" / "examples"
        paths = [folder / "tree", examples / "connect_four", examples / "pig", libraries]
        paths.append(
            str(BENCHMARKS_FOLDER.parent / "examples" / "pig")
        )  # installed here, so named to commits before it too
        (of_venv / "other.pth").write_text("".join(f"{path}\n" for path in paths))
        packed = subprocess.run(
            ["git", "-C", BENCHMARKS_FOLDER.parent, "archive", commit], check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder / "new", filter="data")
        (folder / "new").rename(folder / "tree")
    return Checkout(folder / "tree", str(folder / "venv" / "bin" / "python"), commit[:COMMIT_DIGITS])


def commit_of(root: Path) -> str:
    """Return the first digits of a folder's commit, with `+` where files differ from it; nothing without git."""
    commit = git("rev-parse", "HEAD", root=root)[:COMMIT_DIGITS]
    return f"{commit}+" if commit and git("status", "--porcelain", "--untracked-files=no", root=root) else commit


def git(*words: str, root: Path = BENCHMARKS_FOLDER.parent) -> str:
    """Return what git prints; nothing where git or the repository is missing, or it fails."""
    try:
        return subprocess.run(["git", "-C", root, *words], check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
