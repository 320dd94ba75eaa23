"""Isolation against mistakes: a bot is a process with limits and the user's rights."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from arena.core.files import temporary_folder
from arena.core.process_trees import kill_tree, reap_group
from arena.isolation import building
from arena.isolation.own_process import ProcessLauncher, ServerPlace
from arena.isolation.spawn import TEMPORARY_ENVIRONMENT, Spawn
from arena.registry.manifest import Program


class Level(ProcessLauncher):
    """In a session of its own."""

    @contextlib.contextmanager
    def run(self, spawn: Spawn, stdin: int, stdout: int, stderr: int) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
        process = subprocess.Popen(
            spawn.limited(spawn.command, sandboxed=False),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=spawn.folder,
            env=spawn.outer_environment(),
            start_new_session=True,
        )
        try:
            yield process, process.pid
        finally:
            kill_tree(process.pid)
            process.wait()
            reap_group(process.pid)  # what it started may outlive it

    def server_place(self, stack: contextlib.ExitStack) -> ServerPlace:
        return ServerPlace(str(stack.enter_context(temporary_folder(os.getcwd(), "bots-"))))

    def program(self, command: Sequence[str], folder: Path, limits: Mapping[str, float]) -> Spawn:
        return Spawn(command, TEMPORARY_ENVIRONMENT, folder=str(folder), limits=limits)

    def build(self, program: Program, files: Mapping[str, bytes], folder: Path, until: float) -> None:
        """Build in the folder itself, looking again and again how much is there."""
        building.write(files, folder)
        spawn = Spawn(
            program.build, TEMPORARY_ENVIRONMENT, folder=str(folder), limits=building.limits(), processes=True
        )
        with tempfile.TemporaryFile() as said:
            output = said.fileno()
            with (
                building.explained(program),
                self.run(spawn, subprocess.DEVNULL, output, output) as (process, number),
            ):
                code = building.watched(process, number, until, lambda: building.look_at(folder))
            building.check_end(code, said)
        with building.explained(program):
            building.look_at(folder, lambda entry: None if entry.is_symlink() else os.chmod(entry.path, 0o755))
