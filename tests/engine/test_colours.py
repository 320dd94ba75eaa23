"""Colours of drawings are told apart by every eye and in print, and what is written on them can be read."""

from itertools import combinations

import numpy as np
import pytest

from engine.svg import DARK, FILL_OPACITY, LAST, LIGHT, PALETTE, PAPER, SEAT_COLOUR_NAMES, SEAT_COLOURS, SEAT_INKS
from engine.svg.colours import BOARD, COLD, DIM, FAINT, INK, MARK, TO_MOVE

# Machado, Oliveira and Fernandes 2009, severity 1: of linear RGB
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "print without colour": [[0.2126729, 0.7151522, 0.0721750]] * 3,
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = TO_XYZ.sum(axis=1)


def linear(colour: str, share: float = 1) -> np.ndarray:
    """Return a colour as linear RGB, of which a share is opaque over paper."""
    values, paper = (
        np.array([int(each[place : place + 2], 16) for place in (1, 3, 5)]) / 255 for each in (colour, PAPER)
    )
    values = share * values + (1 - share) * paper
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """Return linear RGB as CIE L*a*b*."""
    shares = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    cubes = np.where(shares > (6 / 29) ** 3, np.cbrt(shares), shares / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * cubes[1] - 16, 500 * (cubes[0] - cubes[1]), 200 * (cubes[1] - cubes[2])])


def distance(one: str, other: str, deficiency: str) -> float:
    """Return how far apart two colours of pieces look to an eye (CIE 1976), as they lie on paper."""
    matrix = np.array(DEFICIENCIES[deficiency])
    seen = [lab(matrix @ linear(each, float(FILL_OPACITY))) for each in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG has it."""
    dark, light = sorted(float(linear(each) @ TO_XYZ[1]) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("deficiency", "least"),
    [("none", 40), ("protanopia", 25), ("deuteranopia", 20), ("tritanopia", 15), ("print without colour", 9)],
)
def test_the_colours_of_two_seats_are_told_apart(deficiency, least):
    for one, other in combinations(SEAT_COLOURS, 2):
        assert distance(one, other, deficiency) >= least, (one, other)


def test_the_measure_finds_what_the_eye_does():
    assert distance("#FF0000", "#FF0000", "none") == 0
    red, green = "#C04000", "#6A6A00"  # nearly alike to who lacks red or green
    assert distance(red, green, "deuteranopia") < 20 < distance(red, green, "none")
    assert distance("#0000FF", "#00FF00", "print without colour") > 30


def test_writing_can_be_read_on_everything_it_stands_on():
    for seat, ink in zip(SEAT_COLOURS, SEAT_INKS, strict=True):
        assert contrast(seat, ink) >= 4
    for ground in (PAPER, BOARD, LAST, TO_MOVE):
        assert contrast(INK, ground) >= 7
    for ground in (PAPER, BOARD):
        assert contrast(FAINT, ground) >= 4.5
    assert contrast(DIM, COLD) >= 4.5
    assert contrast(MARK, PAPER) >= 3.5  # the last ply, in words of at least 15 pixels


def test_pips_stand_out_from_every_body_by_their_colour_or_their_edge():
    for seat in SEAT_COLOURS:
        assert max(contrast(seat, LIGHT), contrast(DARK, LIGHT)) >= 7
        assert max(contrast(seat, LIGHT), contrast(seat, DARK)) >= 4


def test_no_two_purposes_share_a_colour():
    assert len({colour.lower() for colour in PALETTE.values()}) == len(PALETTE)
    assert len(SEAT_COLOUR_NAMES) == len(SEAT_COLOURS) == len(SEAT_INKS)
