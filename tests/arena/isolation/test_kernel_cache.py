"""What a sandboxed bot compiles with Numba is compiled once, and nothing else gets from one match into the next."""

import contextlib
import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import engine
from arena import api
from arena.isolation import kernel_cache
from arena.isolation.launched import LaunchedBot
from arena.isolation.process_pool import ProcessPool, RemoteContestant
from arena.match.dice import Streams
from arena.match.referee import play_match
from arena.registry.bundles import Bundle, pack_bundle, unpack_bundle
from tests.support.tournaments import home_of, rows, write

BOTS = """
import numba
from bots import Bot

@numba.njit(cache=True)
def crunch(number):
    total = 0
    for i in range(number):
        total += i * i % 7
    return total

class Crunch(Bot):
    '''Choose by a kernel of its own, and tell whether it was compiled before.'''
    def choose(self, state):
        legal = state.legal_actions()
        action = legal[crunch(1000 + len(legal)) % len(legal)]
        self.note = f"{sum(crunch.stats.cache_hits.values())} loaded"
        return action
"""
CONFIG = """
name = "small"
blocks = 3
opening = "none"
dice = "secret"
games = [{{ game = "epicycle", players = 2 }}]
bots = [{{ bot = "b.py:Crunch", isolation = "{isolation}" }}, {{ bot = "random" }}]
"""


def played(folder, isolation):
    """By match: its moves, and the notes of the bot."""
    config = write(folder, CONFIG.format(isolation=isolation), BOTS)
    outcome = api.run(config, home_of(config), 1, "local").outcome
    assert not outcome.not_played
    found = rows(config, "SELECT hex(moves), notes FROM matches ORDER BY block, lineup")
    return [(moves, [text for _, text in json.loads(notes)]) for moves, notes in found]


def test_every_match_in_the_sandbox_loads_what_a_trial_match_compiled_and_plays_as_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.tournament.dice_keys.secrets.token_bytes", bytes)
    here = played(tmp_path / "none", "none")
    there = played(tmp_path / "sandbox", "sandbox")
    assert [moves for moves, _ in here] == [moves for moves, _ in there]
    assert {note for _, notes in there for note in notes} == {"1 loaded"}


def test_two_bots_that_compile_for_the_same_match_do_not_get_in_each_others_way(tmp_path):
    source = f"# {tmp_path}\n{BOTS}".encode()  # so that none of it is known
    with contextlib.closing(ProcessPool()) as pool:
        seats = [
            RemoteContestant(LaunchedBot("b", Bundle("b", {"b.py": source + number}), "Crunch", {}, "sandbox"), pool)
            for number in (b"#0\n", b"#1\n")
        ]
        result = play_match(engine.load_game("epicycle", 2), seats, Streams(bytes(32), bytes(32), bytes(16)))
    assert result.forfeits == {}
    assert {note for _, note in result.notes} == {"1 loaded"}


def test_only_regular_files_of_bounded_size_are_taken_from_a_bots_folder(tmp_path, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_text("not the bot's")
    top = tmp_path / "numba"
    inner = top / "bots_1"
    inner.mkdir(parents=True)
    (inner / "good.nbc").write_bytes(b"code")
    (inner / "large.nbc").write_bytes(bytes(100))
    (inner / "link.nbc").symlink_to(secret)
    (top / "linked").symlink_to(tmp_path)
    (top / "file").write_text("one level down")
    (inner / "folder").mkdir()
    monkeypatch.setattr(kernel_cache, "MAX_BYTES", 50)
    assert dict(kernel_cache.kernel_files(str(top))) == {"bots_1/good.nbc": b"code"}


def test_a_folder_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "numba").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match="numba"):
        list(kernel_cache.kernel_files(str(tmp_path / "numba")))


NAMES = st.binary(min_size=1, max_size=200).filter(
    lambda name: not {b"/"[0], 0} & {*name} and name not in (b".", b"..")
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NAMES, NAMES, st.sampled_from([b"", b".nbi", b".nbc"])), max_size=6))
@example(
    [(b"a\nb", b"good", b".nbi"), (b"bot", b"a\nb", b".nbi"), (b"bot", b"\xff", b".nbc"), (b"bot", b"ok", b".nbi")]
)
@example(
    [(b"C:", b"a\\b", b".nbc"), (b"bot", "\u202e\u2028".encode(), b".nbi"), (b"\xed\xb3\xbf", b"x" * 200, b".nbi")]
)
def test_whatever_names_a_bot_gives_its_files_what_is_taken_is_a_bundle(names):
    with tempfile.TemporaryDirectory() as folder:
        for outer, inner, end in names:
            os.makedirs(os.path.join(os.fsencode(folder), outer), exist_ok=True)
            Path(os.fsdecode(os.path.join(os.fsencode(folder), outer, inner + end))).write_bytes(inner)
        taken = Bundle("", dict(kernel_cache.kernel_files(folder)))
    assert unpack_bundle(pack_bundle(taken)) == taken
    assert (b"bot", b"ok", b".nbi") not in names or "bot/ok.nbi" in taken.files


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@example(b"1\n")
@example(b'["m", [["a", 1]]]\n')
@example(b'["m", [["a", "b"]]]\n')
@example(b'["m", {"a": 1}]\n')
@example(b"[" * 100_000)
@example(b"[1, [[2, 0]]]\n")
@example(b'["m", [["a", -1], ["b", 2]]]\nxy')
@example(b'["m", [["a\\nb", 0]]]\n')
def test_a_kept_file_that_is_damaged_is_no_bundle_and_nothing_worse(content):
    try:
        found = unpack_bundle(content)
    except ValueError:
        return
    assert all(isinstance(name, str) for name in (found.module, *found.files))


def test_the_cache_on_disk_keeps_what_was_written_last(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "MAX_CACHE_BYTES", 250)
    for number in range(4):
        kernel_cache._keep(tmp_path / str(number), bytes(100))
        os.utime(tmp_path / str(number), ns=(number, number))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "3"]
