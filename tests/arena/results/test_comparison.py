"""Two bots in any log: the figures of a comparison where that played it, and what is counted by hand elsewhere."""

import csv
import json
import random
import shutil

import numpy as np
import pytest
from scipy.optimize import brentq

import arena
from arena import api
from arena.cli.app import run_command
from arena.core.database_shape import SQLITE_FILE_SUFFIXES
from arena.core.errors import ArenaError
from arena.runner.compare import compare
from arena.runner.options import Matchup, StopRule
from arena.stats.estimates import fixed_estimate
from arena.stats.sprt import Sprt, score_from_elo
from arena.transfer.foreign_results import import_results
from tests.arena.foreign.tables import by_match, results, write
from tests.support import samples

OWN = ("end", "block", "seed", "opening", "test", "decision", "score_counts")
"""Keys of a comparison that a log's does not have, or not alike."""
UNKNOWN = ("forfeits", "common_dice")
"""What foreign results do not tell."""
LOW_AND_HIGH = """
from bots import Bot


class Low(Bot):
    def choose(self, state):
        return state.legal_actions()[0]


class High(Bot):
    def choose(self, state):
        return state.legal_actions()[-1]
"""


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """A comparison of two bots that differ little, of a fixed number of pairs."""
    asked = Matchup("greedy", "cautious", "epicycle", name="pairs")
    return compare(asked, StopRule.fixed(14), workers=1, home=tmp_path_factory.mktemp("pairs"))


@pytest.fixture(scope="module")
def duels(tmp_path_factory):
    """One with three players, where one of the two fills seats as well."""
    asked = Matchup("greedy", "random", "epicycle", 3, ("random", "cautious"), name="duels")
    return compare(asked, StopRule.fixed(9), workers=1, home=tmp_path_factory.mktemp("duels"))


def agree(played, read, left_out=()):
    """A log's comparison says in every key what the command that played it says."""
    played, read = played.as_dict(), read.as_dict()
    counts = dict(zip(read["score_values"], read["score_counts"], strict=True))
    assert list(counts.values()) == played["score_counts"]
    assert [*counts] == [number / (len(counts) - 1) for number in range(len(counts))]
    for key in set(played) - {*OWN, *left_out}:
        assert read[key] == played[key], key
    return True


def test_the_log_of_a_fixed_comparison_says_what_the_comparison_said(pairs, duels):
    for played in (pairs, duels):
        assert agree(played, api.compare_in(played.folder, played.a, played.b))


def test_the_other_way_round_it_says_what_the_comparison_played_the_other_way_round_says(pairs, duels, tmp_path):
    for played, asked in (
        (pairs, Matchup("cautious", "greedy", "epicycle", name="pairs")),
        (duels, Matchup("random", "greedy", "epicycle", 3, ("random", "cautious"), name="duels")),
    ):
        shutil.copytree(played.folder, tmp_path / played.plan.name)
        turned = compare(asked, StopRule.fixed(len(played.tally.blocks)), workers=1, home=tmp_path)
        assert turned.outcome.progress.played == 0
        assert agree(turned, api.compare_in(turned.folder, played.b, played.a))


