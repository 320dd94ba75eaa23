"""Reading the recorded matches and perft counts in `tests/data/vectors`."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import engine
from engine import Game
from engine.conformance.matches import choices

__all__ = ["FOLDER", "choices", "difference", "perft_rows", "spec_of", "traces"]

FOLDER = Path(__file__).parents[1] / "data" / "vectors"


def spec_of(name: str, params: dict[str, object]) -> str:
    """Return a game spec from a trace's fields."""
    return f"{name}({','.join(f'{key}={value}' for key, value in params.items())})" if params else name


def traces(path: Path) -> Iterator[dict]:
    """Return the matches of one file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def perft_rows() -> list[tuple[str, int, str, int, int, int, str]]:
    """Return (game, players, spec, depth, sequences, terminal, position) of every row."""
    rows = []
    for line in (FOLDER / "perft.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            game, players, spec, depth, sequences, terminal, position = line.split(" ", 6)
            rows.append((game, int(players), spec, int(depth), int(sequences), int(terminal), position))
    return rows


def difference(game: Game, steps: list[dict]) -> str | None:
    """Replay one recorded match; return the first thing that differs, in words, or None."""
    state = game.new_initial_state()
    for number, step in enumerate(steps):
        node = {engine.CHANCE: "chance", engine.TERMINAL: "terminal"}.get(state.current_player(), "decision")
        seen: dict[str, object] = {"pos": state.position, "node": node}
        if node == "decision":
            seen |= {
                "seat": state.current_player(),
                "legal": sorted(map(state.action_to_string, state.legal_actions())),
            }
        elif node == "chance":
            seen |= {"outcomes": len(state.chance_outcomes())}
        else:
            seen |= {"ranks": state.ranks(), "ended": state.ended}
        for key, value in seen.items():
            if value != step[key]:
                return f"step {number}, {key}: ours {value!r}, recorded {step[key]!r}"
        reread = game.state_from_position(step["pos"])
        if (reread.position, reread.legal_actions()) != (state.position, state.legal_actions()):
            return f"step {number}: {step['pos']!r} read as {reread.position!r}"
        if node != "terminal":
            state.apply_action(state.string_to_action(step["take"]))
    return None if state.is_terminal() else "the recorded match ends before ours"
