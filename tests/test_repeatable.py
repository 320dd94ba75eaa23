"""Property tests draw the same examples, whichever tests have run in the same process before; and in which order."""

import importlib

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import DIVIDED, LONGEST_FIRST, TESTS


def drawn():
    found = []

    @given(st.integers(), st.text())
    def draw(number, text):
        found.append((number, text))

    draw()
    return found


def test_a_module_that_was_loaded_meanwhile_changes_no_example(tmp_path, monkeypatch):
    before = drawn()
    constants = range(8_110_000, 8_110_500)
    (tmp_path / "loaded_meanwhile.py").write_text(f"NUMBERS = [{', '.join(map(str, constants))}]\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("loaded_meanwhile")
    assert drawn() == before


def test_files_that_come_first_or_are_divided_are_there():
    assert [name for name in (*LONGEST_FIRST, *DIVIDED) if not (TESTS / name).exists()] == []
