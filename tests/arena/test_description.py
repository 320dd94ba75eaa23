"""What a bot in a process says of itself is believed only as far as it fits a form."""

import pytest

from arena.sandbox.description import _checked

HONEST = {
    "params": {"depth": 3},
    "options": "depth=3",
    "about": "Plays.\nWell.",
    "games": ["epicycle"],
    "players": [2],
    "parameters": [],
    "refusals": [None, "plays epicycle, not midgard"],
}


def test_an_honest_description_stays_as_it_is():
    assert _checked(HONEST, 2) == HONEST


@pytest.mark.parametrize(
    ("key", "told", "kept"),
    [
        ("about", "red \x1b[31m\nand \u202e", "red  [31m\nand  "),
        ("games", ["a\nb"], ["a b"]),
        ("refusals", [None, "no\nTotal: 1\x9b"], [None, "no Total: 1 "]),
        ("params", {"a\x1b": "b\n"}, {"a ": "b "}),
    ],
)
def test_text_is_kept_without_what_would_steer_a_terminal(key, told, kept):
    assert _checked({**HONEST, key: told}, 2)[key] == kept


@pytest.mark.parametrize(
    "options", ["a=\x9b31m", "a=\u202eb", "a=\u2028", "a=b\n", "a b", "a|b", "a=(b)", "a" * 201, 7]
)
def test_options_that_would_break_a_spec_or_a_table_are_refused(options):
    assert "at 'options'" in _checked({**HONEST, "options": options}, 2)["error"]


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {},
        {**HONEST, "refusals": [None]},
        {**HONEST, "more": 1},
        {**HONEST, "params": {"a": [1]}},
        {**HONEST, "params": {"a": float("nan")}},
        {**HONEST, "players": [True]},
        {**HONEST, "about": "x" * 4001},
        {"error": 5},
    ],
)
def test_anything_else_is_an_error_of_one_line(told):
    error = _checked(told, 2)["error"]
    assert error.startswith("does not say") and len(error.splitlines()) == 1


def test_an_error_is_one_line():
    assert _checked({"error": "broken\nTotal: all fine\x1b"}, 0) == {"error": "broken Total: all fine "}
