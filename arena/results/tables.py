"""One table as a file: CSV, JSON, Markdown, Parquet, an HTML page or LaTeX."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype
from tabulate import tabulate

from arena.core.errors import ConfigError
from engine.errors import did_you_mean, one_line

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; margin: 2em; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 0.2em 0.7em; border-bottom: 1px solid #ccc; text-align: left; }}
</style>
</head>
<body>
<h1>{title}</h1>
{table}
</body>
</html>
"""
MARKDOWN = re.compile(r"[\\`*<>\[\]|~&]|(?<![^\W_])_|_(?![^\W_])")
"""What would be markup; underscores only where they are not inside a word."""
FORMULA = re.compile(r"^'*[=+@\t\r-]")
"""How a text begins that spreadsheets take for a formula, or that is one with apostrophes before it."""
LATEX = """% {title}; needs \\usepackage{{booktabs}}
{table}
"""


def _tabulated(frame: pd.DataFrame, style: str) -> str:
    """A frame as `tabulate` lays it out, numbers aligned; texts stay as they are, also those that look like numbers."""
    texts = [place for place, kind in enumerate(frame.dtypes) if len(frame) and not is_numeric_dtype(kind)]
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return tabulate(
        cells, list(frame.columns), style, floatfmt=".3f", missingval="", disable_numparse=texts, showindex=False
    )


def _on_one_line(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose texts hold nothing that cannot be printed."""
    return frame.map(lambda cell: one_line(cell) if isinstance(cell, str) else cell)


def markdown(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table; texts stand there as they are, and mean nothing to Markdown or HTML."""
    return _tabulated(_on_one_line(frame).map(_escaped).rename(columns=_escaped), "pipe") + "\n"


def _escaped(cell: Any) -> Any:
    return MARKDOWN.sub(r"\\\g<0>", cell) if isinstance(cell, str) else cell


def page(title: str, frame: pd.DataFrame) -> str:
    """A frame as an HTML page that needs no other file."""
    return PAGE.format(title=html.escape(one_line(title)), table=_tabulated(_on_one_line(frame), "html"))


def latex(title: str, frame: pd.DataFrame) -> str:
    """A frame as a LaTeX `tabular`, to be taken in with `input`."""
    table = re.sub(r"^( *)([\[*])", r"\1{}\2", _tabulated(_on_one_line(frame), "latex_booktabs"), flags=re.MULTILINE)
    return LATEX.format(title=one_line(title), table=table)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame's rows as plain data; missing values are None."""
    return json.loads(frame.to_json(orient="records", double_precision=10))


def as_csv(frame: pd.DataFrame, header: bool = True) -> str:
    """A frame as comma-separated values; texts that a spreadsheet would take for formulas begin with an apostrophe."""
    texts = [name for name, kind in frame.dtypes.items() if not is_numeric_dtype(kind)]
    shown = frame.assign(**{str(name): _on_one_line(frame[[name]])[name].map(_no_formula) for name in texts})
    return shown.to_csv(index=False, header=header, lineterminator="\n")


def _no_formula(cell: Any) -> Any:
    return FORMULA.sub(r"'\g<0>", cell) if isinstance(cell, str) else cell


def from_csv(cell: str) -> str:
    """A text as it was before `as_csv`."""
    return cell[1:] if cell[:1] == "'" and FORMULA.match(cell[1:]) else cell


def render_frame(frame: pd.DataFrame, kind: str, title: str) -> bytes:
    """A frame in one of the formats csv, md, parquet, html, tex; of which md, html and tex carry the title."""
    if kind == "parquet":
        return frame.to_parquet(index=False)
    if kind == "csv":
        return as_csv(frame).encode()
    if kind == "md":
        return f"# {_escaped(one_line(title))}\n\n{markdown(frame)}".encode()
    return {"html": page, "tex": latex}[kind](title, frame).encode()


def check_columns(wanted: Sequence[str], known: Sequence[str], table: str) -> None:
    """Raises `ConfigError` for a column that the table does not have, or that is asked for twice."""
    for place, name in enumerate(wanted):
        if name not in known:
            hint = did_you_mean(name, known)
            listed = f" They have {', '.join(known)}" if hint.endswith("?") else ""
            raise ConfigError(f"--columns: {table} have no column '{name}'{hint}{listed}")
        if name in wanted[:place]:
            raise ConfigError(f"--columns: '{name}' is there twice")


def chosen(frame: pd.DataFrame, wanted: Sequence[str]) -> pd.DataFrame:
    """The wanted columns that a frame has, in the order wanted; all when none is named."""
    return frame[[name for name in wanted if name in frame.columns]] if wanted else frame
