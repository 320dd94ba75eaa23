"""Tables of a ladder: which rungs are apart, what they cost, and which moves keep the value of two-player Epicycle.

`python -m scripts.ladder CONFIG FOLDER` reads the log of a tournament that has been played and writes for every board
`GAME_Np_rungs.csv` and `GAME_Np_pairs.csv`, every two of them; all tables but the pairs in `results.md`; and mean
returns against the processor time of a move as a figure, `strength.svg`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from arena.core.errors import ArenaError
from arena.core.files import write_file
from arena.results.costs import costs
from arena.results.leaderboards import summary
from arena.results.match_files import match_lines
from arena.results.matches import board_matches
from arena.results.pages.figures.style import SHAPES, altair_module, render, spec_of
from arena.results.tables import markdown
from arena.stats.blocks import blocks_of
from arena.stats.fit import results_of
from arena.stats.head_to_head import compare_pairs, rounded
from arena.tournament.counted import BoardMatches
from arena.tournament.tournament import Tournament
from bots.search.perfect_solver import solve
from engine import State, load_game
from engine.specs import split_bot_spec
from engine.svg import FAINT, SEAT_COLOURS

COLUMNS = ["bot", "mean_return", "mean_return_ci_low", "mean_return_ci_high", "matches"]
BUDGET_STEP = 4
"""A rung must be above the one with so many times less of its budget."""
COLUMNS_OF_PLOTS = 3
KINDS = {  # as they are drawn; all others are of one colour and shape
    "uct": (SEAT_COLOURS[0], SHAPES[0]),
    "learned_uct": (SEAT_COLOURS[1], SHAPES[0]),
    "learned_minimax": (SEAT_COLOURS[1], SHAPES[1]),
    "learned": (SEAT_COLOURS[1], SHAPES[2]),
    "alphabeta": (SEAT_COLOURS[2], SHAPES[1]),
    "expectimax": (SEAT_COLOURS[2], SHAPES[3]),
    "greedy": (SEAT_COLOURS[2], SHAPES[2]),
    "flat_mc": (SEAT_COLOURS[3], SHAPES[5]),
    "others": (FAINT, SHAPES[2]),
}


def rungs(matches: BoardMatches) -> pd.DataFrame:
    """The board's bots by mean return, best first."""
    results = results_of(matches.entries, matches.ranks)
    board = rounded(summary(matches, results, blocks_of(results, matches.block)))[COLUMNS]
    return board.sort_values(["mean_return", "bot"], ascending=[False, True], ignore_index=True)


def pairs(matches: pd.DataFrame, players: int, order: Iterable[str]) -> pd.DataFrame:
    """Every two bots: how much more the upper returned in matches that both played, with Student's 95 % interval.

    Blocks are the independent units, as on leaderboards. `apart` is "yes" when the interval is above 0, "reversed" when
    it is below, else "no".
    """
    compared = compare_pairs(matches, players, order)
    low, high = compared["difference_ci_low"], compared["difference_ci_high"]
    compared["half_width"] = (high - low) / 2
    compared["apart"] = np.select([low > 0, high < 0], ["yes", "reversed"], "no")
    columns = {"bot": "upper", "opponent": "lower"}
    return compared.rename(columns=columns)[["upper", "lower", "matches", "difference", "half_width", "apart"]]


def is_step(upper: str, lower: str) -> bool:
    """Whether both are the same bot and the upper has four times the budget."""
    (name, mine), (other, theirs) = split_bot_spec(upper), split_bot_spec(lower)
    different = [key for key in mine | theirs if mine.get(key) != theirs.get(key)]
    if name != other or len(different) != 1 or different[0] not in mine or different[0] not in theirs:
        return False
    budgets = mine[different[0]], theirs[different[0]]
    return all(budget.isdecimal() for budget in budgets) and int(budgets[0]) == BUDGET_STEP * int(budgets[1])


