"""The files of a paper: one table over all boards, paragraphs on how it was made and can be made again, references."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from arena.core.citation import bibtex
from arena.core.errors import ConfigError
from arena.core.files import write_file
from arena.results.columns import PAPER, as_text
from arena.results.costs import board_costs
from arena.results.crosstable import board_crosstable, of_bot
from arena.results.leaderboards import leaderboards
from arena.results.methods import Paragraphs, paragraphs
from arena.results.tables import as_csv, latex, latex_text, markdown, records, render_frame, select_columns
from arena.tournament.tournament import Tournament

FORMATS = ("tex", "md", "csv", "json", "parquet")
DEFAULT_FORMATS = ("tex", "md")
FROM_LEADERBOARD = (
    *("rank", "bot", "matches", "rating", "rating_ci_low", "rating_ci_high"),
    *("mean_return", "mean_return_ci_low", "mean_return_ci_high"),
)
FROM_COSTS = ("seconds_per_move", "search_steps_per_move", "visits_per_move")
LEAST_SHOWN_P = 0.001
UNITS = ((1.0, "s", 1.0), (1e-3, "ms", 1e3), (0.0, "µs", 1e6))
"""Least seconds, unit, and how many of it a second is."""


def paper_table(tournament: Tournament) -> pd.DataFrame:
    """Return a row for every bot of every board, best first; columns: `PAPER`."""
    frames = []
    boards = leaderboards(tournament)
    for index, board in enumerate(tournament.schedule.boards):
        ranked = boards[index]
        if ranked.empty:
            continue
        frame = ranked[[*FROM_LEADERBOARD]].assign(game=board.game, players=board.players)
        frames.append(_with_costs(_with_effects(frame, tournament, index), tournament, index))
    if not frames:
        raise ConfigError("paper: no board has a complete block yet")
    return pd.concat(frames, ignore_index=True)[PAPER.names]


def _with_effects(frame: pd.DataFrame, tournament: Tournament, index: int) -> pd.DataFrame:
    """Add how far each bot is behind the first one, with an interval and a p-value for all pairs of the board."""
    first, whole = frame["bot"].iloc[0], board_crosstable(tournament, index)
    adjusted = {
        frozenset(pair): p
        for *pair, p in whole.pairs[["bot", "opponent", "p_adjusted"]].itertuples(index=False, name=None)
    }
    against = of_bot(whole, first).pairs.set_index("opponent")
    behind = {
        "difference": -against["difference"],
        "difference_ci_low": -against["difference_ci_high"],
        "difference_ci_high": -against["difference_ci_low"],
    }
    columns: dict[str, Any] = {name: frame["bot"].map(values) + 0.0 for name, values in behind.items()}
    columns["p_adjusted"] = [adjusted.get(frozenset((first, bot))) for bot in frame["bot"]]
    return frame.assign(**columns).astype({"p_adjusted": float})


def _with_costs(frame: pd.DataFrame, tournament: Tournament, index: int) -> pd.DataFrame:
    costs = board_costs(tournament, index).set_index("bot")
    return frame.assign(**{name: frame["bot"].map(costs[name]) for name in FROM_COSTS})


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as it is printed: the board only where it changes, without columns that are empty."""
    rows = []
    last = None
    for row in table.to_dict("records"):
        board = f"{row['game']}, {row['players']} players"
        rows.append(
            {
                "board": board if board != last else "",
                "#": str(row["rank"]),
                "bot": row["bot"],
                "matches": f"{row['matches']:,}",
                "rating [95 %]": _with_interval(row, "rating", ".2f"),
                "return [95 %]": _with_interval(row, "mean_return", "+.3f"),
                "to the first [95 %]": _effect(row),
                "p (Holm)": p_in_words(row["p_adjusted"]),
                "time a move": duration(row["seconds_per_move"]),
                "searched a move": as_text(row["search_steps_per_move"], ",.0f"),
                "visits a move": as_text(row["visits_per_move"], ",.0f"),
            }
        )
        last = board
    frame = pd.DataFrame(rows)
    return frame[[name for name in frame if (frame[name] != "").any()]]


