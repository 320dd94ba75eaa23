"""Positions that ask for thought: in each, one action (or a few for the same reason) is right and all others are wrong.

They lie near the end of a match, so that `tests.bots.brute_force` can prove them. TURN is close to the cap where dice
or repetitions would otherwise let the match go on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import engine
from engine import Game, State

LOKI = "midgard(variant=loki)"
ODIN = "midgard(variant=odin)"


@dataclass(frozen=True)
class Position:
    """One position and what is to be learnt from it."""

    name: str
    game: str
    players: int
    position: str
    right: str
    """The right actions, with spaces between them."""
    plies: int
    """Decisions to look ahead, the own one included, until the right actions stand out."""
    lesson: str
    greedy_fails: bool = False
    """One ply of look-ahead and the built-in evaluation may choose wrongly."""
    dice: bool = False
    """Only an average over the dice tells: to hope for the best or to fear the worst is not enough."""

    @property
    def horizon(self) -> float:
        """Decisions to look ahead for a proof; three blanks let a turn of Magic Mids go on and on."""
        return self.plies if self.kind == "magic_mids" else math.inf

    @property
    def kind(self) -> str:
        """The game's name, without options."""
        return self.game.partition("(")[0]

    def load(self) -> Game:
        return engine.load_game(self.game, self.players)

    def state(self) -> State:
        return self.load().state_from_position(self.position)

    def __str__(self) -> str:
        return f"{self.game}-{self.players}p-{self.name}".replace(" ", "_")

    def right_actions(self, state: State) -> set[int]:
        return {state.string_to_action(text) for text in self.right.split()}


EPICYCLE = (
    Position(
        "leave no play",
        "epicycle",
        2,
        "SMLSMLL.SS MML/SML 1 495",
        "M+",
        plies=1,
        lesson="a win in one: after M+ nothing stands where the opponent's pieces would reach",
    ),
    Position(
        "mind the third L",
        "epicycle",
        2,
        "LML.LMSMMS SSM/SLL 1 495",
        "L+",
        plies=1,
        lesson="a loss in one: with the S played both pieces in reach are an L, the third in hand",
    ),
    Position(
        "hurry",
        "epicycle",
        2,
        "LSLMMM.SSM SML/SLL 0 498",
        "L+",
        plies=2,
        lesson="L+ and L- both win by force, but two plays before the cap only L+ wins in time",
    ),
    Position(
        "four ways to lose",
        "epicycle",
        2,
        "MLMSSSMLS. MLL/SML 1 495",
        "S+",
        plies=2,
        lesson="to every play but S+ the opponent has a reply that wins on the spot",
        greedy_fails=True,
    ),
    Position(
        "the safest-looking play",
        "epicycle",
        2,
        "L.SSMLLMML SML/SSM 1 497",
        "M-",
        plies=2,
        lesson="S- looks safest and loses to M+, M+ makes three alike, M- holds the draw",
        greedy_fails=True,
    ),
    Position(
        "one reply left",
        "epicycle",
        2,
        "SMLMLSS.LS SMM/MLL 1 497",
        "M+",
        plies=3,
        lesson="M+ leaves the opponent S- alone, to which L- wins; L+ keeps more plays and only draws",
        greedy_fails=True,
    ),
    Position(
        "win, draw and loss",
        "epicycle",
        2,
        "SMLSM.MMSS SLL/MLL 0 494",
        "S-",
        plies=4,
        lesson="three plays, one each that wins, draws and loses, told apart four plies deep",
        greedy_fails=True,
    ),
    Position(
        "two left of three",
        "epicycle",
        3,
        "S.LLMMMLMS SLL/MML/x2 0 494",
        "L+",
        plies=3,
        lesson="S+ takes the third L and is out, L- lets the opponent off, L+ leaves one reply, which loses",
        greedy_fails=True,
    ),
    Position(
        "a neighbour to be rid of",
        "epicycle",
        3,
        "SMLSMLSM.S MLL/SML/SML 1 496",
        "M-",
        plies=4,
        lesson="of three seats one can be put out before the cap, but only by way of M-",
        greedy_fails=True,
    ),
    Position(
        "few plays to come",
        "epicycle",
        2,
        "LSMLLMSS.L SSM/MML 0 492",
        "M+",
        plies=2,
        lesson="S+ looks best and fares best at random, but loses to M-; M+ leaves one harmless reply",
        greedy_fails=True,
    ),
    Position(
        "all the way to a win",
        "epicycle",
        3,
        "S.MMSMLMLL x2/MLL/SML 2 494",
        "M-",
        plies=3,
        lesson="L+ keeps the most plays and only survives; M- leaves one reply, and then L+ wins",
        greedy_fails=True,
    ),
)

