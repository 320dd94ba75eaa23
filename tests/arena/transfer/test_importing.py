"""Importing matches: what was exported gives the same tournament; what does not fit is refused and leaves no trace."""

import contextlib
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ArenaError, RecordError, StoreError
from arena.match.json_lines import read_matches
from arena.match.replay import replay
from arena.match.result import final_hash
from arena.runner.compare import compare
from arena.runner.options import Matchup, StopRule
from arena.store import Store
from arena.transfer.importing import import_records
from tests.support import tournaments
from tests.support.recorded import exported, play
from tests.support.tournaments import ARENA, home_of

GAUNTLET = {"kind": "gauntlet", "version": 1, "fields": {"challenger": "random", "max_tables": 10_000}}


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """A folder with the exported files of a tournament with secret dice that has been played."""
    config = play(tmp_path_factory.mktemp("played"), "secret")
    out = config.parent / "exported"
    exported(config, home_of(config), out)
    return out


@pytest.fixture
def copy(export, tmp_path):
    """A copy of these that a test may spoil."""
    return Path(shutil.copytree(export, tmp_path / "copy"))


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def texts(folder):
    """The matches of a folder, one line each."""
    return (folder / "matches.jsonl").read_text().splitlines(keepends=True)


def read_one(path):
    return next(read_matches(path))[1]


def refused(copy, home, told):
    """Import a folder's matches, which fails with these words and leaves nothing behind."""
    before = sorted(home.rglob("*")) if home.exists() else []
    with pytest.raises(ArenaError, match=told) as caught:
        import_records([copy / "matches.jsonl"], "again", home=home)
    assert "\n" not in str(caught.value)
    assert (sorted(home.rglob("*")) if home.exists() else []) == before
    return str(caught.value)


def test_an_imported_tournament_has_the_same_boards_and_matches_byte_for_byte(export, tmp_path):
    done = import_records([export / "matches.jsonl"], "again", home=tmp_path)
    assert done.log == tmp_path / "again" / "matches.db"
    assert (done.added, done.skipped) == (len(texts(export)), 0)
    assert exported("again", tmp_path, tmp_path / "out") == files_of(export)
    assert json.loads((tmp_path / "out" / "plan.json").read_text())["secret_keys"][0]["key"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "out"]


def test_public_dice_come_along_too_and_the_log_goes_on_where_it_ended(tmp_path):
    config = play(tmp_path / "played")
    out = tmp_path / "out"
    first = exported(config, home_of(config), out)
    home = tmp_path / "home"
    import_records([out / "matches.jsonl"], "all", home=home)
    assert exported("all", home, tmp_path / "again") == first
    more = tournaments.write(
        config.parent, config.read_text().replace("blocks = 1", "blocks = 2"), (config.parent / "b.py").read_text()
    )
    result = api.run(more, home, workers=1, backend="local")
    assert result.outcome.progress.found == len(texts(out))
    assert result.outcome.progress.played > 0


def test_parts_may_come_one_after_the_other_and_again(export, tmp_path):
    parts = texts(export)
    for name, part in (("first.jsonl", parts[::2]), ("second.jsonl", parts[1::3]), ("third.jsonl", parts)):
        (tmp_path / name).write_text("".join(part))
    plan = export / "plan.json"
    home = tmp_path / "home"
    assert import_records([tmp_path / "first.jsonl"], "again", plan, home).added == len(parts[::2])
    both = [tmp_path / name for name in ("first.jsonl", "second.jsonl", "third.jsonl")]
    done = import_records(both, "again", plan, home)
    assert done.added == len(parts) - len(parts[::2])
    assert done.skipped == len(parts[::2]) + len(parts[1::3]) + len(parts) - done.added
    assert exported("again", home, tmp_path / "out") == files_of(export)
    assert import_records(both, "again", plan, home).added == 0


