"""The demo with an empty cache of compiled code, as on a new machine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Measured, lasting, middle

DEMO = Path(__file__).resolve().parents[2] / "configs" / "demo.toml"


def measure(full: bool) -> Measured:
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        environment = {**os.environ, "ARENA_CACHE": f"{folder}/cache"}
        for what in ("cold", "warm"):
            words = [sys.executable, "-m", "arena", "run", str(DEMO), "--home", f"{folder}/{what}"]

            def run(words: list[str] = words) -> None:
                subprocess.run(words, check=True, capture_output=True, env=environment)

            yield lasting(f"make demo, {what}", middle(run, 1))
