"""How many drops fit on a board with seeds."""

from collections.abc import Iterable

from engine.midgard.rules import CELLS, CENTRE, CENTRES, NEIGHBOURS, cell_number


def most_drops(seeds: Iterable[str]) -> int:
    """Return the most cells, no two of them neighbours, among those that are neither the centre nor a seed.

    Neighbours point opposite ways. So this is the number of cells less the most pairs of neighbours that can be made
    without using a cell twice (König, 1931), found one pair at a time.
    """
    ice = set(range(CELLS)) - {CENTRE, *map(cell_number, seeds)}
    mates: dict[int, int] = {}

    def pair(cell: int, tried: set[int]) -> bool:
        for other in NEIGHBOURS[cell]:
            if other in ice and other not in tried:
                tried.add(other)
                if other not in mates or pair(mates[other], tried):
                    mates[other] = cell
                    return True
        return False

    points_up = (cell for cell in sorted(ice) if CENTRES[cell][1] % 3 == 2)
    return len(ice) - sum(pair(cell, set()) for cell in points_up)
