"""Made-up results of matches from elsewhere, their files, and what they say, counted by hand."""

import csv
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd

HEADER = ("match", "block", "game", "bot", "seat", "place", "score")


def results(seed, bots=5, matches=24, games=("chess",), players=(2, 3), blocks=6, seats=True, places=True):
    """Rows of made-up results, a dict for each bot in each match; ties come, places may have gaps."""
    rng, rows = random.Random(seed), []
    names = [f"bot {number}" for number in range(bots)]
    for number in range(matches):
        game, count = rng.choice(games), rng.choice(players)
        order = rng.sample(range(count), count)
        for seat, bot in zip(order, rng.sample(names, count), strict=True):
            row = {"match": f"m{number}", "game": game, "bot": bot, "score": rng.randrange(4) / 2}
            row |= {"place": 5 - row["score"]} if places else {}
            row |= {"block": f"round {number % blocks}"} if blocks else {}
            rows.append(row | ({"seat": seat} if seats else {}))
    return rows


def write(path: Path, rows) -> Path:
    """A file of rows in the format of its name."""
    header = [name for name in HEADER if any(name in row for row in rows)]
    if path.suffix == ".parquet":
        pd.DataFrame(rows)[header].to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, header)
            writer.writeheader()
            writer.writerows(rows)
    return path


def by_match(rows):
    """The rows of each match, by game and id."""
    found = defaultdict(list)
    for row in rows:
        found[row["game"], row["match"]].append(row)
    return found


def expected(rows):
    """By (game, players): by bot its matches, wins, ties, sum of returns; by pair how often who was ahead."""
    boards = defaultdict(lambda: (defaultdict(Counter), defaultdict(Counter)))
    for (game, _), seats in by_match(rows).items():
        of_bots, of_pairs = boards[game, len(seats)]
        for row in seats:
            others = [other for other in seats if other is not row]
            beaten = sum(other["score"] < row["score"] for other in others)
            level = sum(other["score"] == row["score"] for other in others)
            best = beaten + level == len(others)
            counts = {"matches": 1, "wins": int(best and not level), "ties": int(best and level > 0)}
            of_bots[row["bot"]].update({**counts, "return": (2 * beaten + level) / len(others) - 1})
            for other in others:
                sign = (row["score"] > other["score"]) - (row["score"] < other["score"])
                of_pairs[row["bot"], other["bot"]][sign] += 1
    return boards
