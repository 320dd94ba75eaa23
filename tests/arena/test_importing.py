"""Importing records: what was exported gives the same tournament; what does not fit is refused and leaves no trace."""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from arena import api
from arena.cli import run_command
from arena.compare import compare
from arena.errors import ArenaError, RecordError, StoreError
from arena.importing import import_records
from arena.record_reader import read_records
from arena.referee import final_hash
from arena.replay import replay
from tests.arena import tournaments
from tests.arena.recorded import exported, play
from tests.arena.tournaments import ARENA, home_of


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
    """The records of a folder, one text each."""
    return re.split(r"(?<=\n\n)(?=\[Match )", (folder / "matches.txt").read_text())


def ids(store):
    return set(store._db.execute("SELECT identity, lineup FROM blocks JOIN matches USING (block)"))


def refused(copy, home, told):
    """Import a folder's records, which fails with these words and leaves nothing behind."""
    before = sorted(home.rglob("*")) if home.exists() else []
    with pytest.raises(ArenaError, match=told) as caught:
        import_records([copy / "matches.txt"], "again", home=home)
    assert "\n" not in str(caught.value)
    assert (sorted(home.rglob("*")) if home.exists() else []) == before
    return str(caught.value)


def test_an_imported_tournament_has_the_same_boards_matches_and_records_byte_for_byte(export, tmp_path):
    done = import_records([export / "matches.txt"], "again", home=tmp_path)
    assert done.log == tmp_path / "again" / "matches.db"
    assert (done.added, done.skipped) == (len(texts(export)), 0)
    assert exported("again", tmp_path, tmp_path / "out") == files_of(export)
    assert json.loads((tmp_path / "out" / "plan.json").read_text())["dice_key"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "out"]


def test_public_dice_come_along_too_and_the_log_goes_on_where_it_ended(tmp_path):
    config = play(tmp_path / "played")
    out = tmp_path / "out"
    first = exported(config, home_of(config), out)
    home = tmp_path / "home"
    import_records([out / "matches.txt"], "all", home=home)
    assert exported("all", home, tmp_path / "again") == first
    more = tournaments.write(
        config.parent, config.read_text().replace("blocks = 1", "blocks = 2"), (config.parent / "b.py").read_text()
    )
    result = api.run(more, home, workers=1, backend="local")
    assert result.outcome.progress.found == len(texts(out))
    assert result.outcome.progress.played > 0


def test_parts_may_come_one_after_the_other_and_again(export, tmp_path):
    parts = texts(export)
    for name, part in (("first.txt", parts[::2]), ("second.txt", parts[1::3]), ("third.txt", parts)):
        (tmp_path / name).write_text("".join(part))
    plan = export / "plan.json"
    home = tmp_path / "home"
    assert import_records([tmp_path / "first.txt"], "again", plan, home).added == len(parts[::2])
    both = [tmp_path / name for name in ("first.txt", "second.txt", "third.txt")]
    done = import_records(both, "again", plan, home)
    assert done.added == len(parts) - len(parts[::2])
    assert done.skipped == len(parts[::2]) + len(parts[1::3]) + len(parts) - done.added
    assert exported("again", home, tmp_path / "out") == files_of(export)
    assert import_records(both, "again", plan, home).added == 0


