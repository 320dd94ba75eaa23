"""`arena merge`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from arena import api
from arena.cli.output import Output, matches_in_words, print_text
from arena.core.names import COMPARISONS_FOLDER
from arena.core.paths import home_folder
from arena.plan.files import PLAN_CHANGED
from arena.results.exported import EXPORTS, exported
from arena.transfer.merging import MergeResult, merge
from engine.errors import one_line


def print_merge(targets: Sequence[str], into: str, plan_of: str | None, home: Path | None) -> None:
    """Run `arena merge`."""
    done = merge(targets, into, home, plan_of)
    for line in merged_in_words(done, home):
        print_text(line)
    if done.added or done.plan_changed:
        print_exports(done.log)


def merged_in_words(done: MergeResult, home: Path | None = None) -> list[str]:
    """Return what a merge did, and what is left to do, line by line."""
    known = f"; {done.known:,} were in more than one log" if done.known else ""
    lines = [f"{matches_in_words(done.added)} merged into {done.log}{known}."]
    if done.plans > 1:
        lines.append(
            f"The logs have {done.plans} plans, of which one counts; to have all count, `arena run` a configuration "
            "with everything: it plays what is missing."
        )
    if done.plan_changed:
        lines.append(PLAN_CHANGED)
    if done.name.startswith(f"{COMPARISONS_FOLDER}/"):
        place = home_folder(home) / one_line(done.name) / api.LOG_FILE
        lines.append(f"It is a comparison, with which `arena compare` goes on when its log is {place}.")
    elif done.done < done.planned:
        there = f"{done.done:,} of the {done.planned:,} matches of the plan are in the log"
        lines.append(f"{there}; `arena run CONFIG` plays the other {done.planned - done.done:,}.")
    else:
        lines.append(f"All {done.planned:,} matches of the plan are in the log.")
    return lines


def print_exports(log: Path) -> None:
    """Name the exported files beside a changed log, and print how to renew them."""
    found = exported(log.parent)
    names = [name for names in found.values() for name in names]
    if names:
        print_text(f"Out of date beside it: {', '.join(names)}. To renew them:")
        what = [kind for kind in EXPORTS if kind in found]
        options = ["--what", ",".join(what)] if what not in ([], ["leaderboards"]) else []
        Output().print(f"  {shlex.join(['arena', 'export', str(log), *options])}", soft_wrap=True)
