"""How far matches of a game can go, for one set of options and one number of players."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """Numbers that no match exceeds. Lengths count from the start of a match, actions and chance outcomes apart."""

    max_game_length: int
    """Actions of all players in one match, without chance outcomes (as OpenSpiel counts)."""
    max_chance_nodes: int = 0
    """Chance outcomes in one match; 0 for a game without chance."""
    max_chance_outcomes: int = 0
    """Outcomes that one chance node can have; 0 for a game without chance."""
    min_utility: float = -1.0
    """The smallest return of a seat."""
    max_utility: float = 1.0
    """The largest return of a seat."""
