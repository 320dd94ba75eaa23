"""Swiss, knockout and pyramid: who meets whom, when a meeting is decided, and who wins."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.core.errors import ConfigError
from arena.plan.config import config_from
from arena.schedule.brackets import Bracket, BracketRules, most_meetings
from arena.schedule.kinds.knockout import Knockout
from arena.schedule.kinds.pyramid import Hill, Pyramid
from arena.schedule.kinds.swiss import Swiss
from arena.schedule.meetings import Meeting, MeetingRule
from arena.schedule.pairings import Group, seat_round
from arena.schedule.seeding import spread
from tests.support.meetings import PlayedBoard

KINDS = (
    Swiss(),
    Swiss(rounds=9, seeding="listed"),
    Knockout(),
    Knockout(elimination="double", advance=1),
    Pyramid(margin=0.0),
)


def partitions(bots, size):
    """All ways to seat bots at tables of a size."""
    if not bots:
        yield []
        return
    for others in itertools.combinations(bots[1:], size - 1):
        group = Group((bots[0], *others))
        for rest in partitions([bot for bot in bots if bot not in group], size):
            yield [group, *rest]


def of_strength(strength):
    """What decides the matches of a table, before luck."""
    return lambda table, _: strength[list(table)]


def by_lot(kind, bots, players, seed, leaving=0.0, blocks=2):
    """A board of bots of drawn strengths, of which some are disqualified, played to its end."""
    rng = np.random.default_rng([seed, bots, players])
    skill = rng.normal(0, 1, bots)
    out = np.random.default_rng([seed, 7])

    def disqualify(stage, table):
        return [each for each in table if out.random() < leaving]

    return PlayedBoard(kind, bots, players, blocks, of_strength(skill), rng, disqualify).play()


boards = st.tuples(st.integers(2, 5), st.integers(0, 14), st.integers(0, 10**6), st.sampled_from([0.0, 0.05, 0.3]))


# Pairings


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([(2, 2), (4, 2), (6, 2), (8, 2), (3, 3), (6, 3), (9, 3), (8, 4), (5, 5)]), st.data())
def test_a_table_meets_as_seldom_as_any_seating_of_the_round_allows(shape, data):
    bots, size = shape
    groups = [Group(each) for each in itertools.combinations(range(bots), size)]
    times = {group: data.draw(st.sampled_from([0, 0, 1, 2])) for group in groups}
    ranked = data.draw(st.permutations(range(bots)))
    seated = seat_round(ranked, size, times)
    assert sorted(bot for group in seated for bot in group) == [*range(bots)]
    fewest = min(max(times[group] for group in way) for way in partitions([*range(bots)], size))
    assert max(times[group] for group in seated) == fewest


def test_thirty_two_bots_meet_all_others_once_in_thirty_one_rounds_by_any_ranking():
    rng, times = np.random.default_rng(4), Counter[Group]()
    repeated = 0
    for _ in range(31):
        seated = seat_round(rng.permutation(32).tolist(), 2, times)
        repeated += any(times[group] for group in seated)
        times.update(seated)
    assert max(times.values()) <= 2
    assert repeated <= 3  # only where earlier rounds have left no other way
    first_half = Counter[Group]()
    for _ in range(16):
        seated = seat_round(rng.permutation(32).tolist(), 2, first_half)
        assert not any(first_half[group] for group in seated)
        first_half.update(seated)


def test_bots_meet_those_next_in_rank_whom_they_have_not_met():
    assert seat_round([4, 2, 0, 1], 2, {}) == [{4, 2}, {0, 1}]
    assert seat_round([4, 2, 0, 1], 2, {Group((4, 2)): 1}) == [{4, 0}, {2, 1}]
    assert seat_round([0, 1, 2, 3, 4, 5], 3, {Group((0, 1, 2)): 1, Group((3, 4, 5)): 1})[0] == {0, 3, 1}


def test_seeds_are_spread_so_that_the_best_do_not_meet():
    assert spread([0, 1, 2, 3, 4, 5], 2) == [[0, 5], [1, 4], [2, 3]]
    assert spread([0, 1, 2, 3, 4, 5], 3) == [[0, 3, 4], [1, 2, 5]]
    assert spread([], 3) == []


# All kinds


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(KINDS), boards)
def test_a_stage_seats_nobody_twice_and_no_disqualified_bot_and_stays_in_the_budget(kind, shape):
    players, more, seed, leaving = shape
    played = by_lot(kind, players + more, players, seed, leaving)
    assert sum(played.counts) <= kind.budget(played.board, played.tables)
    for stage, given_out in enumerate(played.stage_tables):
        seated = [each for table in given_out for each in table]
        assert len(seated) == len({*seated})
        assert all(played.last_stages.get(each, stage) >= stage for each in seated)
    entries = played.entries
    for seat in range(players):  # in blocks of all rotations every bot has each seat equally often
        assert Counter(entries[:, seat].tolist()) == Counter(entries[:, 0].tolist())


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(KINDS), boards)
def test_what_comes_next_does_not_depend_on_what_was_kept_of_earlier_stages(kind, shape):
    players, more, seed, leaving = shape
    rng = np.random.default_rng([seed, more])
    skill, out = rng.normal(0, 1, players + more), np.random.default_rng([seed, 7])
    played = PlayedBoard(
        kind,
        players + more,
        players,
        2,
        of_strength(skill),
        rng,
        lambda stage, table: [each for each in table if out.random() < leaving],
    )
    while played.play_stage():
        following = kind.next(played.board, played.tables, played)
        kept, played.kept = played.kept, {}
        assert kind.next(played.board, played.tables, played) == following
        assert kind.standings(played.board, played.tables, played, "ABCDEFGHIJKLMNOPQRST")
        played.kept = kept


@pytest.mark.parametrize("kind", [Swiss(), Knockout(), Knockout(elimination="double"), Pyramid()])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_bot_that_always_wins_comes_first_whatever_its_seed(kind, players):
    for best in range(0, 17, 4):
        strength = np.where(np.arange(17) == best, 1000.0, 0.0)
        played = PlayedBoard(
            kind.model_copy(update={"draw": best}),
            17,
            players,
            2,
            of_strength(strength),
            np.random.default_rng(best),
        ).play()
        labels = [f"bot {number}" for number in range(17)]
        table = kind.model_copy(update={"draw": best}).standings(played.board, played.tables, played, labels)[0]
        assert f"bot {best}" in (table.title.rpartition("by ")[2], table.title.rpartition(": ")[2], table.rows[0][1])


@pytest.mark.parametrize("kind", [Swiss(), Knockout(), Pyramid()])
def test_lots_come_from_the_seed_and_listed_bots_keep_their_order(kind):
    played = by_lot(kind, 9, 2, 1)
    assert kind.with_seed(3).draw == 3
    assert kind.model_copy(update={"draw": 5}).with_seed(3).draw == 5
    drawn = {tuple(kind.with_seed(seed).seeds(played.board)) for seed in range(20)}
    assert len(drawn) == 20
    assert all(sorted(seeds) == [*range(9)] for seeds in drawn)
    assert kind.model_copy(update={"seeding": "listed"}).seeds(played.board) == [*range(9)]


# Swiss


@settings(max_examples=60, deadline=None)
@given(boards)
def test_in_a_swiss_byes_differ_by_one_at_most_and_no_table_meets_again_before_it_must(shape):
    players, more, seed, leaving = shape
    played = by_lot(Swiss(), players + more, players, seed, leaving)
    stays = [each for each in played.board.entries if each not in played.out]
    meetings = [played.meetings[each] for each in stays]
    assert not meetings or max(meetings) - min(meetings) <= 1
    times = Counter[Group]()
    for given_out in played.stage_tables:
        seated = [each for table in given_out for each in table]
        if len(seated) <= 9:
            most = max(times[Group(table)] for table in given_out)
            ways = partitions(sorted(seated), players)
            assert most == min(max(times[group] for group in way) for way in ways)
        times.update(map(Group, given_out))


def test_swiss_ties_are_broken_by_opponents_then_by_those_one_was_ahead_of():
    played = by_lot(Swiss(rounds=5), 8, 2, 3, blocks=1)
    ranking = Swiss(rounds=5).ranking(played.board, played)
    keys = [(-each.points, -each.opponents, -each.ahead_of, -each.won) for each in ranking]
    assert keys == sorted(keys)
    assert sum(each.points for each in ranking) == 5 * 8 / 2
    assert all(each.meetings + each.byes == 5 for each in ranking)
    (table,) = Swiss(rounds=5).standings(played.board, played.tables, played, "ABCDEFGH")
    assert table.title == "Standings after 5 of 5 rounds"
    assert [row[1] for row in table.rows] == ["ABCDEFGH"[each.entry] for each in ranking]


# Meetings


def test_a_meeting_goes_on_until_the_lead_is_clear_or_the_most_blocks_are_played():
    rule = MeetingRule(blocks=2, most=6, margin=2.0)

    def decided(*leads, out=()):
        meeting = Meeting((3, 5), tuple((2 + lead, 2 - lead) for lead in leads))
        return rule.is_decided(meeting, meeting.order([5, 3], out), 1, out)

    assert decided(1, 1)
    assert not decided(2, 0)  # 2 with a standard error of 2
    assert not decided(0, 0)
    assert decided(2, 0, 2, 2)
    assert decided(0, 0, 0, 0, 0, 0)
    assert decided(0, 0, out={3})
    assert not MeetingRule(1, 4, 2.0).is_decided(Meeting((3, 5), ((4, 0),)), [3, 5], 1, ())
    assert MeetingRule(1, 4, 0.0).is_decided(Meeting((3, 5), ((4, 0),)), [3, 5], 1, ())


def test_equal_points_are_ordered_by_seed_and_disqualified_bots_come_last():
    meeting = Meeting((1, 2, 4), ((3, 6, 3),))
    assert meeting.order([4, 2, 1]) == [2, 4, 1]
    assert meeting.order([4, 2, 1], {2}) == [4, 1, 2]
    assert [*meeting.shares().values()] == [3 / 8, 6 / 8, 3 / 8]


# Knockout


class Outcome:
    """What a table has come to, by lot."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def of(self, table):
        return Meeting(table, (tuple(self.rng.permutation(len(table)).tolist()),))


