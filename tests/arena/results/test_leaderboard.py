"""Leaderboards: every column recomputed from the matches, complete blocks only, files that never differ."""

import itertools
import json
import math
import random
from collections import defaultdict
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import pytest
import trueskill
from scipy import stats

from arena import api
from arena.results.leaderboard_files import render_board, write_leaderboards
from arena.results.leaderboards import few_blocks_lines, leaderboards
from arena.results.match_files import match_lines
from arena.results.matches import board_matches
from arena.schedule.kinds.gauntlet import Gauntlet
from arena.schedule.kinds.round_robin import RoundRobin
from arena.stats.board import MatchArrays, rating_columns, ratings_of
from arena.stats.online_trueskill import draw_probability_at
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.transfer.foreign_results import import_results
from tests.support.samples import (
    all_matches,
    begin,
    board,
    entry,
    fill,
    finished,
    random_row,
    resolved,
    row,
    schedule,
)

ENTRIES = [entry("alice", label="Alice"), entry("dave", label="1e5"), entry("bob", label="Bob"), entry("carol")]
PLANS = {
    "two": schedule(ENTRIES, players=(2,), blocks=6),
    "three": schedule(ENTRIES, players=(3,), blocks=5),
    "four": schedule(ENTRIES, players=(4,), blocks=9),
    "orders": schedule(ENTRIES, players=(3,), blocks=3, permutations=True),
    "gauntlet": schedule(ENTRIES, players=(2,), blocks=6, scheduler=Gauntlet(challenger=ENTRIES[2].label)),
    "some": schedule(ENTRIES, boards=(board(2, [0, 2, 1], blocks=7),)),
    "sampled": schedule(
        [f"bot {number}" for number in range(9)], players=(3,), blocks=3, scheduler=RoundRobin(max_tables=20)
    ),
}


@pytest.fixture(params=PLANS)
def sample(request, tmp_path):
    """A plan, its log with two thirds of the matches of some blocks missing, and the rows that are in it."""
    plan = PLANS[request.param]
    rng = random.Random(request.param)
    rows = {spec.id: random_row(spec, rng) for spec in all_matches(plan)}
    kept = [spec for spec in all_matches(plan) if rng.random() < 0.97]
    shuffled = rng.sample(kept, len(kept))
    with Store.create(tmp_path / "matches.db") as store:
        store.add(plan, [finished(spec, rows[spec.id]) for spec in shuffled], begin(store, plan))
    return plan, tmp_path / "matches.db", {spec.id: rows[spec.id] for spec in kept}


def counted(plan, number, rows):
    """The matches of a board's complete blocks in fold order: (place of the block, spec, row)."""
    place = -1
    for block in plan.blocks():
        if block.board == number:
            place += 1
            matches = plan.matches(block)
            if all(spec.id in rows for spec in matches):
                yield from ((place, spec, rows[spec.id]) for spec in matches)


def returned(ranks, seat):
    beaten = sum(rank > ranks[seat] for rank in ranks)
    tied = sum(rank == ranks[seat] for rank in ranks) - 1
    return (2 * beaten + tied) / (len(ranks) - 1) - 1


def mean(values):
    return sum(values) / len(values)


