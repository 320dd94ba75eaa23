"""Midgard: options, notation, refused positions and drawings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.midgard import rules, text
from engine.svg import MARK
from tests.engine.midgard_matches import advance, match
from tests.engine.midgard_states import START, letters, load, position, seeds, specs
from tests.engine.pictures import parts_of, pieces_of

# Options


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("midgard(variant=loki,seeds=6)", "midgard(variant=loki)"),
        ("midgard(variant=loki,seeds=030)", "midgard(seeds=30,variant=loki)"),
        ("midgard(variant=loki,seeds=h9+f7+f6)", "midgard(seeds=f6+f7+h9,variant=loki)"),
        ("midgard(variant=standard)", "midgard"),
    ],
)
def test_specs_have_one_canonical_form(spec, canonical):
    assert load(spec).spec == canonical
    assert load(canonical).params == load(spec).params


@pytest.mark.parametrize(
    "value", ["7", "72", "-3", "g8", "a1", "b1", "j1", "k3", "f6+f6", "f6+", "f6+z9", "f06", "f99", "3.0"]
)
def test_seeds_that_make_no_sense_are_refused(value):
    with pytest.raises(engine.ParameterError, match="seeds="):
        load(f"midgard(variant=loki,seeds={value})")


@pytest.mark.parametrize("variant", ["standard", "mere_mortal", "odin"])
def test_seeds_other_than_the_default_are_refused_with_another_variant(variant):
    with pytest.raises(engine.ParameterError, match="variant=loki"):
        load(f"midgard(variant={variant},seeds=9)")
    plain = load(f"midgard(variant={variant})")
    for written in ("seeds=6", "seeds=06"):
        assert load(f"midgard(variant={variant},{written})") == plain
    for value in (6, "6"):
        assert engine.load_game("midgard", 2, variant=variant, seeds=value).spec == plain.spec


def test_seeds_named_one_by_one_need_no_symmetry_and_no_chance():
    state = load("midgard(variant=loki,seeds=f6+b2)").new_initial_state()
    assert state.current_player() == 0
    assert [text.CELL_NAMES[c] for c in range(124) if letters(state)[c] == "*"] == ["b2", "f6", "g8"]


def test_loki_with_a_number_picks_a_third_as_many_orbits():
    state = load("midgard(variant=loki,seeds=69)").new_initial_state()
    for picked in range(23):
        assert (len(state.chance_outcomes()), state.rolling_seat()) == (32 - picked, -1)
        state.apply_action(state.chance_outcomes()[0][0])
    assert state.current_player() == 0
    assert letters(state).count("*") == 70


@pytest.mark.parametrize(
    ("spec", "opening"),
    [
        ("midgard", "random:2"),
        ("midgard(variant=odin)", "random:2"),
        ("midgard(variant=mere_mortal)", "random:2"),
        ("midgard(variant=loki)", "none"),
        ("midgard(variant=loki,seeds=9)", "none"),
        ("midgard(variant=loki,seeds=0)", "random:2"),
        ("midgard(variant=loki,seeds=f6)", "random:2"),
    ],
)
def test_openings_are_random_where_nothing_else_is(spec, opening):
    assert load(spec).default_opening == opening


# Notation


@settings(deadline=None, max_examples=60)
@given(specs, seeds)
def test_positions_read_back_to_the_same_string_and_the_same_state(spec, seed):
    game = load(spec)
    for state in match(game, seed):
        again = game.state_from_position(state.position)
        assert again.position == state.position
        assert again.words.tolist() == state.words.tolist() or state.is_chance_node() or "loki" in spec
        assert (again.current_player(), again.legal_actions(), again.chance_outcomes(), again.scores()) == (
            state.current_player(),
            state.legal_actions(),
            state.chance_outcomes(),
            state.scores(),
        )
        if state.is_terminal():
            assert (again.ranks(), again.ended) == (state.ranks(), state.ended)


def test_actions_and_outcomes_read_back_to_the_same_number():
    state = load("midgard(variant=odin)").new_initial_state()
    names = [state.action_to_string(action) for action in range(rules.MAX_ACTIONS)]
    assert [state.string_to_action(name) for name in names] == list(range(rules.MAX_ACTIONS))
    assert names[:8] == ["a1", "b1", "b2", "b3", "b4", "b5", "c1", "c2"]
    assert names[-2:] == ["k8", "declare"]
    assert [rules.cell_number(name) for name in names[:-1]] == list(range(124))
    waiting = load("midgard(variant=loki)").new_initial_state()
    outcomes = [waiting.action_to_string(outcome) for outcome in range(32)]
    assert [waiting.string_to_action(outcome) for outcome in outcomes] == list(range(32))
    assert outcomes == sorted(outcomes, key=lambda orbit: text.CELL_NAMES.index(orbit.split("+")[0]))
    assert "c4+i4+i16" in outcomes


def put(names_to_letters, board=None):
    """Return the start's letters, or others, with some cells changed."""
    cells = list(board or START.split(" ")[0].replace("/", ""))
    for name, letter in names_to_letters.items():
        cells[text.CELL_NAMES.index(name)] = letter
    return "".join(cells)


