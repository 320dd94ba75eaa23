"""Grids: entries with lists of values, their bots, names, matches and errors."""

import pytest

from arena.cli.new_config import BOT_SEPARATOR, joined
from arena.core.errors import ConfigError
from arena.plan.config import config_from
from arena.plan.resolve import load_plan

GRID = "uct:simulations=[100,1000],exploration=[0.7,1.5]"


def config(*bots, **keys):
    entries = [{"bot": bot} if isinstance(bot, str) else bot for bot in bots]
    return {"name": "grid", "games": [{"game": "epicycle", "players": 2}], "bots": entries, "blocks": 1} | keys


def labels(*bots):
    return [entry.label for entry in load_plan(config(*bots)).schedule.entries]


def test_a_grid_has_a_bot_at_every_combination_named_by_what_differs():
    assert labels(GRID, "random") == [
        "uct:exploration=0.7,simulations=100",
        "uct:exploration=1.5,simulations=100",
        "uct:exploration=0.7,simulations=1000",
        "uct:exploration=1.5,simulations=1000",
        "random",
    ]


def test_lists_in_the_spec_and_beside_it_make_one_grid_and_what_is_fixed_is_left_out_of_names():
    entry = {"bot": "uct:simulations=[50, 60],exploration=0.5", "params": {"rave": [100, 200]}}
    found = load_plan(config(entry))
    assert [bot.label for bot in found.schedule.entries] == [
        f"uct:rave={rave},simulations={simulations}" for simulations in (50, 60) for rave in (100, 200)
    ]
    assert {bot.params["exploration"] for bot in found.bots} == {0.5}


def test_a_label_replaces_the_name_of_the_bot():
    entry = {"bot": "flat_mc", "params": {"playouts": [10, 20]}, "label": "flat"}
    assert labels(entry) == ["flat:playouts=10", "flat:playouts=20"]


def test_a_default_in_a_list_is_named_like_the_others():
    default = load_plan(config("flat_mc", "random")).bots[0].params["playouts"]
    assert labels(f"flat_mc:playouts=[{default},7]") == [f"flat_mc:playouts={default}", "flat_mc:playouts=7"]


def test_a_default_of_a_grid_and_the_bot_itself_are_two_contestants_with_matches_of_their_own():
    default = load_plan(config("flat_mc", "random")).bots[0].params["playouts"]
    entries = load_plan(config(f"flat_mc:playouts=[{default},7]", "flat_mc")).schedule.entries
    assert len({entry.key for entry in entries}) == 3


def test_the_matches_are_those_of_the_bots_listed_one_by_one():
    grid = load_plan(config("flat_mc:playouts=[10,20]", "random")).schedule
    listed = load_plan(config("flat_mc:playouts=10", "flat_mc:playouts=20", "random")).schedule
    assert [each.key for each in grid.entries] == [each.key for each in listed.entries]
    assert [each.identity for each in grid.blocks()] == [each.identity for each in listed.blocks()]


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ("flat_mc:playouts=[]", "config: bots[0]: flat_mc:playouts=[]: the list of 'playouts' is empty"),
        (
            "flat_mc:playouts=[1,,2]",
            "config: bots[0]: flat_mc:playouts=[1,,2]: the list of 'playouts' has an empty value",
        ),
        ("flat_mc:playouts=[1,1]", "config: bots[0]: flat_mc:playouts=[1,1]: the list of 'playouts' has 1 twice"),
        (
            "flat_mc:playouts=[1,2",
            "config: bots[0]: 'flat_mc:playouts=[1,2' cannot be read at 'playouts=['; write key=[value,value]",
        ),
        (
            {"bot": "flat_mc:playouts=[1,2]", "params": {"playouts": 3}},
            "config: bots[0]: 'playouts' is a list in 'flat_mc:playouts=[1,2]', and given again in params",
        ),
        (
            {"bot": "flat_mc", "params": {"playouts": [*range(1, 1002)]}},
            "config: bots[0]: its lists make 1,001 bots; at most 1,000 are allowed",
        ),
        (
            {"bot": "flat_mc", "params": {"playouts": []}},
            "config: bots[0]: params.playouts: the list of 'playouts' is empty",
        ),
        (
            {"bot": "flat_mc", "params": {"playouts": [{"a": 1}]}},
            "config: bots[0].params.playouts = [{'a': 1}]: must be true, false, a number or a text",
        ),
    ],
)
def test_a_bad_list_is_an_error_of_one_line(entry, error):
    with pytest.raises(ConfigError) as caught:
        config_from(config(entry, "random"))
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ("flat_mc:playouts=[1,01]", "bots[0] (playouts=01): a second 'flat_mc:playouts=1'; give it a label of its own"),
        ("flat_mc:playouts=[1,-5]", "bots[0] (playouts=-5): flat_mc: playouts=-5: below the smallest value allowed, 1"),
        ("flat_mc:playout=[1,2]", "bots[0] (playout=1): flat_mc has no option 'playout'; did you mean 'playouts'?"),
        (
            {"bot": "flat_mc:playouts=[1,2]", "label": "a label of very nearly forty characters"},
            "bots[0] (playouts=1): label 'a label of very nearly forty characters:playouts=1' has more than 40 "
            "characters; shorten its label",
        ),
    ],
)
def test_a_bot_of_a_grid_that_cannot_enter_is_named_by_its_values(entry, error):
    with pytest.raises(ConfigError) as caught:
        load_plan(config(entry, "random"))
    assert str(caught.value) == f"config: {error}"


def test_bots_of_options_are_parted_outside_lists_alone():
    assert joined([f"greedy,{GRID},random"], BOT_SEPARATOR) == ["greedy", GRID, "random"]
    assert joined(["flat_mc:playouts=[1,2],uct:simulations=5"], BOT_SEPARATOR) == [
        "flat_mc:playouts=[1,2]",
        "uct:simulations=5",
    ]
