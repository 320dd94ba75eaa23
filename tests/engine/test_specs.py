"""Specs have one canonical form, and what is not understood is refused by name with the nearest known one."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import engine
from engine import NotationError, Parameter, ParameterError, UnknownNameError, UnsupportedError
from engine.specs import canonical_options, resolve, split_bot_spec, split_game_spec
from tests.engine.matches import option_sets

OPTIONS = (
    Parameter("mode", str, "plain", "how", choices=("plain", "random")),
    Parameter("depth", int, 3, "how deep", minimum=1, maximum=9),
    Parameter("rate", float, 0.5, "how fast", minimum=0),
    Parameter("loud", bool, False, "whether it is heard"),
)
VALUES = {
    "mode": st.sampled_from(["plain", "random"]),
    "depth": st.integers(1, 9),
    "rate": st.floats(0, 1e6, allow_nan=False),
    "loud": st.booleans(),
}


def refusal(error: type[Exception], text: str):
    """Expect an error with exactly that text."""
    return pytest.raises(error, match=f"^{re.escape(text)}$")


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("epicycle", "epicycle"),
        ("  epicycle ", "epicycle"),
        ("epicycle()", "epicycle"),
        ("epicycle( )", "epicycle"),
        ("epicycle(setup=standard)", "epicycle"),
        ("epicycle(max_turns=500,repetition=3,setup=standard)", "epicycle"),
        ("epicycle(setup=random)", "epicycle(setup=random)"),
        ("epicycle( setup = random , repetition = 0 )", "epicycle(repetition=0,setup=random)"),
        ("epicycle(max_turns=007)", "epicycle(max_turns=7)"),
    ],
)
def test_a_spec_has_one_canonical_form(spec, canonical):
    assert engine.load_game(spec, 2).spec == canonical


def test_options_by_keyword_are_as_good_as_in_the_spec():
    written = engine.load_game("epicycle(repetition=0,setup=random)", 3)
    assert engine.load_game("epicycle", 3, setup="random", repetition=0) == written
    assert engine.load_game("epicycle(repetition=2)", 3, repetition=0, setup="random") == written


@given(values=st.fixed_dictionaries({}, optional=VALUES))
def test_the_canonical_form_reads_back_to_the_same_values(values):
    resolved = resolve(OPTIONS, values, "thing")
    text = canonical_options(OPTIONS, resolved)
    name, given_again = split_game_spec(f"thing({text})")
    assert (name, resolve(OPTIONS, given_again, "thing")) == ("thing", resolved)
    assert split_bot_spec(f"thing:{text}" if text else "thing") == ("thing", given_again)
    assert list(given_again) == sorted(given_again)
    assert list(resolved) == sorted(resolved)
    defaults = {option.name: option.default for option in OPTIONS}
    assert all(resolved[key] != defaults[key] for key in given_again)


KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
LOOK_ALIKES = [
    "1e3",
    "007",
    "true",
    "false",
    "True",
    "nan",
    "inf",
    "-0",
    "1_000",
    "0x10",
    "None",
    "1.0",
    "a=b",
    "a:b",
    "'6'",
]
TEXTS = st.sampled_from(LOOK_ALIKES) | st.text(st.characters(exclude_characters=",|()"), min_size=1, max_size=8).filter(
    lambda text: text.isprintable() and text.split() == [text]
)
SCALARS = {
    bool: st.booleans(),
    int: st.integers() | st.integers(-(2**4000), 2**4000),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: TEXTS,
}


@st.composite
def parameters_and_values(draw):
    """Return parameters of any names and kinds, with a value for each."""
    parameters, values = [], {}
    for name in draw(st.lists(KEYS, max_size=4, unique=True)):
        kind = draw(st.sampled_from(list(SCALARS)))
        parameters.append(Parameter(name, kind, draw(SCALARS[kind])))
        values[name] = draw(SCALARS[kind])
    return parameters, values


@given(parameters_and_values())
@example(([Parameter("zero", float, 1.0)], {"zero": -0.0}))
@example(([Parameter("one", float, 1)], {"one": 1.0}))
def test_every_option_survives_the_way_into_a_spec_and_back(drawn):
    parameters, values = drawn
    resolved = resolve(parameters, values, "thing")
    text = canonical_options(parameters, resolved)
    options = [split_game_spec(f"thing({text})")[1]]
    names = ("thing", "a/b.py:Thing", "a/bot.toml", "thing@0123ab")
    options += [split_bot_spec(f"{name}:{text}" if text else name)[1] for name in names]
    for given_again in options:
        again = resolve(parameters, given_again, "thing")
        assert repr(again) == repr(resolved)
        assert canonical_options(parameters, again) == text
    assert resolved == values


@pytest.mark.parametrize("name", engine.game_names())
def test_every_default_of_a_game_may_be_written_out(name):
    kind = engine.game_type(name)
    plain = engine.load_game(name, kind.min_players)
    for options in option_sets(kind):
        game = engine.load_game(name, kind.min_players, **options)
        for option in kind.parameters:
            if option.name not in options:
                assert engine.load_game(game.spec, kind.min_players, **{option.name: option.default}) == game
                written = engine.load_game(f"{name}({option.name}={option.write(option.default)})", kind.min_players)
                assert (written, written.spec, dict(written.params)) == (plain, plain.spec, dict(plain.params))


@pytest.mark.parametrize("value", [10**5000, 2**4097, -(10**5000)], ids=int.bit_length)
def test_a_number_too_long_to_be_written_is_refused_in_one_line(value):
    with pytest.raises(ParameterError, match="must be a whole number of at most 4096 bits"):
        resolve([Parameter("depth", int, 3)], {"depth": value}, "thing")


@pytest.mark.parametrize("name", ["", "two words", "a,b", "a=b", "a:b", "1st", "a(b)", "a|b"])
def test_a_parameter_whose_name_no_spec_could_hold_is_refused(name):
    with pytest.raises(ParameterError, match="is no name for a parameter"):
        Parameter(name, int, 1)


@given(text=st.text(max_size=30))
def test_any_text_is_a_spec_or_refused_as_one(text):
    for split in (split_game_spec, split_bot_spec):
        try:
            name, options = split(text)
        except NotationError as error:
            assert str(error).isprintable()
        else:
            assert name and all(options) and all(options.values())


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "(",
        "epicycle(",
        "epicycle)",
        "epicycle(setup=random",
        "a b",
        "epicycle(a=(b)",
        "epicycle(a=b))",
        "x,y",
    ],
)
def test_a_game_spec_that_cannot_be_read_is_refused(spec):
    with refusal(NotationError, f"game spec '{spec}' cannot be read; write name or name(key=value,...)"):
        engine.load_game(spec, 2)


def test_a_value_may_be_a_spec_of_its_own():
    spec = "outer(game=inner(a=1,b=x(c=2)), d = 3)"
    assert split_game_spec(spec) == ("outer", {"game": "inner(a=1,b=x(c=2))", "d": "3"})
    with refusal(
        engine.ParameterError, "epicycle: setup=x(a=1): may not hold commas, bars, brackets, white space or controls"
    ):
        engine.load_game("epicycle(setup=x(a=1))", 2)


@pytest.mark.parametrize(
    ("inside", "part"), [("setup", "setup"), ("=random", "=random"), ("setup=", "setup="), ("a=1,,b=2", "")]
)
def test_an_option_that_cannot_be_read_is_pointed_at(inside, part):
    with refusal(NotationError, f"spec 'epicycle({inside})' cannot be read at '{part}'; write key=value"):
        engine.load_game(f"epicycle({inside})", 2)


def test_an_option_given_twice_is_refused():
    with refusal(NotationError, "spec 'epicycle(setup=random,setup=random)' gives 'setup' twice"):
        engine.load_game("epicycle(setup=random,setup=random)", 2)


def test_an_unknown_game_is_refused_with_the_nearest_name():
    with refusal(UnknownNameError, "no game 'epicicle'; did you mean 'epicycle'?"):
        engine.load_game("epicicle", 2)
    with refusal(UnknownNameError, f"no game 'chess'; known: {', '.join(engine.game_names())}"):
        engine.load_game("chess", 2)


def test_an_unknown_option_is_refused_with_the_nearest_name():
    with refusal(UnknownNameError, "epicycle has no option 'repetitions'; did you mean 'repetition'?"):
        engine.load_game("epicycle(repetitions=2)", 2)
    with refusal(UnknownNameError, "epicycle has no option 'zzz'; known: max_turns, repetition, setup"):
        engine.load_game("epicycle", 2, zzz=1)
    with refusal(UnknownNameError, "thing has no option 'a'; it has none"):
        resolve((), {"a": 1}, "thing")


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("epicycle(setup=rnadom)", "epicycle: setup=rnadom: not a choice; did you mean 'random'?"),
        ("epicycle(setup=7)", "epicycle: setup=7: not a choice; known: standard, random"),
        ("epicycle(repetition=11)", "epicycle: repetition=11: not a choice; known: 0, 2, 3, 4, 5, 6, 7, 8, 9, 10"),
        ("epicycle(max_turns=0)", "epicycle: max_turns=0: below the smallest value allowed, 1"),
        ("epicycle(max_turns=10001)", "epicycle: max_turns=10001: above the largest value allowed, 10000"),
        ("epicycle(max_turns=many)", "epicycle: max_turns=many: must be a whole number"),
        ("epicycle(max_turns=7.0)", "epicycle: max_turns=7.0: must be a whole number"),
        ("epicycle(max_turns=1.5)", "epicycle: max_turns=1.5: must be a whole number"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_with_the_reason(spec, text):
    with refusal(ParameterError, text):
        engine.load_game(spec, 2)


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("depth", True, "must be a whole number"),
        ("depth", None, "must be a whole number"),
        ("depth", 2.5, "must be a whole number"),
        ("depth", float("inf"), "must be a whole number"),
        ("depth", "9" * 5000, "must be a whole number"),
        ("rate", "fast", "must be a number"),
        ("rate", [1], "must be a number"),
        ("rate", "nan", "must be a finite number"),
        ("rate", "1e999", "must be a finite number"),
        ("rate", -0.1, "below the smallest value allowed, 0"),
        ("loud", "yes", "must be true or false"),
        ("loud", 1, "must be true or false"),
        ("mode", True, "must be a text (in quotes)"),
        ("mode", None, "must be a text (in quotes)"),
        ("mode", 1e3, "must be a text (in quotes)"),
        ("mode", "", "may not be empty"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_the_reason(option, value, reason):
    with refusal(ParameterError, f"thing: {option}={value!s:.60}: {reason}"):
        resolve(OPTIONS, {option: value}, "thing")


def test_a_parameters_own_check_may_rewrite_a_value_or_refuse_it():
    def in_order(value):
        if "!" in value:
            raise ParameterError("no shouting")
        return "".join(sorted(value))

    option = Parameter("letters", str, "", "which", check=in_order)
    assert resolve([option], {"letters": "cab"}, "thing") == {"letters": "abc"}
    with refusal(ParameterError, "thing: letters=a!: no shouting"):
        resolve([option], {"letters": "a!"}, "thing")


@pytest.mark.parametrize(
    ("players", "text"),
    [
        (None, "epicycle needs to know how many play: 2 to 5"),
        (1, "epicycle is for 2 to 5 players, not 1"),
        (6, "epicycle is for 2 to 5 players, not 6"),
        (True, "epicycle: players must be a whole number, not True"),
        ("2", "epicycle: players must be a whole number, not '2'"),
        (2.0, "epicycle: players must be a whole number, not 2.0"),
    ],
)
def test_a_number_of_players_that_a_game_does_not_have_is_refused(players, text):
    with refusal(UnsupportedError, text):
        engine.load_game("epicycle", players)


@pytest.mark.parametrize(
    ("spec", "name", "options"),
    [
        ("greedy", "greedy", {}),
        ("flat_mc:playouts=100", "flat_mc", {"playouts": "100"}),
        (" uct: c = 1.4 , iterations = 50 ", "uct", {"c": "1.4", "iterations": "50"}),
        ("path/to my/bot.py:Mine", "path/to my/bot.py:Mine", {}),
        ("bot.py:Mine:depth=2", "bot.py:Mine", {"depth": "2"}),
        ("my bots/bot.py:depth=2", "my bots/bot.py", {"depth": "2"}),
        ("my bots/deep:depth=2", "my bots/deep", {"depth": "2"}),
        ("path/to my/bot.toml", "path/to my/bot.toml", {}),
        ("bot.toml:depth=2,c=x", "bot.toml", {"depth": "2", "c": "x"}),
        ("mine@0123ab:depth=2", "mine@0123ab", {"depth": "2"}),
    ],
)
def test_a_bot_spec_is_a_name_a_file_with_a_class_or_a_manifest_and_options(spec, name, options):
    assert split_bot_spec(spec) == (name, options)


@pytest.mark.parametrize("spec", ["", ":", ":a=1", "greedy:", "bot.py:", "gre edy", "greedy(a=1)", "a,b"])
def test_a_bot_spec_that_cannot_be_read_is_refused(spec):
    with refusal(NotationError, f"bot spec '{spec}' cannot be read; write name or name:key=value,..."):
        split_bot_spec(spec)


@pytest.mark.parametrize("spec", ["bot.py::", "bot.py:two words", "bot.py:1st:a=1"])
def test_a_bots_file_without_a_class_is_refused(spec):
    with refusal(NotationError, f"bot spec '{spec}' cannot be read; write path/to/file.py:ClassName"):
        split_bot_spec(spec)
