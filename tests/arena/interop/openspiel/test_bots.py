"""Bots play OpenSpiel's games, at every level of isolation alike, and analyses search them."""

import random

import pytest

import engine
from arena import api
from arena.match.player import LocalBot
from arena.workers.messages import ContinueSearch, StartSearch
from arena.workers.search import Searcher
from bots import make_bot
from bots.random_bot import Random
from bots.search.flat_mc import FlatMonteCarlo
from bots.search.minimax import AlphaBeta
from bots.search.uct import UCT
from engine import UnsupportedError
from engine.game import State
from tests.bots.matches import mean_return
from tests.support.tournaments import home_of, rows

TIC_TAC_TOE = "openspiel.tic_tac_toe"
PIG = "openspiel.pig(horizon=60,winscore=20)"
BOTS = ("random", "greedy", "flat_mc:playouts=3", "uct:simulations=12", "uct:simulations=12,reuse=true,solve=true")
MOVES = "SELECT lineup, ended, hex(moves) FROM blocks JOIN matches USING (block) ORDER BY hex(identity), lineup"


def searcher(spec: str, players: int, **params: int | float | str) -> Searcher:
    return Searcher(engine.load_game(spec, players), LocalBot(UCT, {"simulations": 2000, **DEFAULTS, **params}))


DEFAULTS = {parameter.name: parameter.default for parameter in UCT.parameters if parameter.name != "simulations"}


@pytest.mark.system
@pytest.mark.parametrize("level", ["process", "sandbox"])
def test_isolated_bots_make_the_same_moves_in_games_that_are_not_ours(level, tmp_path, monkeypatch):
    monkeypatch.setattr("arena.tournament.dice_keys.secrets.token_bytes", lambda size: bytes(range(size)))
    found = []
    for isolation in ("none", level):
        folder = tmp_path / isolation
        folder.mkdir()
        listed = "\n".join(f'[[bots]]\nbot = "{bot}"\nisolation = "{isolation}"' for bot in BOTS)
        boards = f'games = [{{ game = "{TIC_TAC_TOE}" }}, {{ game = "{PIG}", players = 3 }}]\nmax_tables = 4'
        config = folder / "t.toml"
        config.write_text(f'name = "small"\nseed = 21\nblocks = 1\ndice = "secret"\n{boards}\n{listed}\n')
        assert api.run(config, home_of(config), workers=1, backend="local").outcome.not_played == []
        assert rows(config, "SELECT count(*) FROM seats WHERE cause IS NOT NULL") == [(0,)]
        found.append(rows(config, MOVES))
    assert len(found[0]) > 10
    assert found[0] == found[1]


@pytest.mark.parametrize(("spec", "players"), [(TIC_TAC_TOE, 2), (PIG, 2), (PIG, 3)])
@pytest.mark.parametrize("bot", [(UCT, {"simulations": 60}), (FlatMonteCarlo, {"playouts": 20})], ids=str)
def test_searches_beat_random(spec, players, bot):
    assert mean_return(engine.load_game(spec, players), bot, (Random, {}), rounds=12) > 0.2


def test_a_win_is_taken_a_loss_is_stopped_and_a_draw_is_proven():
    """Places are numbered by rows, from 0."""
    game = engine.load_game(TIC_TAC_TOE, 2)
    for plies, right in (((0, 3, 1, 4), 2), ((0, 4, 1), 2), ((4, 0, 8), None)):
        state = game.new_initial_state()
        for ply in plies:
            state.apply_action(ply)
        bot = make_bot(UCT, game, state.current_player(), 1, {"simulations": 3000, "solve": True})
        chosen = bot.choose(state)
        if right is None:
            assert bot.evaluation == pytest.approx([0.0, 0.0])
            assert chosen in (2, 6)  # else the corners make two threats at once
        else:
            assert chosen == right


def test_an_analysis_searches_a_game_without_kernels():
    look = searcher(TIC_TAC_TOE, 2, solve=True)
    assert look.begin(StartSearch(None, [0, 3, 1, 4])).refusal == ""
    found = look.grow(ContinueSearch(500, 60.0))
    assert (found.candidates[0].action, found.candidates[0].proven) == (2, True)
    assert found.values == [1.0, -1.0]


@pytest.mark.parametrize("name", [TIC_TAC_TOE, PIG])
def test_playouts_by_openspiels_states_are_those_of_ours(name):
    state, ours, theirs = engine.load_game(name, 2).new_initial_state(), random.Random(5), random.Random(5)
    found = [state.playout(ours) for _ in range(20)]
    assert found == [State.playout(state, theirs) for _ in range(20)]
    assert len(set(map(tuple, found))) > 1
    assert ours.random() == theirs.random()


def test_what_is_compiled_alone_refuses_by_name():
    with pytest.raises(
        UnsupportedError, match=r"^alphabeta needs a game with kernels, which openspiel.tic_tac_toe has"
    ):
        make_bot(AlphaBeta, engine.load_game(TIC_TAC_TOE, 2), 0, 1)
