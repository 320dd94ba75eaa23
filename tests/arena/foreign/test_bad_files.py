"""Files that cannot be taken are refused in one line that names file, line and column, and nothing is left of them."""

import json
import re
import resource
import subprocess
import time

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ArenaError
from arena.foreign import rows
from arena.foreign.rows import MAX_COLUMNS
from arena.transfer.foreign_results import import_results
from tests.arena.foreign.tables import results, write
from tests.support.tournaments import ARENA, PATIENCE

HEAD = "match,bot,place\n"
GOOD = "1,a,1\n1,b,2\n"
LONG = "x" * 300

REFUSED = {
    "no rows": (HEAD, "has no rows"),
    "nothing": ("", "has no column 'match'"),
    "no bot": ("match,place\n1,1\n", "has no column 'bot' (name of the bot"),
    "no result": ("match,bot\n1,a\n", "has no column 'place' (1 is best) nor 'score'"),
    "a column twice": ("match,bot,bot,place\n", "two columns are called 'bot'"),
    "one row": (HEAD + GOOD + "2,a,1\n", "line 4: match '2' of bad has 1 row; a match has a row for each"),
    "a bot twice": (HEAD + GOOD + "2,a,1\n2,b,2\n2,a,3\n", "line 4: match '2' has bot 'a' twice, again in line 6"),
    "too few cells": (HEAD + GOOD + "2,a\n", "line 4: has 2 cells, and the header 3 columns"),
    "a place in words": (HEAD + "1,a,first\n", "line 2, column 'place': 'first' is no number"),
    "place 0": (HEAD + "1,a,0\n", "line 2, column 'place': 0 is no place; the best one is 1"),
    "no place": (HEAD + GOOD + "2,a,1\n2,b,\n", "line 5: has neither a place nor a score"),
    "nan": (HEAD + "1,a,nan\n", "'nan' is no number"),
    "infinite": (HEAD + "1,a,1e999\n", "is no finite number, or too large"),
    "other digits": (HEAD + "1,a,٣\n", "'٣' is no number"),
    "an underscore": (HEAD + "1,a,1_0\n", "'1_0' is no number"),
    "no name": (HEAD + "1,,1\n", "line 2, column 'bot': is empty"),
    "a long name": (HEAD + f"1,{LONG},1\n", "line 2, column 'bot': has 300 characters; up to 200"),
    "a control character": (HEAD + "1,a\x1b[2J,1\n", "column 'bot': 'a\\x1b[2J' holds U+001B"),
    "right to left": (HEAD + "1,a\u202eb,1\n", "holds U+202E, which cannot be printed"),
    "a name of two lines": (HEAD + '1,"a\nb",1\n', "line 2, column 'bot': 'a\\nb' holds U+000A"),
    "case alone": (
        HEAD + "1,Ann,1\n1,ann,2\n",
        "line 3: bot 'ann' differs from 'Ann' (line 2) in case or in form alone",
    ),
    "form alone": (HEAD + "1,ﬁn,1\n1,fin,2\n", "differs from 'ﬁn' (line 2) in case or in form alone"),
    "composed": (HEAD + "1,\u00e9,1\n1,e\u0301,2\n", "match '1' has bot '\u00e9' twice"),
    "some scores": ("match,bot,place,score\n1,a,1,5\n1,b,2,\n", "match '1' has no score in line 3, but in others"),
    "two blocks": ("match,bot,place,block\n1,a,1,x\n1,b,2,y\n", "match '1' is in several blocks, 'x' and 'y'"),
    "a seat twice": ("match,bot,place,seat\n1,a,1,0\n1,b,2,0\n", "match '1' has seats 0, 0; the numbers from 0 to 1"),
    "seats with a gap": ("match,bot,place,seat\n1,a,1,0\n1,b,2,2\n", "match '1' has seats 0, 2"),
    "seats from 2": ("match,bot,place,seat\n1,a,1,2\n1,b,2,3\n", "match '1' has seats 2, 3"),
    "half a seat": ("match,bot,place,seat\n1,a,1,0.5\n", "column 'seat': '0.5' is no number of a seat"),
    "a game of ours": ("match,bot,place,game\n1,a,1,epicycle\n1,b,2,epicycle\n", "'epicycle' is a game of this arena"),
    "a game with a path": ("match,bot,place,game\n1,a,1,../x\n", "line 2, game '../x': must be 1 to 64 letters"),
    "games alike": (
        "match,bot,place,game\n1,a,1,a.b\n1,b,2,a.b\n1,a,1,a-b\n1,b,2,a-b\n",
        "two games would have files of the same name",
    ),
    "no CSV": (HEAD + '1,"a"b,1\n', "line 2: is no CSV"),
    "old line ends": (
        "match,bot,place\r1,a,1\r1,b,2\r",
        "line 1: is no CSV: new-line character",
    ),
    "an open quote in the header": ('"match,bot,place\n1,a,1\n', "line 1: is no CSV"),
    "an open quote": (HEAD + '1,"a,1\n', "line 2: is no CSV"),
    "a long line": (HEAD + "1," + "a" * 2**21 + ",1\n", "line 2: has more than 1 MiB"),
    "latin 1": (HEAD.encode() + b"1,J\xf6rg,1\n", "line 2: is not UTF-8 text (byte 3)"),
}


