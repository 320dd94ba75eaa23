"""Sentences about a match: one a ply, made anew where moves were taken back; and where a match turned."""

from types import SimpleNamespace

from arena.sessions.narration import MAX_READERS, Narration, largest_swing
from engine import load_game
from engine.words import Names


def matches(seed_plies):
    state = load_game("magic_mids", 2).new_initial_state()
    for pick in seed_plies:
        outcomes = [outcome for outcome, _ in state.chance_outcomes()] or state.legal_actions()
        state.apply_action(outcomes[pick % len(outcomes)])
    return state.history()


def test_there_is_a_sentence_for_each_ply_also_after_moves_were_taken_back():
    narration, names = Narration(load_game("magic_mids", 2).new_initial_state()), Names.of_colours(2, 0)
    actions = matches([17, 3, 30, 2, 25, 1])
    whole = narration.sentences(actions, names)
    assert len(whole) == len(actions)
    assert whole[0].text.startswith("You roll")
    other = matches([17, 3, 40, 1])
    back = narration.sentences(other, names)
    assert back[:2] == whole[:2] and len(back) == len(other)
    assert narration.sentences(actions, names) == whole


def test_each_reader_has_sentences_of_their_own_and_a_bounded_number_is_kept():
    narration = Narration(load_game("magic_mids", 2).new_initial_state())
    actions = matches([17])
    assert narration.sentences(actions, Names.of_colours(2, 0))[0].text.startswith("You roll")
    assert narration.sentences(actions, Names.of_colours(2))[0].text.startswith("Blue rolls")
    for number in range(3 * MAX_READERS):
        assert str(number) in narration.sentences(actions, Names((f"bot {number}", "x")))[0].text


def test_words_that_fail_are_notation_instead():
    class Broken:
        def __init__(self):
            self.past = []

        def clone(self):
            return Broken()

        def history(self):
            return self.past

        def action_to_string(self, action):
            return f"action {action}"

        def tell(self, action, names):
            raise ValueError("a plug-in's words")

        def apply_action(self, action):
            self.past.append(action)

    assert [each.text for each in Narration(Broken()).sentences([4, 5], Names(("a", "b")))] == ["action 4", "action 5"]


def expecting(**evaluations):
    return SimpleNamespace(
        estimates={int(ply[1:]): SimpleNamespace(evaluation=values) for ply, values in evaluations.items()}
    )


def test_a_match_turns_where_evaluations_differ_most():
    assert largest_swing(expecting(p0=(0.1, -0.1), p4=(0.2, -0.2), p6=(-0.6, 0.6), p9=(-0.9, 0.9))) == (4, 6)
    assert largest_swing(expecting(p0=(0.1, -0.1), p4=(0.15, -0.15))) is None
    assert largest_swing(expecting(p3=(0.1, -0.1))) is None
    assert largest_swing(expecting(p0=(0.5, -0.5), p2=None, p3=(-0.5, 0.5))) == (0, 3)
