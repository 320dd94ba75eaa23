"""Blocks with a bot that is not trusted: nothing in them can be worked out before their key is disclosed."""

import dataclasses
import hashlib
import itertools
import json
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import api
from arena.core.match_ids import DiceKind, stream_ids
from arena.match.dice import (
    BOTS_PERSON,
    DICE_PERSON,
    SECRET_BOTS_PERSON,
    SINGLE_PERSON,
    Streams,
    key_hash,
    key_pair,
    public_key,
    single_key,
)
from arena.match.replay import check_draws, replay
from arena.plan.bots import ResolvedBot
from arena.registry.bundles import Bundle
from arena.registry.discovery import Source
from arena.results.run_status import run_status
from arena.schedule.blocks import Schedule
from arena.schedule.kinds.duel import Duel
from arena.schedule.kinds.gauntlet import Gauntlet
from arena.store import Store
from arena.tournament.tournament import Tournament
from arena.transfer.importing import import_records
from arena.verify.verification import verify
from tests.arena.match.test_dice import added_up, pyramid_punch_outcomes
from tests.support.samples import all_matches, begin, board, entry, fill, finished, resolved, row, schedule
from tests.support.tournaments import home_of, log_of, write

SECRET = bytes.fromhex("6eb70c289e185bae6a9f604f93ceef8ef1f538bf9fda083efdcce0e39e7ac356")
MATCH = bytes(range(15, -1, -1))
KEYS = [bytes([number]) * 32 for number in range(1, 4)]
HASHES = tuple(map(key_hash, KEYS))
NAMES = ("alice", "bob", "carol", "dave", "erin")
STREAMS = ("setup", "dice/0", "dice/1", "substitute/0")


def test_the_vectors_of_secret_dice_are_the_published_ones():
    dice, bots = key_pair(0, SECRET)
    assert (dice, key_hash(dice)) == (SECRET, "8b59ab3c2643660e2736bd1349ffcd084fdc5c19e065bc95c3a0b643abda5bb1")
    assert bots.hex() == "bf2842aed98c268a67fdadb083c0aad3f61c8d68b97a215829779f52ecdeefb3"
    streams = Streams(dice, bots, MATCH, bytes(16))
    listed = pyramid_punch_outcomes()
    numbered = [(number, weight) for number, (_, weight) in enumerate(listed)]
    rolls = [listed[streams.outcome("dice/0", index, *added_up(numbered))][0] for index in range(8)]
    assert " ".join(rolls) == "3-2 3-5 3-5 3-6 1-5 1-2 1-4 6-6"
    assert [streams.bot_seed(seat) for seat in (0, 1)] == [12763822467764175648, 8477388204077929680]


def test_a_matchs_id_is_the_documented_hash_of_its_block_and_line_up():
    identity = bytes(range(16))
    wanted = hashlib.blake2b(identity + b"\x02\x00\x00\x00", digest_size=16, person=b"arena match v2").digest()
    assert stream_ids(DiceKind.SECRET, b"block", identity, 2) == (wanted, b"block")
    for kind in (DiceKind.PUBLIC, DiceKind.COMMON):
        assert stream_ids(kind, b"block", identity, 2) == (b"block",)


@st.composite
def plans(draw):
    """Plans in which some bots are trusted and some are not: rounds, gauntlets, duels; one key, or several."""
    trusted = draw(st.lists(st.booleans(), min_size=3, max_size=5))
    entries = [entry(name, trusted=each) for name, each in zip(NAMES, trusted, strict=False)]
    shape = draw(st.sampled_from(["rounds", "gauntlet", "duels", "permutations"]))
    changes = {
        "rounds": {},
        "gauntlet": {"scheduler": Gauntlet(challenger=NAMES[0])},
        "permutations": {"permutations": True},
    }.get(shape)
    if changes is None:
        changes = {"scheduler": Duel(bots=NAMES[:2], fillers=NAMES[2 : len(entries)])}
    return schedule(
        entries,
        draw(st.sampled_from([(2,), (3,), (2, 3)])) if shape != "duels" else (3,),
        blocks=draw(st.integers(1, 3)),
        keys=HASHES[: draw(st.integers(1, 3))],
        secret_dice=draw(st.sampled_from([DiceKind.SECRET, DiceKind.COMMON])),
        **changes,
    )


