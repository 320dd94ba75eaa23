"""Bots that are asked directly: the same matches as by way of alarm, copy and heartbeat, and only bots of our own."""

import functools
from dataclasses import replace

import pytest

import engine
from arena.core.limits import Limits
from arena.core.paths import ROOT
from arena.isolation.levels.none import ASKED_DIRECTLY
from arena.match.alarm import Alarm, Clock
from arena.match.player import LocalBot
from arena.match.referee import play_match
from arena.registry.bundles import bundle_module
from arena.schedule.boards import Board
from arena.workers.bot_host import BotHost
from arena.workers.messages import PlannedBot, WorkerPlan
from arena.workers.worker import LoadedPlan
from bots import Bot
from bots.base import made
from bots.random_bot import Random
from engine import registry
from tests.arena.match.hours import Hours
from tests.arena.match.playing import streams
from tests.support import count_up

BOARDS = [(name, players) for name in engine.game_names() for players in (2, engine.game_type(name).max_players)]
BOTS = [getattr(__import__(module, fromlist=[name]), name) for module, name in sorted(ASKED_DIRECTLY)]


def play(bot, direct, game, block, opening=2, others=(), **more):
    first = LocalBot(functools.partial(made, bot), {}, direct)
    return play_match(
        game, [first, *others, *[first] * (game.players - 1 - len(others))], streams(block), opening, **more
    )


def facts(result):
    """All of a result but durations."""
    return replace(result, calls=[(clocking.seat, clocking.ply) for clocking in result.clocks])


@pytest.mark.parametrize(("name", "players"), sorted(set(BOARDS)))
@pytest.mark.parametrize("bot", BOTS)
def test_matches_are_those_of_the_usual_way(bot, name, players):
    game = engine.load_game(name, players)
    for block in range(5):
        assert facts(play(bot, True, game, block)) == facts(play(bot, False, game, block))


class Careless(Bot):
    """Writes a note on each move, and gives no action at its third."""

    asked = 0

    def choose(self, state):
        self.asked += 1
        self.note = f"move {self.asked}"
        return self.pick(state.legal_actions()) if self.asked < 3 else 99


@pytest.mark.parametrize("bot", BOTS)
def test_a_forfeit_and_the_notes_of_another_seat_change_nothing_about_it(bot):
    game = engine.load_game("magic_mids", 3)
    direct, usual = (play(bot, how, game, 3, others=[LocalBot(Careless, {})]) for how in (True, False))
    assert direct.forfeits[1].cause == "illegal_action"
    assert [note for _, note in direct.notes][:2] == ["move 1", "move 2"]
    assert facts(direct) == facts(usual)


@pytest.mark.parametrize(("name", "players"), sorted(set(BOARDS)))
@pytest.mark.parametrize("bot", BOTS)
def test_the_state_that_it_is_handed_stays_as_it_is(bot, name, players):
    class Watched(bot):  # type: ignore[valid-type,misc]  # a class that the list names
        def choose(self, state):
            before = (
                state.words.tobytes(),
                state.history(),
                state.legal_actions(),
                state.current_player(),
                hash(state),
            )
            action = super().choose(state)
            after = (state.words.tobytes(), state.history(), state.legal_actions(), state.current_player(), hash(state))
            assert before == after
            return action

    assert not play(Watched, True, engine.load_game(name, players), 1).forfeits


def test_no_timer_is_set_and_no_processor_time_is_read(monkeypatch):
    monkeypatch.setattr(Alarm, "arm", lambda self, seconds: pytest.fail("armed"))
    reported = []
    clock = Clock(cpu=lambda: pytest.fail("read"))
    play(
        Random,
        True,
        engine.load_game("epicycle", 2),
        1,
        on_activity=lambda *activity: reported.append(activity),
        clock=clock,
    )
    assert reported == []


def test_an_overrun_is_taken_for_the_machines_the_first_time_alone():
    hours = Hours()

    class Late(Random):
        late = 1

        def choose(self, state):
            if Late.late and len(state.history()) > 4:
                Late.late -= 1
                hours.spend(128.0)
            return super().choose(state)

    game, limits = engine.load_game("connect_four", 2), Limits(seconds_per_move=64.0)
    once = play(Late, True, game, 1, limits=limits, clock=hours.clock)
    assert (once.retried, once.forfeits) == (True, {})
    Late.late = 2
    twice = play(Late, True, game, 1, limits=limits, clock=hours.clock)
    (forfeit,) = twice.forfeits.values()
    assert twice.timed and forfeit.cause == "timeout"
    assert forfeit.detail == "took 128 s, more than 64 s (128 s of processor time)"


def test_an_error_of_a_bot_that_is_asked_directly_is_its_crash():
    class Broken(Random):
        def choose(self, state):
            raise ValueError("broken")

    result = play(Broken, True, engine.load_game("epicycle", 2), 1)
    assert result.forfeits[0].cause == "crash" and "broken" in result.forfeits[0].detail


def test_games_in_plain_python_are_played_the_usual_way(monkeypatch):
    monkeypatch.setitem(registry.registered_games, "count_up", count_up.GAME)
    watched = []
    play(Random, True, engine.load_game("count_up", 2), 1, on_activity=lambda *activity: watched.append(activity))
    assert watched


def test_only_bots_of_the_list_that_come_with_the_arena_are_asked_directly(tmp_path):
    source = "from bots import Bot\n\n\nclass Random(Bot):\n    def choose(self, state):\n        return 0\n"
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "random_bot.py").write_text(source)
    bundles = [bundle_module(ROOT, "bots.random_bot"), bundle_module(tmp_path, "bots.random_bot")]
    bots = [PlannedBot("random", "bots.random_bot", "Random", bundle.hash, {}, "", "none") for bundle in bundles]
    greedy = bundle_module(ROOT, "bots.greedy")
    bots.append(PlannedBot("greedy", "bots.greedy", "Greedy", greedy.hash, {}, "", "none"))
    files = {bundle.hash: bundle.files for bundle in (*bundles, greedy)}
    plan = WorkerPlan({}, Limits(), [Board("epicycle", "{}", 2, 1, (0, 1), 1, 0)], bots, files, {})
    loaded = LoadedPlan(plan, lambda *activity: None, BotHost())
    contestants = [loaded.contestant(entry, 0) for entry in range(3)]
    assert [isinstance(each, LocalBot) and each.direct for each in contestants] == [True, False, False]
