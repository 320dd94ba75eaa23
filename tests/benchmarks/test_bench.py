"""Benchmarks: figures with their direction, other libraries beside ours, two checkouts in turn, a history."""

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from itertools import count
from types import SimpleNamespace

import pytest

import engine
from arena.core.paths import ROOT
from benchmarks import checkouts, history
from benchmarks.__main__ import main
from benchmarks.checkouts import BenchError, Checkout, commit_of, git, other_checkout, this_checkout
from benchmarks.figures import Figure, Seconds, Skipped, lasting, rate, span, tree_seconds
from benchmarks.paired import compared, measure_pairs, ratio_of
from benchmarks.sections import BY_NAME, SECTIONS, arena, measure, state


def figure(value, name="matches", processor=None):
    return Figure(name, value, "matches/s", "higher", processor)


# Sections


def test_every_section_has_a_module_and_those_by_name_are_sections():
    modules = {path.stem for path in (ROOT / "benchmarks" / "sections").glob("*.py")} - {"__init__"}
    assert modules == set(SECTIONS)
    assert set(BY_NAME) < set(SECTIONS)


def test_a_rate_has_the_processor_seconds_of_one_unit_of_work():
    assert rate("x", "M actions/s", 4e6, Seconds(2.0, 1.0), 1e6) == Figure("x", 2.0, "M actions/s", "higher", 0.25)
    assert [span(x) for x in (None, 12.34, 0.5, 4e-6, 3e-8)] == ["", "12.3 s", "500 ms", "4 µs", "30 ns"]
    assert lasting("x", Seconds(0.002, 0.001), "ms").value == 2


def test_the_processor_time_of_living_children_counts():
    with subprocess.Popen([sys.executable, "-c", "sum(range(10**7)); print(1, flush=True); input()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:  # fmt: skip
        before = tree_seconds()
        child.stdout.readline()
        assert tree_seconds() > before
        child.communicate(b"\n")


def test_the_processor_time_of_orphans_counts():
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    leaves = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {busy!r}])"
    script = (
        "import sys; from benchmarks.figures import command; print(command([sys.executable, '-c', sys.argv[1]], 1)[1])"
    )
    told = subprocess.run([sys.executable, "-c", script, leaves], capture_output=True, text=True, check=True, cwd=ROOT)
    assert float(told.stdout) > 0.3


def test_another_library_is_measured_in_turn_with_ours(monkeypatch):
    calls, took = [], {"ours": count(0.9, -0.1), "theirs": count(7.0, -1.0)}

    def timed(call):
        call()
        return Seconds(99.0, next(took[calls[-1]]))  # the fifth is the shortest: 0.5 and 3

    monkeypatch.setattr(state, "timed", timed)
    ours, theirs = (partial(calls.append, name) for name in ("ours", "theirs"))
    their_rate, times = state.beside("Theirs", ours, 20, lambda many: theirs, 3, "theirs", "matches/s")
    assert calls == ["theirs", *["ours", "theirs"] * 5], "once without a clock, to be warm"
    assert (their_rate.name, times.name) == ("connect four, Theirs", "connect four, ours against Theirs")
    assert their_rate.value == pytest.approx(3 / 3.0)
    assert times.value == pytest.approx((3.0 / 3) / (0.5 / 20))


def test_a_library_that_is_missing_says_how_to_get_it():
    def make(count):
        raise ModuleNotFoundError("no such library")

    found = list(state.beside("Absent", lambda: None, 1, make, 1, "absent[extra]", "matches/s"))
    assert found == [Skipped("Absent", "not installed: pip install absent[extra]")]


def test_without_connect_four_the_section_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(engine, "game_names", lambda: ["epicycle"])
    *_, last = measure("state", False)
    assert last == Skipped("connect four", "not installed: pip install --editable examples/connect_four")


def test_a_run_is_measured_between_its_first_reply_and_its_end(monkeypatch):
    clock = SimpleNamespace(monotonic=count(100.0, 8.0).__next__, process_time=count(1.0, 0.5).__next__)
    monkeypatch.setattr(arena, "time", clock)
    monkeypatch.setattr(arena, "tree_seconds", count(3.0, 2.0).__next__)
    watch = arena.RunClock()
    for played in (0, 30, 60, 200):
        watch(SimpleNamespace(played=played, total=200))
    assert watch.between() == (170, Seconds(8.0, 2.0), 0.5)


def test_a_run_tells_its_watch_of_its_first_matches_and_of_the_last(tmp_path):
    first, last = arena.play(arena.random_matches(200), tmp_path, 1).looks
    assert 0 < first[0] <= last[0] == 200
    assert all(before <= after for before, after in zip(first, last, strict=True))


