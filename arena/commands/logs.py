"""`arena merge` and `arena upgrade`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena import api
from arena.commands.output import say
from arena.live import matches
from arena.merging import Merged, merge


def print_merge(targets: Sequence[str], into: str, home: Path | None) -> None:
    """`arena merge`."""
    done = merge(targets, into, home)
    for line in (*done.remarks, *merged_in_words(done)):
        say(line)


def merged_in_words(done: Merged) -> list[str]:
    """What a merge did, and what is left to do, by line."""
    known = f"; {done.known:,} were in more than one log" if done.known else ""
    lines = [f"{matches(done.added)} merged into {done.log}{known}."]
    if done.plans > 1:
        lines.append(
            f"The logs have {done.plans} plans. Boards show that of the run that started last; to have all count, "
            "`arena run` a configuration with everything: it plays what is missing."
        )
    if done.done < done.planned:
        there = f"{done.done:,} of the {done.planned:,} matches of the plan are there"
        lines.append(f"{there}; `arena run CONFIG` plays the other {done.planned - done.done:,}.")
    else:
        lines.append(f"All {done.planned:,} matches of the plan are there.")
    return lines


def print_upgrade(target: str, home: Path | None) -> None:
    """`arena upgrade`."""
    for line in api.upgrade(target, home) or ("Nothing to do: the log is of this version.",):
        say(line)
