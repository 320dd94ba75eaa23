"""Sentences of games: what is to be decided, what happened, how it ended. Each is short, and true of the position.

What they claim is checked by naive code in `tests/engine/word_claims`.
"""

import importlib
import importlib.util
import random
import re
from xml.etree import ElementTree

import pytest

import engine
from arena.registry.rules import rules_of, summary_of
from engine import Names
from engine.conformance.matches import drawn
from engine.replays import replay
from engine.words import MAX_SENTENCE_CHARS, following
from tests.engine.matches import stops, tables
from tests.engine.word_claims.common import Said, labels, without_you

CLAIMED = [
    *(table for table in tables() if importlib.util.find_spec(f"tests.engine.word_claims.{table[0]}") is not None),
    # set-ups and endings that the options of `tables` do not bring about
    ("midgard", 2, {"variant": "loki", "seeds": "f6+f7+f8"}),
    ("midgard", 2, {"variant": "loki", "seeds": "69"}),
    ("magic_mids", 3, {"max_turns": 40, "full_board": "draw"}),
    ("pyramid_punch", 4, {"max_turns": 6}),
    ("pyramid_punch", 3, {"max_turns": 8, "cap_ranking": "draw"}),
    ("epicycle", 3, {"max_turns": 12, "setup": "random"}),
]
SYSTEM_DECISIONS, CHAOS_DECISIONS = 500, 3_000
"""Decisions of each set of game, players and options in the long test, and in the longest."""
LONG = Names(tuple("ABCDE"[seat] + "m" * 80 for seat in range(5)))


def parts_of(state):
    return {part for node in ElementTree.fromstring(state.svg()).iter() if (part := node.get("data-part"))}


def said_of(match, seed, plies=10_000):
    """Yield what is said in a random match: (kind, what was said, the state it was said in, the one after it)."""
    name, players, options = match
    game = engine.load_game(name, players, **options)
    rng, state, names = random.Random(seed), game.new_initial_state(), labels(players)
    played = []
    for _ in range(plies):
        if state.is_terminal():
            ends = dict(ranks=tuple(state.ranks()), ended=state.ended, plies=tuple(played))
            for seat in (None, *range(players)):
                sentence = state.verdict(seat, names)
                yield "verdict", Said(sentence, players, options, state.position, seat=seat, **ends), state, state
            return
        action = drawn(state, rng)
        begun = (state.targets() or {}).get(action, ()) if state.current_player() >= 0 else ()
        for length in range(max(1, len(begun))):
            chosen = begun[:length]
            sentence = state.prompt(names, chosen)
            yield "prompt", Said(sentence, players, options, state.position, chosen=chosen), state, state
        after, notation = state.child(action), state.action_to_string(action)
        sentence = state.tell(action, names, after)
        yield "told", Said(sentence, players, options, state.position, notation, after.position), state, after
        played.append((state.position, notation))
        state = after


def check(match, seed):
    """Check all that is said in a random match; return how many decisions it had."""
    claims = importlib.import_module(f"tests.engine.word_claims.{match[0]}")
    count = 0
    for kind, said, state, after in said_of(match, seed):
        in_form(said.sentence)
        try:
            getattr(claims, kind)(said)
        except AssertionError as error:
            error.add_note(f"{match}, seed {seed}: {said}")
            raise
        spoken_to(kind, said, state, after)
        count += kind == "told" and state.current_player() >= 0
    return count


def in_form(sentence):
    text = sentence.text
    assert type(text) is str and text.isprintable() and text.endswith(".") and len(text) <= MAX_SENTENCE_CHARS, text
    assert text[0].isupper() and "  " not in text and ".." not in text, text
    assert len({*sentence.parts}) == len(sentence.parts)


def spoken_to(kind, said, state, after):
    """Check that who is spoken to as `you` hears the same."""
    for you in range(said.players):
        names = Names(labels(said.players).labels, you)
        if kind == "prompt":
            heard = state.prompt(names, said.chosen)
            asked = said.text.removeprefix(f"P{you}: ")
            if asked != said.text:
                assert heard.text == asked[0].upper() + asked[1:]
            else:
                assert said.text in (heard.text, without_you(heard.text, you))
        elif kind == "told":
            heard = state.tell(state.string_to_action(said.action), names, after)
            assert without_you(heard.text, you) == said.sentence.text
        else:
            heard = state.verdict(said.seat, names)
            if " share " not in said.sentence.text:
                assert without_you(heard.text, you) == said.sentence.text
        assert (heard.parts, heard.motions, heard.section) == (
            said.sentence.parts,
            said.sentence.motions,
            said.sentence.section,
        )


@pytest.mark.parametrize("match", CLAIMED, ids=str)
def test_all_that_is_said_in_a_match_is_true(match):
    assert all(check(match, seed) > 0 for seed in (1, 2))


