"""Write what pages say of the strength of bots: `python -m scripts.strengths` reads the ladder in `reports/ladder`."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
LADDER, STRENGTHS = ROOT / "reports" / "ladder", ROOT / "arena" / "web" / "strengths.csv"
FILE = re.compile(r"(?P<game>\w+)(?:-(?P<option>\w+)\.(?P<value>\w+))?_(?P<players>\d)p_rungs\.csv")
COLUMNS = ("game", "players", "bot", "mean_return", "low", "high")


def strengths() -> str:
    """Return a row for each bot of each board of the ladder, the best first."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for path in sorted(LADDER.glob("*_rungs.csv")):
        found = FILE.fullmatch(path.name)
        assert found is not None, path
        game = found["game"] + (f"({found['option']}={found['value']})" if found["option"] else "")
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                returns = (row["mean_return"], row["mean_return_ci_low"], row["mean_return_ci_high"])
                rows.writerow((game, found["players"], row["bot"], *returns))
    return text.getvalue()


if __name__ == "__main__":
    STRENGTHS.write_text(strengths(), encoding="utf-8")