@settings(max_examples=150, deadline=None)
@given(
    st.integers(2, 5), st.integers(0, 60), st.integers(1, 2), st.integers(1, 4), st.integers(0, 10**6), st.booleans()
)
def test_a_knockout_ends_with_one_winner_within_its_bound_of_meetings(players, more, lives, best, seed, leaving):
    rules = BracketRules(players, lives, min(best, players - 1))
    bots, outcome = players + more, Outcome(seed)
    bracket = Bracket(rules, MeetingRule(1, 1, 0.0), [*range(bots)], [*range(bots)])
    out: set[int] = set()
    while bracket.winner is None:
        tables = [each.meeting.table for each in bracket.present]
        assert all(len(table) == players for table in tables)
        out |= {each for table in tables for each in table if leaving and outcome.rng.random() < 0.05}
        bracket.take({table: outcome.of(table) for table in tables}, out)
    assert len(bracket.meetings) <= most_meetings(bots, rules)
    assert bracket.winner not in out or len(out) == bots
    assert sorted(bracket.places()) == [*range(bots)]
    assert bracket.places()[0] == bracket.winner
    if not leaving:
        last = bracket.meetings[-1]
        assert last.order[0] == bracket.winner
        assert all(bracket.defeats[each] <= lives or last.name == "second final" for each in range(bots))


