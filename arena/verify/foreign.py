"""Check a log of foreign results against the kept copy of its file; there are no moves to replay."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

from arena.core.errors import ArenaError, StoreError
from arena.core.files import temporary_folder
from arena.core.match_ids import match_id
from arena.foreign.build import ResultsFile, build, copy_and_hash
from arena.plan.model import ForeignRecord
from arena.schedule.foreign import FOREIGN_RESULTS_LABEL
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.verify.blocks import LogTotals
from arena.verify.findings import Findings
from arena.verify.plans import LogContents, LoggedPlan


def check_foreign(store: Store, contents: LogContents, findings: Findings) -> tuple[LogTotals, list[str]]:
    """Check the matches of foreign results; return how many there are, and remarks."""
    plan = contents.plans[0]
    schedule, foreign = plan.resolved.schedule(), plan.resolved.foreign
    assert foreign is not None
    matches, _ = store.totals()
    reasons = Counter[str]({foreign.status: matches})
    totals = LogTotals(blocks=matches, matches=matches, not_replayed=reasons, planned=schedule.total_matches)
    totals.present = matches
    if len(contents.plans) > 1:
        findings.add("holds another plan beside that of foreign results", table="runs")
    tournament = Tournament(store, plan=plan.resolved)
    for index, board in enumerate(schedule.boards):
        with findings.guard("cannot be read", table="seats"):
            if (found := len(tournament.counted(index).rows)) != board.blocks:
                findings.add(f"has {found:,} matches on {board.title}, {board.blocks:,} in its plan", table="matches")
    remark = f"{FOREIGN_RESULTS_LABEL}: no match can be replayed, or played again; "
    copy = store.path.with_name(foreign.copy_name)
    if not copy.exists():
        return totals, [f"{remark}{copy.name}, from which the log was made, is not beside it, so it was not compared"]
    with (
        findings.guard(f"cannot be compared with {copy.name}", file=copy.name),
        temporary_folder(None, "arena-source-") as at,
    ):
        _compare(store, plan, foreign, copy, at, findings)
    return totals, [f"{remark}the log was compared with {copy.name}, from which it was made"]


def _compare(
    store: Store, plan: LoggedPlan, foreign: ForeignRecord, copy: Path, folder: Path, findings: Findings
) -> None:
    """Make the log once more from the copy of its file, and compare the two."""
    again = folder / foreign.copy_name
    if copy_and_hash(Path(copy.name), again, copy.parent) != foreign.digest:
        findings.add("is not the file that the log was made from: its digest differs", file=copy.name)
        return
    source = ResultsFile(again, foreign.file, foreign.kind, foreign.digest, foreign.columns, foreign.game)
    with Store.create(folder / "again.db") as made:
        try:
            built = build(made, source, plan.resolved.name, "2000-01-01T00:00:00+00:00", folder)
        except ArenaError as error:
            raise StoreError(str(error)) from None
        if built.plan != plan.resolved:
            findings.add(f"is not the plan that {copy.name} makes", table="runs")
        for ours, theirs in itertools.zip_longest(made.match_digests(), store.match_digests()):
            if ours != theirs:
                identity, lineup, _ = theirs or ours
                findings.add(f"differs from {copy.name}", match=match_id(identity, lineup))
