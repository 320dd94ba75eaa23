"""The Python API step by step. A plain script in cells: editors and Jupyter (with jupytext) open it as a notebook."""

# %% A tournament is a plan in a TOML file. This one goes to a temporary folder; a notebook would use its own.
import tempfile
from pathlib import Path

import arena

folder = Path(tempfile.mkdtemp(prefix="arena-notebook-"))
config = folder / "notebook.toml"
bot = Path(arena.__file__).parents[1] / "examples" / "my_bot.py"
config.write_text(f"""
name = "notebook"
seed = 7
blocks = 10
bot_paths = ["{bot.parent.as_posix()}"]

[[games]]
game = "epicycle"
players = [2, 3]

[[bots]]
bot = "my_bot.py"

[[bots]]
bot = "random"

[[bots]]
bot = "random"
label = "another random"
""")

# %% Reading a plan checks every name in it, takes a snapshot of the bots' sources, and plays nothing.
plan = arena.load_plan(config)
print(f"{plan.name}: {plan.schedule.total_matches} matches on {len(plan.schedule.boards)} boards")

# %% Running plays what is missing and writes the leaderboards. Run this cell twice: the second time plays nothing.
result = arena.run(config, home=folder, workers=2)
print(f"{result.outcome.progress.played} matches played; written: {', '.join(file.name for file in result.files)}")

# %% A leaderboard is a pandas frame, by game and number of players. It can be read again from the log at any time.
boards = arena.leaderboard(config, home=folder)
print(
    boards["epicycle", 2][
        ["rank", "bot", "rating", "matches", "mean_return", "mean_return_ci_low", "mean_return_ci_high"]
    ]
)

# %% The matches are a frame too, one row for each seat, for questions of your own: is it good to move first?
seats = arena.matches(config, "epicycle", 3, home=folder)
print(seats.pivot_table(index="bot", columns="seat", values="return_").round(2))

# %% One match outside any tournament: bots by seat, all chance from the seed.
match = arena.play_match("epicycle", [f"{bot}:MyBot", "random"], seed=1)
print(f"{' '.join(match.moves)}: ended {match.ended}, ranks {match.ranks}")

# %% A match is replayed by the rules alone, without its bots; every state can be drawn (in Jupyter also in colour).
from arena.match.replay import replay  # noqa: E402 - where it is needed

for ply in replay(match):
    last = ply.state
print(last)

# %% Every match of the log can be found by its id; with its keys, every roll and random move is recomputed.
arena.export(config, home=folder, what=["matches"])
first = (folder / "notebook" / "matches.jsonl").read_text().splitlines()[0]
stored, _ = arena.find_match(config, first.split('"')[3], home=folder)
drawn = [ply for ply in replay(stored, stored.keys) if ply.expected is not None]
print(f"{len(drawn)} random plies, all as the keys say: {all(ply.text == ply.expected for ply in drawn)}")
