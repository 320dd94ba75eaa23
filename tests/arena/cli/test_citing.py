"""`arena cite` prints an entry for the arena, and how a tournament is reproduced."""

import pytest

from arena.cli.app import run_command
from tests.support.samples import fill, schedule


@pytest.mark.parametrize(
    ("format", "begin"), [("bibtex", "@misc{pyramid_arena,"), ("text", "The Pyramid Arena authors"), ("cff", "cff-")]
)
def test_the_arena_is_cited_in_every_format(capsys, format, begin):
    assert run_command(["cite", "--format", format]) == 0
    assert capsys.readouterr().out.startswith(begin)


def test_a_tournament_is_cited_by_the_hash_of_its_plan(capsys, tmp_path):
    fill(tmp_path / "matches.db", schedule(["alice", "bob"]))
    assert run_command(["cite", str(tmp_path / "matches.db")]) == 0
    comment = capsys.readouterr().out.splitlines()[-1]
    assert comment.startswith("% The plan (plan.json, BLAKE2b-256 ")


def test_nothing_is_printed_for_a_tournament_that_is_not_there(capsys, tmp_path):
    assert run_command(["cite", "none", "--home", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