def kept_values(lines: Iterable[str]) -> pd.DataFrame:
    """For each bot the share of its moves in two-player Epicycle that keep the value of the solved game.

    `free` counts moves where the bot could choose, `critical` those where some choice would have given value away.
    """
    counts: dict[str, list[int]] = {}
    for line in lines:
        match = json.loads(line)
        if (match["game"], match["players"]) != ("epicycle", 2):
            continue
        for seat, kept, critical in judged_moves(match["moves"].split(), match["opening"]):
            total = counts.setdefault(match["bots"][seat], [0, 0, 0, 0])
            for place, counted in enumerate((True, kept, critical, critical and kept)):
                total[place] += counted
    rows = [
        (bot, free, kept / free, critical, critical_kept / max(critical, 1))
        for bot, (free, kept, critical, critical_kept) in counts.items()
    ]
    table = pd.DataFrame(rows, columns=["bot", "free", "kept", "critical", "critical_kept"])
    return table.sort_values(["critical_kept", "bot"], ascending=[False, True], ignore_index=True)


def judged_moves(moves: list[str], opening: int) -> Iterator[tuple[int, bool, bool]]:
    """(seat, whether the move kept the value, whether one could lose it) of every free move after the opening."""
    state = load_game("epicycle", 2).new_initial_state()
    for ply, text in enumerate(moves):
        action = state.string_to_action(text)
        if ply >= opening and len(state.legal_actions()) > 1:
            values = {choice: value_after(state, choice) for choice in state.legal_actions()}
            best = max(values.values())
            yield state.current_player(), values[action] == best, min(values.values()) < best
        state.apply_action(action)


def value_after(state: State, action: int) -> int:
    """What the seat to move has after an action if nobody errs: 1 won, 0 drawn, -1 lost."""
    child = state.child(action)
    if child.is_terminal():
        return round(child.returns()[state.current_player()])
    return -int(solve().value[solve().number(child)])  # type: ignore[arg-type]  # Epicycle's states are of a kernel


def steps(compared: pd.DataFrame) -> pd.DataFrame:
    """The pairs of a bot and the same bot with a quarter of the budget, the richer one first."""
    turned = compared.rename(columns={"upper": "lower", "lower": "upper"})
    turned = turned.assign(
        difference=-compared["difference"],
        apart=compared["apart"].map({"yes": "reversed", "reversed": "yes", "no": "no"}),
    )
    both = pd.concat([compared, turned[list(compared.columns)]], ignore_index=True)
    found = [is_step(upper, lower) for upper, lower in zip(both["upper"], both["lower"], strict=True)]
    return both[found].sort_values(["upper", "lower"], ignore_index=True)


def above_next(ladder: pd.DataFrame, compared: pd.DataFrame) -> pd.Series:
    """For each rung whether it is apart from the next one below; empty for the lowest."""
    apart = compared.set_index(["upper", "lower"])["apart"]
    below = [*ladder["bot"].iloc[1:], None]
    return pd.Series([apart.get(pair, "") for pair in zip(ladder["bot"], below, strict=True)], ladder.index)


def dominated_by(ladder: pd.DataFrame, compared: pd.DataFrame) -> pd.Series:
    """For each rung the best of those that are apart above it and take no more processor time; empty where none is."""
    apart = compared.set_index(["upper", "lower"])["apart"]
    seconds = ladder.set_index("bot")["cpu_seconds_per_move"]

    def is_better(one: str, other: str) -> bool:
        return seconds[one] <= seconds[other] and (
            apart.get((one, other)) == "yes" or apart.get((other, one)) == "reversed"
        )

    bots = ladder["bot"].tolist()
    return pd.Series([next((one for one in bots if is_better(one, bot)), "") for bot in bots], ladder.index)


