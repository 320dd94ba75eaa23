"""What the documentation shows of the history of measurements."""

from dataclasses import replace

from benchmarks import history
from benchmarks.figures import Figure
from benchmarks.sections import SECTIONS


def test_the_short_table_has_the_newest_figure_of_each_row_and_leaves_out_what_was_never_measured(tmp_path):
    path = tmp_path / "history.jsonl"
    start, verify = Figure("worker's start", 0.5, "s", "lower", 0.04), Figure("one core", 9.0, "matches/s", "higher")
    playouts = [
        Figure(f"{game}, 2 players", 87.5, "M actions/s", "higher", 0.01) for game in ("epicycle", "magic_mids")
    ]
    history.append(history.measurement_data("1" * 10, False, {"arena": [start], "verify": [verify]}), path)
    history.append(history.measurement_data("2" * 10, False, {"engine": playouts}), path)
    history.append(history.measurement_data("3" * 10, False, {"arena": [replace(start, value=0.25)]}), path)
    rows = [line for line in history.summary_table(path).splitlines() if line.startswith("| ")][2:]
    assert rows == [
        "| random playouts in one compiled call, 2 players "
        "| epicycle 87.5, magic mids 87.5 | M actions/s | `2222222222` |",
        "| a worker, forked from the preloaded parent | 0.25 (40 ms) | s | `3333333333` |",
    ]
    assert "`1111111111`" not in history.summary_table(path)  # a measurement of which nothing is shown


def test_every_row_of_the_short_table_names_a_section():
    assert {section for _, section, _ in history.SUMMARY_ROWS} <= SECTIONS.keys()
