"""Datasets: every decision of the log, as the engine tells it when matches are played through again."""

import json
import os
import shutil
import sqlite3
import zlib

import numpy as np
import pandas as pd
import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ArenaError
from arena.results import dataset
from arena.results.dataset import DatasetOptions
from arena.verify.verification import verify
from engine import CHANCE, UnsupportedError, load_game, returns_from_ranks
from tests.arena.verify.logs import changing

BOARDS = [("epicycle", 3), ("magic_mids", 2), ("pyramid_punch", 2)]
BOTS = """
from bots import Bot


class Late(Bot):
    def choose(self, state):
        self.visit_counts = {-1: 5}
        return -1 if len(state.history()) > 6 and self.seed % 2 else self.pick(state.legal_actions())


class Teacher(Bot):
    def choose(self, state):
        legal = state.legal_actions()
        self.evaluation = [0.125] * self.game.players
        self.visit_counts = {legal[-1]: 7, legal[0]: 3}
        return legal[-1]
"""

TALKING = """
from bots import Bot


class Many(Bot):
    def choose(self, state):
        legal = state.legal_actions()
        self.visit_counts = dict.fromkeys(legal, 1000)
        return legal[0]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The home of a tournament with dice, forfeits, notes and actions that name seats."""
    folder = tmp_path_factory.mktemp("dataset")
    (folder / "own.py").write_text(BOTS)
    own = [{"bot": f"{folder / 'own.py'}:{name}"} for name in ("Late", "Teacher")]
    plan = {
        "name": "teaching",
        "blocks": 1,
        "games": [{"game": game, "players": [players]} for game, players in BOARDS],
        "bots": [*own, {"bot": "random"}],
    }
    api.run(plan, folder, workers=1, backend="local")
    return folder


@pytest.fixture(scope="module")
def whole(home):
    """The dataset of all of it, and its manifest."""
    return home / "whole", api.dataset("teaching", home / "whole", home=home)


def rows_of(folder, manifest):
    """Every row of a dataset as plain data, by board."""
    found = {}
    for board in manifest["boards"]:
        rows = []
        for shard in board["shards"]:
            if shard["file"].endswith("npz"):
                with np.load(folder / shard["file"]) as arrays:
                    columns = {name: arrays[name] for name in arrays}
                rows += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
            else:
                rows += pd.read_parquet(folder / shard["file"]).to_dict("records")
        found[board["game"], board["players"]] = rows
    return found


def plain(rows):
    """Rows that can be compared."""
    return [{name: np.asarray(value).astype(str).tolist() for name, value in row.items()} for row in rows]


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def expected_rows(home, game, players):
    """The rows of a board, from the exported matches and the engine alone."""
    for line in (home / "matches.jsonl").read_text().splitlines():
        match = json.loads(line)
        if (match["game"], match["players"]) != (game.spec, players):
            continue
        forfeits = {each["seat"]: each["ply"] for each in match["forfeits"]}
        evaluations = {ply: evaluation for ply, evaluation, *_ in match["evaluations"] if evaluation}
        visited = {ply: dict(counts) for ply, _, _, counts in match["evaluations"]}
        state = game.new_initial_state()
        words, opening = match["moves"].split(), match["opening"]
        for ply, word in enumerate(words):
            who, legal = state.current_player(), state.legal_actions()
            action, observation = state.string_to_action(word), None
            if who != CHANCE:
                observation = state.observe(who)
            state.apply_action(action)
            if who == CHANCE:
                continue
            if opening:
                opening -= 1
                continue
            if len(legal) > 1 and ply < forfeits.get(who, len(words)):
                yield match, ply, who, observation, legal, action, evaluations.get(ply), visited.get(ply, {})