def strength_chart(ladders: dict[str, pd.DataFrame]) -> bytes:
    """Return mean returns against the processor time of a move as SVG: a plot for each board, a line for each bot.

    Whoever moves at random is left out: it takes next to no time.
    """
    alt = altair_module()
    domain, colours, shapes = list(KINDS), *(list(each) for each in zip(*KINDS.values(), strict=True))
    plots = []
    for title, ladder in ladders.items():
        ladder = ladder[ladder["bot"] != "random"]
        table = ladder.assign(
            kind=[name if (name := bot.partition(":")[0]) in KINDS else "others" for bot in ladder["bot"]]
        )
        table["milliseconds"] = 1000 * table["cpu_seconds_per_move"]
        colour = alt.Color("kind:N", scale=alt.Scale(domain=domain, range=colours), legend=alt.Legend(title=None))
        base = alt.Chart(table, title=alt.TitleParams(title, fontSize=12, fontWeight="normal", anchor="start")).encode(
            x=alt.X(
                "milliseconds:Q",
                title="ms of processor time a move",
                scale=alt.Scale(type="log", nice=False, padding=8),
                axis=alt.Axis(
                    grid=False, values=[step * 10.0**power for power in range(-3, 4) for step in (1, 3)], format="~g"
                ),
            )
        )
        mean = alt.Y("mean_return:Q", title="mean return")
        lines = base.transform_filter("datum.kind != 'others'").mark_line(strokeWidth=1.2).encode(y=mean, color=colour)
        bars = base.mark_rule().encode(
            y=alt.Y("mean_return_ci_low:Q", title="mean return"), y2="mean_return_ci_high", color=colour
        )
        shape = alt.Shape("kind:N", scale=alt.Scale(domain=domain, range=shapes), legend=alt.Legend(title=None))
        points = base.mark_point(filled=True, size=40, opacity=1).encode(y=mean, color=colour, shape=shape)
        plots.append((lines + bars + points).properties(width=210, height=150))
    return render(spec_of(alt.concat(*plots, columns=COLUMNS_OF_PLOTS, spacing=20)), "svg")


def write_ladder(tournament: Tournament, folder: Path) -> list[Path]:
    """Write everything; the paths written."""
    sections, stepped, written = [], [], []
    ladders: dict[str, pd.DataFrame] = {}
    seconds = costs(tournament)
    for index, board in enumerate(tournament.schedule.boards):
        matches = board_matches(tournament, index).drop(columns="distinct_share")  # every block is an observation
        ladder = rounded(rungs(tournament.counted(index)))
        compared = rounded(pairs(matches, board.players, ladder["bot"]))
        ladder["above_next"] = above_next(ladder, compared)
        taken = seconds[board.game, board.players].set_index("bot")["cpu_seconds_per_move"]
        ladder["cpu_seconds_per_move"] = ladder["bot"].map(taken)
        ladder["dominated_by"] = dominated_by(ladder, compared)
        ladders[board.title] = ladder
        for name, frame in (("rungs", ladder), ("pairs", compared)):
            written.append(folder / f"{board.slug}_{name}.csv")
            write_file(written[-1], [frame.to_csv(index=False, lineterminator="\n").encode()])
        sections.append(f"## {board.title}\n\n{markdown(ladder)}")
        found = rounded(steps(compared))
        found.insert(0, "board", board.title)
        stepped.append(found)
    kept = rounded(kept_values(match_lines(tournament)))
    parts = [
        f"# Results\n\n## Four times the budget\n\n{markdown(pd.concat(stepped, ignore_index=True))}",
        f"## Moves that keep the value of two-player Epicycle\n\n{markdown(kept)}",
        *sections,
    ]
    for name, content in (("results.md", "\n".join(parts).encode()), ("strength.svg", strength_chart(ladders))):
        written.append(folder / name)
        write_file(written[-1], [content])
    return written


def main() -> None:
    """Read a tournament's log and write its ladder."""
    if len(sys.argv) != 3:
        sys.exit("usage: python -m scripts.ladder TOURNAMENT FOLDER")
    try:
        with Tournament.open(sys.argv[1]) as tournament:
            for path in write_ladder(tournament, Path(sys.argv[2])):
                print(path)
    except ArenaError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