def streams_of(plan, spec, keys=KEYS):
    secret = next((key for key in keys if key_hash(key) == spec.block.key), None)
    return Streams(*key_pair(plan.seed, secret), *spec.stream_ids)


def drawn(streams, names=STREAMS):
    return [streams.draw(name, index, 2**60) for name in names for index in range(2)]


def seeds(streams, spec):
    return [streams.bot_seed(seat) for seat in range(len(spec.seats))]


@settings(max_examples=60, deadline=None)
@given(plans())
def test_blocks_of_trusted_bots_alone_are_what_they_are_in_a_plan_without_others(plan):
    alone = dataclasses.replace(
        plan, entries=tuple(dataclasses.replace(each, trusted=True) for each in plan.entries), keys=()
    )
    for spec, same in zip(all_matches(plan), all_matches(alone), strict=True):
        assert (spec.block.id, spec.seats) == (same.block.id, same.seats)
        guarded = any(not plan.entries[each].trusted for each in spec.block.table)
        assert (spec.block == same.block) == (not guarded)
        assert spec.block.dice == (plan.secret_dice if guarded else DiceKind.PUBLIC)
        assert spec.block.key == (plan.keys[-1] if guarded else "")


@settings(max_examples=60, deadline=None)
@given(plans())
def test_no_two_matches_share_a_roll_or_a_seed_where_a_bot_is_not_trusted(plan):
    plan = dataclasses.replace(plan, secret_dice=DiceKind.SECRET)
    found = [spec for spec in all_matches(plan) if spec.block.dice == DiceKind.SECRET]
    values = [value for spec in found for value in drawn(streams_of(plan, spec)) + seeds(streams_of(plan, spec), spec)]
    assert len(set(values)) == len(values)
    openings = {spec.block.identity: set() for spec in found}
    for spec in found:
        openings[spec.block.identity].add(streams_of(plan, spec).draw("opening", 0, 2**60))
    assert all(len(values) == 1 for values in openings.values())


@settings(max_examples=60, deadline=None)
@given(plans())
def test_nothing_that_a_bot_can_guess_gives_its_seed_or_a_roll(plan):
    """The tournament's seed, every id and every derivation is known to it; the key is not."""
    known = [(public_key(plan.seed, dice), public_key(plan.seed, bots)) for dice, bots in guesses()]
    for spec in all_matches(plan):
        if spec.block.dice == DiceKind.PUBLIC:
            continue
        real = streams_of(plan, spec)
        ids = [spec.block.id, spec.block.identity, spec.stream_ids[0]]
        for pair, id in itertools.product(known, ids):
            guess = Streams(*pair, id)
            assert not set(seeds(real, spec)) & set(seeds(guess, spec))
            assert not set(drawn(real, (*STREAMS, "opening"))) & set(drawn(guess, (*STREAMS, "opening")))


def guesses():
    persons = (DICE_PERSON, BOTS_PERSON, SECRET_BOTS_PERSON, SINGLE_PERSON)
    return itertools.product(persons, persons)


@settings(max_examples=60, deadline=None)
@given(plans())
def test_matches_of_a_block_share_all_draws_where_the_plan_says_so(plan):
    plan = dataclasses.replace(plan, secret_dice=DiceKind.COMMON)
    for block in plan.blocks():
        same = [drawn(streams_of(plan, spec)) + seeds(streams_of(plan, spec), spec) for spec in plan.matches(block)]
        assert all(each == same[0] for each in same)


@settings(max_examples=60, deadline=None)
@given(plans())
def test_key_and_kind_of_dice_are_part_of_identities_where_they_count_and_nowhere_else(plan):
    other_key = dataclasses.replace(plan, keys=(*plan.keys[:-1], "ab" * 32))
    kinds = {DiceKind.SECRET: DiceKind.COMMON, DiceKind.COMMON: DiceKind.SECRET}
    other_kind = dataclasses.replace(plan, secret_dice=kinds[plan.secret_dice])
    for block, *others in zip(plan.blocks(), other_key.blocks(), other_kind.blocks(), strict=True):
        for other in others:
            assert (block.identity == other.identity) == (block.dice == DiceKind.PUBLIC)
            assert block.id == other.id