def _with_interval(row: Mapping[Any, Any], name: str, format: str) -> str:
    low, high = row[f"{name}_ci_low"], row[f"{name}_ci_high"]
    value = as_text(row[name], format)
    return value if pd.isna(low) else f"{value} [{as_text(low, format)}, {as_text(high, format)}]"


def _effect(row: Mapping[Any, Any]) -> str:
    return _with_interval(row, "difference", "+.3f") if not pd.isna(row["difference"]) else ""


def p_in_words(p: float) -> str:
    """Return a p-value as papers print it; empty where there is none."""
    if pd.isna(p):
        return ""
    return f"<{LEAST_SHOWN_P:g}" if p < LEAST_SHOWN_P else f"{p:.3f}"


def duration(seconds: float) -> str:
    """Return a time in a unit that suits it; empty where it is not known."""
    if pd.isna(seconds):
        return ""
    _, unit, factor = next(unit for unit in UNITS if seconds >= unit[0])
    return f"{seconds * factor:.3g} {unit}"


def plan_digest(tournament: Tournament) -> str:
    """Return the BLAKE2b-256 hash of the tournament's plan.json."""
    text = f"{tournament.published().as_json(indent=1)}\n"
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


def paper_formats(formats: Sequence[str]) -> list[str]:
    """Return those of some formats that the table is written in, by default all usual ones; raises `ConfigError`."""
    found = [kind for kind in formats if kind in FORMATS]
    if formats and not found:
        raise ConfigError(f"paper: has no format {', '.join(formats)}; it has {', '.join(FORMATS)}")
    return found or [*DEFAULT_FORMATS]


def paper_files(
    folder: Path, tournament: Tournament, formats: Sequence[str], columns: Sequence[str] = ()
) -> Iterator[tuple[Path, bytes]]:
    """Yield the files of a paper: the table in every format, paragraphs in LaTeX and Markdown, and references."""
    table = paper_table(tournament)
    searched = bool(table["search_steps_per_move"].notna().any())
    told = paragraphs(tournament, plan_digest(tournament), searched)
    wanted = paper_formats(formats)
    for kind in wanted:
        path = folder / f"paper_table.{kind}"
        if kind == "tex":
            yield path, _latex_table(tournament.plan.name, cells(table), told).encode()
        elif kind == "md":
            yield path, f"{markdown(cells(table))}\n{told.caption}\n".encode()
        elif kind == "json":
            yield (
                path,
                f"{json.dumps(records(select_columns(table, columns)), indent=1, ensure_ascii=False)}\n".encode(),
            )
        elif kind == "csv":
            yield path, as_csv(select_columns(table, columns)).encode()
        else:
            yield path, render_frame(select_columns(table, columns), kind, tournament.plan.name)
    yield folder / "paper_methods.md", told.markdown.encode()
    yield folder / "paper_methods.tex", told.latex.encode()
    yield folder / "paper.bib", bibtex().encode()


def _latex_table(name: str, shown: pd.DataFrame, told: Paragraphs) -> str:
    label = "".join(letter for letter in name if letter.isalnum() or letter in "-_")
    return (
        "% needs \\usepackage{booktabs} and \\usepackage{graphicx}\n\\begin{table}\n\\centering\n"
        f"\\caption{{{latex_text(told.caption)}}}\n\\label{{tab:{label}}}\n\\medskip\n\\resizebox{{\\linewidth}}{{!}}{{%\n"
        f"{latex(name, shown)}}}\n\\end{{table}}\n"
    )


def write_paper(
    folder: Path, tournament: Tournament, formats: Sequence[str], columns: Sequence[str] = ()
) -> list[Path]:
    """Write the files of a paper and return their paths."""
    return [write_file(path, [content]) for path, content in paper_files(folder, tournament, formats, columns)]
