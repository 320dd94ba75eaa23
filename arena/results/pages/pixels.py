"""A match in pixels: a position as PNG, all of it as an animated GIF. Both are drawn from the engine's SVG.

The same match gives the same bytes with the same versions of the libraries that draw, and the same fonts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from PIL import Image

from arena.core.errors import ConfigError, StoreError
from arena.core.files import write_file
from arena.match.alarm import GAME_CPU_SECONDS
from arena.match.replay import follow, game_of
from arena.match.stored import StoredMatch
from arena.results.pages.rasteriser import RasterError, pngs
from arena.results.pages.replay import MAX_SVG_CHARS, bounded

PNG_SCALE = 2.0
"""Pixels of a PNG a unit of the drawing."""
MAX_PNG_SIDE = 4000
"""Pixels of the longer side of a PNG."""
MAX_GIF_SIDE = 560
"""Pixels of the longer side of a GIF."""
MAX_GIF_FRAMES = 240
"""Frames of a GIF; of a longer match every second ply is shown, or every third, and the first and last position."""
MAX_GIF_BYTES = 6_000_000
"""Bytes of a GIF; where they do not suffice, half of the frames are left out, until they do."""
GIF_COLOURS = 128
FRAME_MILLISECONDS, LAST_MILLISECONDS = 700, 3500
PALETTE_FRAMES = 6
"""Frames from which a GIF's colours are taken."""
REFUSED = ("image", "feImage", "foreignObject", "script", "use", "style", "pattern")
"""Elements that a drawing in pixels may not have: they can load files, or take memory without a bound (`pattern`)."""
LENGTH = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:px)?")
"""Width or height of a drawing, in pixels."""


class Size(NamedTuple):
    """Width and height, in units of a drawing."""

    width: float
    height: float


def position_png(match: StoredMatch, ply: int | None = None, narrow: bool = False) -> bytes:
    """Return the position after a ply as PNG, 0 for the start, by default the last one.

    Raises `ConfigError` for a ply that the match has not, `StoreError` when its game does not draw it.
    """
    picture = position_svg(match, ply, narrow)
    size = _size(picture, match)
    return _pngs([picture], min(PNG_SCALE, MAX_PNG_SIDE / max(size)), match)[0]


def position_svg(match: StoredMatch, ply: int | None = None, narrow: bool = False) -> str:
    """Return the position after a ply as its game draws it; raises what `position_png` raises."""
    last = len(match.moves)
    if ply is not None and not 0 <= ply <= last:
        raise ConfigError(f"--ply: is {ply}, and the match has {last} plies: 0, the start, to {last}, the end")
    picture = _pictures(match, [last if ply is None else ply], narrow)[0]
    _size(picture, match)
    return picture


