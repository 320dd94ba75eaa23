"""What `arena diff` says: what moved, whether it is significant, and because of what."""

import json
from statistics import NormalDist

import pandas as pd
import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ConfigError
from arena.results.diff import VersionedLeaderboard, compare_leaderboards, diff
from tests.support.samples import board, entry, fill, schedule

CRITICAL = NormalDist().inv_cdf(0.975)


def frame(*rows, **more):
    """A leaderboard from (bot, mean return, half of its interval, matches), best first."""
    made = pd.DataFrame(rows, columns=["bot", "mean_return", "half", "matches"])
    made["mean_return_ci_low"], made["mean_return_ci_high"] = (
        made["mean_return"] - made["half"],
        made["mean_return"] + made["half"],
    )
    made.insert(0, "rank", range(1, len(made) + 1))
    return made.drop(columns="half").assign(**more)


def side(*rows, rules=1, identities=None, **more):
    made = frame(*rows, **more)
    return VersionedLeaderboard(made, rules, {bot: f"{bot}@0" for bot in made["bot"]} | (identities or {}))


def by_bot(found):
    return found.frame.set_index("bot").to_dict("index")


BEFORE = side(("a", 0.5, 0.1, 20), ("b", 0.0, 0.2, 20), ("c", -0.5, 0.1, 20))


def test_a_change_is_measured_in_the_standard_errors_of_both_intervals():
    after = side(("c", 0.4, 0.3, 20), ("a", 0.3, 0.1, 20), ("b", -0.1, 0.2, 20))
    found = by_bot(compare_leaderboards("board", BEFORE, after))
    for bot, (old, new, halves) in {
        "a": (0.5, 0.3, (0.1, 0.1)),
        "b": (0, -0.1, (0.2, 0.2)),
        "c": (-0.5, 0.4, (0.1, 0.3)),
    }.items():
        error = sum((half / CRITICAL) ** 2 for half in halves) ** 0.5
        assert found[bot]["change"] == pytest.approx(new - old)
        assert found[bot]["z"] == pytest.approx((new - old) / error, abs=0.006)
        assert found[bot]["significant"] == (abs(new - old) / error >= CRITICAL)
    assert [found[bot]["significant"] for bot in "abc"] == [True, False, True]
    assert [(found[bot]["rank_before"], found[bot]["rank_after"]) for bot in "abc"] == [(1, 2), (2, 3), (3, 1)]
    assert list(found) == ["c", "a", "b"]


def test_the_rating_is_compared_where_both_boards_have_its_interval():
    rated = {"rating": [30.0, 25.0, 20.0], "rating_ci_low": [28.0, 23.0, 18.0], "rating_ci_high": [32.0, 27.0, 22.0]}
    both = side(*BEFORE.frame[["bot", "mean_return", "rank", "matches"]].itertuples(index=False), **rated)
    assert compare_leaderboards("board", both, both).measure == ("rating", "rating_ci_low", "rating_ci_high")
    assert by_bot(compare_leaderboards("board", both, both))["a"]["before"] == 30.0
    assert compare_leaderboards("board", BEFORE, both).measure == (
        "mean_return",
        "mean_return_ci_low",
        "mean_return_ci_high",
    )
    bare = VersionedLeaderboard(both.frame[["rank", "bot", "rating"]], 1, None)
    with pytest.raises(
        ConfigError, match="board: the leaderboards have neither rating, rating_ci_low, rating_ci_high nor"
    ):
        compare_leaderboards("board", bare, both)


def test_unknown_or_empty_intervals_are_no_reason_to_call_a_change_significant():
    first = side(("a", 0.5, float("nan"), 2), ("b", 0.25, 0.0, 2), ("c", 0.0, 0.0, 2))
    then = side(("a", -0.5, 0.1, 2), ("b", 0.25, 0.0, 2), ("c", 0.1, 0.0, 2))
    found = by_bot(compare_leaderboards("board", first, then))
    assert pd.isna(found["a"]["z"]) and pd.isna(found["a"]["significant"])
    assert (found["b"]["z"], found["b"]["significant"]) == (0.0, False)
    assert (found["c"]["z"], found["c"]["significant"]) == (float("inf"), True)


