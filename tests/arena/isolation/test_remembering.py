"""What remembering earlier matches of a block is worth: the next rolls where dice are common, else nothing.

No bot_process that is left to a sandboxed bot tells more than a file does that it may write to: so this bot has one.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena import api
from tests.support.tournaments import home_of, rows, write

BOTS = '''
import json
from pathlib import Path

from bots import Bot

BUNDLE_FILES = ["where.txt"]
MEMORY = Path(Path(__file__).with_name("where.txt").read_text())


class Remembers(Bot):
    """Foretell each next roll of its own from all matches before, and note whether it came true."""

    def prepare(self):
        self.before = [json.loads(line) for line in MEMORY.read_text().splitlines()] if MEMORY.exists() else []
        self.foretold = None
        self.met = 0

    def choose(self, state):
        rolls = [outcome for who, outcome in self.rolls(state) if who == self.seat]
        if len(rolls) > self.met and self.foretold is not None:
            self.note = "true" if rolls[self.met] == self.foretold else "false"
        self.met = len(rolls)
        same = [each for each in self.before if each["seat"] == self.seat and each["rolls"][: self.met] == rolls]
        later = [each["rolls"][self.met] for each in same if len(each["rolls"]) > self.met >= 1]
        self.foretold = later[-1] if later else None
        for seat in range(state.game.players):
            seen = [outcome for who, outcome in self.rolls(state) if who == seat]
            with MEMORY.open("a") as file:
                file.write(json.dumps({"seat": seat, "rolls": seen}) + "\\n")
        return state.legal_actions()[self.met % len(state.legal_actions())]

    def rolls(self, state):
        again = state.game.new_initial_state()
        for action in state.history():
            if again.is_chance_node():
                yield again.rolling_seat(), action
            again.apply_action(action)


class Still(Bot):
    """Sits beside it."""

    def choose(self, state):
        return state.legal_actions()[0]
'''
CONFIG = """
name = "small"
blocks = {blocks}
opening = "none"
common_dice = {common}
games = [{{ game = "magic_mids", players = {players} }}]
bots = [
    {{ bot = "b.py:Remembers", isolation = "process" }},
    {{ bot = "b.py:Still", isolation = "sandbox" }},
    {{ bot = "random", isolation = "sandbox" }},
]
"""


def foretold(folder: Path, common: bool, blocks: int = 1, players: int = 2) -> tuple[int, int]:
    """How many rolls it foretold that came, of all that it met; its memory is shared by all matches of a run."""
    folder.mkdir()
    (folder / "where.txt").write_text(str(folder / "memory"))
    config = write(folder, CONFIG.format(blocks=blocks, common=str(common).lower(), players=players), BOTS)
    assert api.run(config, home_of(config), 1, "local").outcome.not_played == []
    assert rows(config, "SELECT COUNT(*) FROM seats WHERE cause IS NOT NULL") == [(0,)]
    notes = [note for (text,) in rows(config, "SELECT notes FROM matches") for _, note in json.loads(text or "[]")]
    met = len((folder / "memory").read_text().splitlines()) // players
    return notes.count("true"), met


@pytest.mark.system
@pytest.mark.parametrize("common", [True, False])
def test_a_bot_that_remembers_everything_foresees_rolls_only_where_the_plan_makes_dice_common(common, tmp_path):
    right, met = foretold(tmp_path / "run", common)
    assert met >= 20
    assert right >= 5 if common else right <= 2


@pytest.mark.chaos
@pytest.mark.parametrize("players", [2, 3])
def test_line_ups_that_are_played_later_are_no_easier_to_who_remembers_over_many_blocks(players, tmp_path):
    common, every = foretold(tmp_path / "common", True, 30, players)
    own, met = foretold(tmp_path / "own", False, 30, players)
    assert common > every / 8
    assert own <= met / 100