def refusal(tmp_path, path, content, **options):
    """What is said of a file; asserts that it is one line, and that nothing is left."""
    file = tmp_path / path
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ArenaError) as refused:
        import_results(file, home=tmp_path / "home", **options)
    said = str(refused.value)
    assert "\n" not in said and said.replace("٣", "3").isprintable() and len(said) < 500
    assert not (tmp_path / "home").exists()
    return said


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, case):
    content, expected = REFUSED[case]
    said = refusal(tmp_path, "bad.csv", content)
    assert said.startswith(f"{tmp_path}/bad.csv") and expected in said


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"match": 1, "bot": "a", "place": 1}\n{"match": 1', "line 2: is no JSON"),
        ('{"match": 1, "bot": "a", "place": NaN}\n', "line 1: is no JSON: NaN is no number"),
        ('{"match": 1, "match": 2, "bot": "a", "place": 1}\n', "line 1: is no JSON: a key occurs twice"),
        ('{"match": 1, "bot": ["a"], "place": 1}\n', "line 1, column 'bot': ['a'] is no text"),
        ('{"match": 1, "bot": "a", "place": true}\n', "line 1, column 'place': 'True' is no number"),
        ('{"match": 1, "bot": "a", "place": 1}\n{"match": 1, "place": 2}\n', "line 2, column 'bot': is empty"),
        ("[1]\n", "line 1: is no JSON object"),
        ("[" * 100_000, "line 1: is no JSON: nested too deep"),
        ('{"match": 1, "bot": "a", "place": ' + "9" * 5000 + "}\n", "line 1: is no JSON: a number has 5,000 digits"),
    ],
)
def test_wrong_json_lines_are_refused_in_one_line(tmp_path, content, expected):
    assert expected in refusal(tmp_path, "bad.jsonl", content)


