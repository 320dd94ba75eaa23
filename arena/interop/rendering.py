"""Boards as environments of other libraries show them."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import numpy as np

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


def svg_to_rgb(svg: str) -> np.ndarray:
    """Return an SVG drawing on a white ground: uint8, shape (height, width, 3), a pixel a unit of the drawing."""
    import vl_convert
    from PIL import Image

    root = ElementTree.fromstring(svg)
    place = dict(zip(("x", "y", "width", "height"), root.get("viewBox", "").split(), strict=False))
    ground = place or {"width": "100%", "height": "100%"}
    root.insert(0, ElementTree.Element("{http://www.w3.org/2000/svg}rect", {**ground, "fill": "#fff"}))
    png = vl_convert.svg_to_png(ElementTree.tostring(root, "unicode"))
    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))
