"""`arena check`: what fails is found and reported."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from arena import api
from arena.cli.app import run_command
from arena.cli.submitting import print_board_check
from arena.core.errors import ArenaError
from arena.core.limits import Limits
from arena.match.faults import CLOCK_CAUSES
from arena.registry.init_bot import LANGUAGES, init_bot
from arena.registry.submissions import submitted
from arena.runner.check import ADVICE, NOT_REPEATABLE, NOT_RESETTABLE, check
from tests.arena.cli.test_cli import complain, say
from tests.arena.registry.test_bundle import lay
from tests.arena.runner.desk import BOTS
from tests.support.tournaments import arena

LEAN = """
from bots import Bot

class Lean(Bot):
    games = ("epicycle",)
    def choose(self, state):
        {body}
"""


def causes(report):
    """What failed, by board."""
    return {(at.board.game, at.board.players): {problem.cause for problem in at.problems} for at in report.boards}


def test_a_sound_bot_is_fine_wherever_it_plays_and_nowhere_else_is_played(desk):
    shown = []
    report = check("b.py:Sound", "none", show=shown.append)
    assert report.ok
    assert causes(report) == {("epicycle", 2): set(), ("epicycle", 3): set()}
    assert shown == report.boards


@pytest.mark.system
@pytest.mark.parametrize(
    ("bot", "cause", "told"),
    [
        ("Wrong", "illegal_action", "99 is not legal for seat 0"),
        ("Raises", "crash", "RuntimeError: a word of explanation"),
        ("Dies", "crash", "worker process ended"),
        ("Late", "init", "ValueError: no weights here"),
        ("Careless", NOT_REPEATABLE, "when the same match was played again"),
        ("Remembers", NOT_REPEATABLE, "when the same match was played again"),
    ],
)
def test_a_bot_that_fails_is_found_out_with_the_reason(desk, bot, cause, told):
    report = check(f"b.py:{bot}", "none", players=[2])
    assert list(causes(report).values()) == [{cause}]
    assert told in report.boards[0].problems[0].detail


def test_the_command_of_a_problem_plays_the_match_that_failed(desk):
    report = check("b.py:OnlyLastSeat", "none")
    assert causes(report) == {("epicycle", 2): set(), ("epicycle", 3): {"illegal_action"}}
    problem = report.boards[1].problems[0]
    bots = ["random", "random", "b.py:OnlyLastSeat"]
    seed = shlex.split(problem.command)[-3]
    expected = ["arena", "match", "epicycle", *bots, "--seed", seed, "--isolation", "none"]
    assert shlex.split(problem.command) == expected
    again = api.play_match("epicycle", bots, int(seed), isolation="none")
    cause, ply = again.forfeits[2]
    assert (problem.cause, problem.where) == (cause, f"in seat 2, at ply {ply + 1}")


@pytest.mark.system
def test_the_command_of_a_problem_runs_the_bot_where_it_was_checked(desk, capsys):
    report = check("b.py:Raises", "sandbox", games=["epicycle"], players=[2])
    command = report.boards[0].problems[0].command
    assert command.endswith(" --isolation sandbox")
    said = say(capsys, *shlex.split(command)[1:])
    fault = re.search(r"seat 0 forfeited at ply 3: crash\n(.*)\nEnded: forfeit", said, re.DOTALL)
    assert fault is not None
    assert [line.strip() for line in fault[1].splitlines()] == [
        "Traceback (most recent call last):",
        f'File "b.py", line {BOTS.splitlines().index("class Raises(Base):") + 3}, in choose',
        'raise RuntimeError("a word of explanation")',
        "RuntimeError: a word of explanation",
    ]


def test_a_fault_of_one_line_is_told_in_the_line_of_the_forfeit(desk, capsys):
    said = say(capsys, "match", "epicycle", "b.py:Wrong", "random")
    assert re.search(r"seat 0 forfeited at ply 3: illegal_action \(99 .*\)", " ".join(said.split()))


def test_out_of_memory_is_not_taken_for_a_bot_that_plays_by_the_clock(desk, capsys):
    lay(desk, {"hog.py": LEAN.format(body="return [0] * 2**29")})
    assert run_command(["check", "hog.py", "--isolation", "process", "--players", "2"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("epicycle, 2 players: memory; a move")
    assert "clock" not in said


def test_a_bot_that_cannot_be_loaded_is_told_with_its_error_and_the_line(desk, capsys):
    lay(desk, {"lost.py": LEAN.format(body="return 0") + "\nraise KeyError('two\\nlines')\n"})
    for isolation in ("none", "sandbox"):
        told = complain(capsys, "check", "lost.py", "--isolation", isolation)
        assert told == "error: bot 'Lean' cannot be loaded: KeyError: 'two\\nlines' (lost.py, line 9)\n"


def test_a_program_that_is_not_there_is_told_by_its_name(desk):
    lay(desk, {"prog/bot.toml": 'command = ["no_such_program"]'})
    for isolation in ("process", "sandbox"):
        report = check("prog", isolation, games=["epicycle"], players=[2])
        assert "no_such_program" in report.boards[0].problems[0].detail.splitlines()[0]
        assert "Traceback" not in report.boards[0].problems[0].detail


FIRST_ACTION = """#!/bin/sh
while read -r line; do
    legal=${line#*\\"legal\\":[\\"}
    case $line in
        *'"type":"move"'*) echo "{\\"type\\":\\"action\\",\\"action\\":\\"${legal%%\\"*}\\"}" ;;
        *'"type":"hello"'* | *'"type":"newgame"'*) echo '{"type":"ready"}' ;;
    esac
