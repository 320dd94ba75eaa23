"""Resolved plans: bots' identities, labels, boards, and that a plan plays what was there when it was made."""

import json
import os
from pathlib import Path

import pytest

import engine
from arena.cli.bots import every_board
from arena.core.errors import ConfigError
from arena.match.dice import BOTS_PERSON, DICE_PERSON, public_key
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.plan.config import config_from
from arena.plan.model import ResolvedPlan
from arena.plan.resolve import make_plan
from arena.registry.discovery import built_in_bots
from arena.schedule.kinds.gauntlet import Gauntlet
from arena.schedule.openings import check_opening, opening_plies
from arena.workers.messages import MatchOrder, decode
from arena.workers.pools import Chunk
from arena.workers.process import WorkerProcess
from engine import registry
from tests.arena.registry.test_bundle import lay
from tests.support import count_up

BOT = """
from bots import Bot
from helper import choice

class Mine(Bot):
    '''Takes what its helper says.'''
    depth: int = 2

    def choose(self, state):
        return choice(state)
"""
FIRST = "def choice(state):\n    return state.legal_actions()[0]\n"
LAST = "def choice(state):\n    return state.legal_actions()[-1]\n"


@pytest.fixture(scope="module")
def worker():
    process = WorkerProcess()
    process.start()
    yield process
    process.stop()


@pytest.fixture
def plan_of(tmp_path, worker):
    """Plan a tournament of these bots, with their files below a folder."""

    def plan(bots=("random", "mine.py:Mine"), **changes):
        config = {
            "name": "sample",
            "seed": 3,
            "blocks": 2,
            "games": [{"game": "epicycle", "players": 2}],
            "bots": [{"bot": bot} if isinstance(bot, str) else bot for bot in bots],
        }
        return make_plan(config_from(config | changes), folder=tmp_path, worker=worker)

    lay(tmp_path, {"mine.py": BOT, "helper.py": FIRST})
    return plan


def blocks(plan):
    return [(block.id, block.identity) for block in plan.schedule.blocks()]


def test_the_same_sources_give_the_same_plan(plan_of):
    assert plan_of().message() == plan_of().message()
    assert blocks(plan_of()) == blocks(plan_of())


@pytest.mark.parametrize(
    "files",
    [{"helper.py": LAST}, {"mine.py": BOT.replace("depth: int = 2", "depth: int = 3")}, {"mine.py": BOT + "# edited"}],
    ids=["helper", "default of a parameter", "comment"],
)
def test_a_changed_source_changes_identity_and_no_dice(plan_of, tmp_path, files):
    before = plan_of()
    lay(tmp_path, files)
    after = plan_of()
    assert before.bots[1].identity != after.bots[1].identity
    assert before.bots[0].identity == after.bots[0].identity
    assert [id for id, _ in blocks(before)] == [id for id, _ in blocks(after)]
    assert not {identity for _, identity in blocks(before)} & {identity for _, identity in blocks(after)}


def test_files_that_a_bot_does_not_use_are_no_part_of_its_identity(plan_of, tmp_path):
    before = plan_of()
    lay(tmp_path, {"unrelated.py": "x = 1", "notes.txt": ""})
    assert blocks(plan_of()) == blocks(before)


def test_the_folder_that_a_bot_lies_in_is_no_part_of_its_identity(plan_of, tmp_path):
    before = plan_of()
    lay(tmp_path / "moved", {"mine.py": BOT, "helper.py": FIRST})
    assert blocks(plan_of(["random", "moved/mine.py:Mine"])) == blocks(before)
    (tmp_path / "mine.py").unlink()
    assert blocks(plan_of(bot_paths=["moved"])) == blocks(before)


def test_a_parameter_may_be_given_in_the_spec_or_beside_it(plan_of):
    in_spec = plan_of(["random", "mine.py:Mine:depth=5"])
    beside = plan_of(["random", {"bot": "mine.py:Mine", "params": {"depth": 5}}])
    assert blocks(in_spec) == blocks(beside)
    assert in_spec.bots[1].spec == "Mine:depth=5"
    assert in_spec.bots[1].params == {"depth": 5}


def test_a_parameter_with_its_default_value_is_as_good_as_none(plan_of):
    assert blocks(plan_of(["random", "mine.py:Mine:depth=2"])) == blocks(plan_of())
    assert plan_of(["random", "mine.py:Mine:depth=2"]).bots[1].spec == "Mine"
    assert plan_of().bots[1].params == {"depth": 2}


