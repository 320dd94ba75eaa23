"""`API_VERSION` is part of every bot's identity: whoever changes what bots can notice of the base API must raise it."""

import pytest

from bots import API_VERSION
from tests.bots import api


def test_the_base_api_is_as_it_was_recorded_for_its_version():
    version, old = api.read()
    new = api.lines()
    assert api.complaint(version, old, API_VERSION, new) is None
    assert (version, old) == (API_VERSION, new), "the record is out of date; if that is meant, run -m tests.bots.api"


def test_a_change_under_the_same_version_is_an_error_and_a_new_name_is_none():
    old = ["bots.Bot.pick(self, actions)", "chosen 1"]
    assert "a change at 'chosen 1'; undo it, or raise API_VERSION above 1" in api.complaint(
        1, old, 1, [old[0], "chosen 2"]
    )
    assert api.complaint(1, old, 2, [old[0], "chosen 2"]) is None
    assert api.complaint(1, old, 1, [*old, "bots.Bot.new(self)"]) is None
    for more, is_wrong in (("again=True", False), ("again", True), ("again=True, once", True)):
        said = api.complaint(1, old, 1, [f"bots.Bot.pick(self, actions, {more})", old[1]])
        assert (said is not None) == is_wrong
    assert "went back" in api.complaint(2, old, 1, old)


def test_recording_refuses_a_change_without_a_new_version(tmp_path, monkeypatch):
    monkeypatch.setattr(api, "FILE", tmp_path / "api.txt")
    api.write()
    api.write()
    api.FILE.write_text(api.FILE.read_text().replace("bots.Bot.pick(self, actions)", "bots.Bot.pick(self, moves)"))
    with pytest.raises(ValueError, match="undo it, or raise API_VERSION above 1"):
        api.write()


def test_other_draws_are_noticed(monkeypatch):
    monkeypatch.setattr("bots.base.Bot.pick", lambda self, actions: actions[-1])
    assert api.complaint(*api.read(), API_VERSION, api.lines()) is not None
