"""Connect four with a fault of one's choice in its kernels."""

from dataclasses import replace

import connect_four

from engine import Parameter

FAULTS = ("none", "diagonals", "full_board", "coin", "playout_coin")
GAME = replace(
    connect_four.GAME,
    name="odd_four",
    package="tests.support.odd_four",
    parameters=(Parameter("fault", str, "none", "what is wrong", choices=FAULTS),),
)
