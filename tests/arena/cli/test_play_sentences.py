"""What `arena play --terminal` says in sentences."""

import pytest

from arena.cli.play_sentences import asked, concluded, names_of, told
from arena.sessions.view import Phase, PlyView, SeatView, SessionView
from engine import Sentence, load_game


class Session:
    """A session whose plies are known."""

    def __init__(self, state):
        self.state = state

    def state_at(self, ply):
        state = self.state.game.new_initial_state()
        for action in self.state.history()[:ply]:
            state.apply_action(action)
        return state


def view_of(state, *seats):
    plies = [PlyView(0, "", -1, False, False) for _ in state.history()]
    ranks = state.ranks() if state.is_terminal() else None
    return SessionView(
        0, Phase.WAITING, "", state.current_player(), state, plies, {}, list(seats), ranks, state.ended, 1, False, ""
    )


def epicycle(*moves):
    state = load_game("epicycle", 2).new_initial_state()
    for move in moves:
        state.apply_action(state.string_to_action(move))
    return state


YOU, GREEDY = SeatView("you", True), SeatView("greedy", False)


def test_what_is_asked_and_what_happened_is_told_to_the_only_person():
    state = epicycle("S-", "L+")
    assert asked(view_of(state, YOU, GREEDY)).startswith("Put a ")
    one, two = told(Session(state), view_of(state, YOU, GREEDY), 0)
    assert one == ("     You put a small piece into the gap, slot 9, and take the large one from\n     slot 8.")
    assert two.split()[0] == "greedy" and max(map(len, two.splitlines())) <= 80
    assert list(told(Session(state), view_of(state, YOU, GREEDY), 1)) == [two]


def test_bots_of_one_name_are_told_apart_by_their_seats():
    assert names_of(view_of(epicycle(), GREEDY, GREEDY)).labels == ("greedy (seat 0)", "greedy (seat 1)")
    assert names_of(view_of(epicycle(), YOU, GREEDY)).you == 0
    assert names_of(view_of(epicycle(), YOU, SeatView("ada", True))).you is None


def test_an_end_by_the_rules_is_explained_and_one_by_forfeit_is_not():
    end = load_game("epicycle", 2).state_from_position("SMLSMLSML. SML/SML - 500")
    assert concluded(view_of(end, YOU, GREEDY)) == (
        "You share first place with greedy: the match reached its cap of 500 plays."
    )
    assert concluded(view_of(end, SeatView("you", True, forfeit=("resigned", 3, "")), GREEDY)) == ""


@pytest.mark.parametrize("verb", ["prompt", "tell", "verdict"])
def test_words_that_fail_say_nothing(monkeypatch, verb):
    def fail(*arguments):
        raise RuntimeError("a plug-in's fault")

    assert says(monkeypatch, verb, fail) == [""]


@pytest.mark.parametrize("verb", ["prompt", "tell", "verdict"])
@pytest.mark.parametrize("said", [None, "no sentence", Sentence("\x1b[2Jgone."), Sentence(None), Sentence("a" * 3_000)])
def test_words_that_would_steer_the_terminal_or_are_no_sentence_say_nothing(monkeypatch, verb, said):
    assert says(monkeypatch, verb, lambda *arguments: said) == [""]


def says(monkeypatch, verb, words):
    """Return what is said where a game's own words are these."""
    state = epicycle("S-")
    monkeypatch.setattr(type(state), verb, words)
    view = view_of(state, YOU, GREEDY)
    said = {"prompt": lambda: [asked(view)], "tell": lambda: [*told(Session(state), view, 0)]}
    return said.get(verb, lambda: [concluded(view)])()
