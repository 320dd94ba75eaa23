"""Figures: as many rows as a board has."""

import numpy as np

from arena.results.pages.figures import figures
from arena.results.pages.report import board_results
from arena.store import Store
from tests.support.samples import all_matches, begin, finished, row, schedule

BOTS = 80


def test_a_board_of_eighty_bots_has_all_its_figures(tmp_path):
    import altair

    plan = schedule([f"bot {number:02}" for number in range(BOTS)], blocks=1)
    rng = np.random.default_rng(1)
    with Store.create(tmp_path / "matches.db") as store:
        played = [finished(spec, row(spec.lineup, rng.permutation(2).tolist())) for spec in all_matches(plan)]
        store.add(plan, played, begin(store, plan))
        drawn = figures(board_results(store, plan, 0))
    cells = next(iter(drawn["crosstable"].spec["datasets"].values()))
    assert len(cells) == BOTS * (BOTS - 1) and len(drawn["ratings"].table) == BOTS
    assert "max_rows" not in altair.data_transformers.options