@pytest.mark.parametrize(("bots", "players", "meetings"), [(64, 2, 63), (8, 2, 7), (27, 3, 13), (32, 4, 15), (5, 5, 1)])
def test_a_single_knockout_has_as_many_meetings_as_it_takes(bots, players, meetings):
    played = by_lot(Knockout(max_blocks=2), bots, players, 2)
    assert sum(len(given_out) for given_out in played.stage_tables) == meetings
    assert Knockout(max_blocks=2).budget(played.board, played.tables) == 2 * meetings


def test_in_a_double_knockout_only_a_second_defeat_ends_it_and_the_final_may_be_played_again():
    rules = BracketRules(2, 2, 1)
    bracket = Bracket(rules, MeetingRule(1, 1, 0.0), [0, 1, 2, 3], [0, 1, 2, 3])

    def play(*winners):
        tables = [each.meeting.table for each in bracket.present]
        won = {table: next(each for each in table if each in winners) for table in tables}
        bracket.take({t: Meeting(t, (tuple(int(each == won[t]) for each in t),)) for t in tables}, ())
        return [{*table} for table in tables]

    assert play(0, 1) == [{0, 3}, {1, 2}]
    assert play(0, 2) == [{0, 1}, {2, 3}]
    assert play(1) == [{1, 2}]
    assert play(1) == [{0, 1}]
    assert bracket.winner is None
    assert [each.name for each in bracket.present] == ["second final"]
    assert play(0) == [{0, 1}]
    assert (bracket.winner, bracket.places()) == (0, [0, 1, 2, 3])


