"""The package as a user has it: from the built wheel, outside the checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Installed:
    """The built wheel, unpacked outside the checkout, and commands of it."""

    def __init__(self, folder: Path) -> None:
        self.site, self.home, self.here = folder / "site", folder / "home", folder / "elsewhere"
        self.here.mkdir()
        built, source = folder / "built", folder / "source"
        left_out = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info", "docs", "reports", "tests")
        shutil.copytree(ROOT, source, ignore=left_out)  # a build writes beside its sources; other tests build too
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(built), str(source)], check=True)
        (wheel,) = built.iterdir()
        subprocess.run([*pip, "install", "--no-deps", "--target", str(self.site), str(wheel)], check=True)
        self.environment = {**os.environ, "PYTHONPATH": str(self.site), "ARENA_HOME": str(self.home)}
        where = self.run("-c", "import arena; print(arena.__file__)")
        assert where.startswith(str(self.site)), "the checkout is in front of the wheel"

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
