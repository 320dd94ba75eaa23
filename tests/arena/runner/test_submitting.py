"""`arena submit` and `init-bot`: what passes is kept, and what a new bot is made of passes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import engine
from arena import api
from arena.core.errors import ArenaError
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.registry.discovery import find_bot
from arena.registry.init_bot import LANGUAGES, init_bot
from arena.registry.submissions import submitted
from arena.runner.check import check, submit
from tests.arena.registry.test_bundle import lay
from tests.arena.runner.desk import BOTS

# Submitting


def test_a_bot_that_passes_is_kept_and_the_same_source_is_not_checked_again(desk):
    kept, report = submit("b.py:Sound", "sound", "Ann", "none")
    assert report.ok
    assert kept.changed
    again, report = submit("b.py:Sound", "sound", "Ann", "none")
    assert (again.changed, report) == (False, None)
    assert len(submitted()["sound"].versions) == 1
    assert find_bot("sound")[0].bundle() == find_bot("b.py:Sound")[0].bundle()


def test_a_bot_that_fails_is_not_kept(desk):
    kept, report = submit("b.py:Raises", "bad", "Ann", "none")
    assert kept is None
    assert not report.ok
    assert submitted() == {}


def test_what_is_kept_is_the_source_that_was_checked(desk):
    def spoil(board):
        lay(desk, {"b.py": BOTS.replace("self.pick(state.legal_actions())", "99")})

    kept, _ = submit("b.py:Sound", "sound", "Ann", "none", show=spoil)
    assert kept.changed
    assert find_bot("sound")[0].bundle().files["b.py"] == BOTS.encode()


def test_a_name_that_is_taken_is_told_before_anything_is_played(desk):
    with pytest.raises(ArenaError, match="'greedy' comes with the arena"):
        submit("b.py:Sound", "greedy", "Ann", "none", show=lambda board: pytest.fail("played"))


def test_a_submitted_bot_plays_in_a_tournament_by_its_name(desk):
    submit("b.py:Sound", "sound", "Ann", "none")
    config = {
        "name": "t",
        "blocks": 1,
        "games": [{"game": "epicycle", "players": 2}],
        "bots": [{"bot": "sound", "isolation": "none"}, {"bot": "random"}],
    }
    result = api.run(config, "home", workers=1, backend="local")
    assert set(result.leaderboards["epicycle", 2]["bot"]) == {"sound", "random"}


# New bots


def test_a_new_python_bot_plays_every_game_without_a_fault(desk):
    assert init_bot("my_bot") == Path("my_bot.py")
    report = check("my_bot.py", "none", players=[2])
    assert report.ok
    assert {at.board.game.partition("(")[0] for at in report.boards} == set(engine.game_names())


@pytest.mark.parametrize("game", engine.game_names())
def test_a_new_bot_for_one_game_plays_that_one(desk, game):
    init_bot("my_bot", game)
    bots = resolve_bots([BotEntry(bot="my_bot.py:MyBot")], [])
    assert bots[0].games == [game]


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "python"])
@pytest.mark.parametrize("game", [None, "midgard"])
def test_a_new_program_is_a_folder_that_can_be_bundled(desk, language, game):
    folder = init_bot("my_bot", game, language)
    source, _ = find_bot(str(folder))
    assert source.name == "my_bot"
    assert source.bundle().is_program
    text = (folder / "bot.toml").read_text()
    assert ("games =" in text) == (game is not None)
    for path in folder.iterdir():
        assert "{{" not in path.read_text()
        assert not path.is_symlink()


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_overwritten(desk, language):
    path = init_bot("my_bot", language=language)
    before = {file: file.read_bytes() for file in ([path] if path.is_file() else path.iterdir())}
    with pytest.raises(ArenaError, match=r"my_bot.*: is there already"):
        init_bot("my_bot", "midgard", language)
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.parametrize("name", ["", "my-bot", "3bot", "a.b", "a/b", "class", "none", "_bot", "böt", "engine", "bots"])
def test_a_new_bot_has_the_name_of_a_module(desk, name):
    before = os.listdir()
    with pytest.raises(ArenaError, match=r"^name '"):
        init_bot(name)
    assert os.listdir() == before


def test_a_new_bot_may_be_called_bot(desk):
    init_bot("bot", "epicycle")
    assert check("bot.py", "none", players=[2]).ok
