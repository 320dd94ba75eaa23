"""Sessions: persons in seats, moves taken back, bots that fail, clocks, and matches that are kept."""

import contextlib
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.core.errors import ConfigError, StoreError
from arena.match.dice import key_pair
from arena.match.json_lines import read_matches
from arena.match.replay import check_draws, replay
from arena.sessions import saving
from arena.sessions.session import PlaySession, RefusedError
from arena.sessions.setup import MAX_POSITION_CHARS, PersonClock, SessionSetup
from arena.sessions.view import Phase
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


def until(session, *phases):
    """Wait until a session is in one of some phases, and return how it looks."""
    version = -1
    while True:
        view = session.view()
        if view.phase in phases:
            return view
        assert view.phase != Phase.FAILED or Phase.FAILED in phases, view.line
        version = view.version
        assert session.wait(version, PATIENCE)


def play(session, choose, most=10_000):
    """Have a person choose until the match is over, or for some moves."""
    for _ in range(most):
        view = until(session, Phase.WAITING, Phase.OVER)
        if view.phase == Phase.OVER:
            return view
        session.choose(choose(view))
    return until(session, Phase.WAITING, Phase.OVER)


def first(view):
    return view.state.legal_actions()[0]


@contextlib.contextmanager
def session(*arguments, home=None, **options):
    found = PlaySession(SessionSetup(*arguments, **options), home)
    try:
        yield found
    finally:
        found.close()


def words(view):
    return [ply.text for ply in view.plies]


def test_a_match_of_a_person_is_played_by_the_referee_with_the_dice_of_its_seed():
    with session("magic_mids", ("person", "greedy", "random"), seed=7, opening="none") as one:
        rng = random.Random(1)
        view = play(one, lambda view: rng.choice(view.state.legal_actions()))
        match = saving.stored_match(*one.finished())
    assert view.ranks == match.ranks
    assert match.timed  # nobody can play it again
    assert words(view) == match.moves
    assert check_draws(replay(match, match.keys)) == sum(ply.seat == CHANCE for ply in view.plies) > 0
    assert match.keys == key_pair(7, None)


def test_the_same_seed_and_the_same_moves_give_the_same_match():
    matches = []
    for _ in range(2):
        with session("pyramid_punch", ("random", "person"), seed=11) as one:
            rng = random.Random(5)
            matches.append(words(play(one, lambda view, rng=rng: rng.choice(view.state.legal_actions()))))
    assert matches[0] == matches[1]


def test_a_move_taken_back_and_made_again_leads_to_the_same_match_with_bots_that_keep_a_state(tmp_path):
    (tmp_path / "counts.py").write_text(COUNTS)
    bot = str(tmp_path / "counts.py")
    with session("epicycle", ("person", bot), seed=3) as one:
        before = play(one, first)
        one.take_back()
        back = until(one, Phase.WAITING)
        assert words(back) == words(before)[: len(back.plies)]
        assert len(back.plies) < len(before.plies)
        again = play(one, first)
    assert words(again) == words(before)
    assert again.notes == before.notes
    assert again.ranks == before.ranks


EXPECTS = '''
from bots import Bot

class Expects(Bot):
    """Loses hope at its second move."""

    def prepare(self):
        self.asked = 0

    def choose(self, state):
        self.asked += 1
        hope = 0.5 if self.asked < 2 else -0.5
        self.evaluation = [hope if seat == self.seat else -hope for seat in range(2)]
        return state.legal_actions()[0]
'''


def test_a_match_turned_at_the_choice_of_a_person_between_the_evaluations_that_differ_most(tmp_path):
    (tmp_path / "expects.py").write_text(EXPECTS)
    with session("epicycle", ("person", str(tmp_path / "expects.py")), seed=3, opening="none") as one:
        view = play(one, first)
        turned = view.turning_ply
        bots = [number for number, ply in enumerate(view.plies) if ply.seat == 1 and not ply.forced]
        assert view.has_turned and bots[0] < turned < bots[1] and view.plies[turned].seat == 0
    with session("epicycle", ("person", "random"), seed=3, opening="none") as one:
        view = play(one, first)
        last = max(number for number, ply in enumerate(view.plies) if ply.seat == 0 and not ply.forced)
        assert not view.has_turned and view.turning_ply == last


