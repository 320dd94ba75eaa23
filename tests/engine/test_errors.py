"""Errors are one family, one line each, and survive the way between processes."""

import pickle

import pytest

import engine
from engine import IllegalActionError, NotationError, PositionError, UnknownNameError
from engine.errors import did_you_mean

ERRORS = [
    PositionError("PIE", "is empty"),
    IllegalActionError("S+ is not legal"),
    NotationError("two\nlines \x1b[31m"),
    UnknownNameError("no 'x'"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_survive_the_way_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_an_error_is_one_printable_line_whatever_it_quotes():
    assert str(ERRORS[2]) == r"two\nlines \x1b[31m"
    assert str(PositionError("PIE", "'\t' is no piece")) == r"position, field PIE: '\t' is no piece"


def test_a_caller_can_catch_them_all_at_once():
    for name in engine.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(engine, name), engine.EngineError)


def test_a_hint_is_the_nearest_name_or_all_of_them_but_no_more_than_twenty():
    assert did_you_mean("gredy", {"greedy", "random"}) == "; did you mean 'greedy'?"
    assert did_you_mean("x", {"b", "a"}) == "; known: a, b"
    assert did_you_mean("x", ["2", "10"]) == "; known: 2, 10"
    assert did_you_mean("x", []) == ""
    many = [f"bot_{number}" for number in range(80)]
    assert did_you_mean("x", many) == f"; known: {', '.join(many[:20])} and 60 more"
