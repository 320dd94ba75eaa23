"""`arena power`."""

from __future__ import annotations

from arena.cli.arguments import BoardOptions
from arena.cli.output import OWN_DICE, Output, matches_in_words, print_json, print_text
from arena.results.power import Power, PowerOptions, power_frame
from arena.results.power import power as estimate
from arena.results.tables import as_csv, markdown, records


def print_power(
    boards: BoardOptions, a: str, b: str, difference: float | None, confidence: float, power: float
) -> None:
    """Run `arena power`."""
    options = PowerOptions(difference, confidence, power)
    found = estimate(boards.target, a, b, boards.game, boards.players, options, boards.home)
    if boards.format == "table":
        for each in found:
            Output().print(f"{each.game}, {each.players} players: {a} (A) and {b} (B)", style="bold")
            for line in power_lines(each):
                print_text(f"  {line}")
        return
    frame = power_frame(found)
    if boards.format == "json":
        print_json(records(frame))
    else:
        print(as_csv(frame) if boards.format == "csv" else markdown(frame), end="")


def power_lines(found: Power) -> list[str]:
    """Return the result of a board in words."""
    pilot = found.pilot
    own = [OWN_DICE] if found.own_dice else []
    if pilot.blocks < 2:
        return [f"distinct complete blocks with both: {pilot.blocks}; at least 2 are needed"]
    confidence = f"{100 * found.options.confidence:g} %"
    lines = [
        f"return of A minus B: {pilot.mean:+z.3f} ({confidence}: {pilot.low:+z.3f} to {pilot.high:+z.3f}, "
        f"{pilot.blocks:,} distinct blocks, p = {pilot.p:.2g}); deviation of a block {pilot.deviation:.3f}",
        f"They are {'apart' if pilot.apart else 'not apart yet'} at {confidence}.",
    ]
    what = f"a difference of {found.difference:.3f}{'' if found.options.difference is not None else ' (as observed)'}"
    if found.blocks is None or found.more is None:
        return [*lines, f"To find {what} is out of reach.", *own]
    missing = f"{found.more:,} more"
    if found.seconds is not None:
        played = matches_in_words(found.more * found.matches_per_block)
        missing += f", {played}, about {_time(found.seconds)} of one core"
    rest = missing if found.more else "these are in the log"
    takes = f"To find {what} with probability {100 * found.options.power:g} % takes {found.blocks:,} blocks: {rest}."
    return [*lines, takes, *own]


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"