@pytest.mark.parametrize(("name", "players"), BOARDS)
def test_rows_are_what_the_engine_tells_of_every_choice_of_a_bot(home, whole, name, players):
    api.export("teaching", home, home, ["matches"], ["jsonl"])
    game = load_game(name, players)
    spec = game.observation_spec()
    rows = rows_of(*whole)[name, players]
    expected = list(expected_rows(home, game, players))
    assert len(rows) == len(expected) > 50
    for row, (match, ply, seat, observation, legal, action, evaluation, counts) in zip(rows, expected, strict=True):
        seen = spec.seen_actions(seat, game.num_distinct_actions)
        assert (row["match"], row["ply"], row["seat"]) == (match["match"], ply, seat)
        assert row["bot"] == match["bots"][seat]
        assert (np.asarray(row["observation"]) == observation).all()
        assert sorted(np.flatnonzero(row["legal_mask"])) == sorted(seen[legal])
        assert row["action"] == seen[action]
        ranks = match["ranks"]
        assert row["ranks"].tolist() == [rank + 1 for rank in ranks]
        np.testing.assert_allclose(row["returns"], returns_from_ranks(ranks), rtol=1e-6)
        if evaluation is None:
            assert np.isnan(row["evaluation"]).all()
        else:
            np.testing.assert_allclose(row["evaluation"], evaluation, atol=1e-6)
        assert bool(counts) == (row["bot"] == "Teacher")
        visits = {int(seen[legal]): count for legal, count in counts.items()}
        assert {int(at): int(row["visits"][at]) for at in np.flatnonzero(row["visits"])} == visits
        if visits:
            assert row["visits"][row["action"]] == row["visits"].max()


def test_the_manifest_tells_shapes_versions_and_counts(whole):
    folder, manifest = whole
    assert json.loads((folder / "manifest.json").read_text()) == manifest
    for board, (name, players) in zip(manifest["boards"], BOARDS, strict=True):
        spec = load_game(name, players).observation_spec()
        assert (board["observation_size"], board["observation_version"]) == (spec.size, spec.version)
        assert [tuple(block["shape"]) for block in board["observation"]] == [block.shape for block in spec.blocks]
        rows = rows_of(folder, manifest)[name, players]
        assert board["decisions"] == len(rows)
        assert board["with_visits"] == sum(bool(row["visits"].any()) for row in rows) > 0
        assert board["with_evaluation"] == sum(not np.isnan(row["evaluation"][0]) for row in rows) > 0
    assert {path for path in files(folder) if path != "manifest.json"} == {
        shard["file"] for board in manifest["boards"] for shard in board["shards"]
    }


@pytest.mark.parametrize("format", ["parquet", "npz"])
def test_the_same_log_gives_the_same_bytes_and_small_shards_hold_the_same_rows(home, whole, tmp_path, format):
    options = DatasetOptions(format, "epicycle", 3, rows=17)
    manifests = [api.dataset("teaching", tmp_path / name, options, home) for name in ("one", "two")]
    assert files(tmp_path / "one") == files(tmp_path / "two")
    (board,) = manifests[0]["boards"]
    assert {shard["decisions"] for shard in board["shards"][:-1]} == {17}
    (rows,) = rows_of(tmp_path / "one", manifests[0]).values()
    assert plain(rows) == plain(rows_of(*whole)["epicycle", 3])


def test_only_the_decisions_of_chosen_bots_are_kept(home, whole, tmp_path):
    manifest = api.dataset("teaching", tmp_path / "some", DatasetOptions(bots=("random", "Late")), home)
    kept, everything = rows_of(tmp_path / "some", manifest), rows_of(*whole)
    for board, rows in everything.items():
        assert plain(kept[board]) == plain(row for row in rows if row["bot"] in ("random", "Late"))


