"""The command line, command by command, as a user meets it."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import engine
from arena import api
from arena.cli import app
from arena.cli.app import run_command
from arena.cli.bots import reflowed
from arena.cli.exit_codes import FAILED, WRONG_COMMAND
from arena.match.result import final_hash
from scripts.reference import named_commands
from tests.arena.cli.samples import BOTS, lines_of
from tests.support.tournaments import log_of

COMMANDS = (
    *(
        "run",
        "init",
        "leaderboard",
        "export",
        "import",
        "import-results",
        "diff",
        "games",
        "rules",
        "bots",
        "match",
        "replay",
        "doctor",
    ),
    *("train", "init-bot", "check", "check-game", "submit", "withdraw", "play"),
    *(
        "adjudication",
        "archive",
        "backup",
        "cite",
        "compare",
        "costs",
        "crosstable",
        "dataset",
        "merge",
        "plot",
        "power",
        "report",
        "restore",
        "status",
        "tune",
        "variance",
        "verify",
    ),
    *("serve", "site", "warm"),
    *(name for name, _ in named_commands(get_command(app.app)) if " " in name),
)


def say(capsys, *arguments):
    """Standard output of a command that succeeds."""
    code = run_command([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    return said.out


def complain(capsys, *arguments, expected=WRONG_COMMAND):
    """The one line that a command which fails prints."""
    code = run_command([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert (code, said.out) == (expected, "")
    assert said.err.startswith("error: ")
    assert (said.err.count("\n"), said.err.count("Traceback")) == (1, 0)
    return said.err


def plies_of(said):
    """The moves and rolls that a command has printed."""
    return re.findall(r"^ *[0-9]+ (?:seat [0-9]|dice): (\S+)", said, re.MULTILINE)


# Help


def test_every_command_has_help_with_an_example_and_imports_nothing_heavy_for_it():
    script = f"""
import sys
from pathlib import Path
from arena.cli import app
from arena.cli.exit_codes import FAILED, WRONG_COMMAND
from arena.cli.app import run_command
print(run_command([]))
for command in {COMMANDS!r}:
    print(run_command([*command.split(), "--help"]))