def test_another_parameter_is_another_contestant(plan_of):
    plan = plan_of(["random", "mine.py:Mine", "mine.py:Mine:depth=5"])
    assert len({bot.identity for bot in plan.bots}) == 3
    assert [entry.label for entry in plan.schedule.entries] == ["random", "Mine", "Mine:depth=5"]


def test_a_bot_in_a_file_stands_on_boards_under_the_name_it_gives_itself_and_stays_the_same_contestant(
    plan_of, tmp_path
):
    named = BOT.replace("depth: int = 2", 'name = "lowest_v2"\n    depth: int = 2')
    lay(tmp_path, {"named.py": named})
    plan = plan_of(["random", "named.py:Mine", "named.py:Mine:depth=5", {"bot": "mine.py:Mine", "label": "mine"}])
    assert [entry.label for entry in plan.schedule.entries] == ["random", "lowest_v2", "lowest_v2:depth=5", "mine"]
    assert [entry.spec for entry in plan.schedule.entries] == ["random", "Mine", "Mine:depth=5", "Mine"]
    assert [bot.identity.partition("@")[0] for bot in plan.bots] == ["random", "Mine", "Mine", "Mine"]


def test_a_label_is_a_name_on_boards_and_nothing_else(plan_of):
    assert blocks(plan_of([{"bot": "random", "label": "dice"}, "mine.py:Mine"])) == blocks(plan_of())


def test_labels_tell_entries_of_one_spec_apart_in_whatever_order_they_are_listed(plan_of):
    twins = ["random", {"bot": "random", "label": "twin"}]
    plain = plan_of(twins)
    assert [entry.key for entry in plain.schedule.entries] == ["random", "random#twin"]
    assert plain.bots[0].identity == plain.bots[1].identity
    assert set(blocks(plan_of(twins[::-1]))) == set(blocks(plain))
    labelled = [{"bot": "random", "label": label} for label in ("one", "two", "four")]
    assert [entry.key for entry in plan_of(labelled).schedule.entries] == ["random#one", "random#two", "random"]


def test_options_of_a_game_may_be_given_in_the_spec_or_beside_it(plan_of):
    in_spec = plan_of(games=[{"game": "epicycle(setup=random)", "players": 2}])
    beside = plan_of(games=[{"game": "epicycle", "options": {"setup": "random"}, "players": 2}])
    assert blocks(in_spec) == blocks(beside)
    assert not {id for id, _ in blocks(in_spec)} & {id for id, _ in blocks(plan_of())}


@pytest.mark.parametrize("game", every_board(), ids=lambda game: f"{game.spec}-{game.players}")
def test_on_every_board_its_own_opening_is_allowed_and_one_of_999_plies_refused(game):
    check_opening(game, opening_plies(game.default_opening))
    with pytest.raises(ConfigError, match="opening = 'random:999': leaves the bots no say: of 20 random matches"):
        check_opening(game, 999)


def test_an_opening_is_refused_when_no_random_match_lasts_as_long(monkeypatch):
    """Count up ends at 12: after 4 plies of threes at the earliest, after 12 of ones at the latest."""
    monkeypatch.setitem(registry.registered_games, "count_up", count_up.GAME)
    game = engine.load_game("count_up", 2)
    check_opening(game, 3)
    with pytest.raises(ConfigError, match=r"opening = 'random:12': .* all had ended before, most by ply [5-8]$"):
        check_opening(game, 12)
    monkeypatch.setattr(count_up.Count, "legal_actions", lambda state: [2])
    check_opening(game, 5)
    with pytest.raises(ConfigError, match=r"opening = 'random:6': .* all had ended before, most by ply 6$"):
        check_opening(game, 6)


@pytest.mark.parametrize(
    ("game", "changes", "opening"),
    [
        ({}, {}, 2),
        ({}, {"opening": "none"}, 0),
        ({}, {"opening": "random:5"}, 5),
        ({"opening": "random:7"}, {"opening": "none"}, 7),
        ({"game": "epicycle(setup=random)"}, {}, 0),
    ],
)
def test_the_opening_is_the_games_own_the_tournaments_or_what_suits_the_game(plan_of, game, changes, opening):
    plan = plan_of(games=[{"game": "epicycle", "players": 2} | game], **changes)
    assert plan.schedule.boards[0].opening == opening


def test_a_game_may_have_blocks_of_its_own(plan_of):
    games = [{"game": "epicycle", "players": 2}, {"game": "epicycle(setup=random)", "players": 2, "blocks": 9}]
    assert [board.blocks for board in plan_of(games=games).schedule.boards] == [2, 9]


