"""What `Bot` gives to those who write one."""

from collections import Counter
from typing import Annotated

import pytest

import engine
from bots import Between, Bot, OneOf, first_decision, make_bot
from tests.bots.built_in import load_race

EPICYCLE = engine.load_game("epicycle", players=2)


class Chooser(Bot):
    """Made for these tests."""

    depth: Annotated[int, Between(1, 9), "plies looked ahead"] = 2
    style: Annotated[str, OneOf(("calm", "bold")), "temper"] = "calm"

    def choose(self, state):
        return self.pick(state.legal_actions())


def chooser(seed: int = 1, **params: object) -> Bot:
    return make_bot(Chooser, EPICYCLE, 0, seed, params)


def test_annotated_attributes_are_parameters_with_bounds_choices_and_help():
    depth, style = Chooser.parameters
    assert (depth.name, depth.kind, depth.default, depth.minimum, depth.maximum) == ("depth", int, 2, 1, 9)
    assert (style.name, style.kind, style.default, style.choices) == ("style", str, "calm", ("calm", "bold"))
    assert (depth.help, style.help) == ("plies looked ahead", "temper")


def test_given_parameters_replace_the_defaults():
    assert (chooser().depth, chooser(depth=5).depth) == (2, 5)


def test_a_parameter_of_another_type_is_an_error_when_the_class_is_made():
    with pytest.raises(TypeError, match=r"Odd\.plies"):

        class Odd(Bot):
            plies: list = []  # noqa: RUF012

            def choose(self, state):
                return 0


def test_what_every_bot_has_is_no_parameter_even_when_a_bot_annotates_it_again():
    class Clocked(Chooser):
        timed: bool = True
        note: str | None = None

    assert [parameter.name for parameter in Clocked.parameters] == ["depth", "style"]


def test_pick_draws_every_action_equally_often():
    bot = chooser()
    counts = Counter(bot.pick([3, 5, 8]) for _ in range(9000))
    assert counts.keys() == {3, 5, 8}
    assert all(abs(count - 3000) < 250 for count in counts.values())  # 5.6 standard deviations


def test_pick_best_takes_the_highest_value_and_breaks_ties_by_the_bots_own_generator():
    assert chooser().pick_best([4, 6, 9], [0.5, 0.75, -1.0]) == 6
    assert {chooser(seed).pick_best([4, 6, 9], [1, 0, 1]) for seed in range(20)} == {4, 9}
    assert chooser(7).pick_best([4, 6, 9], [1, 0, 1]) == chooser(7).pick_best([4, 6, 9], [1, 0, 1])


def test_pick_best_refuses_values_that_do_not_match_the_actions():
    with pytest.raises(ValueError):
        chooser().pick_best([4, 6], [1.0])


@pytest.mark.parametrize("game", [EPICYCLE, engine.load_game("epicycle", 3, setup="random"), load_race(2)])
def test_the_first_decision_lies_behind_what_is_rolled_at_the_start(game):
    assert first_decision(game).current_player() == 0
