"""Who takes part in a season in fast motion, and what they hand in: good, hanging, hostile, huge, malformed, again."""

from __future__ import annotations

import io
import zipfile
from typing import NamedTuple

HANGING, HOSTILE, BROKEN, CRASHING, BETRAYING = "hanging", "hostile", "broken", "crashing", "betraying"
BANNED, LEAVING, STAYING = "banned", "leaving", "staying"
REFUSED_KINDS = (HANGING, HOSTILE, BROKEN, CRASHING)
"""Kinds of authors whose bots do not pass their check."""
MAX_UPLOAD_MIB = 1
MARK = "private-{author}-"
"""What everything of an author has in it that no other author may see."""
SOURCE = """
import os
import sys
{imports}
from bots import Bot

MARK = {mark!r}
VARIANT = {variant!r}


class Mine(Bot):
    def choose(self, state):
        print(MARK + "printed")
        print(MARK + "complained", file=sys.stderr)
        {body}
        actions = state.legal_actions()
        return actions[{place} % len(actions)]
"""
BODIES = {
    HANGING: ["while True: pass"],
    HOSTILE: [
        "bytearray(10**11)",
        "[os.fork() for _ in range(100)]",
        "open('/etc/stolen', 'w').write(MARK)",
    ],
    CRASHING: ["raise RuntimeError(MARK + 'raised')"],
    BETRAYING: [
        "self.first = getattr(self, 'first', sum(map(state.position.count, 'ox')))\n"
        "        if self.first >= 6: raise RuntimeError(MARK + 'raised')",
    ],
}
"""Of kinds of authors, one after the other. Those that betray hand in before the organiser has the contest's matches
begin with six random plies: so that they pass their check, with two, and forfeit every match."""


class Author(NamedTuple):
    """An author."""

    number: int
    kind: str

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"

    @property
    def bot(self) -> str:
        """The name of the author's bot."""
        return f"bot {self.number}"

    @property
    def mark(self) -> str:
        return MARK.format(author=self.number)

    def source(self, variant: int = 0) -> bytes:
        """Return the source of the author's bot; another one for each variant."""
        bodies = BODIES.get(self.kind, ["pass"])
        imports = "import no_such_module" if self.kind == BROKEN else ""
        body = bodies[self.number % len(bodies)]
        place = self.number + variant
        return SOURCE.format(imports=imports, mark=self.mark, variant=variant, body=body, place=place).encode()


def cast(**counts: int) -> list[Author]:
    """Return so many authors of each kind."""
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    return [Author(number, kind) for number, kind in enumerate(kinds)]


class Submission(NamedTuple):
    """Something that an author hands in."""

    author: Author
    what: str
    file: str
    content: bytes
    name: str = ""

    @property
    def bot(self) -> str:
        """The name under which it is handed in."""
        return self.name or self.author.bot


def original(author: Author) -> Submission:
    """Return an author's first bot."""
    return Submission(author, "original", "mine.py", author.source())


def duplicate(author: Author) -> Submission:
    """Return the same bytes again."""
    return Submission(author, "duplicate", "mine.py", author.source())


def malformed(author: Author) -> Submission:
    """Return what holds no bot."""
    forms = [
        ("mine.py", b"def choose(:\n"),
        ("mine.py", b"\xff\xfe\x00class"),
        ("mine.py", b"print('no bot')\n"),
        ("mine.py", b""),
        ("mine.zip", b"PK\x03\x04 and no more"),
        ("mine.zip", _zipped("../../escaped.py", author.source())),
        ("mine.zip", _zipped("mine.py", bytes(2**26))),
        ("mine.exe", author.source()),
    ]
    return Submission(author, "malformed", *forms[author.number % len(forms)])


def huge(author: Author) -> Submission:
    """Return a bot of more bytes than the contest takes."""
    padding = b"#" * (MAX_UPLOAD_MIB << 20)
    return Submission(author, "huge", "mine.py", author.source() + padding)


def stolen_name(author: Author, other: Author) -> Submission:
    """Return a bot under the name of another author's."""
    return Submission(author, "stolen name", "mine.py", author.source(1), other.bot)


def improved(author: Author, variant: int = 1) -> Submission:
    """Return another version of an author's bot."""
    return Submission(author, "improved", "mine.py", author.source(variant))


def _zipped(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return made.getvalue()
