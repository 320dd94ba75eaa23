"""What pages call players, how they say that a match ended, and which bots they offer with which words."""

import pytest

from arena.sessions.narration import told
from arena.sessions.playable import PlayableBots
from arena.sessions.view import Phase, SeatView, SessionView
from arena.web.ladder import Rung, bot_choices, ladder, strength
from arena.web.play_words import drawn_names, faces_of, names_for, prompt_of, status_of, title_of, verdict_of
from engine import Sentence, load_game
from scripts.strengths import STRENGTHS, strengths

YOU, GREEDY = SeatView("you", person=True), SeatView("greedy", person=False)


def shown(seats, phase=Phase.OVER, ranks=None, line=""):
    state = load_game("epicycle", len(seats)).new_initial_state()
    view = {"version": 1, "line": line, "seat": 0, "state": state, "plies": [], "notes": {}, "ended": "", "seed": 1}
    return SessionView(**view, phase=phase, seats=seats, ranks=ranks, can_take_back=False, turning_ply=None, kept="")


@pytest.mark.parametrize(
    ("seats", "owner", "title"),
    [
        ([YOU, GREEDY], True, "You against greedy"),
        ([GREEDY, YOU], True, "You against greedy"),
        ([GREEDY, YOU], False, "greedy against Orange"),
        ([YOU, YOU], True, "Blue against Orange"),
        ([SeatView("ada", True), GREEDY, GREEDY], True, "You against greedy (Orange) and greedy (Green)"),
        ([SeatView("ada", True), SeatView("uct:simulations=400", False)], False, "ada against uct 400"),
    ],
)
def test_titles_say_who_plays_by_name_or_colour(seats, owner, title):
    assert title_of(seats, names_for(seats, owner)) == title


def test_drawings_have_names_without_the_colours_beside_them():
    assert drawn_names(names_for([YOU, GREEDY, GREEDY], True)) == ["you", "greedy", "greedy"]


def test_a_match_that_was_forfeited_says_by_whom_and_why():
    lost = [SeatView("you", True, forfeit=("resigned", 4, "")), GREEDY]
    assert verdict_of(shown(lost, ranks=[1, 0]), names_for(lost, True)).text == "You lost: you resigned."
    assert verdict_of(shown(lost, ranks=[1, 0]), names_for(lost, False)).text == "greedy won: Blue resigned."
    crashed = [YOU, SeatView("uct", False, forfeit=("crash", 4, "Traceback"))]
    assert verdict_of(shown(crashed, ranks=[0, 1]), names_for(crashed, True)).text == "You won: uct crashed."


@pytest.mark.parametrize("said", [None, "no sentence", Sentence("\u202eback."), Sentence(None), Sentence("a" * 3_000)])
def test_words_of_a_game_that_are_no_sentence_take_no_page_away(monkeypatch, said):
    names, state = names_for([YOU, GREEDY], True), load_game("epicycle", 2).new_initial_state()
    for verb in ("prompt", "tell"):
        monkeypatch.setattr(type(state), verb, lambda *arguments: said)
    assert prompt_of(state, names).text == "You are to move."
    assert told(state, state.string_to_action("S-"), names).text == "S-"


def test_the_head_of_a_page_says_what_is_due():
    seats = [YOU, GREEDY]
    names = names_for(seats, True)
    assert status_of(shown(seats, Phase.THINKING), names, False).text == "One moment."
    assert status_of(shown(seats, Phase.FAILED, line="no bot"), names, False).text == "The match failed: no bot"
    assert status_of(shown(seats, Phase.PREPARING, line="compiling"), names, False).text == "Compiling."
    assert status_of(shown(seats, Phase.PREPARING), names, False).text == "The match is being prepared."
    assert status_of(shown(seats, Phase.WAITING), names, True).parts


@pytest.mark.parametrize(
    ("text", "rolled_by", "faces"),
    [("b35", 0, ["b", "3", "5"]), ("5-3", 1, ["5", "3"]), ("SSMLMLSML", -1, []), ("b35", -1, []), ("c4+i4", 0, [])],
)
def test_dice_are_faces_and_other_chance_is_not(text, rolled_by, faces):
    assert faces_of(text, rolled_by) == faces


def test_strengths_are_those_of_the_ladder_that_ships():
    assert STRENGTHS.read_text(encoding="utf-8") == strengths()


def test_words_on_strength_go_no_further_than_intervals():
    rungs = [
        Rung("a", 0.5, 0.4, 0.6),
        Rung("b", 0.45, 0.35, 0.55),
        Rung("c", 0.2, 0.1, 0.3),
        Rung("random", -0.9, -1, -0.8),
    ]
    assert [strength(rung, rungs) for rung in rungs] == [
        "among the strongest here",
        "among the strongest here",
        "strong",
        "moves at random",
    ]
    assert strength(Rung("d", -0.85, -1.0, -0.7), rungs) == "hardly better than random"
    assert strength(Rung("e", -0.6, -0.7, -0.5), rungs) == "medium"


def test_every_board_of_the_ladder_offers_its_bots_the_best_first():
    for (spec, players), rungs in ladder().items():
        choices = bot_choices(load_game(spec, players), ("human_like", rungs[0].bot))
        assert [choice.spec for choice in choices] == [*(rung.bot for rung in rungs), "human_like"]
        assert all(choice.strength for choice in choices[:-1]) and not choices[-1].strength


def test_bots_that_do_not_play_a_game_are_not_offered():
    playable = PlayableBots()
    try:
        named = ("greedy", "settler", "alphabeta", "no_such_bot")
        assert playable.of(load_game("magic_mids", 3), named, 60.0) == {"greedy"}
        assert playable.of(load_game("magic_mids(max_turns=77)", 2), named, 0.0) == {"greedy"}, "nobody is asked again"
        assert playable.of(load_game("midgard", 2), named, 60.0) == {"greedy", "settler", "alphabeta"}
    finally:
        playable.close()
