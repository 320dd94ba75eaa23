"""A hall has a bounded number of tables, and of worker processes for them, whatever is asked of it at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.tables import hall as halls
from arena.tables.hall import Hall
from arena.tables.setup import Setup
from arena.tables.table import Refused
from arena.tables.view import OVER, WAITING
from tests.arena.tables.test_table import first, until

ALONE = Setup("epicycle", ("person", "person"), opening="none")


@pytest.fixture
def hall():
    found = Hall(most_workers=2)
    yield found
    found.close()


def working(hall):
    return [place for place in hall.places("me") if place.table.holds_worker]


def test_a_hall_has_rematches_with_new_dice_or_the_same_and_turned_seats(hall):
    place = hall.open(Setup("epicycle", ("person", "greedy")), "me")
    until(place.table, WAITING)
    same = hall.rematch(place, same_dice=True, turned=False)
    until(same.table, WAITING)
    assert same.table.view().seed == place.table.view().seed
    turned = hall.rematch(place, same_dice=False, turned=True)
    until(turned.table, WAITING)
    assert turned.table.setup.seats == ("greedy", "person")
    assert turned.table.view().seed != place.table.view().seed
    assert not same.table.holds_worker  # looked at least lately; two at most have one
    assert [other.id for other in hall.places("me")] == [turned.id, same.id, place.id]
    assert hall.places("somebody") == []
    assert hall.find("nothing") is None


def test_tables_that_are_opened_at_once_have_no_more_workers_than_there_may_be(hall):
    with ThreadPoolExecutor(8) as together:
        asked = [together.submit(hall.open, ALONE, "me") for _ in range(8)]
    errors = [error for each in asked if (error := each.exception())]
    assert all(isinstance(error, Refused) for error in errors) and len(working(hall)) <= 2


def test_moves_at_many_tables_have_no_more_workers_than_there_may_be(hall):
    places = []
    for _ in range(4):
        places.append(hall.open(ALONE, "me"))
        until(places[-1].table, WAITING)
    assert len(working(hall)) == 2
    for place in places:
        hall.wake(place)
        place.table.choose(first(place.table.view()))
        assert len(working(hall)) <= 2 and place in working(hall)
        until(place.table, WAITING)
        assert len(place.table.view().plies) == 1


def test_a_hall_that_is_full_gives_up_a_table_that_has_ended_before_one_that_has_not(hall, monkeypatch):
    monkeypatch.setattr(halls, "MOST_TABLES", 2)
    going = hall.open(ALONE, "me")
    until(going.table, WAITING)
    ended = hall.open(ALONE, "me")
    until(ended.table, WAITING)
    ended.table.resign()
    until(ended.table, OVER)
    with pytest.raises(Refused, match="all in use"):
        hall.open(ALONE, "me")
    monkeypatch.setattr(halls, "IDLE", -1.0)
    new = hall.open(ALONE, "me")
    assert hall.places("me") == [new, going]


def test_a_hall_that_is_closed_opens_nothing(hall):
    hall.close()
    with pytest.raises(Refused, match="ending"):
        hall.open(ALONE, "me")