def match_gif(match: StoredMatch) -> bytes:
    """Return a match as an animated GIF that repeats, its last position shown longer.

    It has at most `MAX_GIF_FRAMES` frames, and sides of at most `MAX_GIF_SIDE` pixels; raises `StoreError` when the
    game does not draw its positions.
    """
    plies = spread(len(match.moves) + 1, MAX_GIF_FRAMES)
    pictures = _pictures(match, plies, False)
    sizes = [_size(picture, match) for picture in pictures]
    scale = MAX_GIF_SIDE / max(max(size) for size in sizes)
    canvas = (round(scale * max(size.width for size in sizes)), round(scale * max(size.height for size in sizes)))
    frames = [_frame(png, canvas) for png in _pngs(pictures, scale, match)]
    while True:
        data = _gif(frames)
        if len(data) <= MAX_GIF_BYTES or len(frames) <= 2:
            return data
        frames = [frames[place] for place in spread(len(frames), len(frames) // 2 + 1)]


def draw_pixels(
    match: StoredMatch, png: Path | None = None, gif: Path | None = None, ply: int | None = None
) -> list[tuple[Path, bytes]]:
    """Return a match's position and its animation, as far as files are named for them, each with its file.

    Nothing is written: what cannot be drawn leaves no file.
    """
    drawn = [(png, position_png(match, ply))] if png is not None else []
    drawn += [(gif, match_gif(match))] if gif is not None else []
    return drawn


def write_pixels(
    match: StoredMatch, png: Path | None = None, gif: Path | None = None, ply: int | None = None
) -> list[Path]:
    """Write what `draw_pixels` draws, when all of it is drawn; return the paths."""
    return [write_file(file, [content]) for file, content in draw_pixels(match, png, gif, ply)]


def spread(count: int, most: int) -> list[int]:
    """Return numbers below `count` in equal steps, at most `most` of them, the first and the last among them."""
    step = max(1, -(-(count - 1) // max(1, most - 1)))
    return sorted({*range(0, count - 1, step), count - 1})


def _pictures(match: StoredMatch, plies: Sequence[int], narrow: bool) -> list[str]:
    """Return the drawings of the positions after these plies, with the names of the bots."""
    wanted, pictures = set(plies), []
    with bounded(f"match {match.id}") as alarm:
        alarm.arm(GAME_CPU_SECONDS)
        state = game_of(match).new_initial_state()
        if 0 in wanted:
            pictures.append(state.picture(names=match.names, narrow=narrow))
        for number, (_, ply) in enumerate(follow(match), 1):
            if number in wanted:
                pictures.append(ply.state.picture(names=match.names, narrow=narrow))
            alarm.arm(GAME_CPU_SECONDS)
    return pictures


def _size(picture: str, match: StoredMatch) -> Size:
    """Return how large a drawing is; raises `StoreError` for one that is not to be drawn in pixels."""
    try:
        if not isinstance(picture, str) or len(picture) > MAX_SVG_CHARS:
            raise ValueError(f"is no text of at most {MAX_SVG_CHARS:,} letters")
        root = ElementTree.fromstring(picture)
        refused = [tag for node in root.iter() if (tag := str(node.tag).rpartition("}")[2]) in REFUSED]
        if refused:
            raise ValueError(f"holds <{refused[0]}>")
        width, height = _sides(root)
        if not (1 <= width <= MAX_PNG_SIDE and 1 <= height <= MAX_PNG_SIDE):
            raise ValueError(f"is {width:g} by {height:g} units large")
    except (ValueError, ElementTree.ParseError) as error:
        raise _not_shown(match, error) from None
    return Size(width, height)


def _sides(root: ElementTree.Element) -> tuple[float, float]:
    """Return width and height as a renderer takes them: the attributes, or where both are left out the view box."""
    given = root.get("width"), root.get("height")
    if given == (None, None):
        _, _, width, height = map(float, root.get("viewBox", "").replace(",", " ").split())
        return width, height
    read = [LENGTH.fullmatch((side or "").strip()) for side in given]
    if read[0] is None or read[1] is None:
        raise ValueError("must have both a width and a height in pixels, or a view box alone")
    return float(read[0][1]), float(read[1][1])


def _pngs(pictures: Sequence[str], scale: float, match: StoredMatch) -> list[bytes]:
    try:
        return pngs(pictures, scale)
    except RasterError as error:
        raise _not_shown(match, error) from None


def _not_shown(match: StoredMatch, error: Exception) -> StoreError:
    name = match.id
    return StoreError(f"match {name}: its game's drawing cannot be shown in pixels: it {error}")


def _frame(png: bytes, canvas: tuple[int, int]) -> Image.Image:
    """Return a drawing on white, as large as all frames are."""
    drawn = Image.open(io.BytesIO(png)).convert("RGBA")
    frame = Image.new("RGB", canvas, "#FFFFFF")
    frame.paste(drawn, (0, 0), drawn)
    return frame


def _gif(frames: Sequence[Image.Image]) -> bytes:
    """Return frames as a GIF with one set of colours, taken from some of them."""
    width, height = frames[0].size
    chosen = spread(len(frames), PALETTE_FRAMES)
    sheet = Image.new("RGB", (width, height * len(chosen)))
    for place, number in enumerate(chosen):
        sheet.paste(frames[number], (0, height * place))
    colours = sheet.quantize(GIF_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    first, *others = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames]
    durations = [FRAME_MILLISECONDS] * len(others) + [LAST_MILLISECONDS]
    out = io.BytesIO()
    first.save(out, "GIF", save_all=True, append_images=others, duration=durations, loop=0, optimize=True, disposal=1)
    return out.getvalue()