heavy = ("numpy", "numba", "pandas", "ray", "trueskill", "scipy", "pyarrow", "arena.api", "engine", "bots")
print("heavy:", *(name for name in heavy if name in sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "heavy:"
    assert max(map(len, done.stdout.splitlines())) <= 80
    for command in COMMANDS:
        assert f"  Example: arena {command}" in done.stdout
    assert done.stdout.splitlines().count("0") == 1 + len(COMMANDS)


def test_help_lists_commands_by_group_each_on_one_line_of_80_columns(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    said = say(capsys)
    groups = re.findall(r"^(\w[\w ]*):\n((?:  .*\n)+)", said, re.MULTILINE)
    assert [group for group, _ in groups] == [
        "Options",
        "Play",
        "Results",
        "Bots and games",
        "Logs",
        "Machine",
        "Contests",
        "Exit codes",
    ]
    lines = [line for group, text in groups[1:-1] for line in text.splitlines()]
    assert {line.split()[0] for line in lines} == {name.split()[0] for name in COMMANDS}
    assert len(lines) == len({name.split()[0] for name in COMMANDS})
    assert all(line.endswith(".") and not line.endswith("...") and len(line) <= 80 for line in lines)


def test_the_examples_in_the_help_can_be_typed(monkeypatch, capsys):
    typed = []
    folder = Path(app.__file__).parent / "commands"
    called = re.compile(r"^ +from arena\.cli\.(\w+) import (\w+)$", re.MULTILINE)
    for module, function in called.findall("".join(path.read_text() for path in folder.glob("*.py"))):
        monkeypatch.setattr(f"arena.cli.{module}.{function}", lambda *given, **named: typed.append((given, named)) or 0)
    for command in COMMANDS:
        example = say(capsys, *command.split(), "--help").rpartition("Example: arena ")[2]
        assert run_command(example.split()) == 0, example
    assert len(typed) == len(COMMANDS)


# Errors


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("run", "--game and --bots: missing; name a CONFIG, or what to play"),
        ("leaderbord t.toml", "no command 'leaderbord'; did you mean 'leaderboard'?"),
        ("run t.toml --workrs 3", "no option --workrs; did you mean '--workers'?"),
        ("run t.toml --workers 0", "--workers 0: must be a whole number, 1 or more"),
        ("run t.toml --workers many", "--workers many: must be a whole number, 1 or more"),
        ("run t.toml --backend rai", "--backend rai: not a choice; did you mean 'ray'?"),
        ("run missing.toml", "missing.toml: no such file"),
        ("run reports", "reports: is a folder; name a TOML file"),
        ("leaderboard t.toml --format xml", "--format xml: not a choice; known: table, csv, json, md"),
        ("leaderboard t.toml --game chess", "has no such board; it has epicycle, 2 players; epicycle, 3 players"),
        ("leaderboard t.toml --players 5", "has no such board"),
        ("leaderboard nothing", "nothing: no tournament of that name under /"),
        ("leaderboard nothing.db", "nothing.db: no such match log"),
        ("leaderboard b.py", "b.py: no tournament of that name"),
        ("export t.toml --what matchs", "'matchs' cannot be exported; did you mean 'matches'?"),
        ("export t.toml --format xls", "'xls' cannot be exported; known: csv, json, md, parquet, html, tex, jsonl"),
        ("games epicicle", "no game 'epicicle'; did you mean 'epicycle'?"),
        ("bots randon", "no bot 'randon'; did you mean 'random'?"),
        ("bots c.py:Low", "no file 'c.py' in the working folder"),
        ("bots b.py:Lou", "b.py: has no class 'Lou'; did you mean 'Low'?"),
        ("match epicycle random randon", "no bot 'randon'; did you mean 'random'?"),
        ("match epicycle random", "epicycle is for 2 to 5 players, not 1"),
        ("match epicycle(setup=none) random random", "setup=none"),
        ("match epicycle random random --seed -1", "--seed -1: must be a whole number, 0 or more"),
        ("match epicycle random random --opening two", "opening = 'two': must be none or random:k"),
        ("replay xyz", "'xyz' is no match id"),
        ("replay 0000000000", "reports/small/matches.db: has no match whose id begins with '0000000000'"),
        ("replay 00 --in nothing", "nothing: no tournament of that name"),
    ],
)
def test_a_user_error_is_told_in_one_line(here, capsys, arguments, told):
    assert told in complain(capsys, *arguments.split())


def test_a_file_that_is_no_log_is_told_in_one_line(copy, capsys):
    log_of(copy).write_text("no log")
    assert "is not a match log: file is not a database" in complain(capsys, "leaderboard", "t.toml", expected=FAILED)
    assert "cannot be used as a match log: file is not a database" in complain(capsys, "run", "t.toml", expected=FAILED)
    assert log_of(copy).read_text() == "no log"


def test_a_log_of_another_version_is_told_in_one_line(copy, capsys):
    with contextlib.closing(sqlite3.connect(log_of(copy))) as log:
        log.execute("PRAGMA user_version = 99")
    for command in ("run", "leaderboard", "export"):
        assert "has log version 99" in complain(capsys, command, "t.toml", expected=FAILED)


# Reading a tournament


def test_leaderboards_are_printed_as_table_csv_json_and_markdown_and_agree(here, capsys):
    frames = api.leaderboard("t.toml", "reports")
    table = say(capsys, "leaderboard", "t.toml")
    rows = list(csv.DictReader(io.StringIO(say(capsys, "leaderboard", "t.toml", "--format", "csv"))))
    boards = json.loads(say(capsys, "leaderboard", "small", "--format", "json"))
    markdown = say(capsys, "leaderboard", "reports/small", "--format", "md")
    assert [(board["game"], board["players"]) for board in boards] == list(frames)
    assert len(rows) == sum(map(len, frames.values()))
    for (game, players), board in zip(frames, boards, strict=True):
        printed = [row for row in rows if (row["game"], int(row["players"])) == (game, players)]
        assert f"{game}, {players} players" in table
        assert f"## {game}, {players} players" in markdown
        for row, entry in zip(printed, board["leaderboard"], strict=True):
            assert (row["bot"], float(row["rating"])) == (entry["bot"], entry["rating"])
            assert entry["bot"] in table
            assert f"| {entry['bot']}" in markdown
            assert f"{entry['rating']:.2f}" in table


def test_leaderboards_can_be_limited_to_a_game_and_a_number_of_players(here, capsys):
    def boards(*options):
        return [
            (board["game"], board["players"])
            for board in json.loads(say(capsys, "leaderboard", "t.toml", "--format", "json", *options))
        ]

    assert boards("--players", 2) == [("epicycle", 2), ("epicycle(setup=random)", 2)]
    assert boards("--game", "epicycle", "--players", 3) == [("epicycle", 3)]
    assert boards("--game", "epicycle(setup=random)") == [("epicycle(setup=random)", 2)]


def test_a_tournament_without_a_complete_block_has_boards_in_every_format(copy, capsys):
    with contextlib.closing(sqlite3.connect(log_of(copy))) as log, log:
        for table in ("matches", "seats", "timings"):
            log.execute(f"DELETE FROM {table}")
    assert say(capsys, "leaderboard", "t.toml").count("no complete block yet") == 3
    assert "epicycle, 3 players" in say(capsys, "leaderboard", "t.toml", "--format", "md")
    assert say(capsys, "leaderboard", "t.toml", "--format", "csv").count("\n") == 1
    assert [b["leaderboard"] for b in json.loads(say(capsys, "leaderboard", "t.toml", "--format", "json"))] == [[]] * 3


def test_export_writes_what_it_says_where_it_is_told(here, tmp_path, capsys):
    out = tmp_path / "deep" / "folder"
    said = say(
        capsys,
        "export",
        "t.toml",
        "--out",
        out,
        "--what",
        "matches,leaderboards",
        "--format",
        "md",
    )
    written = {str(path) for path in out.iterdir()}
    assert set(said.splitlines()) == written
    assert {path.rpartition("/")[2] for path in written} == {
        "epicycle_2p.md",
        "epicycle_3p.md",
        "epicycle-setup.random_2p.md",
        "matches.md",
        "plan.json",
        "versions.json",
    }
    assert (out / "epicycle_3p.md").read_bytes() == (here / "reports/small/epicycle_3p.md").read_bytes()


def test_games_and_bots_tell_what_there_is(here, capsys):
    games = say(capsys, "games")
    for name in engine.game_names():
        assert name in games
        assert engine.game_type(name).credit.designer in say(capsys, "games", name)
    assert "Take any legal action" in say(capsys, "bots")
    assert "Take the lowest action." in say(capsys, "bots", "b.py:Low")
    (here / "named.py").write_text(BOTS.replace("    def choose", '    name = "lowest"\n\n    def choose', 1))
    assert say(capsys, "bots", "named.py:Low").startswith("lowest (named.py): Take the lowest action.")


# Single matches


def test_match_prints_every_ply_with_its_drawing_and_is_the_same_for_the_same_seed(here, capsys):
    said = say(capsys, "match", "epicycle", "b.py:Low", "b.py:Low", "--seed", 7, "--show")
    stored = api.play_match("epicycle", ["b.py:Low", "b.py:Low"], 7)
    assert plies_of(said) == stored.moves
    assert said.count("(opening)") == 2
    assert "— as low as it gets" in said
    assert said.count("seat 0  ") == len(stored.moves)


def test_a_bot_that_fails_forfeits_the_match_and_the_reason_is_printed(here, capsys):
    said = say(capsys, "match", "epicycle", "b.py:Wrong", "random", "--opening", "none")
    assert "seat 0 forfeited at ply 1: illegal_action (99 is not legal for seat 0; legal:" in " ".join(said.split())
    assert "Ended: forfeit." in said


def test_replay_finds_a_match_by_the_beginning_of_its_id_and_shows_its_moves(here, played, capsys):
    for line in lines_of(played)[::7]:
        block, lineup = line["match"].split("-")
        said = say(capsys, "replay", f"{block[:7]}-{lineup}", "--no-show", "--audit")
        assert said.startswith(line["match"])
        assert " ".join(plies_of(said)) == line["moves"]
        assert "all as recorded" in said
    shown = say(capsys, "replay", line["match"], "--in", "t.toml")
    assert len(re.findall(r"^     (?:The pieces are dealt|.* puts a) ", shown, re.MULTILINE)) == len(plies_of(shown))
    assert shown.count("seat 0  ") == len(plies_of(shown)) > 0


def test_replay_writes_a_match_as_gif_and_a_position_of_it_as_png(here, played, capsys, tmp_path):
    line = next(line for line in lines_of(played) if line["game"] == "epicycle")
    gif, png = tmp_path / "match.gif", tmp_path / "position.png"
    said = say(capsys, "replay", line["match"], "--no-show", "--gif", str(gif), "--png", str(png), "--ply", "1")
    assert said.splitlines()[-2:] == [str(png), str(gif)]
    assert gif.read_bytes().startswith(b"GIF89a") and png.read_bytes().startswith(b"\x89PNG")


def test_replay_names_the_matches_that_a_short_id_could_mean(here, played, capsys):
    block = lines_of(played)[0]["match"].partition("-")[0]
    error = complain(capsys, "replay", block[:8])
    assert f"more than one match's id begins with '{block[:8]}', such as {block}-0 and {block}-1" in error


def rewrite(config, line, **changed):
    """Change columns of a match in the log, as somebody with an editor for databases could."""
    block, lineup = line["match"].split("-")
    with contextlib.closing(sqlite3.connect(log_of(config))) as log, log:
        for column, value in changed.items():
            at = "block = (SELECT block FROM blocks WHERE identity = ?) AND lineup = ?"
            done = log.execute(
                f"UPDATE matches SET {column} = ? WHERE {at}", (value, bytes.fromhex(block), int(lineup))
            )
            assert done.rowcount == 1


def audit(line, capsys):
    """(exit code, output, errors) of an audit."""
    code = run_command(["replay", line["match"], "--audit", "--no-show"])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_changed_move_in_the_log_is_detected(copy, capsys):
    line = next(line for line in lines_of(copy) if line["game"] == "epicycle" and len(line["moves"].split()) > 8)
    moves = line["moves"].split()
    for ply, other in ((4, "L+"), (4, "S-"), (len(moves) - 1, "M+"), (0, "L?")):
        if moves[ply] == other:
            continue
        rewrite(copy, line, moves=" ".join([*moves[:ply], other, *moves[ply + 1 :]]))
        code, _, error = audit(line, capsys)
        assert code == 1
        assert f"error: match {line['match']}: " in error
        assert error.count("\n") == 1


def test_a_changed_roll_is_detected_by_the_audit_also_when_the_rest_of_the_match_was_forged_to_fit(copy, capsys):
    line = next(line for line in lines_of(copy) if line["game"] == "epicycle(setup=random)" and line["ranks"] == [0, 1])
    deal = line["moves"].split()[0]
    state, moves = forged(line, "LLLSSSMMM" if deal != "LLLSSSMMM" else "LLLMMMSSS")
    assert state.ranks() == line["ranks"]
    rewrite(copy, line, moves=" ".join(moves), final=bytes.fromhex(final_hash(state)))
    assert run_command(["replay", line["match"], "--no-show"]) == 0
    capsys.readouterr()
    code, _, error = audit(line, capsys)
    assert (code, error) == (1, f"error: audit: ply 1 (dice) is {moves[0]} in the log, {deal} by the keys\n")


def forged(line, first):
    """A match with another first ply, in which the first seat wins; and its moves."""
    state = engine.load_game(line["game"], 2).new_initial_state()
    waiting = [(state.child(state.string_to_action(first)), [first])]
    while waiting:
        state, moves = waiting.pop()
        if state.is_terminal() and state.ranks() == [0, 1]:
            return state, moves
        for action in state.legal_actions() if len(moves) < 12 else ():
            waiting.append((state.child(action), [*moves, state.action_to_string(action)]))
    raise AssertionError("no such match")


def test_a_changed_opening_move_is_detected_by_the_audit(copy, capsys):
    line = next(line for line in lines_of(copy) if line["opening"] == 2 and line["ranks"] == [0, 1])
    drawn = line["moves"].split()[0]
    start = engine.load_game("epicycle", 2).new_initial_state()
    other = next(text for text in map(start.action_to_string, start.legal_actions()) if text != drawn)
    state, moves = forged(line, other)
    rewrite(copy, line, moves=" ".join(moves), final=bytes.fromhex(final_hash(state)))
    code, _, error = audit(line, capsys)
    assert (code, error) == (1, f"error: audit: ply 1 (opening) is {other} in the log, {drawn} by the keys\n")


def test_a_bot_is_told_about_with_its_idea_and_cost(capsys):
    text = say(capsys, "bots", "greedy")
    assert "Idea: look one ply ahead. A finished match" in " ".join(text.split())
    assert "\nCost: " in text


def test_indented_lines_of_a_docstring_stay_as_they_are():
    assert reflowed("One\nline.\n\nIdea: two\nlines.\nExample: such\n    as this") == (
        "One line.\n\nIdea: two lines.\nExample: such\n    as this"
    )