@pytest.mark.parametrize("lives", [1, 2])
def test_a_final_whose_bots_are_all_disqualified_is_won_by_who_got_furthest_of_the_others(lives):
    bracket = Bracket(BracketRules(2, lives, 1), MeetingRule(1, 1, 0.0), [0, 1, 2, 3], [0, 1, 2, 3])
    while [each.name for each in bracket.present] != ["final"]:
        tables = [each.meeting.table for each in bracket.present]
        bracket.take({table: Meeting(table, ((1, 0),)) for table in tables}, ())
    (final,) = (each.meeting.table for each in bracket.present)
    bracket.take({final: Meeting(final, ((1, 0),))}, {*final})
    assert bracket.winner == min({0, 1, 2, 3} - {*final}, key=bracket.places().index)
    assert bracket.winner not in final


def test_a_knockout_refuses_to_let_a_whole_table_go_on():
    games = [{"game": "epicycle", "players": [2, 3]}]
    data = {"name": "x", "games": games, "bots": [{"bot": "random"}, {"bot": "greedy"}, {"bot": "uct"}]}
    config = config_from(data | {"schedule": "knockout", "advance": 2})
    shape = by_lot(Knockout(), 2, 2, 1).board
    with pytest.raises(ValueError, match="advance = 2: must be less than the players of a table, 2 on a board"):
        config.schedule.resolved((), [shape])
    with pytest.raises(ConfigError, match="elimination: goes with schedule = "):
        config_from(data | {"schedule": "swiss", "elimination": "double"})


# Pyramid


def test_a_pyramid_ends_when_the_bot_on_top_has_been_ahead_of_all_others():
    strength = np.array([0.0, 100, 200, 300, 400])
    listed = Pyramid(seeding="listed")
    played = PlayedBoard(listed, 5, 2, 1, of_strength(strength), np.random.default_rng(1)).play()
    hill = listed.hill(played.board, played)
    assert [each.winner for each in hill.done] == [1, 2, 3, 4, 4, 4, 4]
    assert hill.defeated == {0, 1, 2, 3}
    backwards = PlayedBoard(listed, 5, 2, 1, of_strength(-strength), np.random.default_rng(1)).play()
    assert [each.winner for each in listed.hill(backwards.board, backwards).done] == [0, 0, 0, 0]


def test_the_bot_on_top_keeps_it_when_points_are_equal():
    board = by_lot(Pyramid(), 3, 2, 1).board
    hill = Hill(board, MeetingRule(1, 2, 1.0), [2, 0, 1])
    for _ in range(2):
        assert hill.present.table == (0, 2)
        hill.take({(0, 2): Meeting((0, 2), ((1, 1),))}, ())
    assert (hill.holder, hill.present.table) == (2, (1, 2))
    hill.take({(1, 2): Meeting((1, 2), ((2, 0),))}, {2})
    assert (hill.holder, hill.present.table, [*hill.waiting]) == (1, (0, 1), [0])
