"""Drawings as arrays of pixels, for libraries that want those."""

from __future__ import annotations

import struct
import zlib
from xml.etree import ElementTree

import numpy as np

from engine.errors import UnsupportedError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
DEPTH_AND_COLOUR = (8, 6, 0, 0, 0)
"""The PNG format that vl-convert writes: 8 bits a channel, red, green, blue and alpha, rows from top to bottom."""


def svg_to_rgb(svg: str) -> np.ndarray:
    """Return an SVG drawing on a white ground: uint8, shape (height, width, 3), a pixel a unit of the drawing."""
    import vl_convert

    root = ElementTree.fromstring(svg)
    place = dict(zip(("x", "y", "width", "height"), root.get("viewBox", "").split(), strict=False))
    ground = place or {"width": "100%", "height": "100%"}
    root.insert(0, ElementTree.Element("{http://www.w3.org/2000/svg}rect", {**ground, "fill": "#fff"}))
    return png_to_rgba(vl_convert.svg_to_png(ElementTree.tostring(root, "unicode")))[..., :3]


def png_to_rgba(png: bytes) -> np.ndarray:
    """Return the pixels of a PNG image: uint8, shape (height, width, 4).

    Source: Portable Network Graphics, 3rd edition (W3C, 2025), sections 5 and 9. Raises `UnsupportedError` unless it is
    8-bit RGBA without interlacing.
    """
    if png[:8] != SIGNATURE or struct.unpack(">5B", png[24:29]) != DEPTH_AND_COLOUR:
        raise UnsupportedError("the image is no PNG of 8-bit RGBA without interlacing")
    width, height = struct.unpack(">II", png[16:24])
    data, start = b"", 8
    while start < len(png):
        length, kind = struct.unpack(">I4s", png[start : start + 8])
        data += png[start + 8 : start + 8 + length] if kind == b"IDAT" else b""
        start += 12 + length
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + 4 * width)
    pixels = np.zeros((height + 1, width, 4), np.uint8)  # the row above the first one is 0
    for line, row in enumerate(rows):
        _unfilter(int(row[0]), row[1:].reshape(width, 4), pixels[line], pixels[line + 1])
    return pixels[1:]


def _unfilter(kind: int, row: np.ndarray, above: np.ndarray, out: np.ndarray) -> None:
    """Write a row's pixels (width, 4), of the filter of that number, given those above it; sums are modulo 256."""
    if kind == 0:
        out[:] = row
    elif kind == 1:
        np.cumsum(row, axis=0, dtype=np.uint8, out=out)
    elif kind == 2:
        np.add(row, above, out=out)
    else:
        predict = _average if kind == 3 else _paeth
        left, corner = np.zeros(4, np.int64), np.zeros(4, np.int64)
        for place, over in enumerate(above.astype(np.int64)):
            out[place] = (row[place] + predict(left, over, corner)) & 255
            left, corner = out[place].astype(np.int64), over


def _average(left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    return (left + above) // 2


def _paeth(left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Return of each channel's neighbours the nearest to `left + above - corner`; the first of those that tie."""
    estimate = left + above - corner
    near = np.stack([left, above, corner])
    return np.take_along_axis(near, np.abs(near - estimate).argmin(axis=0)[None], axis=0)[0]