def test_bots_that_do_not_play_on_a_board_are_left_off_and_that_is_said(plan_of, tmp_path):
    picky = "from bots import Bot\nclass Picky(Bot):\n    players = (2, 4)\n    def choose(self, state): ...\n"
    lay(tmp_path, {"picky.py": picky})
    bots = ["random", "mine.py:Mine", {"bot": "random", "label": "twin"}, {"bot": "picky.py:Picky", "label": "choosy"}]
    plan = plan_of(bots, games=[{"game": "epicycle", "players": [2, 3]}])
    assert [sorted(board.entries) for board in plan.schedule.boards] == [[0, 1, 2, 3], [0, 1, 2]]
    assert plan.left_out == ("epicycle, 3 players, without choosy: it plays with 2, 4 players, not 3",)


@pytest.mark.parametrize("challenger", [None, "random", "Mine"])
def test_the_challenger_is_named_by_label_or_spec_and_is_the_first_bot_by_default(plan_of, challenger):
    bots = [{"bot": "random", "label": "one"}, {"bot": "mine.py:Mine", "label": "two"}, "mine.py:Mine:depth=5"]
    named = {} if challenger is None else {"challenger": challenger}
    plan = plan_of(bots, schedule="gauntlet", **named)
    number = 1 if challenger == "Mine" else 0
    assert plan.schedule.scheduler == Gauntlet(challenger=("one", "two")[number])
    assert all(number in block.table for block in plan.schedule.blocks())


@pytest.mark.parametrize(
    ("blocks", "named", "first"),
    [(1, {}, 1), (2, {}, 2), (8, {}, 2), (9, {}, 3), (100, {}, 25), (9, {"first_blocks": 9}, 9)],
)
def test_the_minimum_of_an_adaptive_board_is_a_quarter_of_its_blocks_or_what_is_said(plan_of, blocks, named, first):
    plan = plan_of(schedule="adaptive", blocks=blocks, **named)
    assert set(plan.schedule.start(0)) == {first}
    assert plan.resolved().schedule() == plan.schedule
    assert set(plan_of(blocks=blocks).schedule.start(0)) == {blocks}


def test_keys_follow_from_the_seed(plan_of):
    plan = plan_of(seed=2026)
    keys = public_key(2026, DICE_PERSON), public_key(2026, BOTS_PERSON)
    assert plan.key_pairs() == {"": keys}
    resolved = plan.resolved()
    assert (resolved.public_dice_key, resolved.public_bots_key) == (keys[0].hex(), keys[1].hex())


def test_a_plan_is_plain_data_that_its_schedule_is_read_back_from(plan_of):
    plan = plan_of(games=[{"game": "epicycle"}], bots=["random", *(f"mine.py:Mine:depth={n}" for n in range(5))])
    resolved = ResolvedPlan.read(json.loads(plan.resolved().as_json()), "plan")
    assert resolved.schedule() == plan.schedule
    assert resolved.bots[2].params == {"depth": 1}
    assert resolved.bots[2].identity == plan.bots[2].identity


def moves_of(plan, worker):
    """The moves of a plan's first block, played by a worker that is told the plan now."""
    worker.give_plan(plan.message())
    matches = plan.schedule.matches(next(plan.schedule.blocks()))
    reply = decode(worker.play(Chunk([MatchOrder(spec) for spec in matches], 0).message()))
    return [row.moves for row in reply.rows]


def test_editing_a_bot_after_planning_changes_nothing_that_the_plan_plays(plan_of, tmp_path, worker):
    planned = plan_of()
    before = moves_of(planned, worker)
    lay(tmp_path, {"helper.py": LAST})
    assert moves_of(planned, worker) == before
    assert moves_of(plan_of(), worker) != before
    for path in (tmp_path / "mine.py", tmp_path / "helper.py"):
        path.unlink()
    assert moves_of(planned, worker) == before


def test_every_built_in_bot_is_bundled_loaded_and_described(worker):
    names = sorted(built_in_bots())
    found = resolve_bots([BotEntry(bot=name) for name in names], [], worker=worker)
    assert [bot.spec for bot in found] == names
    assert all(bot.summary.endswith(".") for bot in found)
    assert len({bot.identity for bot in found}) == len(names)
    for bot in found:
        assert not [name for name in bot.bundle.files if not name.startswith("bots/")]


def test_a_driver_reads_bots_and_never_runs_them(plan_of, tmp_path):
    mark = tmp_path / "ran"
    lay(tmp_path, {"helper.py": f"import os\nopen({str(mark)!r}, 'a').write(f'{{os.getpid()}} ')\n{FIRST}"})
    plan_of()
    assert str(os.getpid()) not in Path(mark).read_text().split()
    assert Path(mark).read_text()