def test_another_move_in_place_of_the_one_taken_back_leads_elsewhere():
    with session("epicycle", ("person", "greedy"), seed=3, opening="none") as one:
        view = until(one, Phase.WAITING)
        one.choose(view.state.legal_actions()[0])
        until(one, Phase.WAITING)
        one.take_back()
        view = until(one, Phase.WAITING)
        one.choose(view.state.legal_actions()[-1])
        assert words(until(one, Phase.WAITING))[len(view.plies)] == view.state.action_to_string(
            view.state.legal_actions()[-1]
        )


def test_nothing_is_taken_back_before_a_person_has_moved():
    with session("epicycle", ("greedy", "person")) as one:
        assert not until(one, Phase.WAITING).can_take_back
        with pytest.raises(RefusedError, match="nothing to take back"):
            one.take_back()


def test_an_illegal_action_is_refused_in_words_and_changes_nothing():
    with session("epicycle", ("person", "random"), opening="none") as one:
        view = until(one, Phase.WAITING)
        with pytest.raises(RefusedError, match="is not legal for seat 0; legal: "):
            one.choose(next(action for action in range(99) if action not in view.state.legal_actions()))
        with pytest.raises(RefusedError, match="is not an action of epicycle"):
            one.choose_text("<b>")
        assert words(one.view()) == words(view)


def test_resigning_ends_a_match_of_two_and_can_be_taken_back():
    with session("epicycle", ("person", "greedy"), seed=3) as one:
        play(one, first, 1)
        plies = len(one.view().plies)
        one.resign()
        view = until(one, Phase.OVER)
        assert view.ranks == [1, 0]
        assert view.ended == "forfeit"
        assert view.seats[0].forfeit[0] == "resigned"
        assert check_draws(replay(saving.stored_match(*one.finished()), key_pair(3, None))) >= 0
        one.take_back()
        view = until(one, Phase.WAITING)
        assert len(view.plies) == plies
        assert view.seats[0].forfeit is None


def test_a_bot_that_ends_its_process_forfeits_and_the_session_says_so():
    with session("epicycle", ("person", str(ZOO / "segfaults.py")), seed=1, opening="none") as one:
        view = play(one, first)
        assert view.ranks == [0, 1]
        cause, _, detail = view.seats[1].forfeit
        assert cause == "crash"
        assert "worker process ended" in detail
        one.take_back()  # before its crash: it gets another chance
        assert until(one, Phase.WAITING).seats[1].forfeit is None


def test_a_forfeit_before_the_move_taken_back_stands():
    with session("epicycle", ("person", str(ZOO / "raises.py"), "random"), seed=1, opening="none") as one:
        view = play(one, lambda view: view.state.legal_actions()[-1], 2)
        assert view.seats[1].forfeit[0] == "crash"
        assert sum(ply.seat == 0 and not ply.forced for ply in view.plies) > 1  # the last is after the forfeit
        one.take_back()
        back = until(one, Phase.WAITING)
        assert back.seats[1].forfeit == view.seats[1].forfeit
        assert words(back) == words(view)[: len(back.plies)]


def test_a_person_whose_clock_runs_out_forfeits():
    with session("epicycle", ("person", "greedy"), clock=PersonClock(0.05)) as one:
        view = until(one, Phase.OVER)
        assert view.seats[0].forfeit[0] == "timeout"
        assert view.seats[0].left == 0.0


def test_a_session_lets_its_worker_go_and_goes_on_where_it_was():
    with session("epicycle", ("person", "greedy"), seed=3) as one:
        play(one, first, 2)
        before = words(one.view())
        assert one.park()
        view = until(one, Phase.WAITING)
        assert words(view) == before
        after = play(one, first)
    with session("epicycle", ("person", "greedy"), seed=3) as other:
        assert words(play(other, first)) == words(after)