def imported(played, home, **changes):
    """The exported results of a comparison, imported as foreign ones of another game."""
    (file,) = (
        f
        for f in api.export(played.folder, out=home / "out", what=("matches",), formats=("csv",))
        if f.stem == "matches"
    )
    with file.open(newline="") as table:
        rows = [row | {"game": "ours", **changes} for row in csv.DictReader(table)]
    with (home / "again.csv").open("w", newline="") as table:
        writer = csv.DictWriter(table, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    import_results(home / "again.csv", home=home)


def test_exported_results_of_a_comparison_say_the_same_when_they_are_imported(pairs, tmp_path):
    imported(pairs, tmp_path)
    read = api.compare_in("again", pairs.a, pairs.b, home=tmp_path)
    assert pairs.tally.repeats == 0 and read.is_foreign
    assert agree(pairs, read, ("game", *UNKNOWN))
    assert [read.as_dict()[key] for key in UNKNOWN] == [None, None]
    own = api.compare_in(pairs.folder, pairs.a, pairs.b)
    assert (own.llr, own.decision, own.decided_after) == (read.llr, read.decision, read.decided_after)
    assert not any("seat" in remark for remark in read.remarks), "seats are swapped in every block"


def test_blocks_that_repeat_others_move_for_move_count_as_little_as_in_the_comparison(tmp_path):
    (tmp_path / "b.py").write_text(LOW_AND_HIGH)
    asked = Matchup(f"{tmp_path}/b.py:Low", f"{tmp_path}/b.py:High", "epicycle", opening="random:1")
    played = compare(asked, StopRule.fixed(40), workers=1, home=tmp_path)
    assert played.tally.repeats > 0
    assert agree(played, api.compare_in(played.folder, played.a, played.b))


def test_a_test_that_ended_a_comparison_decides_at_the_same_block_when_it_is_applied_to_its_log(tmp_path):
    test = Sprt(0, 60, alpha=0.1)
    played = compare(Matchup("greedy", "random", "epicycle"), StopRule(test), workers=1, home=tmp_path)
    read = api.compare_in(played.folder, "greedy", "random", test=test)
    assert (read.decision, read.decided_after, read.llr) == ("H1", len(played.tally.blocks), played.tally.llr)
    assert any("overstate" in remark for remark in read.remarks)
    assert read.estimate == fixed_estimate(played.tally.counts) != played.estimate


def test_two_bots_of_a_tournament_are_compared_by_mean_returns_in_complete_blocks(tmp_path):
    plan = samples.schedule(["alice", "bob", "carol", "dave"], players=(3,), blocks=6)
    plan = samples.schedule(["alice", "bob", "carol", "dave"], boards=(plan.boards[0],), seed=7)
    samples.fill(tmp_path / api.LOG_FILE, plan, leave_out=(0, 40))
    read = api.compare_in(tmp_path / api.LOG_FILE, "bob", "dave")
    frame = arena.matches(tmp_path / api.LOG_FILE, "epicycle", 3)
    both = frame.groupby("block")["bot"].transform(lambda bots: {"bob", "dave"} <= set(bots))
    means = frame[both].pivot_table(index="block", columns="bot", values="return_")
    differences = means["bob"] - means["dave"]
    assert (read.blocks, read.matches) == (len(differences), 3 * len(differences))
    assert read.difference.score == pytest.approx(differences.mean())
    assert read.difference.score == pytest.approx(api.power(tmp_path / api.LOG_FILE, "bob", "dave")["difference"][0])
    assert read.counts @ read.values == pytest.approx((0.5 + differences / 4).sum())
    forfeits = frame[both & frame["cause"].notna()].groupby("bot").size()
    assert read.forfeits == (forfeits["bob"], forfeits["dave"])
    assert read.normalized_elo is None and np.isnan(read.saving.factor)


def likelihood_ratio(scores, usual, test):
    """The ratio by the likelihoods of both most likely distributions, each by its definition."""
    values = np.array(sorted({*usual, *scores}))
    counts = np.array([scores.count(value) or 0.001 for value in values])
    share = counts / counts.sum()

    def log_likelihood(score):
        apart = values - score
        ends = (1 - 1e-12) * -1 / apart.max(), (1 - 1e-12) * -1 / apart.min()
        x = brentq(lambda x: (share * apart / (1 + x * apart)).sum(), *ends, xtol=1e-14)
        return (counts * np.log(share / (1 + x * apart))).sum()

    return log_likelihood(score_from_elo(test.elo1)) - log_likelihood(score_from_elo(test.elo0))


@pytest.mark.parametrize("players", [2, 3])
def test_foreign_blocks_of_any_size_count_once_each_and_the_test_reads_them_in_the_order_of_the_file(players, tmp_path):
    rng = random.Random(players)
    rows = results(11, bots=4, players=(players,), matches=150, blocks=60, seats=False)
    blocks = {f"round {number}": f"event {rng.randrange(45)}" for number in range(60)}
    rows = [row | {"block": blocks[row["block"]]} for row in rows]
    import_results(write(tmp_path / "r.csv", rows), home=tmp_path)
    test = Sprt(-40, 40, alpha=0.3, beta=0.3)
    read = api.compare_in("r", "bot 0", "bot 1", test=test, home=tmp_path)
    met = {}
    for seats in by_match(rows).values():
        of = {row["bot"]: row["score"] for row in seats}
        if {"bot 0", "bot 1"} <= set(of):
            worth = {
                bot: sum(np.sign(score - other) for rival, other in of.items() if rival != bot) / (players - 1)
                for bot, score in of.items()
            }
            met.setdefault(seats[0]["block"], []).append(worth["bot 0"] - worth["bot 1"])
    order = [row["block"] for row in rows]
    scores = [round(0.5 + np.mean(met[block]) / 4, 12) for block in sorted(met, key=order.index)]
    assert len({len(each) for each in met.values()}) > 1
    assert read.difference.score == pytest.approx(np.mean([np.mean(each) for each in met.values()]))
    assert (read.blocks, read.matches) == (len(met), sum(map(len, met.values())))
    usual = [round(number / (4 * players - 4), 12) for number in range(4 * players - 3)]
    ratios = [likelihood_ratio(scores[: end + 1], usual, test) for end in range(len(scores))]
    assert read.llr == pytest.approx(ratios[-1], abs=1e-6)
    out = [number for number, ratio in enumerate(ratios) if not test.lower < ratio < test.upper]
    assert read.decided_after == (out[0] + 1 if out else None)
    assert read.decision == (("H0", "H1")[int(ratios[out[0]] > 0)] if out else None)


def test_a_seat_that_one_of_the_two_had_more_often_is_told(tmp_path):
    rows = [
        {"match": match, "bot": bot, "seat": seat, "score": match % 3 * seat}
        for match in range(6)
        for seat, bot in enumerate("ab")
    ]
    import_results(write(tmp_path / "white.csv", rows), home=tmp_path)
    remarks = api.compare_in("white", "a", "b", home=tmp_path).remarks
    assert any("In 6 of 6 blocks the two did not have every seat equally often" in remark for remark in remarks)
    assert any("no blocks" in remark for remark in remarks)


def said(capsys, *words, code=0):
    assert run_command([*map(str, words)]) == code
    found = capsys.readouterr()
    return " ".join((found.out if code == 0 else found.err).split())


def files_of(folder):
    """All files by path, but for those that SQLite makes to read a log."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(SQLITE_FILE_SUFFIXES)
    }


def test_the_command_prints_what_a_fixed_comparison_prints_and_writes_nothing(pairs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    home = pairs.folder.parent.parent
    before = files_of(home)
    asked = ("compare", "greedy", "cautious", "--home", home)
    there = said(capsys, *asked, "--from", "pairs")
    told = json.loads(said(capsys, *asked, "--from", "pairs", "--json", "--elo1", "50"))
    assert files_of(home) == before
    played = said(capsys, *asked, "--game", "epicycle", "--fixed", 14, "--name", "pairs", "--workers", 1)
    for part in ("Elo of A over B", "return of A minus B"):
        assert there.partition(part)[2].partition(" to ")[0] == played.partition(part)[2].partition(" to ")[0] != ""
    assert "A test of 30 Elo (H1) against 0 (H0) would go on after all 14 blocks. LLR of all" in there
    assert "Nothing was stopped by that test" in there
    assert (told["from"], told["foreign"], told["test"]["elo1"]) == ("compare/pairs", False, 50)


@pytest.mark.parametrize(
    "option",
    [
        ["--seed", "0"],
        ["--opening", "none"],
        ["--isolation", "none"],
        ["--workers", "1"],
        ["--max-blocks", "5"],
        ["--fixed", "5"],
        ["--with", "random"],
        ["--common-dice"],
        ["--name", "x"],
    ],
)
def test_what_says_how_to_play_is_refused_where_nothing_is_played(option, capsys):
    told = said(capsys, "compare", "a", "b", "--from", "nowhere", *option, code=2)
    assert told.endswith(f"--from: plays nothing, so {option[0]} has no effect")


def test_without_a_log_the_game_has_to_be_said(capsys):
    assert "--game: is missing" in said(capsys, "compare", "greedy", "random", code=2)


def test_bots_that_cannot_be_compared_are_told_in_a_line(tmp_path):
    rows = [
        {"match": match, "game": game, "bot": bot, "place": place}
        for match, game, bots in (("1", "go", "ab"), ("2", "go", "cd"), ("3", "go", "bc"), ("4", "chess", "bc"))
        for place, bot in enumerate(bots, 1)
    ]
    import_results(write(tmp_path / "r.csv", rows), home=tmp_path)

    def refused(a, b, game=None, test=None):
        with pytest.raises(ArenaError) as error:
            api.compare_in("r", a, b, game, test=test, home=tmp_path)
        return str(error.value)

    assert "a and c never met on go" in refused("a", "c")
    assert "b and c play on chess" in refused("b", "c") and "choose one by --game" in refused("b", "c")
    assert "A and B are the same bot, a" in refused("a", "a")
    assert "has no bot 'e'" in refused("a", "e")
    assert "no such board on which both a and b play" in refused("a", "b", game="chess")
    assert "blocks of two matches only" in refused("a", "b", test=Sprt(model="normalized"))
    once = api.compare_in("r", "b", "c", "go", home=tmp_path)
    assert any("One block says nothing of chance" in remark for remark in once.remarks)
    assert (once.estimate.low, once.estimate.high, once.lead.sign) == (0, 1, 0)


def test_where_two_have_not_met_a_line_says_that_elo_is_a_convention(tmp_path):
    told = []
    for others in ((), ("random",)):
        asked = Matchup("greedy", "random", "epicycle", 2, others, name=f"among-{len(others)}")
        folder = compare(asked, StopRule.fixed(4), workers=1, home=tmp_path).folder
        remarks = api.compare_in(folder, "greedy", "random").remarks
        told.append(any("The two have not met" in remark for remark in remarks))
    assert told == [False, True]


def test_those_who_fill_seats_of_a_comparison_are_compared_with_nobody(duels):
    with pytest.raises(ArenaError, match="is of a comparison of greedy and random"):
        api.compare_in(duels.folder, "greedy", "cautious")
