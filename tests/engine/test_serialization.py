"""What is no text of a state, or of another one, is refused in one line."""

import json

import pytest

import engine
from engine import EngineError, IllegalActionError, NotationError, PositionError
from engine.serialization import FIELDS, MAX_RECORD_CHARS

GAME = engine.load_game("epicycle(setup=random)", 3)


def record(**changed):
    """Return a state's text, with fields changed."""
    state = GAME.new_initial_state()
    state.apply_action(7)
    state.apply_action(state.legal_actions()[0])
    return json.dumps(json.loads(state.serialize()) | changed)


def test_a_text_is_one_json_object_with_the_game_its_start_and_the_history():
    fields = json.loads(record())
    assert list(fields) == list(FIELDS)
    assert fields == {
        "game": "epicycle(setup=random)",
        "rules_version": 1,
        "players": 3,
        "position": None,
        "history": [7, fields["history"][1]],
    }


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", NotationError),
        ("null", NotationError),
        ("[" * 100_000, NotationError),
        ("9" * 5000, NotationError),
        ("{}", NotationError),
        ('"' + "x" * MAX_RECORD_CHARS + '"', NotationError),
        (b"{}", NotationError),
        (None, NotationError),
        (record(more=1), NotationError),
        (record(game=1), NotationError),
        (record(game="chess"), EngineError),
        (record(game="epicycle"), EngineError),
        (record(game="epicycle(setup=random)x"), NotationError),
        (record(players="3"), NotationError),
        (record(players=True), NotationError),
        (record(players=9), EngineError),
        (record(players=2), EngineError),
        (record(rules_version=2), NotationError),
        (record(position=""), PositionError),
        (record(position=7), NotationError),
        (record(history={}), NotationError),
        (record(history=["S+"]), IllegalActionError),
        (record(history=[7, True]), IllegalActionError),
        (record(history=[7, 0.0]), IllegalActionError),
        (record(history=[7, [0]]), IllegalActionError),
        (record(history=[1680]), IllegalActionError),
        (record(history=[-1]), IllegalActionError),
        (record(history=[7] * 1000), IllegalActionError),
    ],
    ids=str,
)
def test_what_is_no_state_of_the_game_is_refused_in_one_line(text, error):
    with pytest.raises(error) as caught:
        GAME.deserialize_state(text)
    assert len(str(caught.value).splitlines()) == 1


def test_an_action_that_is_not_legal_is_pointed_at():
    with pytest.raises(IllegalActionError, match=r"^history, entry 1: .* is not legal"):
        GAME.deserialize_state(record(history=[7, 99]))


def test_a_state_of_another_number_of_players_is_named():
    other = engine.load_game("epicycle(setup=random)", 2).new_initial_state().serialize()
    with pytest.raises(NotationError, match=r"one of <epicycle\(setup=random\) for 2>, not of <.* for 3>"):
        GAME.deserialize_state(other)


@pytest.mark.parametrize("number", [2**63, 10**30, -(10**30)])
def test_a_number_that_no_word_holds_is_refused_also_before_any_rule_is_compiled(monkeypatch, number):
    monkeypatch.setattr("engine.state._bound", {})
    with pytest.raises(IllegalActionError, match=r"^history, entry 0: "):
        GAME.deserialize_state(record(history=[number]))


@pytest.mark.parametrize("game", ["x" * 10_000, "epicycle" + "(" * 10_000])
def test_a_name_of_any_length_is_refused_in_a_short_line(game):
    with pytest.raises(EngineError) as told:
        GAME.deserialize_state(record(game=game))
    assert len(str(told.value)) < 200
