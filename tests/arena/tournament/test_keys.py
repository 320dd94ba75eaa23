"""Secret dice: their key is drawn once for a log, committed to first, kept from every bot, and disclosed at the end."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import json
import os
import shutil
import signal
import sqlite3
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from arena import api
from arena.cli.app import run_command
from arena.core.errors import ConfigError, StoreError
from arena.plan.files import PLAN_CHANGED
from arena.runner import play_order
from arena.runner import run as runner
from arena.store import Store
from arena.tournament.dice_keys import with_dice_keys
from arena.verify.verification import verify
from tests.arena.match.test_dice import number_by_the_page, place_by_the_page, pyramid_punch_outcomes
from tests.support.submissions import submit
from tests.support.tournaments import arena, home_of, log_of, results, rows, write

BOTS = """
from bots import Bot


class Seed(Bot):
    def choose(self, state):
        self.note = str(self.seed)
        return self.rng.choice(state.legal_actions())
"""
MATCHES = 8
ROOT = Path(__file__).parents[3]


def config_of(blocks=2, dice="secret"):
    """Two boards with dice, played by `random` and a bot that notes its seed: four matches a round."""
    return f"""
name = "small"
seed = 11
blocks = {blocks}
dice = "{dice}"
opening = "random:1"
games = [{{ game = "pyramid_punch", players = 2 }}, {{ game = "epicycle(setup=random)", players = 2 }}]
bots = [{{ bot = "random" }}, {{ bot = "b.py:Seed" }}]
"""


@pytest.fixture
def config(tmp_path):
    return write(tmp_path / "run", config_of(), BOTS)


@pytest.fixture
def chunks_of_one(monkeypatch):
    monkeypatch.setattr(play_order, "MAX_CHUNK_MATCHES", 1)
    monkeypatch.setattr(runner, "WRITE_SECONDS", 0.0)


def play(config, **options):
    return api.run(config, home_of(config), backend="local", **({"workers": 1} | options))


def interrupted(config):
    """A run that is interrupted by Ctrl-C after its first match."""

    def interrupt(progress):
        if progress.played and not progress.stopping:
            signal.raise_signal(signal.SIGINT)

    result = play(config, show=interrupt)
    assert result.outcome.interrupted
    return result


def plan_json(config):
    return json.loads((home_of(config) / "small" / "plan.json").read_text())


def told_keys(config):
    """The secret keys in plan.json: hashes, and hexadecimal where they are disclosed."""
    return [(key["hash"], key["key"]) for key in plan_json(config)["secret_keys"]]


def lines(config):
    """The matches as they are exported, by id."""
    listed = map(json.loads, results(config)["matches.jsonl"].decode().splitlines())
    return {line["match"]: line for line in listed}


def kept_key(config):
    """The key as it lies in the log."""
    return rows(config, "SELECT key FROM keys")[0][0]


def alter(config, script):
    """Do what no run does to a log."""
    with contextlib.closing(sqlite3.connect(log_of(config))) as log:
        log.executescript(script)


def blake2b_256(key):
    return hashlib.blake2b(key, digest_size=32).hexdigest()


@pytest.mark.system
def test_the_hash_printed_before_play_is_that_of_the_key_disclosed_afterwards(config):
    told = arena("run", config, "--workers", 1, "--home", home_of(config), folder=config.parent)
    assert told.returncode == 0, told.stderr
    (line,) = [line for line in told.stderr.splitlines() if "hash" in line]
    ((hashed, key),) = told_keys(config)
    assert line.endswith(f" {hashed}")
    assert blake2b_256(bytes.fromhex(key)) == hashed
    assert len(bytes.fromhex(key)) == 32
    quiet = arena("run", config, "--quiet", "--home", home_of(config), folder=config.parent)
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_the_check_in_the_dice_document_accepts_the_disclosed_key_and_no_other(played, tmp_path, monkeypatch):
    written = plan_json(played[0])
    code = (ROOT / "docs" / "explanation" / "dice.md").read_text().split("```python\n")[1].split("```")[0]
    check = code.replace("reports/secret/plan.json", "plan.json")
    assert check != code
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(written))
    exec(check)
    (tmp_path / "plan.json").write_text(
        json.dumps(written | {"secret_keys": [{**written["secret_keys"][0], "key": "00" * 32}]})
    )
    with pytest.raises(AssertionError):
        exec(check)


def test_the_key_is_in_the_log_and_its_hash_beside_it_before_anything_is_played(config):
    def look(plan, kept):
        seen.append((rows(config, "SELECT hash, disclosed FROM keys"), rows(config, "SELECT * FROM matches")))
        seen.append(plan_json(config))
        assert plan.secret_keys == (kept_key(config),)

    seen = []
    play(config, planned=look)
    (key,) = seen[1]["secret_keys"]
    assert (seen[0], key["key"], seen[1]["dice"]) == (([(key["hash"], None)], []), None, "secret")
    assert plan_json(config) == seen[1] | {"secret_keys": [{**key, "key": kept_key(config).hex()}]}


def test_every_roll_and_opening_move_follows_from_the_disclosed_key(config, monkeypatch):
    monkeypatch.setattr("arena.tournament.dice_keys.secrets.token_bytes", lambda size: bytes(range(size)))
    play(config)
    key = bytes.fromhex(told_keys(config)[0][1])
    arrangements = sorted(set(itertools.permutations("SSSMMMLLL")), key=lambda deal: ["SML".index(p) for p in deal])
    outcomes = {
        "pyramid_punch": pyramid_punch_outcomes(),
        "epicycle(setup=random)": [("".join(deal), 1) for deal in arrangements],
    }
    drawn = Counter()
    for line in lines(config).values():
        state = engine.load_game(line["game"], line["players"]).new_initial_state()
        draws, opening = Counter(), line["opening"]
        for text in line["moves"].split():
            stream = None
            if state.is_chance_node():
                stream = "setup" if state.rolling_seat() < 0 else f"dice/{state.rolling_seat()}"
                possible = outcomes[line["game"]]
            elif opening:
                opening -= 1
                stream = "opening"
                possible = [(state.action_to_string(action), 1) for action in state.legal_actions()]
            if stream is not None:
                weights = [weight for _, weight in possible]
                id = bytes.fromhex(line["block"]) if stream == "opening" else id_by_the_page(line)
                number, _ = number_by_the_page(key, id, stream, draws[stream], sum(weights))
                assert text == possible[place_by_the_page(number, weights)][0]
                draws[stream] += 1
            state.apply_action(state.string_to_action(text))
        drawn += draws
    assert drawn["setup"] == MATCHES // 2 < drawn["opening"] <= MATCHES  # an opening may stop short of an end
    assert min(drawn["dice/0"], drawn["dice/1"]) > 4


def id_by_the_page(line):
    """A match's own id."""
    whole = bytes.fromhex(line["match"].partition("-")[0]) + line["lineup"].to_bytes(4, "little")
    return hashlib.blake2b(whole, digest_size=16, person=b"arena match v2").digest()