ROWS = [("a", 0.5, 0.1, 20), ("b", 0.0, 0.2, 20), ("c", -0.5, 0.1, 20)]
MORE = [("a", 0.6, 0.1, 40), ("b", 0.0, 0.2, 40), ("c", -0.6, 0.1, 10)]
CAUSES = {
    "nothing": (side(*ROWS), ["same data"] * 3, []),
    "another seed": (side(*ROWS[:2], ("c", -0.6, 0.1, 20)), ["other matches"] * 3, []),
    "more": (side(*MORE), ["more matches", "more matches", "fewer matches"], []),
    "version": (
        side(*ROWS, identities={"b": "b@1"}),
        ["opponents", "new version", "opponents"],
        ["new version: b, b@0, then b@1"],
    ),
    "rules": (side(*ROWS, rules=2), ["rules"] * 3, ["rules version 1, then 2"]),
    "field": (
        side(*ROWS[:2], ("d", -0.5, 0.1, 20)),
        ["opponents", "opponents", "added", "removed"],
        ["added: d", "removed: c"],
    ),
    "everything": (
        side(*MORE, ("d", -0.7, 0.1, 40), rules=3, identities={"a": "a@1"}),
        [
            "rules, new version, opponents, more matches",
            "rules, opponents, more matches",
            "rules, opponents, fewer matches",
            "added",
        ],
        ["rules version 1, then 3", "new version: a, a@0, then a@1", "added: d"],
    ),
}


@pytest.mark.parametrize("case", CAUSES)
def test_every_bot_gets_the_causes_that_hold_for_it(case):
    after, causes, remarks = CAUSES[case]
    found = compare_leaderboards("board", BEFORE, after)
    assert found.frame["because"].to_list() == causes
    assert found.remarks == remarks


# Files, folders and logs


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """Logs of two tournaments of made-up matches, `old` and `new`, and their exports."""
    home = tmp_path_factory.mktemp("home")
    entries = [entry("alice", label="1e5"), entry("bob"), entry("carol")]
    later = [entries[0], entry("bob", identity="bob@" + "1" * 32), entry("dave")]
    old = schedule(entries, players=(2, 3), blocks=6)
    new = schedule(later, players=(2, 3), blocks=8)
    new = schedule(later, boards=(*new.boards, board(2, range(3), 2, "midgard")))
    for name, plan, seed in (("old", old, 1), ("new", new, 2)):
        (home / name).mkdir()
        fill(home / name / "matches.db", plan, seed)
        api.export(name, home, home / f"{name}-files", formats=["csv", "json", "parquet"])
    return home


def test_logs_folders_and_files_of_every_format_tell_the_same(homes):
    boards = diff("old", "new", homes)
    assert [found.board for found in boards] == ["epicycle, 2 players", "epicycle, 3 players"]
    assert boards[0].remarks == [
        f"new version: bob, bob@{b'bob'.hex():0<32}, then bob@{'1' * 32}",
        "added: dave",
        "removed: carol",
    ]
    others = [(homes / "old-files", "new"), ("old", homes / "new-files")]
    others += [
        (homes / "old-files" / f"epicycle_2p.{a}", homes / "new-files" / f"epicycle_2p.{b}")
        for a, b in (("csv", "json"), ("parquet", "csv"))
    ]
    for pair in others:
        found = diff(*pair, homes)[0]
        assert (found.board, found.measure, found.remarks) == (boards[0].board, boards[0].measure, boards[0].remarks)
        pd.testing.assert_frame_equal(found.frame, boards[0].frame, check_dtype=False)


def test_a_tournament_and_its_files_are_the_same_data(homes):
    for found in diff(homes / "old-files", "old", homes):
        assert set(found.frame["because"]) == {"same data"}
        assert set(found.frame["change"]) == {0.0}