done
"""


@pytest.mark.system
def test_a_program_on_the_search_path_is_found_wherever_it_lies(desk, monkeypatch):
    lay(desk, {"bin/first_action": FIRST_ACTION, "prog/bot.toml": 'command = ["first_action"]'})
    Path("bin/first_action").chmod(0o755)
    monkeypatch.setenv("PATH", f"{desk}/bin{os.pathsep}{os.environ['PATH']}")
    for isolation in ("process", "sandbox"):
        assert check("prog", isolation, games=["epicycle"], players=[2]).ok


@pytest.mark.system
@pytest.mark.parametrize("at", ["choose", "prepare"])
def test_a_bot_that_hangs_is_waited_for_once_and_the_boards_that_are_left_are_named(desk, capsys, monkeypatch, at):
    limits = Limits(seconds_per_move=0.3, seconds_to_prepare=0.3)
    monkeypatch.setattr("arena.runner.check.Limits", lambda: limits)
    lay(desk, {"hangs.py": LEAN.format(body="return 0") + f"    def {at}(self, *_):\n        while True: pass\n"})
    assert run_command(["check", "hangs.py", "--isolation", "none"]) == 1
    said = capsys.readouterr().out
    cause = "timeout" if at == "choose" else "init"
    assert said.startswith(f"epicycle, 2 players: {cause}")
    assert f"{cause} on 1 of 1 boards; epicycle, 2 players, in seat 0, " in said
    left = "Not played, because the bot ran out of time before: epicycle, 3 players; epicycle, 4 players; "
    assert left in " ".join(said.split())
    report = check("hangs.py", "none", players=[2])
    assert [(board.matches, board.hung) for board in report.boards] == [(1, True)]
    assert (report.ok, report.not_played) == (False, [])


def test_a_bot_that_is_killed_before_play_has_not_run_out_of_time(desk):
    kills = "    def prepare(self):\n        import os\n        os.kill(os.getpid(), 15)\n"
    lay(desk, {"ends.py": LEAN.format(body="return 0") + kills})
    (board,) = check("ends.py", "process", players=[2]).boards
    assert (board.hung, board.matches, {problem.cause for problem in board.problems}) == (False, 4, {"init"})
    assert "its process ended (killed by SIGTERM)" in board.problems[0].detail


def test_a_bot_that_plays_by_the_clock_is_not_compared(desk):
    report = check("b.py:Clocked", "none", players=[2])
    assert report.ok
    assert report.boards[0].timed


def test_the_first_the_second_and_the_last_seat_are_tried_each_match_twice(desk):
    boards = check("b.py:Wrong", "none").boards
    assert [(at.board.players, at.matches) for at in boards] == [(2, 4), (3, 6)]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"games": ["midgard"]}, "Sound plays epicycle, not midgard"),
        ({"games": ["epicycle"], "players": [2, 5]}, "Sound plays with 2, 3 players, not 5"),
        ({"players": [5]}, "Sound plays with 2, 3 players, not 5"),
        ({"players": [9]}, "no game is for 9 players"),
        ({"games": ["epicicle"]}, "no game 'epicicle'; did you mean 'epicycle'?"),
        ({"games": ["midgard"], "players": [3]}, "midgard is for 2 players, not 3"),
    ],
)
def test_a_board_that_it_does_not_play_is_told(desk, options, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        check("b.py:Sound", "none", **options)


def test_options_of_a_game_can_be_checked(desk):
    assert causes(check("b.py:Sound", "none", games=["epicycle(setup=random)"], players=[2])) == {
        ("epicycle(setup=random)", 2): set()
    }


def test_a_game_that_is_not_there_cannot_be_declared(desk):
    with pytest.raises(ArenaError, match="Elsewhere: games: no game 'epicicle'; did you mean 'epicycle'"):
        check("b.py:Elsewhere", "none")


def test_every_cause_has_its_advice():
    text = (Path(__file__).parents[3] / "arena" / "isolation" / "PROTOCOL.md").read_text()
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", text.partition("## Faults")[2].partition("\n## ")[0], re.MULTILINE))
    assert listed | {NOT_REPEATABLE, NOT_RESETTABLE} == set(ADVICE)
    assert set(CLOCK_CAUSES) <= listed


# Commands


def test_the_commands_take_a_bot_from_its_first_line_into_a_tournament(desk, capsys):
    written = say(capsys, "init-bot", "mine", "--game", "epicycle")
    assert "arena check mine.py\n  arena submit mine.py --name mine --author YOU\n" in written
    checked = say(capsys, "check", "mine.py", "--isolation", "none", "--players", 2)
    assert "epicycle, 2 players: ok; a move " in checked
    assert "Mine, isolation none: fine on every board." in checked
    handed_in = say(capsys, "submit", "mine.py", "--name", "mine", "--author", "Ann", "--isolation", "none")
    short = submitted()["mine"].newest.short
    told = (
        f"Submitted: mine, version 1, by Ann. Tournaments name it mine, which is its newest version, or mine@{short},"
    )
    assert told in " ".join(handed_in.split())
    again = say(capsys, "submit", "mine.py", "--name", "mine", "--author", "Ann")
    assert again.startswith(f"Nothing changed: mine@{short} is this source")
    listed = say(capsys, "bots")
    assert re.search(rf"^mine +{short} +Ann +1 *$", listed, re.MULTILINE)
    told = say(capsys, "bots", "mine")
    assert "mine (submitted by Ann, version 1): Win on the spot" in told
    assert re.search(rf"^ +1 +mine@{short} +Ann +20", told, re.MULTILINE)
    assert "mine is withdrawn" in say(capsys, "withdraw", "mine")
    assert re.search(rf"^mine +{short} +Ann +1 +withdrawn", say(capsys, "bots"), re.MULTILINE)
    assert "was withdrawn before" in say(capsys, "withdraw", "mine")
    assert re.search(rf"^mine +{short} +Ann +1 +withdrawn", say(capsys, "bots"), re.MULTILINE)
    assert "Versions, all withdrawn" in say(capsys, "bots", "mine")
    assert f"tournaments that had it name it mine@{short}" in complain(capsys, "match", "epicycle", "mine", "random")


def test_a_check_that_fails_says_what_to_do_and_ends_with_one(desk, capsys):
    assert run_command(["check", "b.py:Raises", "--isolation", "none"]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    assert re.search(r"^epicycle, 2 players: crash; [^:]*\nepicycle, 3 players: crash; ", said.out, re.MULTILINE)
    assert "crash on 2 of 2 boards; epicycle, 2 players, in seat 0, at ply 3:" in said.out
    assert "    RuntimeError: a word of explanation" in said.out
    command = "  arena match epicycle b.py:Raises random --seed "
    assert re.search(rf"^{re.escape(command)}[0-9]+ --isolation none$", said.out, re.MULTILINE)
    assert "failed on 2 of 2 boards" in said.out
    assert max(len(line) for line in said.out.splitlines() if not line.startswith(command)) <= 80


def test_a_submission_that_fails_says_so_and_ends_with_one(desk, capsys):
    assert run_command(["submit", "b.py:Wrong", "--name", "x", "--author", "Ann", "--isolation", "none"]) == 1
    assert capsys.readouterr().out.endswith("Not submitted.\n")
    assert submitted() == {}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("check", "PATH: is missing"),
        ("check b.py", "b.py: holds 9 bots, Sound, "),
        ("check c.py", "no file 'c.py' in the working folder"),
        ("check b.py:Lound", "b.py: has no class 'Lound'; did you mean 'Sound'?"),
        ("check b.py:Sound --isolation sanbox", "--isolation sanbox: not a choice; did you mean 'sandbox'?"),
        ("check b.py:Sound --isolation none --game chess", "no game 'chess'"),
        ("submit b.py:Sound --name x", "--author: is missing"),
        ("submit b.py:Sound --name random --author Ann", "a bot 'random' comes with the arena"),
        ("submit greedy --name x --author Ann", "no bot './greedy'; bots of one's own are named path/to/file.py"),
        ("withdraw x", "no submitted bot 'x'; nothing has been submitted"),
        ("bots x@123456", "no submitted bot 'x'; nothing has been submitted"),
        ("bots x/", "no bot 'x/'; bots of one's own are named path/to/file.py, or by a folder with a bot.toml"),
        ("init-bot my-bot", "name 'my-bot': must be letters (a to z), digits and _"),
        ("init-bot class", "name 'class': is a word of Python"),
        ("init-bot b", "b.py: is there already; choose another name"),
        ("init-bot x --language rust", "--language rust: not a choice; known: python, node, c"),
        ("init-bot x --game epicicle", "no game 'epicicle'; did you mean 'epicycle'?"),
    ],
)
def test_a_user_error_is_told_in_one_line(desk, capsys, arguments, told):
    assert told in complain(capsys, *arguments.split())
    assert sorted(os.listdir()) == ["b.py"]


# Bots in processes of their own

RESET = """
import json, sys
games = 0
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "quit":
        break
    if kind == "newgame":
        games += 1
        {at_newgame}
    if kind in ("hello", "newgame"):
        print(json.dumps({{"type": "ready"}}), flush=True)
    if kind == "move":
        legal = message["legal"]
        print(json.dumps({{"type": "action", "action": legal[0 if games == 1 else -1]}}), flush=True)
