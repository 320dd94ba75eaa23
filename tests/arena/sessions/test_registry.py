"""A registry has a bounded number of sessions, and of worker processes for them, whatever is asked of it at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.sessions import registry as registries
from arena.sessions.registry import SessionRegistry
from arena.sessions.session import RefusedError
from arena.sessions.setup import SessionSetup
from arena.sessions.view import Phase
from tests.arena.sessions.test_session import first, until

ALONE = SessionSetup("epicycle", ("person", "person"), opening="none")


@pytest.fixture
def registry():
    found = SessionRegistry(max_workers=2)
    yield found
    found.close()


def working(registry):
    return [entry for entry in registry.owned_by("me") if entry.session.holds_worker]


def test_a_registry_has_rematches_with_new_dice_or_the_same_and_turned_seats(registry):
    entry = registry.open(SessionSetup("epicycle", ("person", "greedy")), "me")
    until(entry.session, Phase.WAITING)
    same = registry.rematch(entry, same_dice=True, turned=False)
    until(same.session, Phase.WAITING)
    assert same.session.view().seed == entry.session.view().seed
    turned = registry.rematch(entry, same_dice=False, turned=True)
    until(turned.session, Phase.WAITING)
    assert turned.session.setup.seats == ("greedy", "person")
    assert turned.session.view().seed != entry.session.view().seed
    assert not same.session.holds_worker  # looked at least lately; two at most have one
    assert [other.id for other in registry.owned_by("me")] == [turned.id, same.id, entry.id]
    assert registry.owned_by("somebody") == []
    assert registry.find("nothing") is None


def test_sessions_that_are_opened_at_once_have_no_more_workers_than_there_may_be(registry):
    with ThreadPoolExecutor(8) as together:
        asked = [together.submit(registry.open, ALONE, "me") for _ in range(8)]
    errors = [error for each in asked if (error := each.exception())]
    assert all(isinstance(error, RefusedError) for error in errors) and len(working(registry)) <= 2


def test_moves_in_many_sessions_have_no_more_workers_than_there_may_be(registry):
    entries = []
    for _ in range(4):
        entries.append(registry.open(ALONE, "me"))
        until(entries[-1].session, Phase.WAITING)
    assert len(working(registry)) == 2
    for entry in entries:
        registry.unpark(entry)
        entry.session.choose(first(entry.session.view()))
        assert len(working(registry)) <= 2 and entry in working(registry)
        until(entry.session, Phase.WAITING)
        assert len(entry.session.view().plies) == 1


def test_a_registry_that_is_full_gives_up_a_session_that_has_ended_before_one_that_has_not(registry, monkeypatch):
    monkeypatch.setattr(registries, "MAX_SESSIONS", 2)
    going = registry.open(ALONE, "me")
    until(going.session, Phase.WAITING)
    ended = registry.open(ALONE, "me")
    until(ended.session, Phase.WAITING)
    ended.session.resign()
    until(ended.session, Phase.OVER)
    with pytest.raises(RefusedError, match="all in use"):
        registry.open(ALONE, "me")
    monkeypatch.setattr(registries, "IDLE_SECONDS", -1.0)
    new = registry.open(ALONE, "me")
    assert registry.owned_by("me") == [new, going]


def test_a_registry_that_is_closed_opens_nothing(registry):
    registry.close()
    with pytest.raises(RefusedError, match="ending"):
        registry.open(ALONE, "me")
