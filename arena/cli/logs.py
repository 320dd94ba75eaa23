"""`arena merge` and `arena upgrade`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from arena import api
from arena.cli.output import Output, matches, say
from arena.core.names import COMPARISONS
from arena.core.paths import home_folder
from arena.transfer.merging import Merged, merge
from engine.errors import one_line


def print_merge(targets: Sequence[str], into: str, home: Path | None) -> None:
    """Run `arena merge`."""
    done = merge(targets, into, home)
    for line in (*done.remarks, *merged_in_words(done, home)):
        say(line)
    if done.added:
        print_exports(done.log)


def merged_in_words(done: Merged, home: Path | None = None) -> list[str]:
    """Return what a merge did, and what is left to do, line by line."""
    known = f"; {done.known:,} were in more than one log" if done.known else ""
    lines = [f"{matches(done.added)} merged into {done.log}{known}."]
    if done.plans > 1:
        lines.append(
            f"The logs have {done.plans} plans. Boards show that of the run that started last; to have all count, "
            "`arena run` a configuration with everything: it plays what is missing."
        )
    if done.name.startswith(f"{COMPARISONS}/"):
        place = home_folder(home) / one_line(done.name) / api.LOG
        lines.append(f"It is a comparison, with which `arena compare` goes on when its log is {place}.")
    elif done.done < done.planned:
        there = f"{done.done:,} of the {done.planned:,} matches of the plan are there"
        lines.append(f"{there}; `arena run CONFIG` plays the other {done.planned - done.done:,}.")
    else:
        lines.append(f"All {done.planned:,} matches of the plan are there.")
    return lines


def print_exports(log: Path) -> None:
    """Print how to renew exported files that are beside a changed log, if there are any."""
    if (log.parent / "plan.json").exists():
        say("Exported files beside it are out of date. To renew the leaderboards:")
        Output().print(f"  arena export {shlex.quote(str(log))}", soft_wrap=True)


def print_upgrade(target: str, home: Path | None) -> None:
    """Run `arena upgrade`."""
    for line in api.upgrade(target, home) or ("Nothing to do: the log is of this version.",):
        say(line)