EDITS = {
    "place": (lambda data: {"ranks": data["ranks"][::-1]}, "ranks .* on replay"),
    "end": (lambda data: {"ended": "cap"}, "ending normal on replay"),
    "score": (lambda data: {"scores": [score + 1 for score in data["scores"]]}, "scores .* on replay"),
    "final position": (lambda data: {"final": "0000" + data["final"][4:]}, "final position's hash"),
    "first move": (lambda data: {"moves": "nonsense " + data["moves"]}, "cannot be replayed"),
    "seed": (lambda data: {"seed": 5}, "another seed"),
    "opening": (lambda data: {"opening": data["opening"] + 1}, "another opening"),
    "round": (lambda data: {"round": 9}, "another block"),
    "rules": (lambda data: {"rules_version": 2}, "another rules_version"),
    "dice": (lambda data: {"dice": "public", "dice_key_hash": None}, "another dice"),
    "common dice": (lambda data: {"dice": "common"}, "another dice"),
    "dice without a key": (lambda data: {"dice_key_hash": None}, "belongs to secret dice"),
    "another key": (lambda data: {"dice_key_hash": "ab" * 32}, "another dice_key_hash"),
    "version": (lambda data: {"identities": ["random@" + "0" * 32, data["identities"][1]]}, "another identities"),
    "spec": (lambda data: {"specs": ["greedy", data["specs"][1]]}, "another specs"),
    "bot": (lambda data: {"bots": ["nobody", data["bots"][1]]}, "does not seat nobody"),
    "bot twice": (lambda data: {"bots": data["bots"][:1] * 2}, "does not seat"),
    "game": (lambda data: {"game": "chess"}, "the plan has no board chess, 2 players"),
    "line-up": (lambda data: {"lineup": 7, "match": data["match"][:-1] + "7"}, "the plan has no line-up 7"),
    "identity": (lambda data: {"match": "0000" + data["match"][4:]}, "another match"),
    "syntax": (lambda data: {"seed": "5"}, "seed = '5': must be a whole number"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_match_is_refused_with_its_line_and_nothing_is_left_behind(copy, tmp_path, edit):
    change, told = EDITS[edit]
    lines = texts(copy)
    at, data = next(
        (at, data)
        for at, data in enumerate(map(json.loads, lines))
        if data["ended"] == "normal" and data["ranks"] == [0, 1] and data["scores"]
    )
    lines[at] = json.dumps({**data, **change(data)}) + "\n"
    (copy / "matches.jsonl").write_text("".join(lines))
    assert f"matches.jsonl, line {at + 1}: " in refused(copy, tmp_path / "home", told)


def undisturbed(copy):
    """The data of a match of two without forfeits, and its record."""
    for found in texts(copy):
        (copy / "one.jsonl").write_text(found)
        record = read_one(copy / "one.jsonl")
        if record.players == 2 and not (record.forfeits or record.notes):
            return json.loads(found), record
    raise AssertionError("every match was disturbed")


def spoil(copy, data, **changes):
    """Leave one match with changes."""
    (copy / "matches.jsonl").write_text(json.dumps({**data, **changes}))


FORFEITS = {
    "beyond the end": ("timeout", 99998, "seat . cannot have forfeited at ply 99999"),
    "out of turn": ("timeout", None, "seat . cannot have forfeited at ply"),
    "before play, and yet there are moves": ("init", -1, "go on after all seats but one have forfeited"),
}


@pytest.mark.parametrize("case", FORFEITS)
def test_a_forfeit_that_no_match_can_have_is_refused(copy, tmp_path, case):
    cause, ply, told = FORFEITS[case]
    data, record = undisturbed(copy)
    loser = record.ranks.index(max(record.ranks))
    another = next(ply.number for ply in replay(record) if ply.seat == 1 - loser)
    forfeit = {"seat": loser, "cause": cause, "ply": another if ply is None else ply}
    spoil(copy, data, forfeits=[forfeit])
    with pytest.raises(StoreError, match=told):
        list(replay(read_one(copy / "matches.jsonl")))
    refused(copy, tmp_path / "home", told if ply == 99998 else "audit|" + told)
    spoil(copy, data, forfeits=[{"seat": 0, "cause": "sloth", "ply": 0}])
    refused(copy, tmp_path / "home", "no cause of a forfeit: sloth")


def test_a_match_that_was_cut_short_to_a_tie_is_refused(copy, tmp_path):
    data, record = undisturbed(copy)
    state = list(replay(record))[-2].state
    moves = " ".join(record.moves[:-1])
    spoil(copy, data, ranks=[0, 0], ended="forfeit", final=final_hash(state), scores=state.scores(), moves=moves)
    refused(copy, tmp_path / "home", "its moves end before the match does")


@pytest.mark.parametrize("note", ["\ud800", "\x1b[31m", "x" * 201])
def test_a_note_that_the_referee_would_not_keep_is_refused(copy, tmp_path, note):
    data, _ = undisturbed(copy)
    spoil(copy, data, notes=[[0, note]])
    refused(copy, tmp_path / "home", "is not one of at most 200 printable characters")


def edited(copy, change):
    """The first line of a folder's matches with another value of `evaluations`, and what an import says of it."""
    first, *others = texts(copy)
    (copy / "matches.jsonl").write_text(
        json.dumps(json.loads(first) | {"evaluations": change}) + "\n" + "".join(others)
    )
    return import_records([copy / "matches.jsonl"], "there", home=copy / "home")


def test_evaluations_come_along_whatever_they_say(copy):
    log = edited(
        copy,
        [[0, [0.5, -0.25, 0.1234][: json.loads(texts(copy)[0])["players"]], [99], []], [2, None, [0, 1], [[3, 5]]]],
    ).log
    with Store.open(log) as store:
        first = json.loads(texts(copy)[0])["match"].partition("-")
        match = store.match(bytes.fromhex(first[0]), int(first[2]))
    assert match.estimates[0].evaluation[:2] == (0.5, -0.25) and match.estimates[2].line == (0, 1)
    assert match.estimates[2].visit_counts == {3: 5}
    plies = list(replay(match))
    assert plies[0].line == () and plies[0].evaluation == match.estimates[0].evaluation


@pytest.mark.parametrize(
    "change",
    [
        *([[0, [2.0, 0.0], [], []]], [[0, [0.5], [], []]], [[10**6, None, [1], []]], [[0, None, [], []]]),
        *(
            [[0, None, [-1], []]],
            [[0, None, [1], []], [0, None, [1], []]],
            [[0, None, [1] * 17, []]],
            [[0, [1e308, 0], [], []]],
            "text",
            [[0, ["x", "y"], [], []]],
            [[0, None, [1]]],
        ),
        *(
            [[0, None, [], counts]]
            for counts in ([[4]], [[4, -1]], [[4, 1], [4, 1]], [[9, 1], [4, 1]], [4, 1], {"4": 1})
        ),
    ],
    ids=str,
)
def test_evaluations_that_no_log_keeps_are_refused(copy, change):
    with pytest.raises(RecordError, match="evaluations"):
        edited(copy, change)


def test_a_comparison_among_others_and_an_adaptive_tournament_come_along_too(tmp_path):
    duel = compare(
        Matchup("greedy", "random", "epicycle", 3, ["greedy"]), StopRule.fixed(3), workers=1, home=tmp_path / "home"
    )
    config = tournaments.write(tmp_path / "played", ADAPTIVE, "")
    api.run(config, home_of(config), workers=1, backend="local")
    for target, home in ((duel.folder, None), (config, home_of(config))):
        files = exported(target, home, tmp_path / "out")
        name = Path(target).name.replace(".toml", "_2")
        import_records([tmp_path / "out" / "matches.jsonl"], name, home=tmp_path / "home")
        assert exported(name, tmp_path / "home", tmp_path / "again") == files
        assert any(file.startswith("epicycle_") for file in files)


ADAPTIVE = """
name = "adaptive"
blocks = 4
first_blocks = 2
schedule = "adaptive"
games = [{ game = "epicycle", players = 2 }]
bots = [{ bot = "greedy" }, { bot = "random" }, { bot = "random", label = "another" }]
"""


def test_a_roll_that_is_possible_but_not_the_keys_is_refused(copy, tmp_path):
    for found in texts(copy):
        data = json.loads(found)
        if "pyramid_punch" not in data["game"] or data["forfeits"]:
            continue
        for roll in ("1-1", "2-5", "6-6"):
            edited = re.sub(r"(.*) \d-\d ", rf"\1 {roll} ", data["moves"])
            spoil(copy, data, moves=edited)
            with contextlib.suppress(StoreError):
                list(replay(read_one(copy / "matches.jsonl")))
                if edited != data["moves"]:
                    refused(copy, tmp_path / "home", r"is \d-\d in the log, \d-\d by the keys")
                    return
    pytest.fail("no other roll was possible")


def test_a_match_that_the_log_has_otherwise_is_refused_by_name_and_the_log_stays(export, tmp_path):
    home = tmp_path / "home"
    parts = texts(export)
    (tmp_path / "part.jsonl").write_text("".join(parts[:-1]))
    log = import_records([tmp_path / "part.jsonl"], "again", export / "plan.json", home).log
    with contextlib.closing(sqlite3.connect(log)) as db, db:
        block, lineup = db.execute("SELECT block, lineup FROM matches ORDER BY block LIMIT 1").fetchone()
        identity = db.execute("SELECT identity FROM blocks WHERE block = ?", (block,)).fetchone()[0]
        db.execute("UPDATE matches SET ended = 'edited' WHERE block = ? AND lineup = ?", (block, lineup))
    before = exported("again", home, tmp_path / "before")
    with pytest.raises(
        RecordError, match=f"match {identity.hex()}-{lineup} is known already, with other moves or another result"
    ):
        import_records([export / "matches.jsonl"], "again", home=home)
    assert exported("again", home, tmp_path / "after") == before


def test_two_lines_of_one_match_must_be_the_same(copy, tmp_path):
    first = next(text for text in texts(copy) if '"timed":false' in text)
    (copy / "matches.jsonl").write_text(first + first.replace('"timed":false', '"timed":true'))
    refused(copy, tmp_path / "home", "is known already")
    (copy / "matches.jsonl").write_text(first + first)
    done = import_records([copy / "matches.jsonl"], "again", home=tmp_path / "home")
    assert (done.added, done.skipped) == (1, 1)


def with_board(plan, **changes):
    """The plan with changes to its first board."""
    return {**plan, "boards": [{**plan["boards"][0], **changes}, *plan["boards"][1:]]}


def with_key(plan, key):
    """The plan with another key of its dice."""
    return {**plan, "secret_keys": [{**plan["secret_keys"][0], "key": key}]}


PLANS = {
    "missing": (lambda plan: None, "no such file; matches need the plan.json that `arena export` writes beside them"),
    "no JSON": (lambda plan: "no plan", "is no plan.json"),
    "no plan": (lambda plan: {}, "is no plan.json: name: is missing"),
    "a list": (lambda plan: [], "is no plan.json: must be a table"),
    "undisclosed": (lambda plan: with_key(plan, None), "secret and their key is not disclosed yet"),
    "other key": (lambda plan: with_key(plan, "00" * 32), "a key of its dice is not the one whose hash it holds"),
    "other key before the right one": (
        lambda plan: {**plan, "secret_keys": [*with_key(plan, "00" * 32)["secret_keys"], *plan["secret_keys"]]},
        "a key of its dice is not the one whose hash it holds",
    ),
    "unknown key": (lambda plan: {**plan, "dice_key_hash": "00" * 32}, "dice_key_hash = .*: unknown key"),
    "trusted": (lambda plan: {**plan, "bots": [{**bot, "trusted": True} for bot in plan["bots"]]}, "another dice"),
    "other bots": (lambda plan: {**plan, "seed": 9}, "another seed"),
    "other rules": (
        lambda plan: {**plan, "boards": [{**board, "rules_version": 77} for board in plan["boards"]]},
        "was played by version 77 of its rules; this arena has version",
    ),
    "too deep": (lambda plan: "[" * 100_000, "is no plan.json: nested too deep"),
    "too large": (lambda plan: " " * 2**26 + "{}", "is no plan.json: more than 64 MiB"),
    "a format": (lambda plan: {**plan, "formats": ["/../../x"]}, r"formats\[0\] = '/../../x': not a choice"),
    "blocks": (lambda plan: with_board(plan, blocks=10**30), r"boards\[0\].blocks = 1000"),
    "a surrogate": (lambda plan: with_board(plan, game="\ud800"), r"boards\[0\].game = "),
    "a number": (lambda plan: {**plan, "forfeit_limit": float("nan")}, "forfeit_limit = nan: must be a whole number"),
    "options": (lambda plan: with_board(plan, params={"max_turns": 7}), "the options of epicycle are not those"),
    "a stranger": (lambda plan: with_board(plan, bots=["nobody"]), "is no plan.json: it has no bot 'nobody'"),
    "a challenger": (
        lambda plan: with_board({**plan, "scheduler": GAUNTLET}, bots=["Fragile", 'a "quoted" label (1)']),
        "challenger = 'random' does not play",
    ),
    "a kind of schedule that is not installed": (
        lambda plan: {**plan, "scheduler": {**GAUNTLET, "kind": "../knockout"}},
        r"schedule = '../knockout': no such kind is installed",
    ),
    "another version of it": (
        lambda plan: {**plan, "scheduler": {**GAUNTLET, "version": 2}},
        "schedule = 'gauntlet': is planned by version 2 of that kind, and here is version 1",
    ),
    "a key that it has not": (
        lambda plan: {**plan, "scheduler": {**GAUNTLET, "fields": {"chalenger": "random"}}},
        r"is no plan.json: chalenger = 'random': unknown key; did you mean 'challenger'\?$",
    ),
    "a schedule by nothing": (lambda plan: {**plan, "scheduler": None}, "scheduler = None: must be a table"),
    "a board twice": (lambda plan: {**plan, "boards": plan["boards"][:1] * 2}, "has a board twice"),
    "a bot twice": (lambda plan: {**plan, "bots": plan["bots"][:1] * 2}, "two bots have the same label"),
    "other game": (
        lambda plan: {**plan, "boards": [{**board, "game": "chess"} for board in plan["boards"]]},
        "no game 'chess'",
    ),
}


@pytest.mark.parametrize("case", PLANS)
def test_matches_without_their_plan_are_refused(copy, tmp_path, case):
    change, told = PLANS[case]
    made = change(json.loads((copy / "plan.json").read_text()))
    (copy / "plan.json").write_text(made if isinstance(made, str) else json.dumps(made))
    if made is None:
        (copy / "plan.json").unlink()
    refused(copy, tmp_path / "home", told)


@pytest.mark.system
def test_matches_with_another_key_come_along_with_it_and_each_is_counted_once(export, tmp_path):
    config = play(tmp_path / "other", "secret")
    before = exported(config, home_of(config), tmp_path / "before")
    done = import_records([export / "matches.jsonl"], "all", home=home_of(config))
    assert (done.added, done.skipped) == (len(texts(export)), 0)
    with Store.open(done.log) as store:
        assert len({key.checked() for key in store.keys.all()}) == 2
    after = exported(config, home_of(config), tmp_path / "after")
    assert after["matches.jsonl"] == before["matches.jsonl"]


@pytest.mark.parametrize("name", ["bots", "compare", "../up", "", ".hidden"])
def test_a_name_that_is_no_tournaments_is_refused(export, tmp_path, name):
    with pytest.raises(ArenaError, match=r"^--name"):
        import_records([export / "matches.jsonl"], name, home=tmp_path / "home")


def test_a_file_without_matches_is_refused(copy, tmp_path):
    (copy / "matches.jsonl").write_text("\n\n")
    refused(copy, tmp_path / "home", "no matches in the file")


@pytest.mark.system
@pytest.mark.parametrize("there", [pytest.param(False, marks=pytest.mark.chaos), True], ids=["new", "existing"])
def test_an_interrupted_import_leaves_nothing_behind(export, tmp_path, there):
    home = tmp_path / "home"
    home.mkdir()
    parts = texts(export)
    if there:
        (tmp_path / "first.jsonl").write_text("".join(parts[:3]))
        import_records([tmp_path / "first.jsonl"], "again", export / "plan.json", home)
        before = exported("again", home, tmp_path / "before")
    (tmp_path / "long.jsonl").write_text("".join(parts * 300))
    command = [*ARENA, "import", "long.jsonl", "--name", "again", "--plan", export / "plan.json", "--home", home]
    process = subprocess.Popen(list(map(str, command)), cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    begun = f'"pid": {process.pid}'  # as it writes into the lock file
    while process.poll() is None and not any(begun in lock.read_text() for lock in home.rglob("*.lock")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(tournaments.PATIENCE) == 130
    with process.stderr as said:
        assert "Traceback" not in said.read()
    if there:
        assert exported("again", home, tmp_path / "after") == before
    assert sorted(path.name for path in home.iterdir()) == ["again"] * there


def test_an_import_that_makes_another_plan_count_says_so_and_what_is_stale(export, tmp_path, capsys):
    parts = ["import", str(export / "matches.jsonl"), "--name", "again", "--home", str(tmp_path)]
    assert run_command(parts) == 0
    assert "Another plan" not in capsys.readouterr().out
    (tmp_path / "again" / "index.html").write_text("")
    changed = json.loads((export / "plan.json").read_text())
    changed["forfeit_limit"] += 1
    (tmp_path / "plan.json").write_text(json.dumps(changed))
    for there in (True, False):
        assert run_command([*parts, "--plan", str(tmp_path / "plan.json")]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert ("Another plan counts in the log than before: boards and exports are of that one." in told) == there
        assert ("Out of date beside it: index.html" in told) == there


def test_the_command_says_what_it_did(export, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    count = len(texts(export))
    command = ["import", str(export / "matches.jsonl"), "--name", "again", "--home", "home"]
    assert run_command(command) == 0
    assert capsys.readouterr().out == f"{count} matches imported into home/again/matches.db\n"
    assert run_command(command) == 0
    assert f"0 matches imported into home/again/matches.db; {count} were there already" in capsys.readouterr().out
    assert run_command(["replay", json.loads(texts(export)[0])["match"], "--audit", "--no-show", "--home", "home"]) == 0
