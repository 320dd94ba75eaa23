"""Tables: persons in seats, moves taken back, bots that fail, clocks, and matches that are kept."""

import contextlib
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.core.errors import ConfigError, StoreError
from arena.match.dice import key_pair
from arena.match.json_lines import read_records
from arena.match.replay import check_draws, replay
from arena.tables import keeping
from arena.tables.setup import MOST_POSITION, PersonClock, Setup
from arena.tables.table import Refused, Table
from arena.tables.view import FAILED, OVER, WAITING
from arena.tournament.finding import find_match
from arena.verify.verification import verify
from engine import CHANCE, load_game

ZOO = Path(__file__).parents[2] / "zoo"
PATIENCE = 60.0
COUNTS = '''
from bots import Bot

class Counts(Bot):
    """Chooses by how often it was asked, which only a bot that keeps its state can."""

    def prepare(self):
        self.asked = 0

    def choose(self, state):
        self.asked += 1
        actions = state.legal_actions()
        self.note = f"asked {self.asked} times"
        return actions[(self.asked * 7 + len(state.history())) % len(actions)]
'''


def until(table, *phases):
    """Wait until a table is in one of some phases, and return how it looks."""
    version = -1
    while True:
        view = table.view()
        if view.phase in phases:
            return view
        assert view.phase != FAILED or FAILED in phases, view.line
        version = view.version
        assert table.wait(version, PATIENCE)


def play(table, choose, most=10_000):
    """Have a person choose until the match is over, or for some moves."""
    for _ in range(most):
        view = until(table, WAITING, OVER)
        if view.phase == OVER:
            return view
        table.choose(choose(view))
    return until(table, WAITING, OVER)


def first(view):
    return view.state.legal_actions()[0]


@contextlib.contextmanager
def table(*arguments, home=None, **options):
    found = Table(Setup(*arguments, **options), home)
    try:
        yield found
    finally:
        found.close()


def words(view):
    return [ply.text for ply in view.plies]


def test_a_match_of_a_person_is_played_by_the_referee_with_the_dice_of_its_seed():
    with table("magic_mids", ("person", "greedy", "random"), seed=7, opening="none") as one:
        rng = random.Random(1)
        view = play(one, lambda view: rng.choice(view.state.legal_actions()))
        match = keeping.stored(*one.finished())
    assert view.ranks == match.ranks
    assert match.timed  # nobody can play it again
    assert words(view) == match.moves
    assert check_draws(replay(match, match.keys)) == sum(ply.seat == CHANCE for ply in view.plies) > 0
    assert match.keys == key_pair(7, None)


def test_the_same_seed_and_the_same_moves_give_the_same_match():
    matches = []
    for _ in range(2):
        with table("pyramid_punch", ("random", "person"), seed=11) as one:
            rng = random.Random(5)
            matches.append(words(play(one, lambda view, rng=rng: rng.choice(view.state.legal_actions()))))
    assert matches[0] == matches[1]


def test_a_move_taken_back_and_made_again_leads_to_the_same_match_with_bots_that_keep_a_state(tmp_path):
    (tmp_path / "counts.py").write_text(COUNTS)
    bot = str(tmp_path / "counts.py")
    with table("epicycle", ("person", bot), seed=3) as one:
        before = play(one, first)
        one.take_back()
        back = until(one, WAITING)
        assert words(back) == words(before)[: len(back.plies)]
        assert len(back.plies) < len(before.plies)
        again = play(one, first)
    assert words(again) == words(before)
    assert again.notes == before.notes
    assert again.ranks == before.ranks


def test_another_move_in_place_of_the_one_taken_back_leads_elsewhere():
    with table("epicycle", ("person", "greedy"), seed=3, opening="none") as one:
        view = until(one, WAITING)
        one.choose(view.state.legal_actions()[0])
        until(one, WAITING)
        one.take_back()
        view = until(one, WAITING)
        one.choose(view.state.legal_actions()[-1])
        assert words(until(one, WAITING))[len(view.plies)] == view.state.action_to_string(
            view.state.legal_actions()[-1]
        )