def test_wrong_parquet_is_refused_in_one_line(tmp_path):
    refused = refusal(tmp_path, "bad.parquet", b"PAR1" + b"\0" * 50 + b"PAR1")
    assert re.search(r"is no Parquet file: \S+ \S+", refused), "it says why"
    whole = write(tmp_path / "good.parquet", results(0, matches=400)).read_bytes()
    broken = bytearray(whole)
    broken[100 : len(broken) // 2] = bytes(len(broken) // 2 - 100)
    assert "bad.parquet" in refusal(tmp_path, "bad.parquet", bytes(broken))
    pd.DataFrame({"match": [1, 1], "bot": ["a", "b"], "place": [1.0, None]}).to_parquet(tmp_path / "bad.parquet")
    assert "line 2: has neither a place nor a score" in refusal(tmp_path, "bad.parquet", None)
    pd.DataFrame({"match": [1], "bot": [b"a"], "place": [1]}).to_parquet(tmp_path / "bad.parquet")
    assert "line 1, column 'bot': b'a' is no text" in refusal(tmp_path, "bad.parquet", None)


def test_texts_of_parquet_that_unpack_to_much_memory_are_refused_before_that(tmp_path):
    rows = 4096
    frame = pd.DataFrame({"match": [row // 2 for row in range(rows)], "bot": ["a", "b"] * (rows // 2), "place": 1})
    frame["block"] = pd.Categorical(["x" * 100_000] * rows)
    frame.to_parquet(tmp_path / "bad.parquet")
    assert (tmp_path / "bad.parquet").stat().st_size < 100_000
    pool = pa.default_memory_pool()
    before = pool.max_memory()
    assert "column 'block': has a cell of 100,000 bytes" in refusal(tmp_path, "bad.parquet", None)
    assert pool.max_memory() < before + 100_000_000, "unpacked, they are 400 MB"


def test_parquet_that_unpacks_to_more_than_it_says_is_refused_and_takes_no_more_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(
        rows, "MAX_ROW_GROUP_BYTES", 2**62
    )  # as if the file's own counts were forged: they are only read
    monkeypatch.setattr(rows, "MAX_MEMORY_BYTES", 2**28)
    names = pa.chunked_array([["x" * 1_000_000 + str(row)] for row in range(600)])
    table = pa.table({"match": ["1"] * 600, "bot": names, "place": [1] * 600})
    pq.write_table(table, tmp_path / "bad.parquet", compression="zstd", use_dictionary=False, write_statistics=False)
    assert (tmp_path / "bad.parquet").stat().st_size < 1_000_000
    del table, names
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert "after row 0: unpacks to more than" in refusal(tmp_path, "bad.parquet", None)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_more_columns_than_are_read_are_refused_whatever_they_are_called(tmp_path, kind):
    names = ["match", "bot", "place", *(f"c{number}" for number in range(MAX_COLUMNS))]
    row = dict.fromkeys(names, "1")
    if kind == "parquet":
        pq.write_table(pa.table({name: ["1"] for name in names}), tmp_path / "bad.parquet")
    content = {"csv": ",".join(names) + "\n", "jsonl": json.dumps(row) + "\n", "parquet": None}[kind]
    assert said_of_columns(tmp_path, f"bad.{kind}", content) == "has 1,003 columns; up to 1,000 are read"


def said_of_columns(tmp_path, path, content):
    """What is said of a file, after its name."""
    return refusal(tmp_path, path, content).partition(": ")[2]


def test_categories_of_parquet_are_read_as_what_they_stand_for(tmp_path):
    frame = pd.DataFrame({"match": [1, 1], "bot": ["a", "b"], "place": [1, 2], "seat": [0, 1], "other": [[1], [2]]})
    frame.astype({name: "category" for name in ("match", "bot", "place", "seat")}).to_parquet(tmp_path / "good.parquet")
    assert import_results(tmp_path / "good.parquet", "good", home=tmp_path).built.matches == 1


def test_nested_columns_of_parquet_are_refused(tmp_path):
    pd.DataFrame({"match": [1, 1], "bot": [["a"], ["b"]], "place": [1, 2]}).to_parquet(tmp_path / "bad.parquet")
    assert "column 'bot': holds lists or records" in refusal(tmp_path, "bad.parquet", None)


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv: cannot be read: is a directory" in refusal(tmp_path, "folder.csv", None)
    assert "none.csv: cannot be read: no such file" in refusal(tmp_path, "none.csv", None)
    assert "results are read from CSV, JSON Lines and Parquet" in refusal(tmp_path, "results.xlsx", b"PK")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"name": "../x"}, "--name ../x: must be 1 to 64 letters"),
        ({"name": "compare"}, "--name compare: is the folder of comparisons"),
        ({"game": "a b"}, "--game a b: must be 1 to 64 letters"),
        ({"columns": {"bot": "bott"}}, "has no column 'bott' for bot; did you mean 'bot'?"),
    ],
)
def test_wrong_options_are_refused(tmp_path, options, expected):
    assert expected in refusal(tmp_path, "a.csv", HEAD + GOOD, **options)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("player=bot", "--columns: nothing is called 'player'"),
        ("bot", "--columns: 'bot' is not of the form match=NAME"),
        ("bot=a,bot=b", "--columns: bot is given twice"),
    ],
)
def test_wrong_columns_are_refused(tmp_path, capsys, columns, expected):
    (tmp_path / "a.csv").write_text(HEAD + GOOD)
    command = ["import-results", str(tmp_path / "a.csv"), "--columns", columns, "--home", str(tmp_path / "home")]
    assert run_command(command) == 2
    assert expected in capsys.readouterr().err and not (tmp_path / "home").exists()