def dealt(config):
    """Deals and openings, and the seeds that bots were handed, by block and line-up."""
    found = {(line["block"], line["lineup"]): line for line in lines(config).values()}
    begins = {at: line["moves"].split()[:2] for at, line in found.items()}
    return begins, {at: {seed for _, seed in line["notes"]} for at, line in found.items()}


def test_two_homes_have_different_keys_dice_and_bots_seeds(tmp_path):
    configs = [
        write(tmp_path / str(n), config_of(dice=dice), BOTS) for n, dice in enumerate(("secret",) * 2 + ("auto",))
    ]
    for config in configs:
        play(config)
    assert [plan_json(config)["dice"] for config in configs] == ["secret", "secret", "public"]
    assert [len(told_keys(config)) for config in configs] == [1, 1, 0]
    assert told_keys(configs[0]) != told_keys(configs[1])
    assert len({plan_json(config)["public_bots_key"] for config in configs}) == 1
    found = [dealt(config) for config in configs]
    for (begins, seeds), (other_begins, other_seeds) in itertools.combinations(found, 2):
        assert other_begins.keys() == begins.keys() and len(begins) == MATCHES
        assert other_begins != begins
        assert any(seeds.values()) and not set().union(*seeds.values()) & set().union(*other_seeds.values())
    assert not set(lines(configs[0])) & set(lines(configs[1]))
    for begins, seeds in found[:2]:
        assert len(set().union(*seeds.values())) == sum(map(len, seeds.values()))
        deals = [begin[0] for at, begin in begins.items() if len(begin[0]) == 9]
        assert len(set(deals)) > 1 or not deals


