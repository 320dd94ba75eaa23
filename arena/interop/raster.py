"""Drawings as arrays of pixels, for libraries that want those."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import numpy as np


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