def recomputed(plan, rows, number=0):
    """A leaderboard as {label: {column: value}}, without frames."""
    seen = defaultdict(lambda: defaultdict(list))
    matches = list(counted(plan, number, rows))
    for place, spec, result in matches:
        ranks = [seat.rank for seat in result.seats]
        scores = [seat.score for seat in result.seats]
        for seat, who in enumerate(spec.seats):
            mine = seen[plan.entries[who].label]
            mine["rank"].append(ranks[seat] + 1)
            mine["win"].append(ranks[seat] == 0 and ranks.count(0) == 1)
            mine["tie"].append(ranks[seat] == 0 and ranks.count(0) > 1)
            mine["return"].append(returned(ranks, seat))
            mine[f"block {place}"].append(returned(ranks, seat))
            mine[f"seat {seat}"].append(returned(ranks, seat))
            mine["forfeit"].append(result.seats[seat].cause is not None)
            if scores[0] is not None:
                mine["margin"].append(scores[seat] - mean([s for other, s in enumerate(scores) if other != seat]))
    labels = list(seen)
    rated, margin = converged(matches, [labels.index(entry.label) for entry in plan.entries if entry.label in seen])
    environment = trueskill.TrueSkill(25, 25 / 3, 25 / 6, 0, draw_probability_at(margin), backend="scipy")
    skill = {label: environment.create_rating() for label in seen}
    for _, spec, result in matches:
        who = [plan.entries[each].label for each in spec.seats]
        after = environment.rate(
            [(skill[label],) for label in who], ranks=[seat.rank for seat in result.seats], min_delta=1e-12
        )
        skill.update({label: rating for label, (rating,) in zip(who, after, strict=True)})
    board = {}
    for place, (label, mine) in enumerate(seen.items()):
        blocks = [mean(values) for name, values in mine.items() if name.startswith("block ")]
        low, high = (
            stats.t.interval(0.95, len(blocks) - 1, loc=mean(blocks), scale=stats.sem(blocks))
            if len(blocks) > 1
            else (math.nan, math.nan)
        )
        board[label] = {
            **{column: values[place] for column, values in rated.items()},
            "matches": len(mine["return"]),
            "distinct_matches": len(mine["return"]),
            "wins": sum(mine["win"]),
            "ties": sum(mine["tie"]),
            "mean_rank": mean(mine["rank"]),
            "mean_return": mean(mine["return"]),
            "mean_return_ci_low": low,
            "mean_return_ci_high": high,
            "mean_margin": mean(mine["margin"]) if mine["margin"] else None,
            "forfeits": sum(mine["forfeit"]),
            **{f"return_seat_{seat}": mean(mine[f"seat {seat}"]) for seat in range(plan.boards[number].players)},
            "trueskill_mu": skill[label].mu,
            "trueskill_sigma": skill[label].sigma,
        }
    return board


def converged(matches, places):
    """The columns of the converged fit, matches taken backwards, and its draw margin."""
    backwards = matches[::-1]
    entries = np.array([[places[each] for each in spec.seats] for _, spec, _ in backwards])
    ranks = np.array([[seat.rank for seat in result.seats] for _, _, result in backwards])
    ratings = ratings_of(MatchArrays(entries, ranks, np.array([place for place, _, _ in backwards]), None))
    columns = rating_columns(ratings).drop(columns="distinct_matches")
    order = sorted(range(len(columns)), key=lambda place: -columns["rating"].iloc[place])
    leads = {upper: float(ratings.spread.ahead(upper, lower)) for upper, lower in itertools.pairwise(order)}
    columns.insert(6, "lead_over_next", [leads.get(place, math.nan) for place in range(len(columns))])
    return {name: columns[name].tolist() for name in columns}, ratings.fit.margin


def boards_of(plan, log):
    with Store.open(log) as store:
        return leaderboards(Tournament(store, plan))


def test_every_column_is_what_the_matches_say(sample):
    plan, log, rows = sample
    (frame,) = boards_of(plan, log).values()
    expected = recomputed(plan, rows)
    assert set(frame["bot"]) == set(expected)
    assert len(frame) == len(expected)
    assert list(frame.columns) == ["rank", "bot", *next(iter(expected.values()))]
    for found in frame.to_dict("records"):
        for column, value in expected[found["bot"]].items():
            if isinstance(value, str):
                assert found[column] == value
                continue
            assert found[column] == pytest.approx(value, abs=0.5001e-4, nan_ok=True), (found["bot"], column)


def test_boards_are_ordered_by_rating_and_numbered_from_one(sample):
    plan, log, _ = sample
    (frame,) = boards_of(plan, log).values()
    assert frame["rank"].tolist() == list(range(1, len(frame) + 1))
    assert frame["rating"].is_monotonic_decreasing


def test_the_matches_of_a_board_are_those_of_complete_blocks_in_fold_order(sample):
    plan, log, rows = sample
    with Store.open(log) as store:
        frame = board_matches(Tournament(store, plan), 0)
    expected = [
        (
            spec.block.round,
            spec.lineup,
            seat,
            who,
            plan.entries[who].label,
            result.seats[seat].rank,
            result.seats[seat].score,
            result.seats[seat].cause,
            result.timed,
            result.ended,
        )
        for _, spec, result in counted(plan, 0, rows)
        for seat, who in enumerate(spec.seats)
    ]
    columns = ["round", "lineup", "seat", "entry", "bot", "rank", "score", "cause", "timed", "ended"]
    found = [tuple(None if value != value else value for value in each) for each in frame[columns].to_numpy().tolist()]
    assert found == expected
    assert frame["block"].is_monotonic_increasing


