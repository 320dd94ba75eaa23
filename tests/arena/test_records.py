"""Records of matches: what is written is read back, whatever is in it, and what is no record is refused in one line."""

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import api
from arena.cli import run_command
from arena.errors import RecordError
from arena.match_files import records_of
from arena.plan import schedule_from
from arena.record_reader import KEYS, MAX_LINE, read_records
from arena.records import WIDTH, Record, record_text
from arena.replay import replay
from arena.store import StoredMatch
from tests.arena.recorded import play
from tests.arena.tournaments import home_of


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return play(tmp_path_factory.mktemp("played"))


@pytest.fixture(scope="module")
def records(played):
    """Every match of a tournament of all games."""
    store, resolved = api.open_log(played, home_of(played))
    with store:
        return list(records_of(store, schedule_from(resolved)))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "matches.txt"


def read_back(path: Path, text: str) -> list[Record]:
    path.write_text(text, encoding="utf-8", newline="")
    return [record for _, record in read_records(path)]


def test_the_matches_of_all_games_are_read_back_as_they_are_in_the_log(played, records, file):
    text = "".join(map(record_text, records))
    assert read_back(file, text) == records
    assert {record.match.game.partition("(")[0] for record in records} >= {"magic_mids", "midgard", "pyramid_punch"}
    assert any(record.match.falls for record in records)
    assert any(record.match.notes for record in records)
    (written,) = [
        path for path in api.export(played, home_of(played), file.parent, ["records"]) if path.suffix == ".txt"
    ]
    assert written.read_text() == text
    assert max(map(len, re.sub(r"(?m)^\[.*", "", text).splitlines())) <= WIDTH


def test_every_line_of_moves_begins_with_the_number_of_its_ply(records):
    for record in records:
        moves = record_text(record).split("\n\n")[1]
        plies = 0
        for line in re.sub(r"\{[^}]*\}", lambda note: "\n" * note[0].count("\n"), moves).splitlines():
            words = line.split()
            if words and (found := re.fullmatch(r"(\d+)\.", words[0])):
                assert int(found[1]) == plies + 1
                words = words[1:]
            plies += len(words)
        assert plies == len(record.match.course)


TEXTS = st.text(st.characters(codec=None), max_size=60) | st.text('[]{}"\\ \n;%.1a', max_size=60)
MOVES = (TEXTS | st.sampled_from(["12.", "{", "}", "\\", '"', "[x", "\u202e", "a.", "\x1b[2J"])).map(
    lambda text: "".join(text.split()) or "x"
)
NUMBERS = st.integers(0, 2**63 - 1)


@st.composite
def any_record(draw):
    players = draw(st.integers(2, 5))
    course = draw(st.lists(MOVES, max_size=40))
    seats = st.lists(TEXTS, min_size=players, max_size=players)
    at = draw(st.sets(st.integers(0, len(course) - 1))) if course else set()
    cause = st.sampled_from(["crash", "illegal_action", "init"])
    match = StoredMatch(
        identity=draw(st.binary(min_size=16, max_size=16)),
        block_id=draw(st.binary(min_size=16, max_size=16)),
        lineup=draw(st.integers(0, 119)),
        game=draw(TEXTS),
        players=players,
        round=draw(NUMBERS),
        opening=draw(NUMBERS),
        seed=draw(NUMBERS),
        ended=draw(TEXTS),
        course=course,
        final=draw(st.binary(min_size=8, max_size=8)).hex(),
        timed=draw(st.booleans()),
        notes=[(ply, draw(TEXTS)) for ply in sorted(at)],
        bots=draw(seats),
        ranks=draw(st.lists(st.integers(0, players - 1), min_size=players, max_size=players)),
        scores=draw(st.lists(st.none() | st.integers(1 - 2**63, 2**63 - 1), min_size=players, max_size=players)),
        falls=draw(st.dictionaries(st.integers(0, players - 1), st.tuples(cause, st.integers(-1, 10_000)))),
        details={},
        clocks=[],
        again=False,
    )
    secret = draw(st.just("") | st.binary(min_size=32, max_size=32).map(bytes.hex))
    return Record(match, tuple(draw(seats)), tuple(draw(seats)), draw(NUMBERS), secret)


