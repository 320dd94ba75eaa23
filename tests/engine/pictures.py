"""What tests read from drawings: parts, pieces and their colours."""

from xml.etree import ElementTree

SVG = "http://www.w3.org/2000/svg"


def parts_of(svg: str) -> set[str]:
    """Return the names of a drawing's parts."""
    return {part for node in ElementTree.fromstring(svg).iter() if (part := node.get("data-part"))}


def pieces_of(svg: str) -> dict[str, ElementTree.Element]:
    """Return a drawing's pieces by their ids; raises `AssertionError` when two have the same."""
    found = [node for node in ElementTree.fromstring(svg).iter() if node.get("data-piece")]
    pieces = {node.get("data-piece", ""): node for node in found}
    assert len(pieces) == len(found)
    return pieces


def fill_of(piece: ElementTree.Element) -> str:
    """Return the first colour that a piece is filled with."""
    return next(fill for node in piece.iter() if (fill := node.get("fill", "none")) != "none")