MIDGARD = (
    Position(
        "close at once",
        "midgard",
        2,
        "s/sssss/sssssss/sssssssss/sssssssssss/sssssssssssss/"
        "s*sssssssssssss/..*llllllllllllll/l*.*lllllllllllllll/lllslllllllllllllll/llllllll l -",
        "h2",
        plies=1,
        lesson="h2 leaves no ice: 62 cells each, and land wins by the perimeter; after h1 or i3 sea has the last drop",
    ),
    Position(
        "the last drop",
        "midgard",
        2,
        "l/lllll/lllllll/lllllllll/lllllllllll/.*s*lllllllll/"
        "l*..*llllllllll/llll*ssssssssssss/sssssssssssssssssss/sssssssssssssssssss/ssssssss s -",
        "g3",
        plies=2,
        lesson="g3 and g4 both leave only f1 to drop on, and only after g3 does that not save the opponent",
        greedy_fails=True,
    ),
    Position(
        "a chain of three",
        "midgard",
        2,
        "l/lllll/lllllll/lllllllll/lllllllllll/lllllllllll*./"
        "lllllllllll*.*./llsssssssssslssss/sssssssssssssssssss/sssssssssssssssssss/ssssssss l -",
        "g15",
        plies=3,
        lesson="of three drops in a chain the end beside the sea is urgent, not the middle that leads for now",
        greedy_fails=True,
    ),
    Position(
        "the shared region first",
        "midgard",
        2,
        "l/lllll/lllllll/lllllllll/lllllllllll/lllllllllll*l/"
        "l**lllllll*.*ll/.*.*ssssssss*ssss/sssssssssssssssssss/sssssssssssssssssss/ssssssss l -",
        "h1",
        plies=3,
        lesson="the region on the left is fought for; the lone hole on the right can wait",
        greedy_fails=True,
    ),
    Position(
        "two drops to spare",
        "midgard",
        2,
        "s/sssss/sssssss/sssssssss/sssssssssss/sssssssssssss/"
        ".*ssslsssssssss/...*******lllllll/l**llllllllllllllll/lslllllllllllllllll/llllllll s -",
        "h1",
        plies=3,
        lesson="h2 leads by most for now and loses to g1; h1 leaves the opponent two drops, and neither helps",
        greedy_fails=True,
    ),
    Position(
        "six drops to choose from",
        "midgard",
        2,
        "l/lllll/lllllll/lllllllll/lllllllllll/lllllllll*l*./"
        "llllllllll*..*s/ssssssssssss**.../sssssssssssssssl**l/sssssssssssssssssss/ssssssss s -",
        "g12",
        plies=4,
        lesson="h16 leads by most and fares best at random, but only g12 stands up to good replies",
        greedy_fails=True,
    ),
    Position(
        "declare back",
        ODIN,
        2,
        "l/lllll/lllllll/lllllllll/lllllllllll/lllllllllllll/"
        "ll*.*.*llllllll/ssss***lsssssssss/sssssssssssssssssss/sssssssssssssssssss/ssssssss l d",
        "declare",
        plies=1,
        lesson="the answering `declare` ends the match while land leads; either drop would let sea close the region",
    ),
    Position(
        "do not declare back",
        ODIN,
        2,
        "l/lllll/lllllll/lllllllll/lllllllllll/lllllllllllll/"
        "ls*.*lllllll*../llls**ssssssss*ss/sssssssssssssssssss/sssssssssssssssssss/ssssssss l d",
        "g15",
        plies=2,
        lesson="`declare` would end the match lost, g4 and g14 lose to the next drop; g15, on the perimeter, wins",
        greedy_fails=True,
    ),
    Position(
        "do not give the drop away",
        ODIN,
        2,
        "l/lllll/lllllll/lllllllll/lllllllllll/lllllllllllll/"
        "l**llllllllllll/.*.*sssssssssssss/sss**ssssssssssssss/sssssssssssssssssss/ssssssss s -",
        "h1",
        plies=3,
        lesson="to `declare` hands h1 to the opponent, and so does h3, which leads for now",
        greedy_fails=True,
    ),
    Position(
        "what the last drop encloses",
        LOKI,
        2,
        "s/sssss/sssssss/sssssssss/sssssssssss/sssssssss***s/"
        "sssssssssl*..*s/llllllllllll**.*./lllllllllllllllllll/lllllllllllllllllll/llllllll s -",
        "g13",
        plies=3,
        lesson="after g12 and g13 alike h15 and h17 follow; g12 leads for now, but only g13 wins the count",
        greedy_fails=True,
    ),
)