def test_a_block_counts_from_its_last_match_on(tmp_path):
    plan = schedule(["alice", "bob", "carol"], players=(3,), blocks=2)
    matches = all_matches(plan)
    with Store.create(tmp_path / "matches.db") as store:
        run = begin(store, plan)
        counts = []
        for spec in matches:
            store.add(plan, [finished(spec, row(spec.lineup, [0, 1, 2]))], run)
            frame = leaderboards(Tournament(store, plan))[0]
            counts.append(int(frame["matches"].sum()) // 3 if len(frame) else 0)
    assert counts == [0, 0, 3, 3, 3, 6]


def test_matches_that_are_not_in_the_plan_do_not_count(tmp_path):
    many, few = (schedule(ENTRIES, players=(2,), blocks=blocks) for blocks in (5, 2))
    fill(tmp_path / "matches.db", many)
    (frame,) = boards_of(few, tmp_path / "matches.db").values()
    assert frame["matches"].sum() == 2 * 2 * 6 * 2
    without_carol = schedule(ENTRIES[:3], players=(2,), blocks=5)
    (frame,) = boards_of(without_carol, tmp_path / "matches.db").values()
    assert set(frame["bot"]) == {"Alice", "Bob", "1e5"}


def test_boards_of_one_log_are_kept_apart(tmp_path):
    other = board(2, range(4), game="epicycle(setup=random)", params='{"setup": "random"}')
    plan = schedule(ENTRIES, boards=(board(2, range(4)), board(3, range(4)), other))
    fill(tmp_path / "matches.db", plan)
    frames = boards_of(plan, tmp_path / "matches.db")
    assert [int(frame["matches"].sum()) for frame in frames.values()] == [3 * 6 * 4, 3 * 4 * 9, 3 * 6 * 4]
    for number in range(3):
        alone = schedule(ENTRIES, boards=(plan.boards[number],))
        pd.testing.assert_frame_equal(boards_of(alone, tmp_path / "matches.db")[0], frames[number])


def test_a_game_without_scores_has_no_margins(tmp_path):
    plan = PLANS["two"]
    fill(tmp_path / "matches.db", plan, scored=False)
    (frame,) = boards_of(plan, tmp_path / "matches.db").values()
    assert "mean_margin" not in frame
    assert not frame.drop(columns="lead_over_next").isna().any().any()


def test_one_block_gives_no_interval(tmp_path):
    plan = schedule(["alice", "bob"], blocks=1)
    fill(tmp_path / "matches.db", plan)
    (frame,) = boards_of(plan, tmp_path / "matches.db").values()
    assert frame["mean_return_ci_low"].isna().all()
    assert frame["mean_return_ci_high"].isna().all()


@pytest.mark.parametrize("name", PLANS)
def test_the_blocks_of_a_plan_are_named_alike_at_once_and_one_by_one(name):
    plan = PLANS[name]
    expected = [(block.round, block.table, block.identity) for block in plan.blocks_of(0)]
    assert list(plan.identities(0)) == expected


def test_a_board_of_nothing_has_the_columns_that_are_printed(tmp_path):
    plan = schedule(["alice", "bob"])
    with Store.create(tmp_path / "empty.db") as store:
        frame = leaderboards(Tournament(store, plan))[0]
    assert len(frame) == 0
    assert list(frame.columns[:2]) == ["rank", "bot"]


def written(folder, plan, log):
    """Every file that the log gives, by name."""
    with Store.open(log) as store:
        boards = leaderboards(Tournament(store, plan))
        write_leaderboards(folder, Tournament(store, plan=resolved(plan)), boards, ("csv", "json", "md", "parquet"))
        (folder / "matches.jsonl").write_text("".join(match_lines(Tournament(store, plan))))
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_files_are_the_same_bytes_whenever_and_in_whatever_order_the_log_was_written(sample, tmp_path):
    plan, log, rows = sample
    first = written(tmp_path / "first", plan, log)
    assert written(tmp_path / "first", plan, log) == first
    with Store.create(tmp_path / "other.db") as store:
        for spec in reversed(all_matches(plan)):
            if spec.id in rows:
                later = rows[spec.id]._replace(seconds=9.0, clocks="0,0,9,9,0")
                store.add(plan, [finished(spec, later, attempts=2)], begin(store, plan))
    assert written(tmp_path / "second", plan, tmp_path / "other.db") == first
    slug = plan.boards[0].slug
    kinds = {f"{slug}.{kind}" for kind in ("csv", "json", "md", "parquet")}
    assert set(first) == kinds | {"plan.json", "versions.json", "matches.jsonl"}


def test_exports_tell_the_constants_with_which_the_trueskill_package_makes_the_same_ratings(sample):
    plan, log, _ = sample
    (frame,) = boards_of(plan, log).values()
    told = json.loads(render_board(plan.boards[0], frame, "json"))["ratings"]
    assert (
        told
        == frame.attrs["ratings"]
        == pd.read_parquet(BytesIO(render_board(plan.boards[0], frame, "parquet"))).attrs["ratings"]
    )
    environment = trueskill.TrueSkill(25, 25 / 3, told["beta"], 0, told["draw_probability"])
    with Store.open(log) as store:
        matches = board_matches(Tournament(store, plan), 0)
    skills = {bot: (environment.create_rating(),) for bot in frame["bot"]}
    for _, seats in matches.groupby(["block", "lineup"], sort=False):
        rated = environment.rate([skills[bot] for bot in seats["bot"]], list(seats["rank"]), min_delta=1e-9)
        skills |= dict(zip(seats["bot"], rated, strict=True))
    for bot, mu in zip(frame["bot"], frame["trueskill_mu"], strict=True):
        assert skills[bot][0].mu == pytest.approx(mu, abs=2e-3)


def test_every_format_tells_the_same(sample):
    plan, log, _ = sample
    (frame,) = boards_of(plan, log).values()
    made = {kind: render_board(plan.boards[0], frame, kind) for kind in ("csv", "json", "md", "parquet")}
    read = pd.read_csv(StringIO(made["csv"].decode()), dtype={"bot": str})
    pd.testing.assert_frame_equal(read, frame, check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_parquet(BytesIO(made["parquet"])), frame)
    data = json.loads(made["json"])
    assert (data["game"], data["players"]) == (plan.boards[0].game, plan.boards[0].players)
    pd.testing.assert_frame_equal(pd.DataFrame(data["leaderboard"]), frame, check_dtype=False)
    lines = made["md"].decode().splitlines()
    assert lines[0] == f"# {plan.boards[0].title}"
    assert [cell.strip() for cell in lines[2].strip("|").split("|")] == list(frame.columns)
    for line, found in zip(lines[4:], frame.to_dict("records"), strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[1] == found["bot"]
        assert cells[2] == f"{found['rating']:.2f}"


def test_labels_that_look_like_numbers_stay_what_they_are(tmp_path):
    plan = schedule([entry("alice", label="1e5"), entry("bob", label="007")])
    fill(tmp_path / "matches.db", plan)
    (frame,) = boards_of(plan, tmp_path / "matches.db").values()
    markdown = render_board(plan.boards[0], frame, "md").decode()
    assert "1e5 " in markdown
    assert "007 " in markdown


@pytest.mark.parametrize("kind", ["csv", "json", "md", "parquet"])
def test_a_board_without_a_complete_block_is_written_too(tmp_path, kind):
    plan = PLANS["two"]
    fill(tmp_path / "matches.db", plan, leave_out=range(10_000))
    (frame,) = boards_of(plan, tmp_path / "matches.db").values()
    assert len(frame) == 0
    assert render_board(plan.boards[0], frame, kind) == render_board(plan.boards[0], frame, kind) != b""


def test_lines_tell_every_match_of_the_plan_and_nothing_of_how_it_was_run(sample):
    plan, log, rows = sample
    with Store.open(log) as store:
        lines = [json.loads(line) for line in match_lines(Tournament(store, plan))]
    assert [line["match"] for line in lines] == [spec.id for spec in all_matches(plan) if spec.id in rows]
    for line in lines:
        result = rows[line["match"]]
        assert line["ranks"] == [seat.rank for seat in result.seats]
        assert line["moves"] == result.moves
        assert [(each["seat"], each["cause"]) for each in line["forfeits"]] == [
            (seat, who.cause) for seat, who in enumerate(result.seats) if who.cause is not None
        ]
        assert not {"seconds", "worker", "host", "attempts", "run", "details"} & line.keys()


@pytest.mark.parametrize(
    ("blocks", "line"),
    [
        (1, "1 block a bot: an interval takes two at least."),
        (2, "2 blocks a bot: too few to tell how much results vary, so intervals rest on the rating model."),
        (4, None),
    ],
)
def test_a_board_of_few_blocks_says_what_its_intervals_rest_on(tmp_path, blocks, line):
    rows = [f"{match},{match // 2},{bot},{1 + (bot + match) % 2}" for match in range(2 * blocks) for bot in range(2)]
    (tmp_path / "few.csv").write_text("match,block,bot,place\n" + "\n".join(rows))
    import_results(tmp_path / "few.csv", home=tmp_path)
    (frame,) = api.leaderboard("few", home=tmp_path).values()
    assert few_blocks_lines(frame) == ([line] if line else [])
    if blocks == 2:
        assert (frame["rating_ci_high"] - frame["rating"] < 15).all()