def test_an_existing_name_is_refused_and_stays_as_it_is(tmp_path):
    file = write(tmp_path / "a.csv", results(0))
    log = import_results(file, home=tmp_path / "home").log
    before = log.read_bytes()
    with pytest.raises(ArenaError, match="a: exists already; imported results are a tournament of their own"):
        import_results(file, home=tmp_path / "home")
    (tmp_path / "home" / "folder").mkdir()
    with pytest.raises(ArenaError, match="folder: exists already"):
        import_results(file, name="folder", home=tmp_path / "home")
    assert log.read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == ["a", "folder"]


def test_an_error_in_the_last_row_leaves_what_was_there(tmp_path):
    rows = results(0, matches=3000)
    good, bad = write(tmp_path / "good.csv", rows), write(tmp_path / "bad.csv", [*rows, {**rows[0], "match": "last"}])
    import_results(good, home=tmp_path / "home")
    with pytest.raises(ArenaError, match=f"line {len(rows) + 2:,}: match 'last' of chess has 1 row"):
        import_results(bad, home=tmp_path / "home")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["good"]


def test_blocks_too_uneven_to_be_rated_are_refused(tmp_path):
    lines = [f"{n},{bot},{bot},{'all' if n < 20_000 else n}" for n in range(25_000) for bot in (1, 2)]
    (tmp_path / "a.csv").write_text("match,bot,place,block\n" + "\n".join(lines))
    said = refusal(tmp_path, "a.csv", None)
    assert "column block: 5,001 blocks" in said and "the largest, 'all', with 20,000 matches" in said


@pytest.mark.system
@pytest.mark.parametrize("after", [0.0, 0.4, 1.2])
def test_ctrl_c_leaves_nothing(tmp_path, after):
    file = write(tmp_path / "long.csv", results(0, matches=40_000))
    home = tmp_path / "home"
    command = [*ARENA, "import-results", str(file), "--home", str(home)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not any(home.glob(".import-*/rows.db")):
        time.sleep(0.01)
    time.sleep(after)
    process.send_signal(2)
    assert process.wait(PATIENCE) == 130
    with process.stderr as said:
        assert "Traceback" not in said.read()
    assert not home.exists()


def test_names_with_a_meaning_elsewhere_are_taken_as_they_are(tmp_path):
    names = ["<b>x</b>", "=1+1", "a,b", "| x |", "a/b", "עברית", "{{ 7*7 }}", "n" * 200, "a:b=c", "o'x", "a@b"]
    rows = [{"match": n, "bot": bot, "place": n % 3 + 1} for n, bot in enumerate(names) for bot in (bot, names[n - 1])]
    import_results(write(tmp_path / "a.csv", rows), home=tmp_path)
    (board,) = api.leaderboard("a", home=tmp_path).values()
    assert set(board["bot"]) == set(names)
    for path in api.export("a", home=tmp_path, what=["leaderboards", "crosstable", "matches"], formats=["csv", "html"]):
        text = path.read_text()
        assert "<b>" not in text if path.suffix == ".html" else not re.search(r"(^|,)=1", text, re.MULTILINE)