MAGIC_MIDS = (
    Position(
        "capture on the last turn",
        "magic_mids",
        2,
        "......../1S0M..../......../......0S/........ 445/455 1 b24 1999",
        "Mb4",
        plies=1,
        lesson="the last turn: any placement draws level, the one that captures b3 wins",
    ),
    Position(
        "one mid, two captures",
        "magic_mids",
        2,
        "......../1S0M..0M/..0S..../0L....../......1M 434/445 1 444 1999",
        "Lb4",
        plies=1,
        lesson="across the edge of the board b2 flanks twice: b4 captures b3 and b5 and draws level, d4 only c3",
    ),
    Position(
        "capture out of reach",
        "magic_mids",
        2,
        "......1S/0S....../......../....1M../0L...... 454/445 0 b24 1998",
        "Mb4",
        plies=2,
        lesson="b4 and e4 both capture a5, but the mid on e4 stands beside d4 and can be captured in return",
        greedy_fails=True,
    ),
    Position(
        "the lesser evil after a capture",
        "magic_mids",
        2,
        "0L..1S../..0S1S../......../......../........ 454/355 0 b35 1998",
        "Me5",
        plies=2,
        lesson="b5 and e5 both capture; after b5 one roll in five loses, after e5 most captures draw level",
        greedy_fails=True,
    ),
    Position(
        "count the rolls",
        "magic_mids",
        2,
        "0S....../....1M../......1M/0M....../..1M.... 445/525 0 444 1998",
        "Ld4",
        plies=2,
        lesson="a4 and d4 capture the same mid with the same best and worst rolls to come; more of them hurt after a4",
        greedy_fails=True,
        dice=True,
    ),
    Position(
        "nothing to capture",
        "magic_mids",
        2,
        "..1M..../0L..1L../......../0M0L..../........ 543/544 0 555 1998",
        "Lc5",
        plies=2,
        lesson="no placement captures, so take the square after which nothing can be captured back",
        greedy_fails=True,
    ),
    Position(
        "three at the table",
        "magic_mids",
        3,
        "......1M/......0L/..2S..0L/2L....../..1M.... 351/333/252 0 b35 1998",
        "Me5",
        plies=2,
        lesson="the next seat is the rival who moves last: capture its mid, out of reach of the others",
        greedy_fails=True,
    ),
    Position(
        "whom to capture",
        "magic_mids",
        3,
        "......../..0S2M1L/..1S..0L/......../........ 252/252/343 0 aa3 1998",
        "Sd3",
        plies=2,
        lesson="take the S of the seat that still has a turn, not the M of the one that has none",
        greedy_fails=True,
    ),
)


PYRAMID_PUNCH = (
    Position(
        "keep away when ahead",
        "pyramid_punch",
        2,
        ".SL.@0,0/L..O@1,0 0 m 98",
        "0r2 1r2",
        plies=2,
        lesson="two pyramids to one before the last turn: whatever touches nothing wins",
        greedy_fails=True,
    ),
    Position(
        "seek a fight when behind",
        "pyramid_punch",
        2,
        "..S.@0,0/..SL@1,0 0 m 98",
        "1r1",
        plies=2,
        lesson="one pyramid to two before the last turn: only a fight can help, and only 1r1 leaves one, S against S",
        greedy_fails=True,
    ),
    Position(
        "the stone risks nothing",
        "pyramid_punch",
        2,
        "SO..@0,0/.M..@1,0 0 m 98",
        "1r3",
        plies=3,
        lesson="made to fight the stone, the enemy's only pyramid can lose the match and win nothing",
        greedy_fails=True,
    ),
    Position(
        "pick the fight",
        "pyramid_punch",
        2,
        ".M.L@0,0/L..M@0,1 0 m 98",
        "1r1",
        plies=3,
        lesson="of all fights to be had, L against M alone is in our favour",
        greedy_fails=True,
    ),
    Position(
        "the stone goes first",
        "pyramid_punch",
        2,
        "..SO@0,0/SO..@0,1 1 f 99",
        "Ox0S",
        plies=3,
        lesson="both fights must be fought: the one that can only win the match before the one that can only lose it",
        dice=True,
    ),
    Position(
        "the larger one in front",
        "pyramid_punch",
        2,
        "L...@0,0/S..M@0,1 1 m 97",
        "1r2",
        plies=4,
        lesson="the opponent is behind and must seek a fight: turned so, its L will meet the M, not the S",
        greedy_fails=True,
    ),
    Position(
        "let the rivals fight",
        "pyramid_punch",
        3,
        "...L@0,0/..L.@0,-1/.LO.@1,-1 2 m 98",
        "0r2",
        plies=3,
        lesson="0r2 makes the two rivals fight, L against L, while ours is out of reach",
        greedy_fails=True,
    ),
    Position(
        "the weaker rival first",
        "pyramid_punch",
        3,
        "LOM.@0,0/.S..@-1,0/.M.L@0,-1 0 f 99",
        "Lx1S",
        plies=3,
        lesson="knock out the seat with one S before the even fight that may cost the L",
    ),
)

