"""Tournaments with adjudication: part of the plan, resumed, shown, verified; and how often it would have been wrong."""

import contextlib
import dataclasses
import json
import sqlite3

import numpy as np
import pytest
from scipy.stats import binomtest

import engine
from arena import api
from arena.cli.app import run_command
from arena.cli.arguments import TuneOptions
from arena.cli.tuning import request_of
from arena.core.adjudication import AdjudicationRules
from arena.core.errors import ConfigError, UnknownTargetError
from arena.plan.config import adjudicable, config_from
from arena.results.adjudication import share_interval
from arena.results.leaderboards import notes_below
from arena.results.pages.figures.matches import endings as endings_of
from arena.results.pages.replay import replay_page
from arena.results.pages.report import board_results
from arena.verify.verification import verify
from tests.arena.verify.logs import changing
from tests.support.samples import board, schedule
from tests.support.tournaments import home_of, log_of, results, rows, write

BOTS = '''
from bots import Bot


class Fickle(Bot):
    """Expect now this seat to win, now that one, for five moves of the match each."""

    def choose(self, state):
        sign = 1 if len(state.history()) // 10 % 3 else -1
        self.evaluation = (sign, -sign)
        return self.rng.choice(state.legal_actions())


class Twin(Fickle):
    """The same."""
'''
RULES = "[adjudication]\nagreement = 3\n"
CONFIG = """
name = "small"
seed = 5
blocks = 4
games = [
    { game = "magic_mids", players = 2 },
    { game = "epicycle", players = 2, adjudication = { certainty = 100 } },
    { game = "epicycle(repetition=4)", players = 2, adjudication = {} },
]
bots = [{ bot = "b.py:Fickle" }, { bot = "b.py:Twin" }]
"""


