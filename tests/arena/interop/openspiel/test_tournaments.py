"""OpenSpiel's games in matches and tournaments: utilities in the log and on boards, isolated bots, names as files."""

from __future__ import annotations

import json
from urllib.parse import quote

import pandas as pd
import pytest
from starlette.testclient import TestClient

import engine
from arena import api
from arena.cli.app import run_command
from arena.match.dice import Streams
from arena.match.player import FirstLegalBot, LocalBot
from arena.match.referee import play_match
from arena.schedule.boards import Board
from arena.tournament.tournament import Tournament
from arena.web.app import create_app
from bots.base import Bot
from tests.arena.web.conftest import ADDRESS

STREAMS = Streams(bytes(32), bytes(32), bytes(16))
CONFIG = """
name = "theirs"
seed = 5
blocks = 2
opening = "random:2"
bots = [{ bot = "random" }, { bot = "greedy" }, { bot = "random", label = "guarded", isolation = "process" }]

[[games]]
game = "openspiel.misere(game=pig(horizon=60,winscore=12))"
players = 3

[[games]]
game = "openspiel.dots_and_boxes(num_cols=3,utility_margin=true)"

[[games]]
game = "openspiel.turn_based_simultaneous_game"
options = { game = "goofspiel(num_cards=3)" }
players = 2
"""


class Stubborn(Bot):
    """Play what is not legal."""

    def choose(self, state):
        return -1


def test_a_match_keeps_the_games_own_utilities_as_scores():
    game = engine.load_game("openspiel.misere(game=pig(horizon=60,winscore=6))", 3)
    found = play_match(game, [LocalBot(FirstLegalBot, {})] * 3, STREAMS)
    assert sorted(found.scores) == [-1, 0.5, 0.5]
    assert found.ranks == [2 if score == -1 else 0 for score in found.scores]
    assert all(type(score) is int or not score.is_integer() for score in found.scores)


def test_a_match_that_a_forfeit_ended_has_no_utilities():
    game = engine.load_game("openspiel.tic_tac_toe", 2)
    found = play_match(game, [LocalBot(FirstLegalBot, {}), LocalBot(Stubborn, {})], STREAMS)
    assert (found.ended, found.scores, found.ranks) == ("forfeit", None, [0, 1])


def test_boards_with_long_specs_have_short_file_names_of_their_own():
    fen = "4k3/8/8/8/8/8/PP6/4K3%20w%20-%20-%200%20"
    specs = [f"openspiel.misere(game=misere(game=misere(game=antichess(fen={fen}{number}))))" for number in range(2)]
    slugs = {Board(spec, "{}", 2, 1, (), 1, 0).slug for spec in specs}
    assert len(slugs) == 2 and all(len(slug) < 130 and slug.isprintable() and "/" not in slug for slug in slugs)


def test_the_analysis_board_takes_positions_of_their_games(tmp_path):
    where = {"game": "openspiel.tic_tac_toe", "players": "2", "position": "4 0"}
    with TestClient(create_app(tmp_path), base_url=ADDRESS, raise_server_exceptions=False) as client:
        shown = client.get("/analysis/state", params=where).json()
        assert [each["action"] for each in shown["legal"]] == [1, 2, 3, 5, 6, 7, 8]
        assert client.get("/analysis/state", params={**where, "moves": "x(2,2)"}).json()["position"] == "4 0 8"
        assert client.get("/analysis", params=where).status_code == 200
        for position in ("4 4", "4 0\n", "9" * 3000, "x" * 4000):
            answer = client.get("/analysis/state", params={**where, "position": position})
            assert answer.status_code == 400 and answer.json()["error"]


@pytest.mark.system
def test_a_tournament_of_their_games_is_played_rated_exported_and_verified(tmp_path):
    config = tmp_path / "theirs.toml"
    config.write_text(CONFIG)
    api.run(config, home=tmp_path, workers=1)
    folder = tmp_path / "theirs"
    assert run_command(["verify", "theirs", "--home", str(tmp_path)]) == 0
    names = {
        "openspiel-misere-game.pig-horizon.60-winscore.12_3p": 3,
        "openspiel-dots_and_boxes-num_cols.3-utility_margin.true_2p": 2,
        "openspiel-turn_based_simultaneous_game-game.goofspiel-num_cards.3_2p": 2,
    }
    with Tournament.open(folder) as tournament:
        for index, (name, players) in enumerate(names.items()):
            board = pd.read_csv(folder / f"{name}.csv").set_index("bot")
            found = tournament.counted(index)
            assert found.ranks.shape[1] == players and found.utilities and "mean_margin" not in board
            for bot, mean in board["mean_utility"].items():
                mine = found.scores[found.labels[found.entries] == bot]
                assert mean == pytest.approx(mine.mean(), abs=1e-4)
    assert json.loads((folder / "plan.json").read_text())["boards"][0]["utilities"] is True
    assert run_command(["export", "theirs", "--what", "matches", "--format", "csv", "--home", str(tmp_path)]) == 0
    rows = pd.read_csv(folder / "matches.csv")
    of_pig = rows[rows["players"] == 3]
    assert set(of_pig["score"]) == {-1.0, 0.5} and of_pig.groupby("match")["score"].sum().eq(0).all()
    page = tmp_path / "replay.html"
    assert run_command(["replay", of_pig["match"].iloc[0], "--in", str(folder), "--html", str(page)]) == 0
    assert "Utility" in page.read_text() and "Current" in page.read_text()
    with TestClient(create_app(tmp_path), base_url=ADDRESS, raise_server_exceptions=False) as client:
        for spec in rows["game"].unique():
            assert client.get(f"/games/{quote(spec, safe='')}").status_code == 200
        assert client.get("/games/openspiel.chess").status_code == 404  # nobody has played it here
        replay = client.get(f"/tournaments/theirs/matches/{of_pig['match'].iloc[0]}")
        assert replay.status_code == 200 and 'id="analyse" href="/analysis?game=openspiel.misere' in replay.text
        assert "openspiel.tic_tac_toe" in client.get("/play?game=openspiel.tic_tac_toe").text
