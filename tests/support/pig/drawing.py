"""Pig as SVG."""

from engine.svg import drawing, text


def svg(state):
    return drawing(400, 40, f"{state.game.spec}: {state.position}", text(10, 25, str(state), 14))
