"""`rules_version` is part of every match's identity: whoever changes what a game does must raise it.

The version of its observations is what trained models go by: whoever changes the tensors must raise that one.
"""

import pytest

import engine
from tests.engine import recording

AGAIN = "if that is meant, run python -m tests.engine.recording"


@pytest.mark.parametrize("name", engine.game_names())
def test_a_game_behaves_as_it_was_recorded_for_its_rules_version(name):
    version, old = recording.read(name)
    new = recording.digests(name)
    assert recording.complaint(version, old, engine.game_type(name).rules_version, new) is None
    assert (version, old) == (engine.game_type(name).rules_version, new), f"the record is out of date; {AGAIN} {name}"


@pytest.mark.parametrize("name", engine.game_names())
def test_a_game_is_observed_as_it_was_recorded_for_the_version_of_its_observations(name):
    version, old = recording.read_observations(name)
    new_version, new = recording.observations(name)
    assert recording.complaint(version, old, new_version, new, "observation_version") is None
    assert (version, old) == (new_version, new), f"the record is out of date; {AGAIN} {name}"


def test_another_behaviour_under_the_same_version_is_complained_of():
    old = {"epicycle 2": "aa", "epicycle 3": "bb"}
    changed = {"epicycle 2": "aa", "epicycle 3": "cc"}
    assert "epicycle 3; raise rules_version above 1" in recording.complaint(1, old, 1, changed)
    assert recording.complaint(1, old, 2, changed) is None
    assert "went back" in recording.complaint(2, old, 1, old)


def test_a_new_option_needs_no_new_version():
    old = {"epicycle 2": "aa"}
    assert recording.complaint(1, old, 1, {**old, "epicycle(setup=random) 2": "bb"}) is None


def test_recording_refuses_what_it_complains_of(tmp_path, monkeypatch):
    record = tmp_path / "playthroughs.txt"
    monkeypatch.setattr(recording, "file_of", lambda name, what="playthroughs": tmp_path / f"{what}.txt")
    monkeypatch.setattr(recording, "tables", lambda: [("epicycle", 2, {})])
    recording.write("epicycle")
    recording.write("epicycle")
    good = record.read_text()
    record.write_text(good.replace(recording.digest(engine.load_game("epicycle", 2)), "0" * 16))
    with pytest.raises(ValueError, match="differently at epicycle 2; raise rules_version above 1"):
        recording.write("epicycle")
    record.unlink()
    with pytest.raises(FileNotFoundError):
        recording.read("epicycle")


def test_a_digest_tells_apart_what_differs_in_the_rules_alone():
    games = [engine.load_game(spec, 2) for spec in ("epicycle", "epicycle(repetition=2)", "epicycle(max_turns=4)")]
    assert len({recording.digest(game) for game in games}) == 3
