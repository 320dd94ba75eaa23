"""The package as a user has it: from the built wheel, outside the checkout; and commands of the checkout."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Commands:
    """Commands of Python in a folder of their own, with the packages of one place."""

    def __init__(self, site: Path, folder: Path) -> None:
        self.site, self.home, self.here = site, folder / "home", folder / "elsewhere"
        self.here.mkdir()
        self.environment = {**os.environ, "PYTHONPATH": str(self.site), "ARENA_HOME": str(self.home)}

    def run(self, *arguments: str) -> str:
        """Return what a command of Python prints."""
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.here, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command of Python."""
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.here,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


class Checkout(Commands):
    """Commands of the checkout, whose kernels are compiled once for all tests; those of a wheel are its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(ROOT, folder)


class Installed(Commands):
    """The built wheel, unpacked outside the checkout, and commands of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(_unpacked_wheel(folder), folder)
        where = self.run("-c", "import arena; print(arena.__file__)")
        assert where.startswith(str(self.site)), "the checkout is in front of the wheel"


def _unpacked_wheel(folder: Path) -> Path:
    """Return the folder of the unpacked wheel, one for all processes of a test run, so that it compiles kernels once.

    There is a space in its path. `folder` is one that `tmp_path_factory` has made.
    """
    run = folder.parent.parent if "PYTEST_XDIST_WORKER" in os.environ else folder.parent
    site = run / "a wheel"
    with (run / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not site.exists():
            _unpack_wheel(folder, site)
    return site


def _unpack_wheel(folder: Path, site: Path) -> None:
    built, source, unpacked = folder / "built", folder / "source", folder / "unpacked"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info", "docs", "reports", "tests")
    shutil.copytree(ROOT, source, ignore=left_out)  # a build writes beside its sources; other tests build too
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(built), str(source)], check=True)
    (wheel,) = built.iterdir()
    subprocess.run([*pip, "install", "--no-deps", "--target", str(unpacked), str(wheel)], check=True)
    unpacked.rename(site)