def test_nothing_is_taken_back_before_a_person_has_moved():
    with table("epicycle", ("greedy", "person")) as one:
        assert not until(one, WAITING).can_take_back
        with pytest.raises(Refused, match="nothing to take back"):
            one.take_back()


def test_an_illegal_action_is_refused_in_words_and_changes_nothing():
    with table("epicycle", ("person", "random"), opening="none") as one:
        view = until(one, WAITING)
        with pytest.raises(Refused, match="is not legal for seat 0; legal: "):
            one.choose(next(action for action in range(99) if action not in view.state.legal_actions()))
        with pytest.raises(Refused, match="is not an action of epicycle"):
            one.choose_text("<b>")
        assert words(one.view()) == words(view)


def test_resigning_ends_a_match_of_two_and_can_be_taken_back():
    with table("epicycle", ("person", "greedy"), seed=3) as one:
        play(one, first, 1)
        plies = len(one.view().plies)
        one.resign()
        view = until(one, OVER)
        assert view.ranks == [1, 0]
        assert view.ended == "forfeit"
        assert view.seats[0].forfeit[0] == "resigned"
        assert check_draws(replay(keeping.stored(*one.finished()), key_pair(3, None))) >= 0
        one.take_back()
        view = until(one, WAITING)
        assert len(view.plies) == plies
        assert view.seats[0].forfeit is None


def test_a_bot_that_ends_its_process_forfeits_and_the_table_says_so():
    with table("epicycle", ("person", str(ZOO / "segfaults.py")), seed=1, opening="none") as one:
        view = play(one, first)
        assert view.ranks == [0, 1]
        cause, _, detail = view.seats[1].forfeit
        assert cause == "crash"
        assert "worker process ended" in detail
        one.take_back()  # before its crash: it gets another chance
        assert until(one, WAITING).seats[1].forfeit is None


def test_a_forfeit_before_the_move_taken_back_stands():
    with table("epicycle", ("person", str(ZOO / "raises.py"), "random"), seed=1, opening="none") as one:
        view = play(one, lambda view: view.state.legal_actions()[-1], 2)
        assert view.seats[1].forfeit[0] == "crash"
        assert sum(ply.seat == 0 and not ply.forced for ply in view.plies) > 1  # the last is after the forfeit
        one.take_back()
        back = until(one, WAITING)
        assert back.seats[1].forfeit == view.seats[1].forfeit
        assert words(back) == words(view)[: len(back.plies)]


def test_a_person_whose_clock_runs_out_forfeits():
    with table("epicycle", ("person", "greedy"), clock=PersonClock(0.05)) as one:
        view = until(one, OVER)
        assert view.seats[0].forfeit[0] == "timeout"
        assert view.seats[0].left == 0.0


def test_a_table_lets_its_worker_go_and_goes_on_where_it_was():
    with table("epicycle", ("person", "greedy"), seed=3) as one:
        play(one, first, 2)
        before = words(one.view())
        assert one.let_go()
        view = until(one, WAITING)
        assert words(view) == before
        after = play(one, first)
    with table("epicycle", ("person", "greedy"), seed=3) as other:
        assert words(play(other, first)) == words(after)


