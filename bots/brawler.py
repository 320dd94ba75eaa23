"""A small bot for Pyramid Punch, written to be read."""

from bots.base import Bot
from engine import State

PIPS = {"L": 3, "M": 2, "S": 1, "O": 0}
VALUE = {"L": 9, "M": 4, "S": 2, "O": 1}
WAYS = {-3: 3, -2: 6, -1: 10, 0: 15, 1: 21, 2: 26, 3: 30}  # of 36 to win, by the pips that one has more
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # north, east, south, west: side s of a tile runs from space s to s + 1


class Brawler(Bot):
    """Pick the fights that pay, and stay out of the others.

    Idea: a fight is worth what the enemy loses on average, less what the own side loses, once for each opponent still
    in (who all gain by it): a pip more wins 21 times for 10 that it loses, so a fighter is worth about twice as much
    as the next smaller one (9, 4, 2, and 1 for the stone). The fight worth most comes first. Tiles are placed, rotated
    and moved so that all fights across the edges of the own tile, added up, are worth most. Ties are broken at random.
    With two players a fight is nearly fair, so there luck decides; with more, standing apart pays.
    Source: the table of fighting odds on the rules page.
    Parameters: none.
    Cost: 100 to 250 microseconds for each legal action, most of it for reading positions.
    """

    name = "brawler"
    games = ("pyramid_punch",)
    needs = ("clone", "position")

    def choose(self, state: State) -> int:
        actions = state.legal_actions()
        return self.pick_best(actions, [self.worth(state, action) for action in actions])

    def worth(self, state: State, action: int) -> int:
        """Return what an action is worth to this seat; all arrangements are worth the same."""
        tiles, _, phase, _ = state.position.split(" ")  # TILES SEAT PHASE TURN
        if phase.startswith("f"):
            fight = state.action_to_string(action)  # such as Mx2L
            return self.worth_of_fight(fight[0], fight[3], tiles.split("/"))
        return self.worth_of_fights(state.child(action).position.split(" ")[0].split("/"))

    def worth_of_fight(self, own: str, enemy: str, tiles: list[str]) -> int:
        """Return 36 times what the enemy loses on average, less what the own side does for each opponent."""
        more = PIPS[own] - PIPS[enemy]
        opponents = sum(not tile.startswith("x") for tile in tiles) - 1
        return WAYS[more] * VALUE[enemy] - opponents * WAYS[-more] * VALUE[own]

    def worth_of_fights(self, tiles: list[str]) -> int:
        """Return the worth of all fights across the edges of the own tile, added up."""
        laid = {tile[5:]: tile[:4] for tile in tiles if "@" in tile and not tile.endswith("-")}
        own, _, place = tiles[self.seat].partition("@")
        if place not in laid:
            return 0
        x, y = map(int, place.split(","))
        worth = 0
        for side, (east, south) in enumerate(STEPS):
            enemy = laid.get(f"{x + east},{y + south}", "....")
            for mine, theirs in ((side, side + 3), (side + 1, side + 2)):
                pair = own[mine % 4], enemy[theirs % 4]
                worth += self.worth_of_fight(*pair, tiles) if "." not in pair else 0
        return worth
