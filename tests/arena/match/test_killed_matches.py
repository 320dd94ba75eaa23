"""A match that is played again since a bot's process was killed goes on from where it was, whatever bots answer now."""

from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from arena.match.faults import Fault, ProcessKilled
from arena.match.player import Answer, ProcesslessPlayer
from arena.match.referee import MAX_KILL_REPLAYS, play_match
from tests.arena.match.playing import streams


class Fickle(ProcesslessPlayer):
    """A bot elsewhere with a chance of its own, which is killed, or fails, at some of its choices over all tries."""

    guarded = False

    def __init__(self, draws, ends):
        self.draws, self.ends = draws, ends
        self.asked, self.told, self.closed = 0, [], 0
        """`told`: how it ended, and all plies before."""

    def join(self, match, seat):
        self.match = match
        return self

    def start(self, limit):
        """Do nothing."""

    def prepare(self, limit):
        return False

    def choose(self, limit):
        self.asked += 1
        end = self.ends.get(self.asked)
        if end is not None:
            self.told.append((end, self.match.state.history()))
            raise (
                ProcessKilled("its process ended (killed by SIGTERM)")
                if end == "killed"
                else Fault("crash", "it raised")
            )
        return Answer(self.draws.choice(self.match.state.legal_actions()), None)

    def cpu(self):
        return 0.0

    def close(self):
        self.closed += 1


def history(result, players):
    state = engine.load_game("epicycle", players=players).new_initial_state()
    for text in result.moves:
        state.apply_action(state.string_to_action(text))
    return state.history()


@given(
    st.randoms(use_true_random=False),
    st.integers(2, 4),
    st.dictionaries(st.integers(0, 3), st.dictionaries(st.integers(1, 12), st.sampled_from(["killed", "failed"]))),
)
@settings(max_examples=200)
def test_no_bot_draws_anything_anew_by_ending_itself(draws, players, ends):
    """What was played before stands, at least until a bot forfeits, and so do faults."""
    bots = [Fickle(draws, ends.get(seat, {})) for seat in range(players)]
    result = play_match(engine.load_game("epicycle", players=players), bots, streams(3), opening=2)
    tries = 1 + len(result.killed)
    assert {bot.closed for bot in bots} == {tries}
    for seat, bot in enumerate(bots):
        kills = [before for end, before in bot.told if end == "killed"]
        failures = [before for end, before in bot.told if end == "failed"]
        assert result.killed.count(seat) == min(len(kills), MAX_KILL_REPLAYS)
        assert (seat in result.forfeits) == bool(failures or len(kills) > MAX_KILL_REPLAYS)
        assert result.timed >= (len(kills) > MAX_KILL_REPLAYS)
    played = history(result, players)
    stands = min((forfeit.ply for forfeit in result.forfeits.values()), default=len(played))
    for before in (before for bot in bots for _, before in bot.told):
        assert played[: min(len(before), stands)] == before[:stands]


def test_kills_of_one_bot_leave_the_others_their_tries():
    bots = [Fickle(_Last(), {number: "killed" for number in range(1, MAX_KILL_REPLAYS + 1)}) for _ in range(3)]
    result = play_match(engine.load_game("epicycle", players=3), bots, streams(3))
    assert (result.forfeits, sorted(result.killed)) == ({}, sorted([0, 1, 2] * MAX_KILL_REPLAYS))


class _Last:
    def choice(self, actions):
        return actions[-1]
