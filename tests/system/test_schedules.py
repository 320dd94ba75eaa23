"""Tournaments of 64 bots by each kind of schedule whose tables follow from results, by commands."""

from __future__ import annotations

import json

import pytest

from tests.support.tournaments import arena

CONFIG = """
name = "many"
seed = 5
blocks = {blocks}
schedule = "{schedule}"

[[games]]
game = "epicycle"
players = {players}

{bots}
"""
BOTS = "\n".join(
    f'[[bots]]\nbot = "{"greedy" if number % 16 == 3 else "random"}"\nlabel = "bot{number:02}"\n'
    for number in range(64)
)
GREEDY = {f"bot{number:02}" for number in range(64) if number % 16 == 3}


def played(folder, schedule, players, blocks):
    """A tournament, its plan, its standings and the number of its matches."""
    (folder / "many.toml").write_text(CONFIG.format(schedule=schedule, players=players, blocks=blocks, bots=BOTS))
    done = arena("run", "many.toml", "--home", "home", "--workers", "2", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    status = json.loads(arena("status", "home/many", "--json", folder=folder).stdout)
    assert (status["state"], status["matches"]) == ("complete", status["planned"])
    verified = arena("verify", "home/many", folder=folder)
    assert "\nSound." in verified.stdout + verified.stderr
    plan = json.loads((folder / "home/many/plan.json").read_text())
    return plan["boards"][0], status["boards"][0]["standings"], status["matches"]


@pytest.mark.system
def test_a_swiss_of_64_bots_seats_all_in_every_round_and_meets_nobody_twice(tmp_path):
    board, (stands,), matches = played(tmp_path, "swiss", 2, 2)
    assert matches == 8 * 32 * 2 * 2
    assert len({frozenset(table) for table in board["tables"]}) == len(board["tables"]) == 8 * 32
    assert stands["title"] == "Standings after 8 of 8 rounds"
    assert {row[1] for row in stands["rows"][:4]} == GREEDY
    written = arena("report", "home/many", folder=tmp_path)
    assert written.returncode == 0, written.stderr
    assert "Standings after 8 of 8 rounds" in (tmp_path / "home/many/index.html").read_text()
    assert "Standings after 8 of 8 rounds" in arena("leaderboard", "home/many", folder=tmp_path).stdout


@pytest.mark.system
@pytest.mark.parametrize("elimination", ["single", "double"])
def test_a_knockout_of_64_bots_at_tables_of_four_is_won_by_one_of_the_strong(tmp_path, elimination):
    board, (bracket,), _ = played(tmp_path, f"knockout:elimination={elimination}", 4, 1)
    assert bracket["title"].removeprefix("Bracket, won by ") in GREEDY
    assert all(len({*table}) == 4 for table in board["tables"])
    first = [row for row in bracket["rows"] if row[0] == 1]
    assert len(first) == 16


@pytest.mark.system
def test_a_pyramid_of_64_bots_ends_with_one_of_the_strong_on_top(tmp_path):
    board, (top, challenges), _ = played(tmp_path, "pyramid:max_blocks=3", 5, 1)
    assert top["title"].removeprefix("Top of the pyramid: ") in GREEDY
    assert {bot for table in board["tables"] for bot in table} == {f"bot{number:02}" for number in range(64)}
    assert challenges["rows"][-1][3] == top["rows"][0][1]
