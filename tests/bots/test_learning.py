"""Training: it learns, a seed decides it to the last bit on every processor, and its files say how they came."""

import hashlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arena.cli.app import run_command
from arena.registry.training import SelfPlay
from bots import make_bot
from bots.features.magic_mids import HANDS, hand_code
from bots.heuristics import heuristics_of
from bots.learned import Learned, LearnedMinimax, LearnedUCT
from bots.learning.training import Settings, Training
from bots.learning.weights import features_of, learned_kernels, missing_weights, weights_file
from engine import UnsupportedError, load_game
from engine.magic_mids.rules import STOCK, pack_hand
from tests.bots import training_digests
from tests.bots.built_in import label, load_race
from tests.bots.matches import random_walk

ROOT = Path(__file__).parents[2]
TRAINED = [
    *(load_game("magic_mids", players) for players in (2, 3, 4)),
    *(load_game(f"midgard{variant}", 2) for variant in ("", "(variant=loki)", "(variant=odin)")),
    *(load_game("epicycle", players) for players in (3, 4, 5)),
    *(load_game("pyramid_punch", players) for players in (3, 4, 5)),
]
LARGEST = 2_000_000  # bytes of weights by game
FEATURED = [
    *(load_game("magic_mids", players) for players in (2, 3, 4)),
    *(load_game("epicycle", players) for players in (2, 3, 5)),
    *(load_game(f"midgard{variant}", 2) for variant in ("", "(variant=loki)", "(variant=odin)")),
    *(load_game("pyramid_punch", players) for players in (2, 3, 5)),
    load_game("connect_four", 2),
]


@pytest.fixture
def race(monkeypatch):
    """The race for two with features, as a plug-in offers them."""
    monkeypatch.setattr("bots.heuristics.entry_points", lambda group, name: [])
    heuristics_of.cache_clear()
    training_digests.offer_race()
    yield load_race(2)
    monkeypatch.undo()
    heuristics_of.cache_clear()


def digests_for(processor: dict[str, str], folder: Path) -> dict[str, str]:
    """Return what trainings come to in a process that compiles for a processor, with a cache of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **processor}
    command = [sys.executable, "-W", "error", "-m", "tests.bots.training_digests"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)["digests"]


def test_a_seed_gives_the_same_weights_on_a_generic_processor_and_on_this_one(tmp_path):
    generic = digests_for({"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}, tmp_path / "generic")
    native = digests_for({}, tmp_path / "native")
    assert generic == native
    assert len(set(native.values())) == 4, "players and seeds make a difference"


def test_how_a_training_is_cut_into_parts_changes_nothing(race):
    whole, parts = (Training(race, 5, Settings(1.0, 0.8, 0.1)) for _ in range(2))
    whole.go_on(60)
    for matches in (1, 9, 50):
        parts.go_on(matches)
    assert whole.exact.tobytes() == parts.exact.tobytes()
    assert parts.matches == 60


def test_a_training_learns_that_it_is_good_to_be_ahead(race):
    training = Training(race, 1)
    training.go_on(2000)
    kernels, memory = learned_kernels(race), (training.kept(), np.zeros(features_of(race).ACTIVE, np.int64))
    worth = [
        kernels.assess(race.state_from_position(f"{own}/{other} 2 0").record, 0, memory)
        for own, other in ((9, 2), (5, 5), (2, 9))
    ]
    assert 1 > worth[0] > worth[1] > worth[2] > -1


def test_a_match_that_dice_end_is_learned_from():
    training = Training(load_game("pyramid_punch", 3), 1)
    assert training.go_on(20).error > 0, "the last pyramid falls by a roll"


@pytest.mark.parametrize("game", TRAINED, ids=label)
def test_two_trainings_from_one_seed_end_with_the_same_weights(game):
    first, second = (Training(game, 7) for _ in range(2))
    assert first.go_on(20) == second.go_on(20)
    assert first.exact.any() and first.exact.tobytes() == second.exact.tobytes()


@pytest.mark.parametrize("players", [3, 4])
def test_hands_of_magic_mids_are_told_apart(players):
    hands = [pack_hand(sizes) for sizes in itertools.product(*(range(most + 1) for most in STOCK[players]))]
    assert {hand_code(hand, players) for hand in hands} == set(range(HANDS[players]))


def test_between_two_players_one_is_worth_what_the_other_is_not(race):
    training = Training(race, 1)
    training.go_on(50)
    kernels, memory = learned_kernels(race), (training.kept(), np.zeros(features_of(race).ACTIVE, np.int64))
    for state in random_walk(race, 3):
        assert kernels.assess(state.record, 0, memory) == -kernels.assess(state.record, 1, memory)


def test_the_command_writes_weights_and_a_record_that_makes_them_again(tmp_path, race, capsys):
    first, again = tmp_path / "first.npy", tmp_path / "again.npy"
    command = ["train", "magic_mids", "--players", "2", "--seed", "3", "--matches", "30", "--rate", "0.5"]
    assert run_command([*command, "--out", str(first)]) == 0
    assert "30 matches" in capsys.readouterr().out
    record = json.loads(first.with_suffix(".json").read_text())
    assert record["blake2b"] == hashlib.blake2b(first.read_bytes(), digest_size=16).hexdigest()
    assert record["log"][-1]["matches"] == record["matches"] == 30
    words = record["command"].replace('"', "").split()
    assert run_command([*words[1:], "--out", str(again)]) == 0
    assert again.read_bytes() == first.read_bytes()
    assert again.with_suffix(".json").read_text() == first.with_suffix(".json").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pig"], "no features to learn from"),
        (["magic_mids", "--out", "weights.txt"], "a file that ends in .npy"),
        (["magic_mids", "--players", "9"], "9"),
    ],
)
def test_what_cannot_be_trained_is_told_in_a_line(arguments, said, capsys):
    assert run_command(["train", *arguments]) != 0
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error


def test_no_part_of_a_short_training_is_told_of_in_which_nothing_was_played(race):
    training = SelfPlay("magic_mids", 2, 1, (0.5, 0.8, 0.1))
    assert [part.matches for part in training.parts(3)] == [1, 2, 3]


@pytest.mark.parametrize("kind", [Learned, LearnedMinimax, LearnedUCT])
def test_without_weights_bots_refuse_a_game_and_say_what_makes_them(race, kind):
    assert "arena train" in missing_weights(race)
    with pytest.raises(UnsupportedError, match="arena train"):
        make_bot(kind, race, 0, 1)


@pytest.mark.parametrize("game", TRAINED, ids=label)
def test_committed_weights_are_those_that_their_record_tells_of(game):
    path = weights_file(game)
    record = json.loads(path.with_suffix(".json").read_text())
    assert (record["game"], record["players"]) == (game.spec, game.players)
    assert record["rules_version"] == game.type.rules_version
    assert record["blake2b"] == hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    assert sum(file.stat().st_size for file in path.parent.glob(f"{game.name}*.npy")) <= LARGEST
    assert np.load(path).size == features_of(game).feature_count(game.players)


@pytest.mark.parametrize("game", FEATURED, ids=label)
def test_features_are_numbers_below_their_count_and_fit_their_room(game):
    module = features_of(game)
    for seed in range(3):
        for state in random_walk(game, seed):
            for seat in range(game.players):
                active, beyond = np.split(np.full(2 * module.ACTIVE, -1), 2)
                count = module.features(state.record, seat, active)
                assert 0 < count <= module.ACTIVE and (beyond == -1).all()
                assert active[:count].min() >= 0 and active[:count].max() < module.feature_count(game.players)
