"""Matches as JSON Lines: what is written is read back, whatever is in it, and what is no match is refused."""

import json
import os
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import api
from arena.cli.app import run_command
from arena.core.errors import RecordError
from arena.core.match_ids import DiceKind
from arena.match.estimates import MAX_SEARCH_STEPS, MAX_VISIT_COUNT, pack_estimates
from arena.match.json_lines import LINE_KEYS, MAX_LINE_BYTES, match_as_data, match_as_line, read_matches
from arena.match.replay import replay
from arena.match.stored import SecretKey, StoredMatch
from arena.results.match_files import exported_matches
from arena.tournament.tournament import Tournament
from tests.support.recorded import play
from tests.support.tournaments import home_of


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return play(tmp_path_factory.mktemp("played"))


@pytest.fixture(scope="module")
def records(played):
    """Every match of a tournament of all games."""
    with Tournament.open(played, home_of(played)) as tournament:
        return list(exported_matches(tournament))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "matches.jsonl"


def read_back(path: Path, text: str) -> list[StoredMatch]:
    path.write_text(text, encoding="utf-8", newline="")
    return [record for _, record in read_matches(path)]


def test_the_matches_of_all_games_are_read_back_as_they_are_in_the_log(played, records, file):
    text = "".join(map(match_as_line, records))
    assert [*map(asdict, read_back(file, text))] == [*map(asdict, records)]
    assert {record.game.partition("(")[0] for record in records} >= {"magic_mids", "midgard", "pyramid_punch"}
    assert any(record.forfeits for record in records)
    assert any(record.notes for record in records)
    written = api.export(played, home_of(played), file.parent, ["matches"])
    assert next(path for path in written if path.suffix == ".jsonl").read_text() == text


TEXTS = st.text(st.characters(codec=None), max_size=60) | st.text('[]{}"\\ \n;%.1a', max_size=60)
MOVES = (TEXTS | st.sampled_from(["12.", "{", "}", "\\", '"', "[x", "\u202e", "a.", "\x1b[2J"])).map(
    lambda text: "".join(text.split()) or "x"
)
NUMBERS = st.integers(0, 2**63 - 1)


@st.composite
def estimates_of(draw, players, plies):
    evaluation = st.lists(st.integers(-1000, 1000), min_size=players, max_size=players)
    line = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=16)
    visits = st.dictionaries(st.integers(0, MAX_VISIT_COUNT), st.integers(0, MAX_VISIT_COUNT), max_size=5)
    counts = visits.map(lambda drawn: [number for pair in sorted(drawn.items()) for number in pair])
    steps = st.just(0) | st.integers(1, MAX_SEARCH_STEPS)
    at = draw(st.sets(st.integers(0, plies - 1), max_size=5)) if plies else set()
    return [(ply, draw(evaluation), draw(line | st.just([])), draw(counts), draw(steps)) for ply in sorted(at)]


