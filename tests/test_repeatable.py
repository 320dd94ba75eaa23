"""Property tests draw the same examples, whichever tests have run in the same process before; and in which order."""

import importlib
import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import DIVIDED, LONGEST_FIRST, TESTS
from tests.costs import known_costs, quick_cases


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


def test_costs_are_of_tests_that_are_there():
    contract = (TESTS / "engine" / "contract.py").read_text()  # tests that those of games inherit
    named = [test.split("::") for test in known_costs()]
    sources = {file: (TESTS.parent / file).read_text() + contract for file, *_ in named}
    assert [test for file, *_, test in named if f"def {test}(" not in sources[file]] == []


@given(st.integers(1, 300), st.floats(0, 2))
def test_the_short_lane_runs_as_many_cases_as_fit_spread_over_all(count, cost):
    cases = [f"case {number}" for number in range(count)]
    places = [number for number, case in enumerate(cases) if case in quick_cases(cases, cost)]
    assert len(places) == (count if cost * count <= 0.5 else int(0.5 / cost))
    gaps = [after - before for before, after in itertools.pairwise([*places, count])] if places else []
    assert max(gaps, default=0) - min(gaps, default=0) <= 1