def test_a_dataset_is_replaced_and_nothing_else_is(home, tmp_path):
    out = tmp_path / "new" / "data"
    api.dataset("teaching", out, DatasetOptions(rows=5), home)
    api.dataset("teaching", out, DatasetOptions(game="epicycle"), home)
    assert sorted(path.name for path in out.iterdir()) == ["epicycle_3p", "manifest.json"]
    assert os.listdir(out.parent) == ["data"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    for target in (tmp_path / "mine", tmp_path / "mine" / "thesis.txt"):
        with pytest.raises(ArenaError, match=f"^{target}: is "):
            api.dataset("teaching", target, home=home)
    assert files(tmp_path / "mine") == {"thesis.txt": b"mine"}


@pytest.mark.parametrize("name", ["weights.onnx", "epicycle_3p/notes.txt", "epicycle_3p/more/notes.txt", "link"])
def test_a_dataset_with_files_of_somebody_s_own_beside_it_stays(home, tmp_path, name):
    out = tmp_path / "data"
    api.dataset("teaching", out, DatasetOptions(game="epicycle"), home)
    (out / name).parent.mkdir(exist_ok=True)
    if name == "link":
        (out / name).symlink_to(tmp_path)
    else:
        (out / name).write_text("mine")
    before = files(out)
    with pytest.raises(ArenaError, match=f"holds '{(out / name).name}', which the dataset there does not list"):
        api.dataset("teaching", out, home=home)
    assert files(out) == before and os.path.lexists(out / name)


@pytest.mark.parametrize("manifest", ['{"dataset": 1}', '{"dataset": 1, "boards": [{"shards": 3}]}', "7", "[" * 9_999])
def test_a_folder_whose_manifest_lists_no_files_is_no_dataset(home, tmp_path, manifest):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text(manifest)
    with pytest.raises(ArenaError, match="is there, and is no dataset"):
        api.dataset("teaching", tmp_path / "out", home=home)


def test_a_name_of_a_folder_may_be_as_long_as_names_are(home, tmp_path):
    api.dataset("teaching", tmp_path / "a" / ("b" * 255), DatasetOptions(game="epicycle"), home)
    assert os.listdir(tmp_path / "a") == ["b" * 255]


def test_mistakes_are_one_line_and_leave_nothing(home, tmp_path, capsys):
    out = tmp_path / "out"
    for options, told in (
        (["--bots", "randm"], "'randm' is in no match of the log; did you mean 'random'?"),
        (["--game", "midgard"], "has no such board"),
        (["--shard-size", "0"], "--shard-size"),
    ):
        assert run_command(["dataset", "teaching", "--home", str(home), "--out", str(out), *options]) == 2
        error = capsys.readouterr().err
        assert told in error and error.count("\n") == 1
    assert not os.listdir(tmp_path)


def test_a_match_that_cannot_be_replayed_leaves_nothing(home, tmp_path):
    shutil.copytree(home / "teaching", tmp_path / "teaching")
    with sqlite3.connect(tmp_path / "teaching" / "matches.db") as db:
        block, lineup, moves = db.execute("SELECT block, lineup, moves FROM matches ORDER BY block LIMIT 1").fetchone()
        text = moves if isinstance(moves, str) else zlib.decompress(moves).decode()
        db.execute("UPDATE matches SET moves = ? WHERE block = ? AND lineup = ?", (f"{text} {text}", block, lineup))
    db.close()
    with pytest.raises(ArenaError, match="match "):
        api.dataset("teaching", tmp_path / "new" / "out", home=tmp_path)
    assert os.listdir(tmp_path) == ["teaching"]


def test_results_from_elsewhere_hold_no_decisions(tmp_path, capsys):
    (tmp_path / "league.csv").write_text("match,bot,seat,place\n1,a,0,1\n1,b,1,2\n")
    home = ["--home", str(tmp_path)]
    assert run_command(["import-results", str(tmp_path / "league.csv"), "--name", "league", *home]) == 0
    assert run_command(["dataset", "league", "--out", str(tmp_path / "out"), *home]) == 1
    assert "without moves or bots' sources: there is nothing to learn from" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_what_is_not_kept_of_visits_is_counted(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(TALKING)
    bots = [{"bot": f"{tmp_path / 'own.py'}:Many"}, {"bot": "random"}]
    games = [{"game": "magic_mids", "players": 2}]
    api.run({"name": "talk", "blocks": 1, "games": games, "bots": bots}, tmp_path, workers=1, backend="local")
    monkeypatch.setattr(dataset, "MAX_MATCH_VISIT_COUNTS", 30)  # no match is as long as would be needed
    kept_in_all = 0
    with changing(tmp_path / "talk" / api.LOG_FILE) as db:
        for block, lineup, moves in db.execute("SELECT block, lineup, moves FROM estimates").fetchall():
            parts = zlib.decompress(moves).decode().split(" ")
            sizes = [(part.rpartition(":")[2].count(",") + 1) // 2 for part in parts]
            kept = next(count for count in range(len(parts)) if sum(sizes[:count]) >= 30)
            kept_in_all += kept
            packed = zlib.compress(" ".join(parts[:kept]).encode(), 6)
            db.execute("UPDATE estimates SET moves = ? WHERE block = ? AND lineup = ?", (packed, block, lineup))
    assert verify(tmp_path / "talk" / api.LOG_FILE, workers=1).sound
    manifest = api.dataset("talk", tmp_path / "out", home=tmp_path)
    (rows,) = rows_of(tmp_path / "out", manifest).values()
    assert all(row["visits"].sum() in (0, 1000 * row["legal_mask"].sum()) for row in rows)
    (board,) = manifest["boards"]
    assert board["with_visits"] == sum(bool(row["visits"].any()) for row in rows) == kept_in_all
    assert board["visits_dropped"] == sum(row["bot"] == "Many" for row in rows) - kept_in_all > 0


def tiny(**output):
    games, bots = [{"game": "epicycle", "players": 2}], [{"bot": "random"}, {"bot": "greedy"}]
    return {"name": "tiny", "blocks": 1, "games": games, "bots": bots, "output": output}


def test_a_configuration_asks_for_a_dataset_which_changes_nothing_else_and_is_written_again_by_the_next_run(tmp_path):
    without = api.run(tiny(), tmp_path / "without", workers=1, backend="local")
    assert without.dataset is None and not (without.folder / "dataset").exists()
    found = api.run(tiny(dataset="npz"), tmp_path, workers=1, backend="local")
    assert found.dataset is not None
    folder, manifest = found.dataset
    assert folder == tmp_path / "tiny" / "dataset"
    assert found.plan.resolved().as_json() == without.plan.resolved().as_json()
    assert manifest == api.dataset("tiny", tmp_path / "by-hand", DatasetOptions("npz"), tmp_path)
    for path in (tmp_path / "by-hand").rglob("*.*"):
        assert (folder / path.relative_to(tmp_path / "by-hand")).read_bytes() == path.read_bytes()
    again = api.run(tiny(dataset="parquet"), tmp_path, workers=1, backend="local")
    assert again.outcome.progress.played == 0
    assert again.dataset is not None and again.dataset[1]["format"] == "parquet"
    assert [*folder.rglob("*.npz")] == []
    elsewhere = api.run(tiny(dataset="npz"), tmp_path, workers=1, backend="local", dataset=tmp_path / "here")
    assert elsewhere.dataset is not None and elsewhere.dataset[0] == tmp_path / "here"
    assert elsewhere.dataset[1]["format"] == "npz"


def test_what_no_dataset_can_be_made_of_is_refused_before_anything_is_played(tmp_path, monkeypatch):
    with pytest.raises(ArenaError, match=r"output\.dataset = 'csv': not a choice; known: parquet, npz"):
        api.run(tiny(dataset="csv"), tmp_path)
    (tmp_path / "tiny" / "dataset").mkdir(parents=True)
    (tmp_path / "tiny" / "dataset" / "mine.txt").touch()
    with pytest.raises(ArenaError, match="is there, and is no dataset"):
        api.run(tiny(dataset="npz"), tmp_path)
    (tmp_path / "tiny" / "dataset" / "mine.txt").unlink()
    monkeypatch.setattr(type(load_game("epicycle", 2)), "observation_spec", unsupported)
    with pytest.raises(ArenaError, match="epicycle, 2 players: no observations; a dataset needs them"):
        api.run(tiny(dataset="npz"), tmp_path)
    assert not (tmp_path / "tiny" / api.LOG_FILE).exists()


def unsupported(game):
    raise UnsupportedError("no observations")


@pytest.mark.system
def test_a_run_with_a_teacher_makes_a_dataset_in_one_command(tmp_path, capsys):
    out = tmp_path / "data"
    arguments = ["run", "--game", "connect_four", "--bots", "uct:simulations=50,visits=true", "--bots", "random"]
    assert run_command([*arguments, "--blocks", "2", "--home", str(tmp_path), "--dataset", str(out)]) == 0
    assert "4 matches in 1 shards" in " ".join(capsys.readouterr().out.split())
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["boards"][0]["with_visits"] > 0
