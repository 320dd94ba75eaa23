"""Lessons: their positions are positions of the game, each task can be solved, and what it teaches is what happens."""

import random
import re
from importlib.resources import files

import pytest
from starlette.testclient import TestClient

from arena.web.app import create_app
from arena.web.lessons import lessons_of
from arena.web.play_data import asked
from arena.web.rules import rules_of
from engine import game_names, load_game
from engine.midgard.text import BLIZZARD, board_letters, marked_blizzard
from tests.arena.web.conftest import ADDRESS

OURS = ("epicycle", "magic_mids", "midgard", "pyramid_punch")
LESSONS = [(game, number) for game in OURS for number in range(len(lessons_of(game).lesson))]


def state_of(game, lesson):
    return asked(load_game(lesson.game or game, lesson.players), lesson.position, lesson.moves)[1]


@pytest.mark.parametrize(("game", "number"), LESSONS)
def test_every_task_can_be_solved_by_clicks_of_the_seat_that_is_to_move(game, number):
    lesson = lessons_of(game).lesson[number]
    state = state_of(game, lesson)
    legal = {state.action_to_string(action): action for action in state.legal_actions()}
    assert state.current_player() == (1 if lesson.title == "Place a tile" else 0)
    assert lesson.solutions and {*lesson.solutions} <= legal.keys()
    assert all(state.targets()[legal[each]] for each in lesson.solutions)


@pytest.mark.parametrize(("game", "number"), LESSONS)
def test_no_solution_loses(game, number):
    lesson = lessons_of(game).lesson[number]
    state = state_of(game, lesson)
    for name in lesson.solutions:
        end = state.child(state.string_to_action(name))
        assert not end.is_terminal() or end.ranks()[state.current_player()] == 0


def test_one_play_alone_does_what_the_lesson_on_pips_asks_for():
    lesson = lessons_of("epicycle").lesson[1]
    state = state_of("epicycle", lesson)
    told = {state.action_to_string(action): state.tell(action).text for action in state.legal_actions()}
    assert [name for name, text in told.items() if "takes the small one" in text and name[0] == "M"] == ["M+"]
    assert "slot 3" in told["M+"] and "out" not in told["M+"]


@pytest.mark.parametrize("game", OURS)
def test_every_game_has_a_few_lessons_and_ends_of_matches_are_wins(game):
    lessons = lessons_of(game)
    assert 3 <= len(lessons.lesson) <= 6
    last = lessons.lesson[-1]
    for name in last.solutions if last.title == "End the match" else ():
        state = state_of(game, last)
        end = state.child(state.string_to_action(name))
        assert end.is_terminal() and end.ranks()[state.current_player()] == 0


@pytest.mark.parametrize(("game", "title"), [("magic_mids", "Capture"), ("magic_mids", "Around the edge")])
def test_a_lesson_on_captures_captures(game, title):
    lesson = next(each for each in lessons_of(game).lesson if each.title == title)
    state = state_of(game, lesson)
    for name in lesson.solutions:
        assert "capture" in state.tell(state.string_to_action(name)).text


def test_a_lesson_on_regions_fills_one():
    lesson = lessons_of("midgard").lesson[1]
    state = state_of("midgard", lesson)
    end = state.child(state.string_to_action(lesson.solutions[0]))
    assert end.scores()[0] > state.scores()[0] + 1
    assert end.scores()[1] == state.scores()[1], "what the lesson calls yours is shared"


@pytest.mark.parametrize("number", [0, 1])
def test_what_a_lesson_calls_blizzard_is_drawn_as_blizzard(number):
    lesson = lessons_of("midgard").lesson[number]
    state = state_of("midgard", lesson)
    end = state.child(state.string_to_action(lesson.solutions[0]))
    assert marked_blizzard(end) > set() and load_game(lesson.game, 2).params["variant"] == "mere_mortal"
    assert {cell for cell, letter in enumerate(board_letters(end.record)) if letter == BLIZZARD} == marked_blizzard(end)


def test_a_lesson_calls_you_the_seat_that_is_to_move():
    lesson = lessons_of("pyramid_punch").lesson[1]
    assert state_of("pyramid_punch", lesson).current_player() == 1 and "You are Orange here" in lesson.task


def test_a_lesson_on_losing_has_a_play_that_loses():
    lesson = lessons_of("epicycle").lesson[2]
    state = state_of("epicycle", lesson)
    ends = [state.child(action) for action in state.legal_actions()]
    assert sum(end.is_terminal() and end.ranks()[0] == 1 for end in ends) == len(ends) - len(lesson.solutions) > 0


def test_a_game_without_lessons_has_none():
    assert all(lessons_of(name) is None for name in game_names() if name not in OURS)
    assert lessons_of("../play") is None


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with TestClient(create_app(tmp_path_factory.mktemp("home")), base_url=ADDRESS) as found:
        yield found


def test_pages_of_lessons_have_tasks_and_rules_and_others_are_not_there(server):
    for game in OURS:
        text = server.get(f"/learn/{game}").text
        assert all(lesson.title in text for lesson in lessons_of(game).lesson)
        assert "The rules in a minute" in text and f'href="/learn/{game}"' in server.get(f"/games/{game}").text
    for name in ("connect_four", "nothing", "..%2Fplay", "<b>"):
        assert server.get(f"/learn/{name}").status_code == 404


@pytest.mark.parametrize("spec", [*OURS, "midgard(variant=odin)"])
def test_every_rule_that_a_sentence_names_has_a_place_in_the_rules_beside_the_board(spec):
    chance, sections = random.Random(3), set()
    state = load_game(spec, 2).new_initial_state()
    while not state.is_terminal():
        sections.add(state.prompt().anchor)
        action = chance.choice([outcome for outcome, _ in state.chance_outcomes()] or state.legal_actions())
        sections.add(state.tell(action).anchor)
        state.apply_action(action)
    sections.add(state.verdict().anchor)
    assert len(sections - {""}) > 1
    assert all(f'id="rules-{anchor}"' in rules_of(state.game.name) for anchor in sections - {""})


def test_no_page_loads_itself_again_by_a_meta_element():
    templates = [*files("arena.web").joinpath("templates").iterdir()]
    templates += files("arena.results.pages").joinpath("templates").iterdir()
    assert len(templates) > 20
    assert not [each.name for each in templates if re.search(r"http-equiv=.?refresh", each.read_text(), re.IGNORECASE)]


def test_the_address_above_lessons_leads_to_the_games(client):
    answer = client.get("/learn", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/games")
