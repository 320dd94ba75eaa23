"""Statistics where every match draws its own dice: what needs common ones is not estimable, the rest stays right."""

import json
import math
from dataclasses import replace

import pytest

import arena
from arena.cli.app import run_command
from arena.cli.output import OWN_DICE
from arena.plan.bots import ResolvedBot
from arena.results.power import power
from arena.runner.compare import compare
from arena.runner.options import Matchup, StopRule
from arena.stats.variance import variance_shares
from arena.tournament.dice_keys import has_own_dice
from tests.support import samples
from tests.support.variance_worlds import world

COMPARE = ["compare", "greedy", "random", "--game", "pyramid_punch", "--workers", "1"]
CONFIG = {
    "name": "cup",
    "blocks": 6,
    "games": [{"game": "pyramid_punch", "players": [2]}, {"game": "epicycle", "players": [2]}],
    "bots": [{"bot": "random"}, {"bot": "greedy"}],
}


@pytest.fixture
def untrusted(monkeypatch):
    """Every bot is taken for one that is sandboxed."""
    monkeypatch.setattr(ResolvedBot, "trusted", property(lambda bot: False))


@pytest.mark.parametrize("common", [False, True])
def test_the_share_of_dice_is_not_estimable_where_matches_draw_their_own(untrusted, tmp_path, capsys, common):
    arena.run({**CONFIG, "common_dice": common}, tmp_path, workers=1, backend="local")
    found = arena.variance("cup", home=tmp_path)
    dice, none = (found[game, 2].set_index("part")["value"] for game in ("pyramid_punch", "epicycle"))
    assert math.isnan(dice["dice and opening"]) != common
    assert dice[["bots", "seats", "bots by seat", "dice and opening", "rest"]].sum() == pytest.approx(1, abs=1e-3)
    assert none.notna().all()  # a game without dice
    capsys.readouterr()
    assert run_command(["variance", "cup", "--home", str(tmp_path), "--game", "pyramid_punch"]) == 0
    told = capsys.readouterr().out
    assert ("not estimable" in told) != common
    assert run_command(["power", "cup", "random", "greedy", "--home", str(tmp_path), "--game", "pyramid_punch"]) == 0
    assert ("not estimable" in capsys.readouterr().out) != common
    assert power("cup", "random", "greedy", game="epicycle", home=tmp_path)[0].own_dice is False


def test_a_comparison_with_dice_of_each_matchs_own_says_so_and_its_matches_share_nothing(untrusted, tmp_path, capsys):
    asked = Matchup("greedy", "random", "pyramid_punch", 2)
    found = compare(asked, StopRule.fixed(150), 1, home=tmp_path)
    assert found.own_dice
    assert found.as_dict()["common_dice"] is None
    assert found.estimate is not None
    assert found.estimate.low < found.estimate.score < found.estimate.high
    assert abs(math.log(found.saving.factor)) < 0.45  # five standard errors
    assert run_command([*COMPARE, "--fixed", "150", "--home", str(tmp_path)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert OWN_DICE in told
    assert "with seats swapped and dice of each match's own" in told
    assert "Common" not in told


def test_a_comparison_shares_secret_dice_when_asked_to_and_says_how_else(untrusted, tmp_path, capsys):
    asked = [*COMPARE, "--fixed", "3"]
    dice, words = [], []
    for more in ([], ["--common-dice"]):
        assert run_command([*asked, *more, "--home", str(tmp_path)]) == 0
        words.append(" ".join(capsys.readouterr().out.split()))
        (plan,) = tmp_path.rglob("plan.json")
        told = json.loads(plan.read_text())
        dice.append((told["dice"], told["common_dice"], len(told["secret_keys"])))
    assert dice == [("secret", False, 1), ("secret", True, 2)]
    assert "--common-dice has them share dice" in words[0] and "with seats swapped and common dice" in words[1]
    assert OWN_DICE in words[0] and OWN_DICE not in words[1]
    found = compare(
        Matchup("greedy", "random", "pyramid_punch", 2, common_dice=True), StopRule.fixed(3), workers=1, home=tmp_path
    )
    assert not found.own_dice
    assert len(json.loads(plan.read_text())["secret_keys"]) == 2  # it read the log


def test_openings_alone_are_common_where_matches_draw_their_own_dice(untrusted, tmp_path, capsys):
    assert run_command([*COMPARE, "--opening", "random:4", "--fixed", "20", "--home", str(tmp_path)]) == 0
    assert "Common openings: without them" in " ".join(capsys.readouterr().out.split())


def test_a_board_that_mixes_kinds_of_blocks_counts_as_one_without_common_dice():
    entries = [samples.entry("a"), samples.entry("b"), replace(samples.entry("c"), trusted=False)]
    boards = (samples.board(2, range(3), game="pyramid_punch", params="{}"), samples.board(2, range(3)))
    mixed = samples.schedule(entries, boards=boards)
    assert [has_own_dice(mixed, board) for board in range(2)] == [True, False]
    assert not has_own_dice(
        samples.schedule(entries[:2], boards=(samples.board(2, range(2), game="pyramid_punch"),)), 0
    )


@pytest.mark.parametrize("players", [2, 3])
def test_dice_of_each_matchs_own_count_as_the_rest(players):
    frame = world(players, 6, (0.4, 0.3, 0.0, 0.4, 0.6), 1)
    common, own = (variance_shares(frame, players, own).set_index("part") for own in (False, True))
    assert own.loc["dice and opening"].drop("statistic").isna().all()
    both = common["value"]["dice and opening"] + common["value"]["rest"]
    assert own["value"]["rest"] == pytest.approx(both)
    assert own["value_ci_low"]["rest"] < both < own["value_ci_high"]["rest"]
    assert own["value"][["bots", "seats", "bots by seat"]].tolist() == pytest.approx(common["value"][:3].tolist())