@settings(max_examples=60, deadline=None)
@given(plans())
def test_a_plan_that_is_read_back_has_the_same_blocks(plan):
    assert list(resolved(plan).schedule().blocks()) == list(plan.blocks())


def test_a_bots_next_version_meets_other_dice():
    def first(identity):
        plan = schedule([entry("alice", identity, trusted=False), "bob"], keys=HASHES[:1])
        return drawn(streams_of(plan, all_matches(plan)[0]))

    assert not set(first("alice@1")) & set(first("alice@2"))


def mixed(keys=HASHES[:1], blocks=2, **changes) -> Schedule:
    return schedule(["alice", "bob", entry("carol", trusted=False)], blocks=blocks, keys=keys, **changes)


@pytest.fixture
def log(tmp_path):
    """A log with every match of `mixed`, drawn with the first key."""
    path = tmp_path / "matches.db"
    with Store.create(path) as store:
        store.keep_key(KEYS[0], "2026", "2026")
        store.keep_key(KEYS[1], "2027")
    fill(path, mixed())
    return path


def test_what_is_whole_under_an_earlier_key_counts_and_all_else_is_drawn_with_the_latest(log):
    more = mixed(HASHES[1:2], blocks=3)
    with Store.open(log) as store:
        known = Tournament(store, more).planned
        assert known.keys == HASHES[:2]
        for block in known.blocks():
            there = len(store.finished([block.identity]).get(block.identity, ()))
            if block.dice == DiceKind.PUBLIC:
                assert (block.key, there) == ("", 2 * (block.round < 2))
            else:
                assert (block.key, there) == ((HASHES[0], 2) if block.round < 2 else (HASHES[1], 0))


def test_a_block_that_is_there_in_part_under_a_disclosed_key_is_played_anew(tmp_path):
    path = tmp_path / "matches.db"
    with Store.create(path) as store:
        store.keep_key(KEYS[0], "2026", "2026")
        store.keep_key(KEYS[1], "2027")
    plan = mixed()
    part = next(number for number, spec in enumerate(all_matches(plan)) if spec.block.dice != DiceKind.PUBLIC)
    fill(path, plan, leave_out=[part])
    with Store.open(path) as store:
        keys = [block.key for block in Tournament(store, mixed(HASHES[1:2])).planned.blocks() if block.key]
    assert sorted(keys).count(HASHES[1]) == 1 and len(set(keys)) == 2


def test_the_log_says_which_block_was_drawn_with_which_key(log):
    more = mixed(HASHES[:2], blocks=3)
    with Store.create(log) as store:
        matches = all_matches(Tournament(store, more).planned)
        lacking = [spec for spec in matches if not store.finished([spec.block.identity])]
        store.add(more, [finished(spec, row(spec.lineup, [0, 1])) for spec in lacking], begin(store, more))
    assert {spec.block.key for spec in lacking} == {"", HASHES[1]}
    with Store.open(log) as store:
        assert list(store.damaged()) == []
        for spec in matches:
            match = store.match(spec.block.identity, spec.lineup)
            secret = match.secret.checked() if match.secret else None
            assert (match.dice, secret) == (spec.block.dice, dict(zip(HASHES, KEYS, strict=True)).get(spec.block.key))
            theirs = match.streams(match.keys)
            assert drawn(theirs) == drawn(streams_of(more, spec))


def test_a_single_matchs_key_is_not_that_of_a_tournament_with_its_seed():
    assert single_key(7) not in (public_key(7, DICE_PERSON), public_key(7, BOTS_PERSON))