def test_a_match_can_start_from_a_position_and_from_plies_after_it():
    game = load_game("epicycle", 2)
    state = game.new_initial_state()
    for _ in range(4):
        state.apply_action(state.legal_actions()[0])
    with table("epicycle", ("person", "greedy"), position=state.position) as one:
        assert until(one, WAITING).state.position == state.position
    start = tuple(state.history())
    with table("epicycle", ("person", "greedy"), actions=start) as one:
        view = until(one, WAITING)
        assert view.state.history()[:4] == list(start)
        assert not view.can_take_back or len(view.plies) > 4
        play(one, first)
        with pytest.raises(Refused, match="did not start"):
            keeping.keep(one)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"game": "epicycel"}, "epicycle"),
        ({"seats": ("person",) * 9}, "players"),
        ({"seats": ("person:<b>", "random")}, "name of a person"),
        ({"seed": -1}, "seed"),
        ({"clock": PersonClock(-1.0)}, "clock"),
        ({"position": "x" * (MOST_POSITION + 1)}, "at most 3,500 characters"),
        ({"position": "nonsense"}, "position"),
        ({"position": "nonsense", "keeps": True}, "position"),
        ({"opening": "some"}, "opening"),
    ],
)
def test_a_table_that_cannot_be_is_refused_in_a_sentence(options, words):
    with pytest.raises(Exception, match=words) as refused:
        Setup(**{"game": "epicycle", "seats": ("person", "random"), **options}).load()
    assert type(refused.value).__module__.startswith(("arena", "engine"))


def test_a_bot_that_is_not_there_fails_the_table_in_words():
    with table("epicycle", ("person", "gredy")) as one:
        assert "greedy" in until(one, FAILED).line


def test_a_kept_match_is_found_replayed_verified_and_stays_as_it_is(tmp_path):
    with table("epicycle", ("person:ada", "greedy"), home=tmp_path, seed=3) as one:
        play(one, first)
        name = keeping.keep(one)
        assert keeping.keep(one) == name
        with pytest.raises(Refused, match="in a log"):
            one.take_back()
        match = keeping.stored(*one.finished())
        (tmp_path / "match.jsonl").write_text(keeping.line_of(*one.finished()))
    found, plan = find_match(name, keeping.id_of(one.plan), tmp_path)
    assert (found.moves, found.ranks, found.bots) == (match.moves, match.ranks, ["person:name=ada", "greedy"])
    assert plan.name == name
    assert not verify(tmp_path / name / "matches.db").findings
    ((_, record),) = read_records(tmp_path / "match.jsonl")
    assert record.match.moves == match.moves
    with table("epicycle", ("person:ada", "greedy"), home=tmp_path, seed=3) as other:
        play(other, first)
        with pytest.raises(Refused, match="already"):
            keeping.keep(other)
    with pytest.raises(StoreError):
        find_match(None, "0" * 32, tmp_path)


def test_a_match_whose_keeping_fails_leaves_no_log_and_can_be_kept_then(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise KeyboardInterrupt

    with table("epicycle", ("person", "random"), home=tmp_path, seed=3) as one:
        play(one, first)
        with monkeypatch.context() as patched:
            patched.setattr("arena.store.Store.finish_run", fail)
            with pytest.raises(KeyboardInterrupt):
                keeping.keep(one)
        assert not one.kept and not [*tmp_path.rglob("*.db")]
        assert find_match(keeping.keep(one), keeping.id_of(one.plan), tmp_path)


def test_nothing_is_taken_back_while_the_match_is_being_kept(tmp_path):
    with table("epicycle", ("person", "random"), home=tmp_path, seed=3) as one:
        play(one, first)
        one.begin_keeping()
        with pytest.raises(Refused, match="in a log"):
            one.take_back()
        with pytest.raises(Refused, match="being kept already"):
            keeping.keep(one)
        one.end_keeping("")
        one.take_back()
        until(one, WAITING)


def test_of_two_who_choose_at_the_same_position_one_is_refused():
    with table("epicycle", ("person", "person"), seed=3) as one, ThreadPoolExecutor(8) as together:
        view = until(one, WAITING)
        asked = [together.submit(one.choose, first(view), view.version) for _ in range(8)]
        asked += [together.submit(one.resign, view.version) for _ in range(8)]
        assert sum(each.exception() is None for each in asked) == 1
        assert {type(each.exception()) for each in asked} == {type(None), Refused}


def test_a_kept_match_cannot_start_elsewhere():
    with pytest.raises(ConfigError, match="cannot be kept"):
        Setup("epicycle", ("person", "random"), actions=(0,), keeps=True).load()
