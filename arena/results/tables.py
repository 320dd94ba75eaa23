"""Tables as CSV, JSON, Markdown, Parquet, HTML or LaTeX."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from tabulate import tabulate

from arena.results.columns import as_text, format_of
from engine.errors import one_line

HTML_PAGE = """<!DOCTYPE html>
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
MARKDOWN_SPECIAL = re.compile(r"[\\`*<>\[\]|~&]|(?<![^\W_])_|_(?![^\W_])")
"""Markup of Markdown and HTML; underscores inside words are none."""
COMMAND = re.compile(r"`(arena [^`]*)`")
"""A command in a text: any other backtick may be of a name in a log."""
CSV_FORMULA = re.compile(r"^'*[=+@\t\r-]")
"""Beginning of a formula of spreadsheets, also behind apostrophes."""
LATEX_ESCAPES = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    **{"^": "\\^{}", "~": "\\textasciitilde{}", "\\": "\\textbackslash{}"},
    **{letter: f"\\ensuremath{{{letter}}}" for letter in "<>"},
}
MINUS = re.compile(r"(?<![\w$}-])-(?=[0-9])")
"""A hyphen in front of a number, in LaTeX."""
HASH = re.compile(r"\b[0-9a-f]{32,}\b")
LATEX_TABLE = """% {title}; needs \\usepackage{{booktabs}}
{table}
"""


def _tabulated(frame: pd.DataFrame, style: str, escape: Callable[[str], str] = str) -> str:
    """Return a frame as `tabulate` lays it out, in the formats of its columns, numbers to the right."""
    numeric = [is_numeric_dtype(kind) and not is_bool_dtype(kind) for kind in frame.dtypes]
    forms = [format_of(str(name)) for name in frame.columns]
    cells = [
        [escape(one_line(as_text(value, form))) for value, form in zip(row, forms, strict=True)]
        for row in frame.astype(object).to_numpy().tolist()
    ]
    align = ["right" if each else "left" for each in numeric]
    return tabulate(cells, [escape(str(name)) for name in frame.columns], style, colalign=align, disable_numparse=True)


def markdown(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table; no text in it means anything to Markdown or HTML."""
    return _tabulated(frame, "pipe", _escaped) + "\n"


def markdown_text(text: str) -> str:
    """Return a text for Markdown; nothing in it but commands in backticks means anything to Markdown or HTML."""
    parts = COMMAND.split(one_line(text))
    return "".join(f"`{part}`" if place % 2 else _escaped(part) for place, part in enumerate(parts))


def latex_text(text: str) -> str:
    """Return a text for LaTeX; commands in backticks are code, nothing else means anything to LaTeX."""
    parts = COMMAND.split(one_line(text))
    escaped = [printed_latex("".join(LATEX_ESCAPES.get(letter, letter) for letter in part)) for part in parts]
    return "".join(f"\\texttt{{{part}}}" if place % 2 else part for place, part in enumerate(escaped))


def printed_latex(text: str) -> str:
    """Return escaped LaTeX in which all letters are printed as they are, with minus signs and breaks in hashes."""
    text = MINUS.sub("$-$", text).replace("--", "-{}-").replace("|", "\\ensuremath{|}").replace('"', '\\texttt{"}')
    return HASH.sub(lambda found: "\\allowbreak{}".join(re.findall(".{1,8}", found[0])), text)


def _escaped(text: str) -> str:
    return MARKDOWN_SPECIAL.sub(r"\\\g<0>", text)


def html_page(title: str, frame: pd.DataFrame) -> str:
    """Return a frame as an HTML page that needs no other file."""
    return HTML_PAGE.format(title=html.escape(one_line(title)), table=_tabulated(frame, "html"))


def latex(title: str, frame: pd.DataFrame) -> str:
    """Return a frame as a LaTeX `tabular` for `\\input`."""
    table = re.sub(r"^( *)([\[*])", r"\1{}\2", _tabulated(frame, "latex_booktabs"), flags=re.MULTILINE)
    return LATEX_TABLE.format(title=one_line(title), table=printed_latex(table))


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain data; missing values are None."""
    return json.loads(frame.to_json(orient="records", double_precision=10))


def as_csv(frame: pd.DataFrame, header: bool = True) -> str:
    """Return a frame as CSV; texts that a spreadsheet would take for formulas begin with an apostrophe."""
    texts = [name for name, kind in frame.dtypes.items() if not is_numeric_dtype(kind)]
    shown = frame.assign(**{str(name): frame[name].map(_csv_text) for name in texts})
    return shown.to_csv(index=False, header=header, lineterminator="\n")


def _csv_text(cell: Any) -> Any:
    return CSV_FORMULA.sub(r"'\g<0>", one_line(cell)) if isinstance(cell, str) else cell


def from_csv(cell: str) -> str:
    """Return a text as it was before `as_csv`."""
    return cell[1:] if cell[:1] == "'" and CSV_FORMULA.match(cell[1:]) else cell


def render_frame(frame: pd.DataFrame, kind: str, title: str) -> bytes:
    """Return a frame as csv, md, parquet, html or tex; md, html and tex have the title."""
    if kind == "parquet":
        return frame.to_parquet(index=False)
    if kind == "csv":
        return as_csv(frame).encode()
    if kind == "md":
        return f"# {_escaped(one_line(title))}\n\n{markdown(frame)}".encode()
    return {"html": html_page, "tex": latex}[kind](title, frame).encode()


def select_columns(frame: pd.DataFrame, wanted: Sequence[str]) -> pd.DataFrame:
    """Return the wanted columns that a frame has, in that order; without any wanted, all."""
    return frame[[name for name in wanted if name in frame.columns]] if wanted else frame