def test_a_tournament_extended_after_disclosure_finds_its_matches_and_draws_a_further_key(config):
    play(config)
    before, ((hashed, key),) = lines(config), told_keys(config)
    config.write_text(config_of(blocks=3))
    progress = play(config).outcome.progress
    assert (progress.found, progress.played) == (MATCHES, MATCHES // 2)
    after = lines(config)
    assert before.items() <= after.items()
    assert told_keys(config)[0] == (hashed, key) and len(told_keys(config)) == 2
    for name, line in after.items():
        assert line["dice_key_hash"] == (hashed if name in before else told_keys(config)[1][0])
    assert all(blake2b_256(bytes.fromhex(key)) == hashed for hashed, key in told_keys(config))
    assert verify(log_of(config), workers=1).sound
    assert play(config).outcome.progress.played == 0
    assert len(told_keys(config)) == 2, "no key is drawn where nothing is to be played"


@pytest.mark.usefixtures("chunks_of_one")
def test_an_interrupted_tournament_goes_on_with_its_key(config):
    interrupted(config)
    key = kept_key(config)
    assert play(config).outcome.progress.found
    assert [bytes.fromhex(each) for _, each in told_keys(config)] == [key]


def test_a_block_that_was_cut_off_before_its_key_was_disclosed_is_played_anew(config):
    """The rest of such a block could be foreseen."""
    config.write_text(config_of(blocks=3))
    play(config)
    block = rows(config, "SELECT max(block) FROM blocks")[0][0]
    for table in ("matches", "seats", "timings", "faults"):
        alter(config, f"DELETE FROM {table} WHERE block = {block} AND lineup = 1")
    config.write_text(config_of(blocks=2))
    assert play(config).outcome.complete
    config.write_text(config_of(blocks=3).replace("seed", "forfeit_limit = 5\nseed"))
    result = play(config)
    assert (result.outcome.progress.found, result.outcome.progress.played) == (3 * MATCHES // 2 - 2, 2)
    assert len(told_keys(config)) == 2
    assert verify(log_of(config), workers=1).sound


def test_a_fresh_log_draws_another_key(config):
    play(config)
    key = kept_key(config)
    assert play(config, fresh=True).outcome.progress.played == MATCHES
    assert kept_key(config) != key


def test_a_log_takes_no_key_twice(config):
    with Store.create(home_of(config) / "small" / api.LOG_FILE) as store:
        store.keep_key(bytes(32), "2026")
        with pytest.raises(StoreError, match="another program has written to it"):
            store.keep_key(bytes(32), "2027")
        store.keep_key(bytes(range(32)), "2027")
        assert [key.checked() for key in store.keys.all()] == [bytes(32), bytes(range(32))]


@pytest.mark.usefixtures("chunks_of_one")
def test_the_key_is_disclosed_by_the_run_that_finishes_and_not_before(config):
    interrupted(config)
    files = [path for path in home_of(config).rglob("*") if not path.name.startswith(api.LOG_FILE)]
    assert "plan.json" in {path.name for path in files}
    for held in [path.read_bytes() for path in files if path.is_file()] + [
        row[0].encode() for row in rows(config, "SELECT plan FROM runs")
    ]:
        assert not holds(held, kept_key(config))
    ((hashed, none),) = told_keys(config)
    assert none is json.loads(results(config)["plan.json"])["secret_keys"][0]["key"] is None
    assert rows(config, "SELECT disclosed FROM keys") == [(None,)]
    assert play(config).outcome.complete
    assert blake2b_256(bytes.fromhex(told_keys(config)[0][1])) == hashed
    assert json.loads(results(config)["plan.json"]) == plan_json(config)
    assert rows(config, "SELECT disclosed IS NOT NULL FROM keys") == [(1,)]


@pytest.mark.usefixtures("chunks_of_one")
def test_a_further_key_is_announced_and_the_first_moment_of_disclosure_is_kept(config):
    assert not any("disclosed" in line for line in play(config).plan.remarks)
    assert not any("disclosed" in line for line in play(config).plan.remarks)
    moment = rows(config, "SELECT disclosed FROM keys")
    config.write_text(config_of(blocks=1))
    assert not any("disclosed" in line for line in play(config).plan.remarks)
    config.write_text(config_of(blocks=3))
    (line,) = [line for line in interrupted(config).plan.remarks if "disclosed" in line]
    assert f"disclosed on {moment[0][0][:10]}" in line and "another one" in line
    assert [key is None for _, key in told_keys(config)] == [False, True]
    assert not any("disclosed" in line for line in play(config).plan.remarks)
    assert rows(config, "SELECT disclosed FROM keys")[:1] == moment
    assert len(told_keys(config)) == 2


@pytest.mark.usefixtures("chunks_of_one")
def test_every_match_can_be_audited_before_and_after_disclosure(config, capsys):
    def audit():
        (match,) = rows(config, "SELECT hex(identity) || '-' || lineup FROM matches JOIN blocks USING (block) LIMIT 1")
        where = ["--in", str(log_of(config)), "--audit", "--no-show"]
        assert run_command(["replay", match[0].lower(), *where]) == 0
        return " ".join(capsys.readouterr().out.split())

    interrupted(config)
    hashed = told_keys(config)[0][0]
    before = audit()
    assert "all as recorded" in before
    assert f"The secret key fits its hash {hashed}." in before
    play(config)
    assert audit() == before
    alter(config, f"UPDATE keys SET key = zeroblob(32), hash = '{blake2b_256(bytes(32))}'")
    with pytest.raises(AssertionError):
        audit()
    assert "by the keys" in capsys.readouterr().err


@pytest.mark.chaos
def test_results_do_not_depend_on_workers_or_interruptions(tmp_path, monkeypatch, chunks_of_one):
    monkeypatch.setattr("arena.tournament.dice_keys.secrets.token_bytes", lambda size: bytes(range(size)))
    one, two, resumed = (write(tmp_path / name, config_of(), BOTS) for name in ("one", "two", "resumed"))
    play(one)
    play(two, workers=2)
    interrupted(resumed)
    play(resumed)
    assert results(one) == results(two) == results(resumed)
    assert results(one)["matches.jsonl"].count(b"\n") == MATCHES


DAMAGES = {
    "another key": "UPDATE keys SET key = zeroblob(32)",
    "a longer key": "UPDATE keys SET key = key || x'00'",
    "a text": "UPDATE keys SET key = 'no key'",
    "another hash": "UPDATE keys SET hash = 'no hash'",
    "no key": "DELETE FROM keys",
}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament that has been played, and its plan before a key was drawn."""
    config = write(tmp_path_factory.mktemp("played"), config_of(), BOTS)
    planned = api.load_plan(config)
    play(config)
    return config, planned


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_key_is_one_line_and_nothing_is_played_or_drawn(played, damage, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(api, "load_plan", lambda *_: played[1])
    shutil.copytree(played[0].parent, tmp_path, dirs_exist_ok=True)
    config = tmp_path / played[0].name
    alter(config, DAMAGES[damage])
    kept = rows(config, "SELECT CAST(key AS BLOB), hash FROM keys")
    match = rows(config, "SELECT lower(hex(identity)) || '-0' FROM blocks LIMIT 1")[0][0]
    for command in (["run", str(config)], ["export", str(config)], ["replay", match, "--audit", "--in", "small"]):
        assert run_command([*command, "--home", str(home_of(config))]) == 1
        said = capsys.readouterr().err
        assert (said.count("\n"), said.startswith("error: ")) == (1, True)
        assert "the log is damaged" in said
    assert rows(config, "SELECT CAST(key AS BLOB), hash FROM keys") == kept


def test_other_dice_than_the_log_holds_are_said_in_one_line(tmp_path):
    config = write(tmp_path, config_of(blocks=1, dice="auto"), BOTS)
    assert play(config).plan.remarks == ()
    config.write_text(config_of(blocks=1))
    result = play(config)
    assert result.plan.remarks[0].startswith("The dice of this plan are secret, each match its own: ")
    assert (len(result.plan.remarks), result.plan.remarks[-1], result.outcome.progress.found) == (3, PLAN_CHANGED, 0)
    config.write_text(config_of(blocks=1, dice="auto"))
    result = play(config)
    assert (result.plan.remarks, result.outcome.progress.played) == ((PLAN_CHANGED,), 0)


def test_public_dice_where_the_log_holds_secret_ones_are_said_too(played):
    config, planned = played
    entries = tuple(replace(entry, trusted=True) for entry in planned.schedule.entries)
    public = replace(planned, schedule=replace(planned.schedule, entries=entries))
    with Store.create(log_of(config)) as store:
        (line,) = with_dice_keys(public, store).remarks
    assert line.startswith("The dice of this plan are public: ")


def test_the_dice_are_secret_as_soon_as_a_bot_was_submitted(config):
    config.write_text(config_of(dice="auto"))
    assert not api.load_plan(config, home=home_of(config)).schedule.has_secret_dice
    submit(f"{config.parent / 'b.py'}:Seed", "seed", "somebody", home_of(config))
    config.write_text(config_of(dice="auto").replace('"b.py:Seed"', '"seed", isolation = "none"'))
    planned = api.load_plan(config, home=home_of(config))
    assert planned.schedule.has_secret_dice
    with pytest.raises(ConfigError, match="drawn when it is first run"):
        planned.message()
    assert [*play(config).plan.schedule.keys] == [hashed for hashed, _ in told_keys(config)]


# What a bot can find

SPY = """
import os
import stat
from pathlib import Path

from bots import Bot

FOUND, TEMPORARY = Path({found!r}), Path({temporary!r})


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def regular_files():
    for number in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISREG(os.fstat(int(number)).st_mode):
                yield os.pread(int(number), 1 << 20, 0)
        except OSError:
            pass


def ancestors():
    # This process, the one that started it, and so on up to the driver and whoever started that
    number, found = os.getpid(), []
    while number > 1 and len(found) < 6:
        found.append(number)
        number = int(read(Path(f"/proc/{{number}}/stat")).rpartition(b")")[2].split()[1])
    return found


class Seed(Bot):
    def choose(self, state):
        seen = [read(Path(f"/proc/{{each}}/{{name}}")) for each in ancestors() for name in ("environ", "cmdline")]
        folders = [Path.cwd(), TEMPORARY]
        seen += [read(path) for folder in folders for path in folder.rglob("*") if path.is_file()]
        seen += [b"regular file: " + content for content in regular_files()]
        (FOUND / f"{{self.seed}}-{{len(os.listdir(FOUND))}}").write_bytes(b"\\n".join(seen))
        return state.legal_actions()[0]
"""


def holds(content, key):
    """Whether the key stands there, raw or in one of the usual spellings."""
    spellings = [key, key[::-1], key.hex().encode(), key.hex().upper().encode(), base64.b64encode(key)[:-1]]
    return any(spelling in content for spelling in spellings)


@pytest.mark.system
@pytest.mark.parametrize(
    ("isolation", "seen_for_sure"),
    [
        ("none", [b"PYTHONHASHSEED=0", b"arena.workers.preloaded", b"pytest", b"regular file: "]),
        ("process", [b"PATH=", b"forkserver.py", b"arena.workers.preloaded"]),
    ],
)
def test_no_bot_finds_the_key_in_environment_arguments_or_files(tmp_path, monkeypatch, isolation, seen_for_sure):
    found, temporary = tmp_path / "found", tmp_path / "temporary"
    for folder in (found, temporary):
        folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    told = config_of(blocks=1).replace('"b.py:Seed"', f'"b.py:Seed", isolation = "{isolation}"')
    config = write(tmp_path / "run", told, SPY.format(found=str(found), temporary=str(temporary)))
    planned = api.load_plan(config)
    monkeypatch.setattr(api, "load_plan", lambda *_: planned)  # so that the worker starts when the key has been drawn
    play(config)
    key = kept_key(config)
    seen = b"".join(path.read_bytes() for path in found.iterdir())
    for there in seen_for_sure:
        assert there in seen
    assert holds(b"..." + key.hex().encode() + b"...", key)
    assert not holds(seen, key)
    assert os.listdir(temporary) == []