@st.composite
def any_record(draw):
    players = draw(st.integers(2, 5))
    moves = draw(st.lists(MOVES, max_size=40))
    seats = st.lists(TEXTS, min_size=players, max_size=players)
    at = draw(st.sets(st.integers(0, len(moves) - 1))) if moves else set()
    cause = st.sampled_from(["crash", "illegal_action", "init"])
    score = st.none() | st.integers(1 - 2**63, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    dice = draw(st.sampled_from(DiceKind))
    return StoredMatch(
        identity=draw(st.binary(min_size=16, max_size=16)),
        block_id=draw(st.binary(min_size=16, max_size=16)),
        lineup=draw(st.integers(0, 119)),
        game=draw(TEXTS),
        players=players,
        round=draw(NUMBERS),
        opening=draw(NUMBERS),
        seed=draw(NUMBERS),
        ended=draw(TEXTS),
        moves=moves,
        final=draw(st.binary(min_size=8, max_size=8)).hex(),
        timed=draw(st.booleans()),
        notes=[(ply, draw(TEXTS)) for ply in sorted(at)],
        bots=draw(seats),
        ranks=draw(st.lists(st.integers(0, players - 1), min_size=players, max_size=players)),
        scores=draw(st.lists(score, min_size=players, max_size=players)),
        forfeits=draw(st.dictionaries(st.integers(0, players - 1), st.tuples(cause, st.integers(-1, 10_000)))),
        details={},
        clocks=[],
        retried=False,
        packed_estimates=pack_estimates(draw(estimates_of(players, len(moves)))),
        dice=dice,
        secret=SecretKey(b"", draw(st.binary(min_size=32, max_size=32)).hex(), "", None) if dice else None,
        labels=draw(seats),
        identities=draw(seats),
        rules_version=draw(NUMBERS),
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(any_record(), max_size=3))
def test_whatever_a_match_says_is_read_back_as_it_was_and_can_be_printed(tmp_path_factory, made):
    file = tmp_path_factory.getbasetemp() / "any.jsonl"
    lines = list(map(match_as_line, made))
    assert all(line[:-1].isprintable() for line in lines)
    assert [*map(asdict, read_back(file, "".join(lines)))] == [*map(asdict, made)]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_spoiled_file_is_refused_in_one_line_or_read_as_something_else(tmp_path_factory, records, data):
    file = tmp_path_factory.getbasetemp() / "spoiled.jsonl"
    content = "".join(map(match_as_line, records[:: len(records) // 3])).encode()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(start + 40, len(content))))
    file.write_bytes(content[:start] + data.draw(st.binary(max_size=8)) + content[end:])
    try:
        list(read_matches(file))
    except RecordError as error:
        assert re.match(rf"{re.escape(str(file))}, line \d+: .", str(error))
        assert "\n" not in str(error)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_whatever_stands_for_a_key_is_read_or_refused_in_one_line(tmp_path_factory, records, data):
    file = tmp_path_factory.getbasetemp() / "other.jsonl"
    simple = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
    value = data.draw(simple | st.lists(simple, max_size=3) | st.lists(st.lists(simple, max_size=3), max_size=3))
    edited = json.dumps({**match_as_data(records[0]), data.draw(st.sampled_from(LINE_KEYS)): value})
    file.write_text(edited)
    try:
        ((_, record),) = read_matches(file)
        assert json.loads(match_as_line(record)) == json.loads(edited)
    except RecordError as error:
        assert re.match(rf"{re.escape(str(file))}, line 1: .", str(error))
        assert "\n" not in str(error)


def changed(**values):
    """A change to the data of a match."""
    return lambda data: json.dumps({**data, **values})


WRONG = {
    "another key": (changed(mach=1), "mach = 1: unknown key; did you mean 'match'?"),
    "a key missing": (lambda data: json.dumps({key: data[key] for key in data if key != "block"}), "block: is missing"),
    "a key twice": (lambda data: '{"seed": 1, ' + json.dumps(data)[1:], "a key is there twice"),
    "no table": (lambda data: "[1, 2]", "not a match, which is a table of keys and values"),
    "no JSON": (lambda data: "match 1", "Expecting value"),
    "nested": (lambda data: "[" * 100_000, "nested too deep"),
    "a giant number": (lambda data: "9" * 5000, "Exceeds the limit"),
    "a long line": (lambda data: " " * MAX_LINE_BYTES + "x", "more than 16 MiB"),
    "no UTF-8": (lambda data: "\udcff", "can't decode"),
    "a seed": (changed(seed=-1), "seed = -1: must be 0 or more"),
    "a large seed": (changed(seed=2**63), "seed = 9223372036854775808: must be less than"),
    "many players": (changed(players=1000), "players = 1000: must be at most 20"),
    "another number of players": (changed(players=3), "bots: must be 3, one for each seat"),
    "a rank": (changed(ranks=[0, 2]), "ranks and seats of forfeits: must be 0 to 1, each seat at most once"),
    "a score": (changed(scores=[1, float("nan")]), "scores"),
    "a forfeit": (changed(forfeits=[{"seat": 2, "cause": "init", "ply": -1}]), "seats of forfeits: must be 0 to 1"),
    "two forfeits": (changed(forfeits=[{"seat": 1, "cause": "init", "ply": -1}] * 2), "each seat at most once"),
    "a line-up": (changed(lineup=7), "match: must end in the number of the line-up"),
    "a note to no ply": (changed(notes=[[10**6, "far out"]]), "notes: must belong to plies"),
    "notes in disorder": (changed(notes=[[1, "b"], [0, "a"]]), "notes: must belong to plies"),
    "spaces": (changed(moves="a1  a2"), "moves: must have single spaces between moves"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_match_is_told_with_file_and_line(records, file, case):
    change, told = WRONG[case]
    data = match_as_data(next(record for record in records if record.game == "midgard"))
    file.write_text(match_as_line(records[0]) + change(data), errors="surrogateescape")
    with pytest.raises(RecordError) as caught:
        list(read_matches(file))
    assert str(caught.value).startswith(f"{file}, line 2: ")
    assert told in str(caught.value)
    assert len(str(caught.value)) < 500


def test_the_keys_in_the_document_are_those_of_a_line():
    text = (Path(__file__).parents[3] / "docs" / "reference" / "json.md").read_text()
    table = text.partition("## `matches.jsonl`")[2].partition("\n\nThe first")[0]
    assert re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]+)\|", table, re.MULTILINE))) == [*LINE_KEYS]


# arena replay FILE


def told(capsys, *arguments):
    """Exit code, output, errors of a command."""
    code = run_command([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_file_is_replayed_as_a_whole_or_match_by_match(records, file, capsys):
    file.write_text("".join(map(match_as_line, records)))
    assert told(capsys, "replay", file, "--audit") == (
        0,
        f"{len(records)} matches replayed, all as recorded and as the keys say.\n",
        "",
    )
    chosen = next(record for record in records if record.game == "pyramid_punch")
    code, said, _ = told(capsys, "replay", file, "--match", chosen.id, "--no-show", "--audit")
    assert code == 0
    assert said.startswith(chosen.id)
    assert re.findall(r"^ *[0-9]+ (?:seat [0-9]|dice): (\S+)", said, re.MULTILINE) == chosen.moves
    assert "all as recorded" in said
    assert told(capsys, "replay", file, "--match", "ffff")[2].endswith("has no match whose id begins with 'ffff'\n")


def test_what_is_no_regular_file_is_not_waited_for(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "plan.json").touch()
    for name, why in (("none", "no such file"), ("pipe", "Not a regular file"), ("folder", "Is a directory")):
        path = tmp_path / f"{name}.jsonl"
        code, _, error = told(capsys, "replay", path)
        assert (code, error.count("\n")) == (2 if name == "none" else 1, 1)
        assert error.startswith(f"error: {path}: ")
        assert why in error


@pytest.mark.parametrize("what", ["ranks", "ended", "final", "scores", "moves"])
def test_an_edited_match_is_detected_and_named_with_its_line(records, file, capsys, what):
    record = next(each for each in records if each.ended == "normal" and each.ranks == [0, 1] and each.scores[0])
    data = match_as_data(record)
    edited = {
        "ranks": data["ranks"][::-1],
        "ended": "cap",
        "final": data["final"][::-1],
        "scores": [score + 1 for score in data["scores"]],
        "moves": "a1 a1 " + data["moves"],
    }
    file.write_text(json.dumps({**data, what: edited[what]}))
    code, _, error = told(capsys, "replay", file, "--no-show")
    assert code == 1
    assert error.startswith(f"error: {file}, line 1: match {record.id}: ")


def test_another_roll_that_is_possible_is_found_by_the_audit_alone(records, file, capsys):
    for record in records:
        match = record
        dice = [ply for ply in replay(match) if ply.by == "dice"]
        if match.game == "pyramid_punch" and not match.forfeits:
            break
    last = dice[0]
    others = [f"{a}-{b}" for a in range(1, 7) for b in range(a, 7)]
    for other in others:
        moves = [*match.moves]
        moves[last.number] = other
        edited = replace(match, moves=moves)
        file.write_text(match_as_line(edited))
        code, _, _ = told(capsys, "replay", file, "--no-show")
        if other != match.moves[last.number] and code == 0:
            assert "by the keys" in told(capsys, "replay", file, "--no-show", "--audit")[2]
            return
    pytest.fail("no other roll was possible")
