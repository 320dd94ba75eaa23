"""`python -m benchmarks`, which `make bench` runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arena.core.files import write_file
from benchmarks import history
from benchmarks.checkouts import BenchError, Checkout, other_checkout, this_checkout
from benchmarks.figures import Figure, Skipped, number, span
from benchmarks.paired import ComparedFigure, measure_pairs
from benchmarks.sections import BY_NAME, SECTIONS
from engine.errors import did_you_mean

REPORT_PATH = Path("reports/bench.json")


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    listed = "\n".join(f"  {name:10} {about}{' *' * (name in BY_NAME)}" for name, about in SECTIONS.items())
    made = argparse.ArgumentParser(
        "python -m benchmarks",
        description=f"Measure this installation.\n\nsections:\n{listed}\n  (* only when named)",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("sections", nargs="*", metavar="SECTION", help="what to measure; `list` lists the sections")
    made.add_argument("--full", action="store_true", help="measure longer, with larger logs")
    made.add_argument(
        "--json",
        type=Path,
        default=REPORT_PATH,
        metavar="FILE",
        help=f"figures as REPORT_PATH (default: {REPORT_PATH})",
    )
    made.add_argument("--record", action="store_true", help=f"append the figures to benchmarks/{history.HISTORY.name}")
    made.add_argument("--against", metavar="CHECKOUT", help="a folder or commit to compare with, in turn")
    made.add_argument("--pairs", type=int, default=10, metavar="N", help="runs of each side (default: 10)")
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Measure what is asked for; return the exit code."""
    options = parser().parse_args(words)
    if options.sections == ["list"]:
        print(parser().description)
        return 0
    try:
        unknown = [name for name in options.sections if name not in SECTIONS]
        if unknown:
            raise BenchError(f"no section '{unknown[0]}'{did_you_mean(unknown[0], SECTIONS)}")
        if options.pairs < 2 or (options.against and options.record):
            raise BenchError("--pairs must be 2 or more" if options.pairs < 2 else "--record goes without --against")
        here = this_checkout()
        if options.record and (not here.commit or here.commit.endswith("+")):
            raise BenchError("--record needs a commit of all that is measured; commit first, in a git checkout")
        sections = options.sections or [name for name in SECTIONS if name not in BY_NAME]
        if options.against:
            return compare(here, other_checkout(options.against), sections, options)
        return measure(here, sections, options)
    except (BenchError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; nothing is written", file=sys.stderr)
        return 130


def measure(here: Checkout, sections: Sequence[str], options: argparse.Namespace) -> int:
    """Measure sections, print a table of each as soon as it is there, and write them as JSON."""
    figures, skipped = {}, list[Skipped]()
    for section in sections:
        found = []
        for each in here.measure(section, options.full):
            found.append(each)
            print(f"{section}: {each.name}", file=sys.stderr)
        figures[section] = [each for each in found if isinstance(each, Figure)]
        rows = [
            (each.name, number(each.value), each.unit, each.better, span(each.processor), each.note)
            for each in figures[section]
        ]
        print_table(section, ("figure", "measured", "unit", "better", "processor time of one", ""), rows)
        skipped += print_skipped([each for each in found if isinstance(each, Skipped)])
    report = history.measurement_data(here.commit, options.full, figures)
    write_json(report, options.json)
    if options.record:
        history.append(report)
        print(f"Appended to {history.HISTORY.name}")
    return int(any(each.failed for each in skipped))


def compare(here: Checkout, other: Checkout, sections: Sequence[str], options: argparse.Namespace) -> int:
    """Measure sections in two checkouts in turn, print the ratios, and write them as JSON."""
    everything: dict[str, list[ComparedFigure]] = {}
    all_skipped = list[Skipped]()
    for section in sections:
        rows, skipped = measure_pairs(
            (here, other), section, options.pairs, options.full, lambda line: print(line, file=sys.stderr)
        )
        everything[section] = rows
        print_table(
            f"{section}: {here.commit or 'this'} against {other.commit or 'the other'}, {options.pairs} pairs",
            ("figure", "unit", "this", "other", "this by other, 95 %", "processor seconds", ""),
            [row.cells() for row in rows],
        )
        all_skipped += print_skipped(skipped)
    report = history.measurement_data(here.commit, options.full, {})
    report |= {"against": other.commit, "pairs": options.pairs}
    report["sections"] = {
        section: [
            {**history.compact(row.figure), "other": row.other, "ratio": row.value, "processor_ratio": row.processor}
            for row in rows
        ]
        for section, rows in everything.items()
    }
    write_json(report, options.json)
    return int(any(each.failed for each in all_skipped))


def write_json(report: history.Measurement, path: Path) -> None:
    """Write a report, and say where and when it was measured."""
    write_file(path, [json.dumps(report, indent=1, ensure_ascii=False).encode(), b"\n"])
    print(f"\n{history.heading(report)}\nFigures as REPORT_PATH: {path}")


def print_skipped(skipped: Sequence[Skipped]) -> Sequence[Skipped]:
    """Print a line for each thing that could not be measured; return them."""
    for each in skipped:
        print(f"skipped: {each.name}: {each.why}")
    return skipped


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that folds what is too wide."""
    table = Table(title=title, title_justify="left")
    for column in header:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, width=None if sys.stdout.isatty() else 150).print(table)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