@settings(max_examples=150, deadline=None)
@given(st.lists(any_record(), max_size=3))
def test_whatever_a_match_says_is_read_back_as_it_was(tmp_path_factory, made):
    file = tmp_path_factory.getbasetemp() / "any.txt"
    assert read_back(file, "".join(map(record_text, made))) == made


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_spoiled_file_is_refused_in_one_line_or_read_as_something_else(tmp_path_factory, records, data):
    file = tmp_path_factory.getbasetemp() / "spoiled.txt"
    content = "".join(map(record_text, records[:: len(records) // 3])).encode()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(start + 40, len(content))))
    file.write_bytes(content[:start] + data.draw(st.binary(max_size=8)) + content[end:])
    try:
        list(read_records(file))
    except RecordError as error:
        assert re.match(rf"{re.escape(str(file))}, line \d+: .", str(error))
        assert "\n" not in str(error)


def plain(records) -> str:
    """A match without notes or forfeits."""
    return next(
        record_text(each)
        for each in records
        if len(each.match.course) > 20 and not (each.match.notes or each.match.falls)
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (r"^\[Match", "[Mach", "line 1: no such key 'Mach'; did you mean 'Match'?"),
        (r"^\[Block.*", "[Block]", 'line 2: not a header line, which looks like [Key "value"]'),
        (r"^\[Block.*\n", "", "the header lacks [Block]"),
        (r"^(\[Seed.*\n)", r"\1\1", "a second [Seed]"),
        (r'^\[Seed ".*', '[Seed "-1"]', "[Seed] cannot be '-1'"),
        (r'^\[Seed ".*', f'[Seed "{2**63}"]', "[Seed] cannot be"),
        (r'^\[Game ".*', r'[Game "\\x"]', "not a JSON string"),
        (r'^\[Players ".*', '[Players "3"]', "line 1: the header lacks [Bot2]"),
        (r'^\[Players ".*', '[Players "1000"]', "line 1: [Players] must be 2 to 20"),
        (r'^\[Places ".*', '[Places "1 3"]', "line 1: [Places] must be 1 to 2"),
        (r'^\[Places ".*', '[Places "1"]', "line 1: [Places] must have 2 numbers"),
        (r"^(\[Bot)1", r"\g<1>7", "the header lacks [Bot1]"),
        (r'^\[Plies ".*', '[Plies "7"]', "but the header says 7"),
        (r"^1\. ", "2. ", "ply 2. where 1. is next"),
        (r"^1\. ", "1. {early} ", "a note that follows no move"),
        (r"\n\n\Z", " {open\n\n", "a note without its closing brace"),
        (r"\n\n1\.", "\n1.", "not a header line"),
        (r"\[Ended(.|\n)*", "[Ended", "not a header line"),
        (r"\n\n(.|\n)*", "\n", "the file ends within a match"),
        (r'^\[Game ".*', f'[Game "{"x" * MAX_LINE}"]', "line 3: a line of more than 65,536 bytes"),
    ],
)
def test_what_is_wrong_with_a_record_is_told_with_file_and_line(records, file, old, new, told):
    text = plain([record for record in records if record.match.game == "midgard"])
    spoiled = re.sub(old, new, text, count=1, flags=re.MULTILINE)
    assert spoiled != text
    with pytest.raises(RecordError) as caught:
        read_back(file, spoiled)
    assert str(caught.value).startswith(f"{file}, line ")
    assert told in str(caught.value)


def test_notes_that_belong_to_no_ply_are_not_written(records):
    record = records[0]
    spoiled = dataclasses.replace(record, match=dataclasses.replace(record.match, notes=[(9999, "far out")]))
    with pytest.raises(RecordError, match="its notes do not belong to its plies"):
        record_text(spoiled)


def test_the_example_and_the_keys_in_the_document_are_those_of_records(file):
    text = (Path(__file__).parents[2] / "reports" / "README.md").read_text()
    (example,) = re.findall(r"```\n(\[Match .*?\n)```", text, re.DOTALL)
    (record,) = read_back(file, example)
    assert record_text(record).strip() == example.strip()
    assert record.match.notes == [(3, "value 0.31"), (9, "a fourth repetition of this pie would end it")]
    for key in KEYS:
        assert re.search(rf"`{key}0?`", text), f"{key} is not described"


# arena replay FILE


def told(capsys, *arguments):
    """Exit code, output, errors of a command."""
    code = run_command([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_file_is_replayed_as_a_whole_or_match_by_match(records, file, capsys):
    file.write_text("".join(map(record_text, records)))
    assert told(capsys, "replay", file, "--audit") == (
        0,
        f"{len(records)} matches replayed, all as recorded and as the keys say.\n",
        "",
    )
    chosen = next(record for record in records if record.match.game == "pyramid_punch")
    code, said, _ = told(capsys, "replay", file, "--match", chosen.id, "--no-show", "--audit")
    assert code == 0
    assert said.startswith(chosen.id)
    assert re.findall(r"^ *[0-9]+ (?:seat [0-9]|dice): (\S+)", said, re.MULTILINE) == chosen.match.course
    assert "all as recorded" in said
    assert told(capsys, "replay", file, "--match", "ffff")[2].endswith("has no match whose id begins with 'ffff'\n")
    assert told(capsys, "replay", "none.txt")[2] == "error: none.txt: no such file\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r'\[Places "1 2"\]', '[Places "2 1"]'),
        (r'\[Ended "normal"\]', '[Ended "cap"]'),
        ("final", "reversed"),
        (r'\[Scores "', '[Scores "1'),
        (r"^1\. \S+ \S+", "1. a1 a1"),
    ],
)
def test_an_edited_record_is_detected_and_named_with_its_line(records, file, capsys, old, new):
    record = next(
        each for each in records if each.match.ended == "normal" and each.match.ranks == [0, 1] and each.match.scores[0]
    )
    text = record_text(record)
    if old == "final":
        old, new = record.match.final, record.match.final[::-1]
    file.write_text(re.sub(old, new, text, count=1, flags=re.MULTILINE))
    assert file.read_text() != text
    code, _, error = told(capsys, "replay", file, "--no-show")
    assert code == 1
    assert error.startswith(f"error: {file}, line 1: match {record.id}: ")


def test_another_roll_that_is_possible_is_found_by_the_audit_alone(records, file, capsys):
    for record in records:
        match = record.match
        dice = [ply for ply in replay(match) if ply.by == "dice"]
        if match.game == "pyramid_punch" and not match.falls:
            break
    last = dice[0]
    others = [f"{a}-{b}" for a in range(1, 7) for b in range(a, 7)]
    for other in others:
        course = [*match.course]
        course[last.number] = other
        edited = dataclasses.replace(match, course=course)
        file.write_text(record_text(dataclasses.replace(record, match=edited)))
        code, _, _ = told(capsys, "replay", file, "--no-show")
        if other != match.course[last.number] and code == 0:
            assert "by the keys" in told(capsys, "replay", file, "--no-show", "--audit")[2]
            return
    pytest.fail("no other roll was possible")