CONNECT_FOUR = (
    Position(
        "four in a line",
        "connect_four",
        2,
        "..o..../o.x..../o.ox.o./x.ox.xx/xxoooxo/xxxooxo 0",
        "e",
        plies=1,
        lesson="e makes four; after anything else the opponent does",
    ),
    Position(
        "the threat that is seen",
        "connect_four",
        2,
        "x..xx../o..ox../oooxx.o/oxxoo.x/xooxx.x/xooxxoo 1",
        "f",
        plies=2,
        lesson="x threatens four on f",
    ),
    Position(
        "the threat that is overlooked",
        "connect_four",
        2,
        "x.....o/xo....x/xoo...o/oxx..xx/ooox.xo/xxoo.ox 0",
        "e",
        plies=2,
        lesson="o threatens e2, which the open lines of d make easy to overlook",
        greedy_fails=True,
    ),
    Position(
        "one threat above another",
        "connect_four",
        2,
        "ox.x.../xooo.../oxxx..o/oxoo.xx/xxoxxoo/xoxooxo 0",
        "f",
        plies=3,
        lesson="f threatens e3 and e4, one above the other, so that to block the one is to allow the other",
    ),
    Position(
        "against good replies",
        "connect_four",
        2,
        "..xx.x./..oo.oo/.oox.xx/ooxo.ox/xxxoxxx/ooxooxo 0",
        "e",
        plies=3,
        lesson="b opens most lines and fares best at random, but only e holds against good replies, and it wins",
        greedy_fails=True,
    ),
    Position(
        "before it is too late",
        "connect_four",
        2,
        "oo...../ox....x/ox....x/xx..ooo/xoo.xoo/xxoxoxx 0",
        "f",
        plies=4,
        lesson="every drop but f loses within four plies, and f wins",
        greedy_fails=True,
    ),
    Position(
        "no time for the open lines",
        "connect_four",
        2,
        "x....o./o.x..o./xxo..o./oox.oxx/xxx.xox/oox.xoo 1",
        "g",
        plies=4,
        lesson="e opens most lines and loses like all others; g wins",
        greedy_fails=True,
    ),
    Position(
        "hold the draw",
        "connect_four",
        2,
        ".x..ox./oxx.ox./xxx.ox./xoo.xoo/oxxooox/oxoxxoo 1",
        "a",
        plies=4,
        lesson="c and g give x the last cell of a, d the cell above it; with a filled first it is a draw",
        greedy_fails=True,
    ),
)

POSITIONS = (*EPICYCLE, *MIDGARD, *MAGIC_MIDS, *PYRAMID_PUNCH, *CONNECT_FOUR)

TINY: tuple[tuple[str, int, str], ...] = (
    ("epicycle", 2, "SMLSM.MMSS SLL/MLL 0 494"),
    ("epicycle", 3, "SMLSMLSM.S MLL/SML/SML 1 496"),
    (
        "midgard",
        2,
        "l/lllll/lllllll/lllllllll/lllllllllll/lllllllll*l*./"
        "llllllllll*..*s/ssssssssssss**.../sssssssssssssssl**l/sssssssssssssssssss/ssssssss s -",
    ),
    (
        ODIN,
        2,
        "l/lllll/lllllll/lllllllll/lllllllllll/lllllllllllll/"
        "l**llllllllllll/.*.*sssssssssssss/sss**ssssssssssssss/sssssssssssssssssss/ssssssss s -",
    ),
    ("magic_mids", 2, "0M0L..0M/1S1M1M../1S1M0S../1M1S0L1M/0S0L0S0M 222/205 0 ba4 1998"),
    ("pyramid_punch", 2, "..SO@0,0/SO..@0,1 1 f 99"),
    ("pyramid_punch", 2, "L...@0,0/S..M@0,1 1 m 97"),
    ("pyramid_punch", 3, "LOM.@0,0/.S..@-1,0/.M.L@0,-1 0 f 99"),
    ("connect_four", 2, "..xx.x./..oo.oo/.oox.xx/ooxo.ox/xxxoxxx/ooxooxo 0"),
)
"""Game, players and position: small enough for the exact value of every action."""
