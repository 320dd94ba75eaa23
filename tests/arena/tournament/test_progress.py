"""What a log lacks of a plan: one count for runs, status, merges and verification."""

from __future__ import annotations

import pytest

from arena.store import Store
from arena.tournament.tournament import Tournament
from tests.support.samples import all_matches, begin, fill, schedule


@pytest.mark.parametrize("other_plan", [False, True])
def test_what_is_missing_is_what_was_left_out(tmp_path, other_plan):
    plan = schedule(["alice", "bob", "carol"], players=(2, 3), blocks=4)
    left_out = {0, 5, 6, 7, 30}
    fill(tmp_path / "matches.db", plan, leave_out=left_out)
    if other_plan:  # then the database cannot count for us
        with Store.create(tmp_path / "matches.db") as store:
            begin(store, schedule(["alice", "bob"]))
    with Store.open(tmp_path / "matches.db") as store:
        tournament = Tournament(store, plan)
        found = {(block.identity, lineup) for block, lineups in tournament.missing() for lineup in lineups}
        boards = [tournament.progress(board) for board in range(2)]
        assert not tournament.is_complete()
    specs = all_matches(plan)
    lacking = [specs[number] for number in left_out]
    assert found == {(spec.block.identity, spec.lineup) for spec in lacking}
    for index, (blocks, lineups) in enumerate(((12, 2), (4, 3))):
        here = [spec for spec in lacking if spec.block.board == index]
        touched = {spec.block.identity for spec in here}
        total = blocks * lineups
        status = boards[index]
        assert (status.matches, status.blocks) == (total - len(here), blocks - len(touched))
        assert (status.planned, status.given_out) == (total, None)


def test_a_log_with_every_match_is_complete(tmp_path):
    plan = schedule(["alice", "bob", "carol"], blocks=2)
    fill(tmp_path / "matches.db", plan)
    with Store.open(tmp_path / "matches.db") as store:
        tournament = Tournament(store, plan)
        assert tournament.is_complete()
        assert tournament.progress(0).planned == tournament.progress(0).matches
