"""The bench beside other libraries: what is there is held against ours, what is missing says how to get it."""

import engine
from benchmarks import libraries as bench_libraries
from benchmarks.libraries import Library, compared, libraries


def rows(*others):
    return [(row.what, row.measured) for row in compared("plies/s", "ours", 1000.0, list(others))]


def missing():
    raise ModuleNotFoundError("no such library")


def test_a_library_is_told_beside_ours():
    assert rows(Library("slow", lambda: 10.0, "slow"), Library("near", lambda: 400.0, "near")) == [
        ("ours", "1,000 plies/s"),
        ("connect four, slow", "10 plies/s; ours 100 times as many"),
        ("connect four, near", "400 plies/s; ours 2.5 times as many"),
    ]


def test_a_library_that_is_missing_says_how_to_get_it_and_the_next_one_is_measured():
    told = rows(Library("absent", missing, "absent[extra]"), Library("there", lambda: 500.0, "there"))
    assert told[1:] == [
        ("connect four, absent", "not installed: pip install absent[extra]"),
        ("connect four, there", "500 plies/s; ours 2.0 times as many"),
    ]


def test_what_a_library_says_of_itself_is_not_shown(capsys):
    def talkative():
        print("loading ...")
        return 1.0

    rows(Library("talkative", talkative, "talkative"))
    assert capsys.readouterr() == ("", "")


def test_states_of_ours_are_played_to_the_end_by_the_verbs_of_openspiel(monkeypatch):
    monkeypatch.setattr(bench_libraries, "SECONDS", 0.03)
    assert bench_libraries.matches_of_states(engine.load_game("connect_four")) > 0


def test_without_connect_four_the_bench_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(engine, "game_names", lambda: ["epicycle"])
    assert [row.measured for row in libraries()] == ["not installed: pip install --editable examples/connect_four"]