def played(folder, config):
    path = write(folder, config, BOTS)
    api.run(path, home_of(path), workers=1, backend="local")
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Without any rules."""
    config = CONFIG.replace(", adjudication = {}", "").replace(", adjudication = { certainty = 100 }", "")
    return played(tmp_path_factory.mktemp("whole"), config)


@pytest.fixture(scope="module")
def adjudicated(tmp_path_factory):
    return played(tmp_path_factory.mktemp("adjudicated"), CONFIG + RULES)


def endings(config):
    found = rows(config, "SELECT game, ended FROM matches JOIN blocks USING (block) JOIN boards USING (board)")
    return {game: {ended for name, ended in found if name == game} for game, _ in found}


def test_each_board_has_its_own_rules_or_those_of_the_tournament(adjudicated):
    found = endings(adjudicated)
    assert "adjudicated by agreement" in found["magic_mids"]
    assert "adjudicated by certainty" in found["epicycle"]
    assert not any(ended.startswith("adjudicated") for ended in found["epicycle(repetition=4)"])


def test_the_plan_has_the_rules_of_boards_that_have_any(adjudicated, whole):
    plan = json.loads((log_of(adjudicated).parent / "plan.json").read_text())
    rules = [each.get("adjudication") for each in plan["boards"]]
    assert rules == [
        {"agreement": 3, "threshold": 0.95, "certainty": 0},
        {"agreement": 0, "threshold": 0.95, "certainty": 100},
        None,
    ]
    assert "adjudication" not in (log_of(whole).parent / "plan.json").read_text()


def test_rules_change_the_identities_of_matches_and_neither_dice_nor_openings():
    plain = schedule(["a", "b"])
    changed = [{"agreement": 2}, {"agreement": 3}, {"agreement": 2, "threshold": 0.9}, {"certainty": 5}]
    blocks = [next(plain.blocks())]
    for given in changed:
        rules = config_from(config() | {"adjudication": given}).adjudication.rules()
        boards = (dataclasses.replace(board(2, [0, 1]), adjudication=rules),)
        blocks.append(next(dataclasses.replace(plain, boards=boards).blocks()))
    assert len({block.id for block in blocks}) == 1
    assert len({block.identity for block in blocks}) == len(blocks)


def test_a_run_that_is_resumed_has_the_same_results(adjudicated, tmp_path):
    config = played(tmp_path, (CONFIG + RULES).replace("blocks = 4", "blocks = 2"))
    write(tmp_path, CONFIG + RULES, BOTS)
    api.run(config, home_of(config), workers=2, backend="local")
    assert results(config) == results(adjudicated)


def test_an_adjudicated_log_is_sound_also_when_its_matches_are_played_again(adjudicated):
    report = verify(log_of(adjudicated), workers=1, rerun=10)
    assert report.sound, report.findings


FALSIFICATIONS = {
    "another winner": "UPDATE seats SET rank = 1 - rank WHERE (block, lineup) = ({where})",
    "another ending": "UPDATE matches SET ended = 'adjudicated by certainty' WHERE (block, lineup) = ({where})",
    "other evaluations": "DELETE FROM estimates WHERE (block, lineup) = ({where})",
}


@pytest.mark.parametrize("change", FALSIFICATIONS.values(), ids=FALSIFICATIONS)
def test_verify_finds_a_falsified_adjudication(adjudicated, tmp_path, change):
    log = tmp_path / "copy.db"
    log.write_bytes(log_of(adjudicated).read_bytes())
    where = "SELECT block, lineup FROM matches WHERE ended = 'adjudicated by agreement' LIMIT 1"
    with changing(log) as db:
        db.execute(change.format(where=where))
    report = verify(log, workers=1)
    assert not report.sound and "adjudicated" in str(report.findings)


def test_verify_finds_an_adjudication_that_no_rule_of_the_plan_allows(whole, tmp_path):
    log = tmp_path / "copy.db"
    log.write_bytes(log_of(whole).read_bytes())
    with changing(log) as db:
        db.execute("UPDATE matches SET ended = 'adjudicated by agreement' WHERE plies > 20")
    assert not verify(log, workers=1).sound


def test_matches_that_are_exported_and_imported_are_checked_by_the_rules(adjudicated, tmp_path):
    from arena.transfer.importing import import_records

    api.export(adjudicated, home_of(adjudicated), tmp_path, ("matches",))
    (lines,) = tmp_path.glob("*.jsonl")
    import_records([lines], "again", home=tmp_path)
    changed = lines.read_text().replace("adjudicated by agreement", "adjudicated by certainty", 1)
    lines.write_text(changed)
    with pytest.raises(Exception, match="adjudicated"):
        import_records([lines], "false", home=tmp_path)


def test_people_see_that_matches_were_adjudicated(adjudicated, whole):
    boards = api.leaderboard(adjudicated, home_of(adjudicated))
    notes = {game: "\n".join(notes_below(frame)) for (game, _), frame in boards.items()}
    assert "matches were adjudicated: the last 3 evaluations of every bot" in notes["magic_mids"]
    assert "the referee's search of 100 positions" in notes["epicycle"]
    assert "adjudicated" not in notes["epicycle(repetition=4)"]
    with api.Tournament.open(adjudicated, home_of(adjudicated)) as tournament:
        matches = [match for page in tournament.matches(0) for _, match in page]
    match = next(match for match in matches if match.ended == "adjudicated by agreement")
    assert f"adjudicated at ply {len(match.moves)}, as all bots expected this" in replay_page(match).decode()
    for config, is_adjudicated in ((adjudicated, True), (whole, False)):
        with api.Tournament.open(config, home_of(config)) as tournament:
            figure = endings_of(board_results(tournament, 0))
        assert figure is not None and ("ended adjudicated by agreement" in figure.sentence) is is_adjudicated


@pytest.mark.parametrize(("index", "rules"), [(0, {"agreement": 3}), (1, {"certainty": 100})])
def test_the_measured_saving_and_error_are_those_of_playing_with_the_rules(whole, adjudicated, index, rules):
    with (
        api.Tournament.open(whole, home_of(whole)) as one,
        api.Tournament.open(adjudicated, home_of(adjudicated)) as other,
    ):
        pairs = [pair for pages in zip(one.matches(index), other.matches(index), strict=True) for pair in zip(*pages)]
        title = one.schedule.boards[index].game
    distinct = {(*match.bots, *match.moves): (match, short) for (_, match), (_, short) in pairs}.values()
    ended = [(match, short) for match, short in distinct if short.ended.startswith("adjudicated")]
    row = api.adjudication(whole, **rules, game=title, home=home_of(whole)).iloc[0]
    assert row["matches"] == len(distinct) and row["adjudicated"] == len(ended) > 0
    assert row["other"] == sum(match.ranks != short.ranks for match, short in ended)
    saved = sum(len(match.moves) - len(short.moves) for match, short in ended)
    assert row["plies_saved"] == pytest.approx(saved / sum(len(match.moves) for match, _ in distinct), abs=1e-4)
    assert row["error_ci_low"] <= row["error"] <= row["error_ci_high"]


def test_matches_that_were_adjudicated_measure_nothing(adjudicated):
    found = api.adjudication(adjudicated, agreement=3, game="magic_mids", home=home_of(adjudicated)).iloc[0]
    assert found["left_out"] > 0 and found["adjudicated"] == 0 and found["error_ci_high"] == 1


def test_rules_that_are_off_or_no_rules_are_refused(whole):
    for given in ({}, {"agreement": -1}, {"agreement": 1, "threshold": 1.5}, {"certainty": 10**6}):
        with pytest.raises(ConfigError, match=r"^adjudication: "):
            api.adjudication(whole, **given, home=home_of(whole))
    with pytest.raises(UnknownTargetError):
        api.adjudication(whole, agreement=1, game="midgard", home=home_of(whole))


@pytest.mark.parametrize("hits", [0, 1, 7, 60])
def test_the_interval_of_single_matches_is_at_least_that_of_clopper_and_pearson(hits):
    low, high = share_interval([(1, int(number < hits)) for number in range(60)])
    exact = binomtest(hits, 60).proportion_ci(method="exact")
    assert low == pytest.approx(exact.low, abs=2e-3) and high == pytest.approx(exact.high, abs=2e-3)
    assert low <= exact.low + 1e-9 and high >= exact.high - 1e-9


def test_the_interval_covers_the_truth_when_the_matches_of_a_block_go_alike():
    rng, covered, trials = np.random.default_rng(3), 0, 400
    for _ in range(trials):
        same = rng.random(50) < 0.1
        low, high = share_interval([(4, 4 * int(each)) for each in same])
        covered += low <= 0.1 <= high
    assert covered >= 0.93 * trials


def config():
    return {
        "name": "n",
        "games": [{"game": "epicycle", "players": [2]}],
        "bots": [{"bot": "random"}] * 1 + [{"bot": "random", "label": "b"}],
    }


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"agreement": "3"}, "agreement"),
        ({"threshold": 0.2}, "threshold"),
        ({"plies": 3}, "plies"),
        (3, "adjudication"),
    ],
)
def test_wrong_rules_are_refused_in_one_line(given, text):
    with pytest.raises(ConfigError, match=text):
        config_from(config() | {"adjudication": given})


def test_comparisons_are_adjudicated_by_rules_of_their_own(tmp_path, capsys):
    (tmp_path / "b.py").write_text(BOTS)
    asked = ["compare", f"{tmp_path}/b.py:Fickle", f"{tmp_path}/b.py:Twin", "--game", "magic_mids", "--fixed", "3"]
    asked += ["--workers", "1", "--home", str(tmp_path)]
    assert run_command(asked) == 0
    assert run_command([*asked, "--agreement", "3", "--threshold", "0.9"]) == 0
    (log,) = tmp_path.rglob("matches.db")
    found = verify(log)
    assert not found.findings
    with contextlib.closing(sqlite3.connect(log)) as db:
        ended = [word for (word,) in db.execute("SELECT ended FROM matches ORDER BY block, lineup")]
    assert len(ended) == 12 and "adjudicated by agreement" not in ended[:6]
    assert "adjudicated by agreement" in ended[6:]
    (board,) = json.loads((log.parent / "plan.json").read_text())["boards"]
    assert board["adjudication"] == {"agreement": 3, "threshold": 0.9, "certainty": 0}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--threshold", "0.9"], "adjudication: needs agreement, certainty or both, above 0"),
        (["--agreement", "-1"], "agreement = -1: must be 0 or more"),
        (["--from", "smoke", "--agreement", "3"], "plays nothing, so --agreement has no effect"),
    ],
)
def test_rules_that_cannot_apply_to_a_comparison_are_refused_in_one_line(tmp_path, capsys, options, told):
    game = [] if "--from" in options else ["--game", "epicycle"]
    assert run_command(["compare", "greedy", "random", *game, *options, "--home", str(tmp_path)]) == 2
    assert told in capsys.readouterr().err


def test_tuning_takes_the_rules_from_its_options():
    assert request_of(TuneOptions("uct", ["simulations=1:9"], ["epicycle"])).adjudication is None
    options = TuneOptions("uct", ["simulations=1:9"], ["epicycle"], agreement=2, certainty=10)
    rules = request_of(options).adjudication
    assert rules == AdjudicationRules(2, 0.95, 10)


def test_a_paper_tells_by_which_rules_how_many_matches_were_adjudicated(adjudicated, whole, tmp_path):
    api.export(adjudicated, home_of(adjudicated), tmp_path, ["paper"])
    methods = (tmp_path / "paper_methods.md").read_text()
    assert "Matches were ended early, that is adjudicated, where a rule held. On magic" in methods
    assert "matches were adjudicated: the referee's search of 100 positions proved them." in methods
    assert "repetition=4), 2 players," not in methods.partition("ended early")[2].partition("calibrated")[0]
    api.export(whole, home_of(whole), tmp_path / "whole", ["paper"])
    assert "ended early" not in (tmp_path / "whole" / "paper_methods.md").read_text()


def test_games_with_utilities_of_their_own_are_not_adjudicated(monkeypatch):
    rules = AdjudicationRules(agreement=3)
    own = dataclasses.replace(engine.game_type("epicycle"), own_utilities=True)
    game = engine.load_game("epicycle", players=2)
    monkeypatch.setattr(game, "type", own)
    with pytest.raises(ConfigError, match="utilities do not follow from places"):
        adjudicable(rules, game)
    assert adjudicable(None, game) is None