def side_with(count, letter="s"):
    """Return letters with that many tiles of one side, in board order, and what they make of the rest."""
    near = {n for cell in range(count) for n in rules.NEIGHBOURS[cell]}
    return "".join(letter if c < count else "*" if c in near or c == rules.CENTRE else "." for c in range(124))


REFUSED = [
    ("midgard", START.removesuffix(" -"), "count"),
    ("midgard", START.replace(" s", "  s"), "count"),
    ("midgard", START.replace("./", "../", 1), "BOARD"),
    ("midgard", START.replace("/........ ", " "), "BOARD"),
    ("midgard", START.replace("*", "x"), "BOARD"),
    ("midgard", position(put({"e5": "s"})), "BOARD"),  # ice beside a tile
    ("midgard", START.replace("*", "."), "BOARD"),  # ice at the centre
    ("midgard(variant=odin)", START.replace("*", "."), "BOARD"),
    ("midgard(variant=loki)", START.replace("*", "."), "BOARD"),
    ("midgard", position(put({"e5": "*"})), "BOARD"),  # blizzard that nothing accounts for
    ("midgard", position("s" * 124, "-"), "BOARD"),  # more than 70 tiles of one side
    (
        "midgard",
        position(put({"a1": "s", "b3": "*", "b2": "l", "b4": "l", "b1": "*", "b5": "*", "c3": "*", "c5": "*"})),
        "BOARD",
    ),
    ("midgard", position(side_with(70)), "MOVER"),  # sea has no tile left
    ("midgard", START.replace(" s ", " x "), "MOVER"),
    ("midgard", START.replace(" s ", " - "), "MOVER"),  # over with ice left
    ("midgard", position("sl" * 62), "MOVER"),  # to move with no ice left
    ("midgard(variant=odin)", position("sl" * 62), "MOVER"),
    ("midgard", START.replace(" s ", " ? "), "MOVER"),
    ("midgard(variant=loki,seeds=f6)", START.replace(" s ", " ? "), "MOVER"),
    ("midgard(variant=loki,seeds=0)", START.replace(" s ", " ? "), "MOVER"),
    ("midgard(variant=loki)", position(put({"e5": "*"}), "?"), "MOVER"),  # no whole orbit
    ("midgard(variant=loki)", position(put({"a1": "s", "b3": "*"}), "?"), "MOVER"),
    ("midgard(variant=loki,seeds=3)", position(put({"c4": "*", "i4": "*", "i16": "*"}), "?"), "MOVER"),
    ("midgard", START.replace(" -", " x"), "FLAG"),
    ("midgard", START.replace(" -", " d"), "FLAG"),  # only Odin knows declaring
    ("midgard(variant=odin)", position("sl" * 62, "-", "d"), "FLAG"),  # no ice left
]


@pytest.mark.parametrize(("spec", "refused", "field"), REFUSED)
def test_positions_that_contradict_the_rules_are_refused(spec, refused, field):
    with pytest.raises(engine.PositionError, match=f"field {field}") as error:
        load(spec).state_from_position(refused)
    assert error.value.field == field


@pytest.mark.parametrize(
    ("spec", "accepted"),
    [
        ("midgard(variant=loki)", position(put({"e5": "*"}))),
        ("midgard(variant=loki)", position(put({"c4": "*", "i4": "*", "i16": "*"}), "?")),
        ("midgard(variant=odin)", START.replace(" s ", " - ")),
        ("midgard(variant=odin)", START.replace("s -", "s d")),
        ("midgard", position(side_with(70), "-")),
        (
            "midgard(variant=odin)",
            position(put({"a1": "s", "b3": "*", "b2": "l", "b4": "l", "b1": "*", "b5": "*", "c3": "*", "c5": "*"})),
        ),
    ],
)
def test_positions_that_the_page_excepts_are_read(spec, accepted):
    assert load(spec).state_from_position(accepted).position == accepted


# Drawings


@settings(deadline=None, max_examples=15)
@given(specs, seeds, st.integers(0, 80))
def test_drawings_fit_80_columns_and_show_every_cell(spec, seed, plies):
    state = advance(load(spec), seed, plies)
    lines = str(state).split("\n")
    assert max(map(len, lines)) <= 80
    assert sum(line.count("~~") for line in lines[:22]) == state.scores()[0]
    assert sum(line.count("##") for line in lines[:22]) == state.scores()[1]
    assert {part for part in parts_of(state.svg()) if part != "declare"} == {f"cell-{name}" for name in text.CELL_NAMES}
    pieces = [piece.partition("@")[0] for piece in pieces_of(state.svg())]
    assert [pieces.count("0"), pieces.count("1")] == state.scores()
    assert state.svg().count(f'stroke="{MARK}"') == (text.last_drop(state) is not None)


def test_mere_mortal_marks_every_blizzard_cell_and_standard_only_the_lonely_centre():
    for spec, marks in (("midgard", 1), ("midgard(variant=mere_mortal)", 4)):
        state = load(spec).new_initial_state()
        state.apply_action(state.string_to_action("e5"))
        assert str(state).count("**") == marks


def test_the_last_drop_stands_in_brackets():
    state = load().new_initial_state()
    assert "[" not in str(state)
    state.apply_action(state.string_to_action("e5"))
    assert "[~~]" in str(state)
