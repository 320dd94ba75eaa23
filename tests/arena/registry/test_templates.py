"""What `arena init-bot` writes are bots that play."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import engine
from arena import api
from arena.registry.bundles import bundle_file
from arena.registry.loader import load_class
from bots.random_bot import Random

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
TEMPLATES = ROOT / "arena" / "registry" / "templates"
NAMES = {"{{name}}": "my_first", "{{class}}": "MyFirst", "{{games}}": '["epicycle", "midgard"]'}


def filled(template: Path) -> str:
    text = template.read_text()
    for placeholder, value in NAMES.items():
        text = text.replace(placeholder, value)
    assert "{{" not in text
    return text


@pytest.mark.parametrize("name", ["node", "c"])
def test_a_template_of_a_program_is_the_example_under_another_name(name):
    given = tomllib.loads(filled(TEMPLATES / name / "bot.toml"))
    example = tomllib.loads((EXAMPLES / name / "bot.toml").read_text())
    assert (given["name"], given["games"]) == ("my_first", ["epicycle", "midgard"])
    assert {**given, "name": 0, "about": 0, "games": 0} == {**example, "name": 0, "about": 0, "games": 0}
    for path in (TEMPLATES / name).iterdir():
        if path.name != "bot.toml":
            assert filled(path) == (EXAMPLES / name / path.name).read_text()


@pytest.fixture(scope="module")
def python_template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "my_first.py"
    path.write_text(filled(TEMPLATES / "python.py.txt"))
    return path


def test_the_python_template_plays_legal_matches_that_repeat(python_template):
    spec = f"{python_template}:MyFirst:boldness=50"
    first, again = (api.play_match("midgard", [spec, spec], seed=4) for _ in range(2))
    assert (first.ended, first.forfeits, first.moves) == ("normal", {}, again.moves)


def test_the_python_template_takes_a_win_in_one(python_template):
    game = engine.load_game("epicycle", 2)
    bot_class = load_class(bundle_file(python_template), "MyFirst")
    wins = decisions_with_a_win(game)
    assert len(wins) >= 5
    for state in wins:
        seat = state.current_player()
        assert state.child(bot_class(game, seat, 1).choose(state.clone())).ranks()[seat] == 0


def decisions_with_a_win(game: engine.Game) -> list[engine.State]:
    """Positions of random matches in which some actions win at once, but not the first one."""
    found = []
    for seed in range(60):
        bot, state = Random(game, 0, seed), game.new_initial_state()
        while not state.is_terminal():
            children = [state.child(action) for action in state.legal_actions()]
            winning = [child.is_terminal() and child.ranks()[state.current_player()] == 0 for child in children]
            if any(winning) and not winning[0]:
                found.append(state.clone())
            state.apply_action(bot.choose(state))
    return found