EDITS = {
    "place": (r'^\[Places "1 2"', '[Places "2 1"', "ranks .* on replay"),
    "end": (r'^\[Ended "normal"', '[Ended "cap"', "ending normal on replay"),
    "score": (r'^\[Scores "', '[Scores "1', "scores .* on replay"),
    "final position": (r'^\[Final "....', '[Final "0000', "final position's hash"),
    "first move": (r"^1\. \S+", "1. nonsense", "cannot be replayed"),
    "seed": (r'^\[Seed ".*"', '[Seed "5"', r"another \[Seed\]"),
    "opening": (r'^\[Opening "2"', '[Opening "3"', r"another \[Opening\]"),
    "round": (r'^\[Round "0"', '[Round "9"', r"another \[Block\]"),
    "rules": (r'^\[Rules "1"', '[Rules "2"', r"another \[Rules\]"),
    "dice": (r'^\[Dice ".*"', '[Dice "public"', r"another \[Dice\]"),
    "version": (r'^\[Identity0 "random@....', '[Identity0 "random@0000', r"another \[Identity0\]"),
    "spec": (r'^\[Spec0 "random"', '[Spec0 "greedy"', r"another \[Spec0\]"),
    "bot": (r'^\[Bot0 "random"', '[Bot0 "nobody"', "does not seat nobody"),
    "bot twice": (r'^\[Bot0 "random"', '[Bot0 "Fragile"', "does not seat"),
    "game": (r'^\[Game "midgard"', '[Game "chess"', "the plan has no board chess, 2 players"),
    "line-up": (r'^(\[Match "[0-9a-f]*)-0', r"\1-7", "the plan has no line-up 7"),
    "identity": (r'^\[Match "....', '[Match "0000', r"another \[Match\]"),
    "syntax": (r"^\[Seed.*", "[Seed]", "not a header line"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_match_is_refused_with_its_line_and_nothing_is_left_behind(copy, tmp_path, edit):
    old, new, told = EDITS[edit]
    text = (copy / "matches.txt").read_text()
    (copy / "matches.txt").write_text(re.sub(old, new, text, count=1, flags=re.MULTILINE))
    assert (copy / "matches.txt").read_text() != text
    assert re.search(r"matches.txt, line \d+: ", refused(copy, tmp_path / "home", told))


def undisturbed(copy):
    """The text of a match of two without forfeits, and its record."""
    for found in texts(copy):
        (copy / "one.txt").write_text(found)
        record = next(read_records(copy / "one.txt"))[1]
        if record.match.players == 2 and not (record.match.falls or record.match.notes):
            return found, record
    raise AssertionError("every match was disturbed")


FORFEITS = {
    "beyond the end": ("timeout 99999", "seat . cannot have forfeited at ply 99999"),
    "out of turn": ("timeout {0}", "seat . cannot have forfeited at ply"),
    "before play, and yet there is a course": ("init 0", "goes on after all seats but one have forfeited"),
}


@pytest.mark.parametrize("case", FORFEITS)
def test_a_forfeit_that_no_match_can_have_is_refused(copy, tmp_path, case):
    forfeit, told = FORFEITS[case]
    found, record = undisturbed(copy)
    loser = record.match.ranks.index(max(record.match.ranks))
    plies = list(replay(record.match))
    another = next(ply.number for ply in plies if ply.seat == 1 - loser) + 1
    line = f'[Forfeit{loser} "{forfeit.format(another)}"]\n[Ended'
    (copy / "matches.txt").write_text(found.replace("[Ended", line))
    with pytest.raises(StoreError, match=told):
        list(replay(next(read_records(copy / "matches.txt"))[1].match))
    refused(copy, tmp_path / "home", told if "99999" in forfeit else "audit|" + told)
    (copy / "matches.txt").write_text(found.replace("[Ended", '[Forfeit0 "sloth 1"]\n[Ended'))
    refused(copy, tmp_path / "home", "no cause of a forfeit: sloth")


def test_a_match_that_was_cut_short_to_a_tie_is_refused(copy, tmp_path):
    found, record = undisturbed(copy)
    state = list(replay(record.match))[-2].state
    header, _ = found.split("\n\n", 1)
    scores = state.scores()
    edits = {"Places": "1 1", "Ended": "forfeit", "Plies": len(record.match.course) - 1, "Final": final_hash(state)}
    for key, value in {**edits, **({"Scores": " ".join(map(str, scores))} if scores else {})}.items():
        header = re.sub(rf"\[{key} .*", f'[{key} "{value}"]', header)
    (copy / "matches.txt").write_text(f"{header}\n\n{' '.join(record.match.course[:-1])}\n\n")
    refused(copy, tmp_path / "home", "its course ends before the match does")


@pytest.mark.parametrize("note", ["\\ud800", "\\u001b[31m", "x" * 201])
def test_a_note_that_the_referee_would_not_keep_is_refused(copy, tmp_path, note):
    found, record = undisturbed(copy)
    (copy / "matches.txt").write_text(found.replace("\n\n1. ", f"\n\n1. {record.match.course[0]} {{{note}}} 2. ", 1))
    text = (copy / "matches.txt").read_text().replace(f" 2. {record.match.course[0]} ", " 2. ", 1)
    (copy / "matches.txt").write_text(text)
    refused(copy, tmp_path / "home", "is not one of at most 200 printable characters")


def test_a_comparison_among_others_and_an_adaptive_tournament_come_along_too(tmp_path):
    duel = compare("greedy", "random", "epicycle", 3, ["greedy"], fixed=3, workers=1, home=tmp_path / "home")
    config = tournaments.write(tmp_path / "played", ADAPTIVE, "")
    api.run(config, home_of(config), workers=1, backend="local")
    for target, home in ((duel.folder, None), (config, home_of(config))):
        files = exported(target, home, tmp_path / "out")
        name = Path(target).name.replace(".toml", "_2")
        import_records([tmp_path / "out" / "matches.txt"], name, home=tmp_path / "home")
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
        if '[Game "pyramid_punch' not in found or "Forfeit" in found:
            continue
        for roll in ("1-1", "2-5", "6-6"):
            edited = re.sub(r"(?s)(.*) \d-\d ", rf"\1 {roll} ", found)
            (copy / "matches.txt").write_text(edited)
            with contextlib.suppress(StoreError):
                list(replay(next(read_records(copy / "matches.txt"))[1].match))
                if edited != found:
                    refused(copy, tmp_path / "home", r"is \d-\d in the log, \d-\d by the keys")
                    return
    pytest.fail("no other roll was possible")


def test_a_match_that_the_log_has_otherwise_is_refused_by_name_and_the_log_stays(export, tmp_path):
    home = tmp_path / "home"
    parts = texts(export)
    (tmp_path / "part.txt").write_text("".join(parts[:-1]))
    log = import_records([tmp_path / "part.txt"], "again", export / "plan.json", home).log
    with contextlib.closing(sqlite3.connect(log)) as db, db:
        block, lineup = db.execute("SELECT block, lineup FROM matches ORDER BY block LIMIT 1").fetchone()
        identity = db.execute("SELECT identity FROM blocks WHERE block = ?", (block,)).fetchone()[0]
        db.execute("UPDATE matches SET ended = 'edited' WHERE block = ? AND lineup = ?", (block, lineup))
    before = exported("again", home, tmp_path / "before")
    with pytest.raises(
        RecordError, match=f"match {identity.hex()}-{lineup} is known already, with another course or result"
    ):
        import_records([export / "matches.txt"], "again", home=home)
    assert exported("again", home, tmp_path / "after") == before


def test_two_records_of_one_match_must_be_the_same(copy, tmp_path):
    first = next(text for text in texts(copy) if '[Timed "yes"]' not in text)
    (copy / "matches.txt").write_text(first + first.replace('[Plies "', '[Timed "yes"]\n[Plies "'))
    refused(copy, tmp_path / "home", "is known already")
    (copy / "matches.txt").write_text(first + first)
    done = import_records([copy / "matches.txt"], "again", home=tmp_path / "home")
    assert (done.added, done.skipped) == (1, 1)


def with_board(plan, **changes):
    """The plan with changes to its first board."""
    return {**plan, "boards": [{**plan["boards"][0], **changes}, *plan["boards"][1:]]}


PLANS = {
    "missing": (lambda plan: None, "no such file; records need the plan.json that `arena export` writes beside them"),
    "no JSON": (lambda plan: "no plan", "is no plan.json"),
    "no plan": (lambda plan: {}, "is no plan.json: name: is missing"),
    "a list": (lambda plan: [], "is no plan.json: must be a table"),
    "undisclosed": (lambda plan: {**plan, "dice_key": None}, "secret and their key is not disclosed yet"),
    "other key": (lambda plan: {**plan, "dice_key": "00" * 32}, "its dice_key is not the one whose hash it holds"),
    "other bots": (lambda plan: {**plan, "seed": 9}, r"another \[Seed\]"),
    "other rules": (
        lambda plan: {**plan, "boards": [{**board, "rules_version": 77} for board in plan["boards"]]},
        "was played by version 77 of its rules; this arena has version",
    ),
    "too deep": (lambda plan: "[" * 100_000, "is no plan.json: nested too deep"),
    "too large": (lambda plan: " " * 2**26 + "{}", "is no plan.json: more than 64 MiB"),
    "a format": (lambda plan: {**plan, "formats": ["/../../x"]}, r"formats\[0\] = '/../../x': not a choice"),
    "blocks": (lambda plan: with_board(plan, blocks=10**30), r"boards\[0\].blocks = 1000"),
    "a surrogate": (lambda plan: with_board(plan, game="\ud800"), r"boards\[0\].game = "),
    "a number": (lambda plan: {**plan, "bench_after": float("nan")}, "bench_after = nan: must be a whole number"),
    "options": (lambda plan: with_board(plan, params={"max_turns": 7}), "the options of epicycle are not those"),
    "a stranger": (lambda plan: with_board(plan, bots=["nobody"]), "is no plan.json: it has no bot 'nobody'"),
    "a hero": (
        lambda plan: with_board({**plan, "hero": "random"}, bots=["Fragile", 'a "quoted" {label}']),
        "whoever every block is about has to play on every board",
    ),
    "a board twice": (lambda plan: {**plan, "boards": plan["boards"][:1] * 2}, "has a board twice"),
    "a bot twice": (lambda plan: {**plan, "bots": plan["bots"][:1] * 2}, "two bots have the same label"),
    "other game": (
        lambda plan: {**plan, "boards": [{**board, "game": "chess"} for board in plan["boards"]]},
        "no game 'chess'",
    ),
}


@pytest.mark.parametrize("case", PLANS)
def test_records_without_their_plan_are_refused(copy, tmp_path, case):
    change, told = PLANS[case]
    made = change(json.loads((copy / "plan.json").read_text()))
    (copy / "plan.json").write_text(made if isinstance(made, str) else json.dumps(made))
    if made is None:
        (copy / "plan.json").unlink()
    refused(copy, tmp_path / "home", told)


def test_another_tournaments_secret_dice_are_refused(export, tmp_path):
    config = play(tmp_path / "other", "secret")
    before = exported(config, home_of(config), tmp_path / "before")
    with pytest.raises(RecordError, match=r"holds another key of secret dice than .*json; choose another --name"):
        import_records([export / "matches.txt"], "all", home=home_of(config))
    assert exported(config, home_of(config), tmp_path / "after") == before


@pytest.mark.parametrize("name", ["bots", "compare", "../up", "", ".hidden"])
def test_a_name_that_is_no_tournaments_is_refused(export, tmp_path, name):
    with pytest.raises(ArenaError, match=r"^--name"):
        import_records([export / "matches.txt"], name, home=tmp_path / "home")


def test_a_file_without_records_is_refused(copy, tmp_path):
    (copy / "matches.txt").write_text("\n\n")
    refused(copy, tmp_path / "home", "no records in there")


@pytest.mark.parametrize("there", [pytest.param(False, marks=pytest.mark.chaos), True], ids=["new", "existing"])
def test_an_interrupted_import_leaves_nothing_behind(export, tmp_path, there):
    home = tmp_path / "home"
    home.mkdir()
    parts = texts(export)
    if there:
        (tmp_path / "first.txt").write_text("".join(parts[:3]))
        import_records([tmp_path / "first.txt"], "again", export / "plan.json", home)
        before = exported("again", home, tmp_path / "before")
    os.mkfifo(tmp_path / "pipe.txt")
    command = [*ARENA, "import", "pipe.txt", "--name", "again", "--plan", export / "plan.json", "--home", home]
    process = subprocess.Popen(list(map(str, command)), cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    with (tmp_path / "pipe.txt").open("w") as pipe:
        with contextlib.suppress(BrokenPipeError):
            pipe.write("".join(parts * 20))  # it reads no further than it has to, so it is in the midst of its work now
            pipe.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(tournaments.PATIENCE) == 130
        with contextlib.suppress(BrokenPipeError):
            pipe.close()
    with process.stderr as said:
        assert "Traceback" not in said.read()
    if there:
        assert exported("again", home, tmp_path / "after") == before
    assert sorted(path.name for path in home.iterdir()) == ["again"] * there


def test_the_command_says_what_it_did(export, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    count = len(texts(export))
    command = ["import", str(export / "matches.txt"), "--name", "again", "--home", "home"]
    assert run_command(command) == 0
    assert capsys.readouterr().out == f"{count} matches imported into home/again/matches.db\n"
    assert run_command(command) == 0
    assert f"0 matches imported into home/again/matches.db; {count} were there already" in capsys.readouterr().out
    assert run_command(["replay", texts(export)[0][8:42], "--audit", "--no-show", "--home", "home"]) == 0