def test_a_file_alone_tells_no_versions_and_that_is_said(homes, tmp_path):
    for name in ("old", "new"):
        (tmp_path / f"{name}.csv").write_bytes((homes / f"{name}-files" / "epicycle_2p.csv").read_bytes())
    (found,) = diff(tmp_path / "old.csv", tmp_path / "new.csv")
    assert found.remarks[-1].startswith("versions unknown")
    assert found.frame["before"].notna().sum() == 3


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("old-files/epicycle_2p.csv", "new-files/epicycle_3p.csv", "is of epicycle, 2 players, "),
        ("old-files/nothing.csv", "new", "nothing.csv: no such file"),
        ("old-files/plan.json", "new", "plan.json: is no leaderboard"),
        ("broken.json", "new", "broken.json: is no leaderboard"),
        ("empty", "new", "empty: holds neither a log nor leaderboards in csv, json or parquet"),
        ("old", "nowhere", "nowhere: no tournament of that name"),
        (
            "new-files/midgard_2p.json",
            "old",
            "no board in common: new-files/midgard_2p.json has midgard, 2 players, old has",
        ),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_line(homes, monkeypatch, capsys, before, after, told):
    monkeypatch.chdir(homes)
    (homes / "empty").mkdir(exist_ok=True)
    (homes / "broken.json").write_text("{")
    assert run_command(["diff", before, after, "--home", "."]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert told in said.err


def test_it_prints_a_table_for_eighty_columns_markdown_and_json(homes, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    said = {}
    for format in ("table", "md", "json"):
        assert run_command(["diff", "old", "new", "--home", str(homes), "--format", format]) == 0
        said[format] = capsys.readouterr().out
    assert max(map(len, said["table"].splitlines())) <= 80
    for found, data in zip(diff("old", "new", homes), json.loads(said["json"]), strict=True):
        assert (data["board"], data["measure"], data["remarks"]) == (found.board, [*found.measure], found.remarks)
        value, low, high = found.measure
        assert f"{value}, errors from {low} and {high}" in " ".join(said["table"].split())
        assert [row["bot"] for row in data["bots"]] == found.frame["bot"].to_list()
        assert found.board in said["table"] and f"## {found.board}" in said["md"]
        for row in data["bots"]:
            assert row["bot"] in said["table"] and row["bot"] in said["md"]
            if row["change"] is not None:
                assert f"{row['change']:+.{2 if value == 'rating' else 3}f}" in said["table"]
    assert run_command(["diff", "old", "new", "--home", str(homes), "--format", "xml"]) == 2
    assert "--format xml: not a choice; known: table, json, md" in capsys.readouterr().err


HOSTILE = {
    "deep.json": b"[" * 100_000,
    "columns.json": b'{"leaderboard": [{"rank": 1, "bot": "a"}, {"rank": 2, "name": "b"}]}',
    "twice.csv": b"rank,bot,rating,rating_ci_low,rating_ci_high\n1,a,1,0,2\n2,a,1,0,2\n",
    "endless.csv": b"rank,bot,rating,rating_ci_low,rating_ci_high\n1,a,1,0,inf\n",
    "place.csv": b"rank,bot,rating,rating_ci_low,rating_ci_high\n1e300,a,1,0,2\n",
    "zeros.csv": bytes(50),
    "none.parquet": b"PAR1" + bytes(100),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_leaderboard_is_refused_whatever_it_holds(tmp_path, name):
    (tmp_path / name).write_bytes(HOSTILE[name])
    with pytest.raises(ConfigError, match="is no leaderboard"):
        diff(tmp_path / name, tmp_path / name)


def test_a_parquet_file_that_unpacks_to_very_much_is_refused(tmp_path):
    pd.DataFrame({"rank": 1, "bot": "a"}, index=range(3_000_000)).to_parquet(tmp_path / "b.parquet", index=False)
    assert (tmp_path / "b.parquet").stat().st_size < 100_000
    with pytest.raises(ConfigError, match="is no leaderboard"):
        diff(tmp_path / "b.parquet", tmp_path / "b.parquet")


def test_labels_cannot_steer_the_terminal(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("rank,bot,rating,rating_ci_low,rating_ci_high\n1,\x1b[31mred,1,0,2\n")
    assert run_command(["diff", str(tmp_path / "a.csv"), str(tmp_path / "a.csv")]) == 0
    told = capsys.readouterr().out
    assert r"\x1b[31mred" in told and "\x1b" not in told


def test_a_board_without_a_complete_block_is_compared_all_the_same():
    nobody = VersionedLeaderboard(pd.DataFrame(columns=["rank", "bot", "rating", "matches"]), 1, None)
    found = compare_leaderboards("board", nobody, BEFORE)
    assert found.remarks[:2] == ["no complete block before", "added: a, b, c"]
    assert list(found.frame["because"]) == ["added"] * 3
    assert compare_leaderboards("board", nobody, nobody).frame.empty