"""


def program(folder: Path, code: str, **manifest) -> str:
    """A program in Python, in a folder of its own."""
    keys = {"command": ["python3", "bot.py"], "games": ["epicycle"], "players": [2], **manifest}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    lay(folder, {"prog/bot.toml": text, "prog/bot.py": code})
    return "prog"


@pytest.mark.system
@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.parametrize(
    ("at_newgame", "resettable", "expected"),
    [("games = 1", True, set()), ("pass", True, {NOT_RESETTABLE}), ("pass", False, set())],
    ids=["forgets", "remembers", "is started anew"],
)
def test_a_resettable_program_has_to_forget_the_match_before_where_one_process_plays_both(
    desk, isolation, at_newgame, resettable, expected
):
    path = program(desk, RESET.format(at_newgame=at_newgame), resettable=resettable)
    always_new = isolation == "sandbox"
    assert causes(check(path, isolation)) == {("epicycle", 2): set() if always_new else expected}


NOISE = """
import sys
sys.stderr.write("thinking aloud")
sys.stderr.flush()
print("hello world", flush=True)
sys.stdin.read()
"""


def test_a_program_that_talks_nonsense_is_told_with_its_standard_error(desk):
    report = check(program(desk, NOISE), "process")
    assert causes(report) == {("epicycle", 2): {"init"}}
    assert "thinking aloud" in report.boards[0].problems[0].detail


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_bot_of_each_language_passes_in_the_sandbox(desk, language):
    path = init_bot("my_bot", "epicycle", language)
    report = check(str(path), players=[2])
    assert report.ok
    assert report.bot.isolation == "sandbox"


def test_a_machine_without_a_sandbox_refuses_to_check_in_one_and_says_what_to_do(desk):
    done = arena("check", "b.py:Sound", folder=desk, PATH=str(desk))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "`arena doctor` tells more" in done.stderr
    assert "--isolation process" in done.stderr


def test_a_check_measures_the_bots_moves_against_the_limits(desk, capsys):
    report = check("b.py:Sound", "process", players=[2])
    (board,) = report.boards
    assert 0 < min(board.wall_seconds) <= max(board.wall_seconds) < report.limits.seconds_per_move
    assert len(board.wall_seconds) == len(board.cpu_seconds) > 0
    print_board_check(
        replace(board, wall_seconds=[0.0021, 0.9, 0.15, 0.12, 0.001], cpu_seconds=[0.001, 2.5, 0.0, 0.1, 0.1])
    )
    told = " ".join(capsys.readouterr().out.split())
    assert told.endswith(": ok; a move 120 ms, worst 900 ms (processor 2.5 s)"), "the median, not the mean"
    assert "; a move " in say(capsys, "check", "b.py:Sound", "--isolation", "process", "--players", 2)
