"""What is kept of measurements: a report as JSON, the history by commit and machine, tables for the documentation."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, number, span
from benchmarks.sections import SECTIONS

HISTORY = Path(__file__).resolve().parent / "history.jsonl"
LIBRARIES = ("numpy", "numba", "pandas", "ray", "open_spiel", "pettingzoo", "kaggle-environments")
SHOWN_MEASUREMENTS = 3
"""Measurements of a section that a page shows, the newest ones."""
SUMMARY_ROWS = (
    ("random playouts in one compiled call, 2 players", "engine", ", 2 players"),
    ("`legal_actions` and `apply_action` from Python", "state", ": legal_actions + apply_action"),
    ("random matches of connect four by `State` from Python", "state", "connect four: random matches"),
    ("the same loop over OpenSpiel's C++ states", "state", "connect four, OpenSpiel's State"),
    ("random matches of connect four, PettingZoo", "state", "connect four, PettingZoo"),
    ("`uct`, 2 players", "search", ", 2 players, 1,000 a move"),
    ("connect four, OpenSpiel's MCTS bot in C++", "search", "connect four, OpenSpiel's MCTS"),
    ("the same budget, `uct` against it", "search", "connect four, ours against OpenSpiel's MCTS"),
    ("`random` against `random` through the whole arena on one core, log included", "arena", ", one core"),
    ("the driver's part of such a match", "arena", ", one core: driver"),
    ("a worker, forked from the preloaded parent", "arena", "worker's start"),
    ("`arena --help`", "arena", "arena --help"),
    ("`arena match` with a warm cache", "arena", "arena match, warm cache"),
    ("`arena verify`", "verify", "one core, without the start"),
    ("`make demo` with nothing compiled", "cold", "make demo, cold"),
    ("`make demo` with everything compiled", "cold", "make demo, warm"),
)
"""Rows of the short table: what, section, and how the names of its figures end."""
Measurement = dict[str, Any]


def measurement_data(commit: str, full: bool, sections: Mapping[str, Sequence[Figure]]) -> Measurement:
    """Return a measurement as data for JSON: commit, machine, versions, and figures by section."""
    figures = {name: [compact(figure) for figure in found] for name, found in sections.items() if found}
    about = {"commit": commit, "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"), "full": full}
    return {**about, "machine": machine(), "versions": versions(), "sections": figures}


def compact(figure: Figure) -> dict[str, Any]:
    """Return a figure's fields without empty ones, with six digits of its numbers."""
    fields = {key: value for key, value in asdict(figure).items() if value not in (None, "")}
    return {key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in fields.items()}


def machine() -> dict[str, Any]:
    """Return what the figures depend on of this machine, nothing by which it could be found."""
    models = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = [int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    return {
        "processor": (models or [platform.machine()])[0],
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory[0] / 2**20) if memory else 0,
        "load": round(os.getloadavg()[0], 1),
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that are installed."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def append(measured: Measurement, path: Path = HISTORY) -> None:
    """Add a measurement to the history."""
    with path.open("a") as file:
        file.write(json.dumps(measured, ensure_ascii=False) + "\n")


def tables(path: Path = HISTORY) -> str:
    """Return the history as Markdown: for each section a table with a column for each of its newest measurements."""
    runs, parts = measurements(path), []
    for section, about in SECTIONS.items():
        shown = [run for run in runs if section in run["sections"]][-SHOWN_MEASUREMENTS:]
        if not shown:
            continue
        figures = [{figure["name"]: figure for figure in run["sections"][section]} for run in shown]
        rows = [["figure", "unit", "better", *(f"`{run['commit']}`" for run in shown)], ["---"] * (3 + len(shown))]
        for name in dict.fromkeys(name for found in figures for name in found):
            known = next(found[name] for found in reversed(figures) if name in found)
            cells = [cell(found.get(name)) for found in figures]
            rows.append([name, known["unit"], known["better"], *cells])
        parts.append(f"## {section}\n\n{about[0].upper()}{about[1:]}.\n")
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n")
        parts += [f"- {heading(run)}" for run in shown] + [""]
    return "\n".join(parts)


def measurements(path: Path = HISTORY) -> list[Measurement]:
    """Return what the history holds, the oldest first."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def summary_table(path: Path = HISTORY) -> str:
    """Return the newest figures of `SUMMARY_ROWS` as one Markdown table; what was never measured is left out."""
    runs, rows, used = measurements(path), [("", "measured", "unit", "measurement"), ("---",) * 4], list[Measurement]()
    for what, section, ending in SUMMARY_ROWS:
        for run in reversed(runs):
            named = ((figure["name"], figure) for figure in run["sections"].get(section, ()))
            found = [(name.removesuffix(ending), figure) for name, figure in named if name.endswith(ending)]
            if found:
                unit = found[0][1]["unit"]
                shown = cell if unit == "s" else lambda figure: number(figure["value"])
                texts = (f"{name.replace('_', ' ')} {shown(figure)}".strip() for name, figure in found)
                rows.append((what, ", ".join(texts), unit, f"`{run['commit']}`"))
                used += [run] * (run not in used)
                break
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", *(f"- {heading(run)}" for run in used), ""])


def cell(figure: dict[str, Any] | None) -> str:
    """Return a figure's value, with its processor time in brackets; nothing for none."""
    if figure is None:
        return ""
    return (
        f"{number(figure['value'])} ({span(figure['processor'])})" if "processor" in figure else number(figure["value"])
    )


def heading(run: Measurement) -> str:
    """Return when and on what a measurement was taken."""
    at, libraries = run["machine"], ", ".join(f"{name} {which}" for name, which in run["versions"].items())
    size = "full" if run["full"] else "short"
    return (
        f"`{run['commit']}`: {run['date']} UTC, {size}; {at['cores']} cores of {at['processor']}, "
        f"{at['memory_gb']} GB, load {at['load']}; {libraries}"
    )