@pytest.mark.system
@pytest.mark.parametrize("wanted", [SYSTEM_DECISIONS, pytest.param(CHAOS_DECISIONS, marks=pytest.mark.chaos)])
@pytest.mark.parametrize("match", CLAIMED, ids=str)
def test_all_that_is_said_of_thousands_of_decisions_is_true(match, wanted):
    decisions, seed = 0, 100
    while decisions < wanted:
        decisions += check(match, seed)
        seed += 1


def test_the_longest_test_covers_100_000_decisions():
    assert len(CLAIMED) * CHAOS_DECISIONS >= 100_000


@pytest.mark.parametrize("match", tables(), ids=str)
def test_sentences_speak_of_parts_that_are_there(match):
    for number, (kind, said, state, after) in enumerate(said_of(match, 2, 60)):
        if number % 3:
            continue
        if kind == "prompt":
            assert said.sentence.parts == (
                following(state.targets(), said.chosen)[1] if state.current_player() >= 0 else ()
            )
            assert {*said.sentence.parts} <= parts_of(state)
            continue
        sources, targets = parts_of(state), parts_of(after)
        assert {*said.sentence.parts} <= sources | targets
        assert {motion.source for motion in said.sentence.motions} <= {*sources, ""}
        assert {motion.target for motion in said.sentence.motions} <= {*targets, ""}


def signatures(game):
    """Return what each kernel of a game's rules has been compiled for."""
    return {name: len(each.signatures) for name, each in vars(game.rules).items() if hasattr(each, "signatures")}


@pytest.mark.parametrize("match", CLAIMED, ids=str)
def test_words_need_no_kernel_that_notation_and_drawings_do_not(match):
    name, players, options = match
    game = engine.load_game(name, players, **options)
    for state in stops(game, 5):
        assert str(state) and state.svg() and state.targets() != {}
    compiled = signatures(game)
    assert sum(1 for _ in said_of(match, 5)) > 0
    assert signatures(game) == compiled


@pytest.mark.parametrize("match", tables(), ids=str)
def test_sentences_are_short_with_any_names(match):
    name, players, options = match
    game = engine.load_game(name, players, **options)
    names = Names(LONG.labels[:players])
    rng, state = random.Random(3), game.new_initial_state()
    while not state.is_terminal():
        action = drawn(state, rng)
        in_form(state.prompt(names))
        in_form(state.tell(action, names))
        state.apply_action(action)
    for seat in (None, *range(players)):
        in_form(state.verdict(seat, names))
    in_form(state.prompt(names))


@pytest.mark.parametrize("match", CLAIMED, ids=str)
def test_the_sections_that_sentences_name_are_in_the_rules(match):
    headings = set(re.findall(r"^## (.*)$", rules_of(match[0]), re.MULTILINE))
    named = {said.sentence.section for _, said, _, _ in said_of(match, 4)}
    assert named <= headings


@pytest.mark.parametrize("name", sorted({match[0] for match in CLAIMED}))
def test_the_rules_begin_with_a_summary_of_a_minute(name):
    assert 30 <= len(summary_of(name).split()) <= 220
    assert rules_of(name).index("## In a minute") < rules_of(name).index("## §1")


def test_a_section_has_the_address_of_its_heading():
    assert engine.Sentence("Done.", section="§7 Rotating and moving").anchor == "7-rotating-and-moving"
    assert engine.Sentence("Done.").anchor == ""


def test_parts_that_lead_nowhere_are_left_out():
    state = engine.load_game("magic_mids", 2).state_from_position(
        "......../......../......../......../........ 555/555 0 ba4 0"
    )
    assert state.prompt(None, ("hand-0-L",)) == state.prompt() == state.prompt(None, ["nothing", "cell-a2"])
    whole = state.targets()[state.legal_actions()[0]]
    assert state.prompt(None, whole) == state.prompt(None, whole[:1])


def test_what_cannot_happen_and_what_is_too_early_is_refused():
    state = engine.load_game("magic_mids", 2).new_initial_state()
    with pytest.raises(engine.IllegalActionError):
        state.tell(99)
    with pytest.raises(engine.UnsupportedError, match="not over"):
        state.verdict(0)


def test_a_match_is_played_again_from_where_it_began():
    state = engine.load_game("epicycle", 2).new_initial_state()
    read = state.game.state_from_position("SMLSMLSML. SML/SML 0 0")
    for start in (state, read):
        end = start.child(start.legal_actions()[0])
        assert [(before == start, action) for before, action in replay(end)] == [(True, end.history()[0])]


def test_names_are_cut_and_told_apart_by_colour():
    assert Names.of_players(["greedy", "Anna", "greedy"]).labels == ("greedy (Blue)", "Anna", "greedy (Green)")
    pair = ["uct:simulations=1000,exploration=1", "uct:simulations=1000,exploration=2"]
    assert Names.of_players(pair).labels == tuple(pair)
    long = Names.of_players([*pair, "a", "b", "c"]).labels
    assert max(map(len, long)) <= 20 and long[0] != long[1]
    assert Names.of_players(["m" * 60, "n"]).labels == ("m" * 39 + "…", "n")
    assert Names(("a\nb",)).labels == ("a\\nb",)
    assert Names.of_colours(2).labels == ("Blue", "Orange")
