"""A command in a pseudo-terminal, and what stands on its screen."""

from __future__ import annotations

import codecs
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.tournaments import ARENA, PATIENCE

PIECE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|([^\x1b])", re.DOTALL)


class Screen:
    """What a terminal shows: the few controls that a live display uses; a line that is too long wraps."""

    def __init__(self, width: int, height: int = 24) -> None:
        self.width, self.height = width, height
        self.main: list[str] | None = None
        """The lines of the ordinary screen while the alternate one is shown."""
        self.clear()

    def clear(self) -> None:
        self.lines = [""]
        self.row = self.column = 0

    def resize(self, width: int, height: int) -> None:
        """Cut what does not fit any more, as terminals do to their alternate screen."""
        self.width, self.height = width, height
        self.lines = [line[:width] for line in self.lines[:height]]
        self.row, self.column = min(self.row, height - 1), min(self.column, width)

    def feed(self, text: str) -> None:
        for values, command, letter in PIECE.findall(text):
            if letter:
                self.put(letter)
            else:
                self.obey(command, values)

    def put(self, letter: str) -> None:
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self.row += 1
        elif letter.isprintable():
            if self.column == self.width:
                self.row, self.column = self.row + 1, 0
            self.lines += [""] * (self.row + 1 - len(self.lines))
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[: self.column] + letter + line[self.column + 1 :]
            self.column += 1
        self.lines += [""] * (self.row + 1 - len(self.lines))

    def obey(self, command: str, values: str) -> None:
        if command == "H":
            self.row = self.column = 0
        elif command == "A":
            self.row = max(0, self.row - int(values or 1))
        elif command == "K":
            self.lines[self.row] = ""
        elif command == "J":
            self.lines = self.lines[: self.row + 1]
        elif (command, values) == ("h", "?1049"):
            self.main = self.lines
            self.clear()
        elif (command, values) == ("l", "?1049"):
            assert self.main is not None
            self.lines, self.main = self.main, None
            self.row, self.column = len(self.lines) - 1, 0

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines).rstrip("\n")


class Terminal:
    """A command line of the arena in a pseudo-terminal of its own."""

    def __init__(self, *arguments: object, folder: Path, width: int = 80, height: int = 24, **environment: str) -> None:
        self.screen = Screen(width, height)
        self.main, side = os.openpty()
        self.resize(width, height)
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [*ARENA, *map(str, arguments)],
            cwd=folder,
            env={**kept, "TERM": "xterm-256color", **environment},
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(side)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def resize(self, width: int, height: int) -> None:
        self.screen.resize(width, height)
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def type(self, keys: str) -> None:
        os.write(self.main, keys.encode())

    def wait_for(self, seen: Callable[[str], object]) -> str:
        """What stands on the screen as soon as that is to be seen there."""
        deadline = time.monotonic() + PATIENCE
        while not seen(self.screen.text):
            assert time.monotonic() < deadline, f"never seen, but:\n{self.screen.text}"
            assert self.read(), f"the command ended with:\n{self.screen.text}"
        return self.screen.text

    def read(self) -> bool:
        """Take in what comes within a moment; whether the command still goes on."""
        if not select.select([self.main], [], [], 0.05)[0]:
            return True
        try:
            read = os.read(self.main, 65536)
        except OSError:  # the other side is closed
            return False
        self.screen.feed(self.decoder.decode(read))
        return bool(read)

    def finish(self) -> int:
        """Let it end; the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.read():
            assert time.monotonic() < deadline, f"does not end, but shows:\n{self.screen.text}"
        return self.process.wait(PATIENCE)

    def interrupt(self) -> int:
        """End it by Ctrl-C; the exit code.

        Where it comes between Python's last look for signals and a blocking read, Python sees it only after the read:
        so it is typed again, as a person would.
        """
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"is not interrupted, but shows:\n{self.screen.text}"
            self.type("\x03")
            pause = time.monotonic() + 2.0
            while time.monotonic() < pause:
                if not self.read():
                    return self.process.wait(PATIENCE)
        return self.finish()

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.main)