def test_boards_say_which_dice_they_have():
    plan = schedule(
        ["alice", "bob", entry("carol", trusted=False)],
        boards=(board(2, range(2)), board(2, range(3), game="other"), board(3, range(3))),
        keys=HASHES[:1],
    )
    assert [plan.dice_kinds(index) for index in range(3)] == [
        [DiceKind.PUBLIC],
        [DiceKind.PUBLIC, DiceKind.SECRET],
        [DiceKind.SECRET],
    ]
    assert plan.has_secret_dice and not schedule(["alice", "bob"]).has_secret_dice


CONFIG = """
name = "small"
seed = 11
blocks = 2
opening = "random:1"
games = [{{ game = "pyramid_punch", players = 2 }}, {{ game = "epicycle(setup=random)", players = 3 }}]
bots = [{{ bot = "b.py:Trusted" }}, {{ bot = "random" }}, {{ bot = "b.py:Guest", isolation = "{isolation}" }}]
{more}
"""
BOTS = """
from bots import Bot


class Trusted(Bot):
    def choose(self, state):
        self.note = str(self.seed)
        return self.rng.choice(state.legal_actions())


class Guest(Trusted):
    pass
"""
MATCHES = 2 * (3 * 2 + 3)


def config_of(more="", isolation="none", bots=3):
    """Two boards of two bots that are trusted and one that is where `guest_is_not_trusted` says so."""
    text = CONFIG.format(more=more, isolation=isolation)
    return text if bots == 3 else text.replace(f', {{ bot = "b.py:Guest", isolation = "{isolation}" }}', "")


@pytest.fixture(autouse=True)
def guest_is_not_trusted(monkeypatch):
    """As if it were in the sandbox, which takes long to start."""
    monkeypatch.setattr(
        ResolvedBot, "trusted", property(lambda bot: not (bot.source.submitted or bot.source.class_name == "Guest"))
    )


def play(config, **options):
    return api.run(config, home_of(config), workers=1, backend="local", **options)


def lines(config, out):
    api.export("small", home_of(config), out=out, what=["matches"], formats=["jsonl"])
    return {line["match"]: line for line in map(json.loads, (out / "matches.jsonl").read_text().splitlines())}