# Two checkouts


def test_a_section_is_measured_in_a_process_with_the_code_of_its_checkout(monkeypatch, tmp_path):
    sections = tmp_path / "benchmarks"
    (sections / "sections").mkdir(parents=True)
    for name in ("__init__.py", "figures.py", "sections/__init__.py"):
        (sections / name).write_text((ROOT / "benchmarks" / name).read_text())
    (sections / "sections" / "engine.py").write_text(
        "import os\nfrom benchmarks.figures import Figure, Skipped\n"
        "def measure(full):\n"
        "    print('noise')\n"
        "    yield Figure(os.getcwd(), 1.5, 's', 'lower')\n"
        "    yield Skipped('that', 'why')\n"
        "    raise ValueError('broke')\n"
    )
    monkeypatch.setattr(checkouts, "BENCHMARKS_FOLDER", sections)
    found = list(Checkout(ROOT, sys.executable, "").measure("engine", False))
    assert found == [
        Figure(str(ROOT), 1.5, "s", "lower"),
        Skipped("that", "why"),
        Skipped("engine", "failed: ValueError: broke", failed=True),
    ]


def test_a_commit_is_unpacked_once_and_runs_its_own_code(tmp_path, monkeypatch):
    commit = git("rev-parse", "HEAD")
    if not commit:
        pytest.skip("needs a git checkout")
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path))
    other = other_checkout("HEAD")
    assert (other.commit, other.root) == (commit[:10], tmp_path / "bench" / commit / "tree")
    script = "import arena, connect_four, numpy; print(arena.__file__); print(connect_four.__file__)"
    told = subprocess.run([other.python, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert [line.startswith(str(other.root)) for line in told.stdout.splitlines()] == [True, True]
    (other.root / "mark").touch()
    assert (other_checkout("HEAD").root / "mark").exists()


def test_what_is_no_checkout_is_told_in_one_line(tmp_path, monkeypatch):
    with pytest.raises(BenchError, match="no such folder, and no commit that git knows here"):
        other_checkout("nothing-of-that-name")
    with pytest.raises(BenchError, match=re.escape(f"{tmp_path}: is not a checkout with a .venv")):
        other_checkout(str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_of(ROOT) == ""
    with pytest.raises(BenchError, match="no commit that git knows here"):
        other_checkout("HEAD")


def test_the_interval_of_paired_ratios_is_students_of_their_logarithms():
    ratio = ratio_of([(2.0, 1.0), (4.0, 1.0), (8.0, 1.0)])
    half = 4.302652729911275 * math.log(2) / math.sqrt(3)  # Student's t with two degrees of freedom, 97.5 %
    assert ratio.mean == pytest.approx(4)
    assert (math.log(ratio.low), math.log(ratio.high)) == pytest.approx((math.log(4) - half, math.log(4) + half))
    assert ratio_of([(2.0, 1.0), (0.0, 1.0)]) is None
    assert ratio_of([(2.0, 1.0)]) is None


def test_a_verdict_needs_an_interval_without_one_and_knows_the_direction():
    rates = [{"matches": figure(100 + n, processor=0.5)} for n in range(5)]
    slower = [{"matches": figure(50 + n, processor=1.0)} for n in range(5)]
    (row,) = compared(rates, slower)
    assert (row.verdict, row.processor.mean) == ("better", pytest.approx(0.5))
    (row,) = compared(slower, rates)
    assert row.verdict == "worse"
    (row,) = compared(rates, rates)
    assert (row.verdict, row.value) == ("", (1, 1, 1))
    lower = [{"matches": replace(each["matches"], better="lower")} for each in rates]
    assert compared(lower, slower)[0].verdict == "worse"


def test_checkouts_are_measured_in_turn_after_a_warm_up_and_a_figure_only_one_has_is_left_out():
    calls = []

    class Fake:
        def __init__(self, name, *names):
            self.name, self.names = name, names

        def measure(self, section, full):
            calls.append(self.name)
            yield from (figure(1.0, name) for name in self.names)
            yield Skipped("a library", "not installed")

    rows, skipped = measure_pairs((Fake("A", "both", "new"), Fake("B", "both")), "engine", 3, False, lambda line: None)
    assert "".join(calls) == "ABBAABBA"
    assert [row.figure.name for row in rows] == ["both"]
    assert skipped == [Skipped("a library", "not installed")]


# The command


class Quick(Checkout):
    """A checkout whose every section has one figure."""

    def measure(self, section, full):
        yield figure(3.0)


@pytest.fixture
def quick(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(history.append, "__defaults__", (tmp_path / "history.jsonl",))
    checkout = Quick(tmp_path, sys.executable, "0123456789")
    monkeypatch.setattr("benchmarks.__main__.this_checkout", lambda: checkout)
    monkeypatch.setattr("benchmarks.__main__.other_checkout", lambda named: replace(checkout, commit="other"))
    return tmp_path


def test_the_table_has_its_figures_as_json_beside_it_and_is_kept_only_when_asked(quick, capsys):
    assert main(["arena", "engine"]) == 0
    report = json.loads((quick / "reports" / "bench.json").read_text())
    assert list(report["sections"]) == ["arena", "engine"]
    assert report["sections"]["arena"] == [{"name": "matches", "value": 3, "unit": "matches/s", "better": "higher"}]
    assert set(report) == {"commit", "date", "full", "machine", "versions", "sections"}
    assert not (quick / "history.jsonl").exists()
    assert main(["arena", "--record", "--full"]) == 0
    (line,) = (quick / "history.jsonl").read_text().splitlines()
    assert json.loads(line)["full"]
    assert "matches/s" in capsys.readouterr().out


def test_without_a_name_the_sections_of_minutes_are_left_out(quick):
    assert main([]) == 0
    assert set(json.loads((quick / "reports" / "bench.json").read_text())["sections"]) == set(SECTIONS) - set(BY_NAME)


def test_a_section_that_fails_makes_the_command_fail_and_a_missing_library_does_not(quick, monkeypatch, capsys):
    lacks, broke = Skipped("Kaggle", "not installed: pip install it"), Skipped("arena", "failed: it broke", failed=True)
    for skipped, code in ((lacks, 0), (broke, 1)):
        monkeypatch.setattr(Quick, "measure", lambda self, section, full, of=skipped: iter([figure(1.0), of]))
        assert main(["arena"]) == code
        assert f"skipped: {skipped.name}: {skipped.why}" in capsys.readouterr().out
        assert main(["arena", "--against", "v1", "--pairs", "2"]) == code


def test_two_checkouts_are_compared_with_ratios_as_json(quick, capsys):
    assert main(["arena", "--against", "v1", "--pairs", "2", "--json", "ratios.json"]) == 0
    report = json.loads((quick / "ratios.json").read_text())
    assert (report["against"], report["pairs"]) == ("other", 2)
    assert report["sections"]["arena"][0]["ratio"] == [1, 1, 1]
    assert "0123456789 against other, 2 pairs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["arenna"], "no section 'arenna'; did you mean 'arena'?"),
        (["arena", "--pairs", "1", "--against", "v1"], "--pairs must be 2 or more"),
        (["arena", "--record", "--against", "v1"], "--record goes without --against"),
    ],
)
def test_a_mistake_is_one_line(quick, capsys, words, told):
    assert main(words) == 2
    assert capsys.readouterr().err.strip() == f"error: {told}"


def test_nothing_is_recorded_of_what_no_commit_holds(quick, monkeypatch, capsys):
    for commit in ("", "0123456789+"):
        monkeypatch.setattr("benchmarks.__main__.this_checkout", lambda commit=commit: Quick(quick, "", commit))
        assert main(["arena", "--record"]) == 2
        assert "--record needs a commit" in capsys.readouterr().err
    assert not (quick / "reports").exists()


def test_the_list_names_every_section_in_80_columns(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert [line.split()[0] for line in lines if line.startswith("  ")][: len(SECTIONS)] == list(SECTIONS)


# The history


def test_the_history_names_commits_and_figures_and_nothing_of_where_they_were_measured():
    text = history.HISTORY.read_text()
    for line in text.splitlines():
        run = json.loads(line)
        assert re.fullmatch("[0-9a-f]{10}", run["commit"])
        assert set(run["sections"]) <= set(SECTIONS)
        assert set(run["machine"]) == {"processor", "cores", "memory_gb", "load"}
    assert not re.search(r"/(home|work|root|tmp|usr)\b|://", text)


def test_the_tables_show_the_newest_measurements_of_a_section_side_by_side(tmp_path):
    path = tmp_path / "history.jsonl"
    for number in range(4):
        extra = [figure(5.0, "new", 0.0002)] if number == 3 else []
        history.append(
            history.measurement_data(f"{number}" * 10, False, {"engine": [figure(number + 0.5), *extra]}), path
        )
    text = history.tables(path)
    assert "0000000000" not in text
    assert "| figure | unit | better | `1111111111` | `2222222222` | `3333333333` |" in text
    assert "| matches | matches/s | higher | 1.5 | 2.5 | 3.5 |" in text
    assert "| new | matches/s | higher |  |  | 5 (200 µs) |" in text
    assert history.tables(tmp_path / "none") == ""


def test_this_checkout_is_the_one_of_these_benchmarks():
    assert this_checkout().root == ROOT
