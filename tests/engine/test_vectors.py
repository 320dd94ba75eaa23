"""Matches and perft counts recorded by independent engines."""

import itertools
from pathlib import Path

import pytest

import engine
from tests.engine.perft import perft
from tests.engine.vectors import FOLDER, difference, perft_rows, spec_of, traces


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*.jsonl.gz")), ids=lambda path: path.name.removesuffix(".jsonl.gz")
)
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.system)])
def test_recorded_matches_replay_without_a_difference(path, every):
    count = 0
    for trace in itertools.islice(traces(path), 0, None, every):
        spec = spec_of(trace["game"], trace["params"])
        found = difference(engine.load_game(spec, trace["players"]), trace["steps"])
        assert found is None, f"{spec}, {trace['players']} players, seed {trace['seed']}: {found}"
        count += 1
    assert count >= 12


def test_every_game_of_ours_has_recorded_matches_for_every_number_of_players():
    for name in sorted(path.parent.name for path in Path(engine.__file__).parent.glob("*/rules.py")):
        kind = engine.game_type(name)
        for players in range(kind.min_players, kind.max_players + 1):
            assert (FOLDER / f"{name}-{players}.jsonl.gz").exists()


@pytest.mark.parametrize("row", perft_rows(), ids=lambda row: f"{row[2]}-{row[1]}p-depth{row[3]}")
def test_perft_counts_agree(row):
    _, players, spec, depth, sequences, terminal, position = row
    game = engine.load_game(spec, players)
    state = game.new_initial_state() if position == "start" else game.state_from_position(position)
    counted = perft(state, depth)
    assert (counted.sequences, counted.terminal) == (sequences, terminal), counted.by_branch(state)