def test_one_plan_has_blocks_of_both_kinds_and_each_counts(tmp_path, guest_is_not_trusted):
    """Played, extended after its key was disclosed, verified, played again, exported and imported."""
    config = write(tmp_path / "run", config_of(bots=2).replace("players = 3", "players = 2"), BOTS)
    play(config)
    public = lines(config, tmp_path / "public")
    assert {line["dice"] for line in public.values()} == {"public"}
    config.write_text(config_of())
    assert play(config).outcome.progress.found == 4, "the pair of trusted bots has played pyramid_punch already"
    found = lines(config, tmp_path / "mixed")
    assert len(found) == MATCHES
    for line in found.values():
        guarded = "Guest" in line["bots"]
        assert (line["dice"], line["dice_key_hash"] is None) == ("secret" if guarded else "public", not guarded)
    plan = json.loads((home_of(config) / "small" / "plan.json").read_text())
    assert (plan["dice"], plan["common_dice"], len(plan["secret_keys"])) == ("mixed", False, 1)
    assert [bot["trusted"] for bot in plan["bots"]] == [True, True, False]
    (board, *_), (other, *_) = (
        (home_of(config) / "small" / name).read_text().splitlines()
        for name in ("pyramid_punch_2p.md", "epicycle-setup.random_3p.md")
    )
    assert board == "# pyramid_punch, 2 players (dice: public, secret, each match its own)"
    assert other == "# epicycle(setup=random), 3 players (dice: secret, each match its own)"
    assert run_status("small", home_of(config)).dice == "public, secret, each match its own, disclosed"
    config.write_text(config_of("forfeit_limit = 3").replace("blocks = 2", "blocks = 3"))
    assert play(config).outcome.progress.found == MATCHES
    assert len({line["dice_key_hash"] for line in lines(config, tmp_path / "more").values()}) == 3
    report = verify(log_of(config), rerun="all", workers=1)
    assert (report.sound, report.rerun) == (True, MATCHES * 3 // 2), report.findings
    assert all(bot.deterministic for bot in report.bots)
    done = import_records([tmp_path / "more" / "matches.jsonl"], "small", home=tmp_path / "home")
    assert done.added == MATCHES * 3 // 2 and verify(done.log, workers=1).sound


@pytest.mark.parametrize("common", [False, True])
def test_line_ups_of_a_block_share_what_the_plan_says(tmp_path, common):
    config = write(tmp_path / "run", config_of(f"common_dice = {str(common).lower()}"), BOTS)
    play(config)
    blocks = defaultdict(list)
    for line in lines(config, tmp_path / "out").values():
        if "Guest" in line["bots"] and line["game"] == "epicycle(setup=random)":
            blocks[line["block"]].append(line["moves"].split())
    for matches in blocks.values():
        assert len({moves[0] for moves in matches}) == (1 if common else len(matches)), "1,680 set-ups"
    plan = json.loads((home_of(config) / "small" / "plan.json").read_text())
    assert plan["common_dice"] == common
    assert verify(log_of(config), workers=1).sound


def test_common_dice_change_nothing_where_all_bots_are_trusted(tmp_path):
    config = write(tmp_path / "run", config_of(bots=2).replace("players = 3", "players = 2"), BOTS)
    plain = api.load_plan(config)
    config.write_text(config_of("common_dice = true", bots=2).replace("players = 3", "players = 2"))
    common = api.load_plan(config)
    assert list(common.schedule.blocks()) == list(plain.schedule.blocks())
    assert common.resolved() == plain.resolved()


def test_bots_are_trusted_unless_they_were_submitted_or_are_sandboxed(tmp_path, monkeypatch):
    monkeypatch.undo()
    for isolation, trusted in (("none", True), ("process", True), ("sandbox", False)):
        source = Source("b", "b", "Guest", None, "here")
        bot = ResolvedBot(source, Bundle("b", {}), {}, "b", isolation=isolation)
        assert bot.trusted == trusted
        assert not dataclasses.replace(bot, source=dataclasses.replace(source, submitted=True)).trusted


def test_a_match_with_a_bot_that_is_not_trusted_has_a_seed_of_its_own_that_plays_it_again(tmp_path):
    (tmp_path / "b.py").write_text(BOTS)
    bots = [f"{tmp_path / 'b.py'}:Guest", "random"]
    first, second = (api.play_match("pyramid_punch", bots) for _ in range(2))
    assert first.seed != second.seed and min(first.seed, second.seed) > 2**32
    assert first.moves != second.moves
    assert check_draws(replay(first, first.keys)) > 0
    again = api.play_match("pyramid_punch", bots, first.seed)
    assert (again.moves, again.notes) == (first.moves, first.notes)
    assert api.play_match("pyramid_punch", ["random", "random"]).seed == 0


def test_a_block_that_did_not_count_when_its_key_was_disclosed_is_drawn_anew_if_it_comes_to_count(tmp_path):
    """Whether it was in the log depended on what was played first."""
    first, second = b"a" * 32, b"b" * 32
    plan = schedule(["a", entry("b", trusted=False)], blocks=6, keys=(key_hash(first),))
    counted = [block for block in plan.blocks() if block.round < 4]
    with Store.create(tmp_path / "m.db") as store:
        store.keep_key(first, "2026")
        run = begin(store, plan)
        there = [spec for spec in all_matches(plan) if spec.block.round < 5]
        store.add(plan, [finished(spec, row(spec.lineup, [0, 1])) for spec in there], run)
        assert {block.identity for block in Tournament(store, plan).schedule.blocks()} == {
            block.identity for block in plan.blocks()
        }
        store.finish_run("2027", counted)
        known = [*Tournament(store, plan).schedule.blocks()]
        assert known[:4] == counted and not store.finished([block.identity for block in known[4:]])
        store.keep_key(second, "2028")
        later = Tournament(store, dataclasses.replace(plan, keys=(key_hash(first), key_hash(second)))).schedule
        assert [block.key for block in later.blocks()] == [key_hash(first)] * 4 + [key_hash(second)] * 2
        assert [*later.blocks()][:4] == counted
