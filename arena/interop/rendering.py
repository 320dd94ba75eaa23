"""Boards as environments of other libraries show them."""

from __future__ import annotations

import numpy as np

from arena.interop.raster import svg_to_rgb
from engine import Game, ParameterError, State, UnsupportedError
from engine.game import shown


def rendering_modes(game: Game, wanted: str | None = None) -> list[str]:
    """Return the ways in which a game can be shown; raises `ParameterError` when the wanted one is none of them."""
    modes = ["human", "ansi"]
    try:
        game.new_initial_state().svg()
        modes += ["svg", "rgb_array"]
    except UnsupportedError:
        pass
    if wanted is not None and wanted not in modes:
        raise ParameterError(f"{game.name} has no render mode {shown(wanted)}; it has {', '.join(modes)}")
    return modes


def rendered(state: State, mode: str | None) -> np.ndarray | str | None:
    """Return a state as a text (`ansi`), an SVG document (`svg`) or pixels (`rgb_array`); `human` prints the text.

    Pixels are uint8, shape (height, width, 3). Returns None without a mode.
    """
    if mode == "ansi":
        return str(state)
    if mode == "human":
        print(state)
    return svg_to_rgb(state.svg()) if mode == "rgb_array" else state.svg() if mode == "svg" else None