def test_a_match_can_start_from_a_position_and_from_plies_after_it():
    game = load_game("epicycle", 2)
    state = game.new_initial_state()
    for _ in range(4):
        state.apply_action(state.legal_actions()[0])
    with session("epicycle", ("person", "greedy"), position=state.position) as one:
        assert until(one, Phase.WAITING).state.position == state.position
    start = tuple(state.history())
    with session("epicycle", ("person", "greedy"), actions=start) as one:
        view = until(one, Phase.WAITING)
        assert view.state.history()[:4] == list(start)
        assert not view.can_take_back or len(view.plies) > 4
        play(one, first)
        with pytest.raises(RefusedError, match="did not start"):
            saving.save(one)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"game": "epicycel"}, "epicycle"),
        ({"seats": ("person",) * 9}, "players"),
        ({"seats": ("person:<b>", "random")}, "name of a person"),
        ({"seed": -1}, "seed"),
        ({"clock": PersonClock(-1.0)}, "clock"),
        ({"position": "x" * (MAX_POSITION_CHARS + 1)}, "at most 3,500 characters"),
        ({"position": "nonsense"}, "position"),
        ({"position": "nonsense", "keeps": True}, "position"),
        ({"opening": "some"}, "opening"),
    ],
)
def test_a_session_that_cannot_be_is_refused_in_a_sentence(options, words):
    with pytest.raises(Exception, match=words) as refused:
        SessionSetup(**{"game": "epicycle", "seats": ("person", "random"), **options}).load()
    assert type(refused.value).__module__.startswith(("arena", "engine"))


def test_a_bot_that_is_not_there_fails_the_session_in_words():
    with session("epicycle", ("person", "gredy")) as one:
        assert "greedy" in until(one, Phase.FAILED).line


def test_a_kept_match_is_found_replayed_verified_and_stays_as_it_is(tmp_path):
    with session("epicycle", ("person:ada", "greedy"), home=tmp_path, seed=3) as one:
        play(one, first)
        name = saving.save(one)
        assert saving.save(one) == name
        with pytest.raises(RefusedError, match="in a log"):
            one.take_back()
        match = saving.stored_match(*one.finished())
        (tmp_path / "match.jsonl").write_text(saving.json_line_of(*one.finished()))
    found, plan = find_match(name, saving.match_id_of(one.plan), tmp_path)
    assert (found.moves, found.ranks, found.bots) == (match.moves, match.ranks, ["person:name=ada", "greedy"])
    assert plan.name == name
    assert not verify(tmp_path / name / "matches.db").findings
    ((_, record),) = read_matches(tmp_path / "match.jsonl")
    assert record.moves == match.moves
    with session("epicycle", ("person:ada", "greedy"), home=tmp_path, seed=3) as other:
        play(other, first)
        with pytest.raises(RefusedError, match="already"):
            saving.save(other)
    with pytest.raises(StoreError):
        find_match(None, "0" * 32, tmp_path)


def test_a_match_whose_keeping_fails_leaves_no_log_and_can_be_kept_then(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise KeyboardInterrupt

    with session("epicycle", ("person", "random"), home=tmp_path, seed=3) as one:
        play(one, first)
        with monkeypatch.context() as patched:
            patched.setattr("arena.store.Store.finish_run", fail)
            with pytest.raises(KeyboardInterrupt):
                saving.save(one)
        assert not one.saved_as and not [*tmp_path.rglob("*.db")]
        assert find_match(saving.save(one), saving.match_id_of(one.plan), tmp_path)


def test_nothing_is_taken_back_while_the_match_is_being_kept(tmp_path):
    with session("epicycle", ("person", "random"), home=tmp_path, seed=3) as one:
        play(one, first)
        one.begin_saving()
        with pytest.raises(RefusedError, match="in a log"):
            one.take_back()
        with pytest.raises(RefusedError, match="being kept already"):
            saving.save(one)
        one.end_saving("")
        one.take_back()
        until(one, Phase.WAITING)


def test_of_two_who_choose_at_the_same_position_one_is_refused():
    with session("epicycle", ("person", "person"), seed=3) as one, ThreadPoolExecutor(8) as together:
        view = until(one, Phase.WAITING)
        asked = [together.submit(one.choose, first(view), view.version) for _ in range(8)]
        asked += [together.submit(one.resign, view.version) for _ in range(8)]
        assert sum(each.exception() is None for each in asked) == 1
        assert {type(each.exception()) for each in asked} == {type(None), RefusedError}


def test_a_kept_match_cannot_start_elsewhere():
    with pytest.raises(ConfigError, match="cannot be kept"):
        SessionSetup("epicycle", ("person", "random"), actions=(0,), keeps=True).load()
