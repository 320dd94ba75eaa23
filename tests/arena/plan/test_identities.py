"""Identities of recorded plans: a match keeps its id, whatever becomes of defaults, names and models."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from arena.core.limits import UNHASHED_DEFAULTS, Limits
from arena.plan import config
from arena.plan.model import ResolvedPlan

RECORDED = json.loads(gzip.decompress((Path(__file__).parents[2] / "data/plans/identities.json.gz").read_bytes()))


@pytest.mark.parametrize("name", RECORDED)
def test_blocks_and_matches_of_a_recorded_plan_have_the_ids_they_had(name):
    schedule = ResolvedPlan.model_validate(RECORDED[name]["plan"]).schedule()
    found = []
    for block in schedule.blocks():
        last = schedule.matches(block)[-1]
        ids = [block.id.hex(), block.identity.hex(), block.dice.name, block.key[:8]]
        found.append([block.board, block.round, *ids, [*last.seats], last.id, b"".join(last.stream_ids).hex()])
    assert found == RECORDED[name]["blocks"]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_plan_is_written_and_read_without_change(name):
    plan = ResolvedPlan.model_validate(RECORDED[name]["plan"])
    again = ResolvedPlan.model_validate(json.loads(plan.as_json()))
    assert (again, again.as_json(), again.schedule()) == (plan, plan.as_json(), plan.schedule())


def test_limits_leave_their_identities_out_only_at_values_that_never_change():
    assert Limits(60.0, 300.0, **UNHASHED_DEFAULTS).key == [60.0, 300.0]
    assert Limits(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7).key == [
        *[1.0, 2.0, ["seconds_to_start", 3.0], ["seconds_per_match", 4.0]],
        *[["increment", 5.0], ["margin", 6.0], ["memory", 7]],
    ]


def test_configurations_and_single_matches_have_the_same_default_limits():
    assert config.Limits().model_dump() == Limits()._asdict()
