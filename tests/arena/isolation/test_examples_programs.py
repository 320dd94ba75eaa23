"""The example programs play by the page of the protocol, and all by one rule."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import engine
from bots.random_bot import Random
from tests.support.protocol_driver import Follower, Player, Ply, Program, play_match
from tests.support.protocol_samples import beginning, first_move, last_message
from tests.support.splitmix_bot import Splitmix

EXAMPLES = Path(__file__).parents[3] / "examples"
PROGRAMS = ["python_program", "node", "c"]
PACKAGES = {"node": "nodejs", "cc": "gcc libc6-dev"}
BOARDS = [("epicycle(setup=random)", 3), ("magic_mids", 2), ("midgard(variant=loki)", 2), ("pyramid_punch", 5)]
AWKWARD = ['"', "\\", '\\"]}', "{[", "tab\tand\nline", "é", "\u2028 \u0085", "😀", "\\u0041", "", "null"]


def needed(program: str) -> None:
    if program in PACKAGES and shutil.which(program) is None:
        pytest.fail(f"the tests need '{program}': apt-get install {PACKAGES[program]}")


def manifest(folder: Path) -> dict:
    return tomllib.loads((folder / "bot.toml").read_text())


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request, tmp_path_factory):
    """Starts a process of the program, which was copied and built as its manifest says."""
    folder = shutil.copytree(EXAMPLES / request.param, tmp_path_factory.mktemp("program") / "bot")
    found = manifest(folder)
    for word, *_ in (found["command"], found.get("build", [""])):
        needed(word)
    if "build" in found:
        subprocess.run(found["build"], cwd=folder, check=True)
    return lambda: Program(found["command"], folder)


def transcript(spec: str, players: int, seed: int, boldness: int, first: Player | None = None) -> list[Ply]:
    """A match in which seat 0 is the one given, or the rule itself; the other seats play at random."""
    others = [Follower(Random) for _ in range(players - 1)]
    options = [{"boldness": boldness}, *({} for _ in others)]
    return play_match(engine.load_game(spec, players), [first or Follower(Splitmix), *others], seed, options)


@pytest.mark.parametrize(("spec", "players"), BOARDS)
def test_a_program_plays_the_same_moves_as_the_rule_in_python(program, spec, players):
    with program() as bot:
        for boldness in (100, 60):
            assert transcript(spec, players, 5, boldness, bot) == transcript(spec, players, 5, boldness)
        assert bot.quit() == (0, b"", b"")


def test_every_seat_may_be_the_same_program(program):
    game, options = engine.load_game("pyramid_punch", 2), [{"boldness": 100}] * 2
    with program() as one, program() as other:
        played = play_match(game, [one, other], 3, options)
    assert played == play_match(game, [Follower(Splitmix), Follower(Splitmix)], 3, options)


def test_a_match_leaves_nothing_behind_in_the_process(program):
    assert manifest(EXAMPLES / "c")["resettable"]
    with program() as bot:
        first = transcript("midgard", 2, 1, 50, bot)
        transcript("magic_mids", 3, 2, 100, bot)
        assert transcript("midgard", 2, 1, 50, bot) == first
        assert transcript("midgard", 2, 2, 50, bot) != first


def test_long_lines_are_read_whole(program):
    legal = [f"action {number} " + "x" * 50 for number in range(5_000)]
    with program() as long, program() as short:
        for bot in (long, short):
            bot.begin(beginning())
        action = long.choose(first_move(plies=[[1, "S+"]] * 200_000, legal=legal))
        assert action == short.choose(first_move(legal=legal))


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_an_action_may_be_any_text(program, ensure_ascii):
    with program() as bot:
        bot.begin(beginning())
        asked = [bot.ask(first_move(legal=AWKWARD), "action", ensure_ascii) for _ in range(150)]
    assert {answer["action"] for answer in asked} == set(AWKWARD)


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_unknown_keys_change_nothing(program, ensure_ascii):
    noise = {
        "seed": {"seed": "0"},
        "boldness": 0,
        "legal": ["no"],
        "type": "quit",
        "list": AWKWARD,
        "numbers": [-1.5e-3],
    }
    noise |= {text: {text: [None, True]} for text in AWKWARD}
    with program() as bot:
        answers = []
        for extra in ({}, {"note": noise}):
            options = {**extra, "boldness": 70}
            bot.ask({**extra, **beginning(options=options), "later": noise}, "ready", ensure_ascii)
            asked = [{**extra, **first_move(), "later": [noise]} for _ in range(20)]
            answers.append([bot.ask(message, "action", ensure_ascii) for message in asked])
    assert answers[0] == answers[1]


def test_spaces_escapes_and_the_order_of_keys_change_nothing(program):
    with program() as bot:
        answers = []
        wide = json.dumps(dict(reversed(first_move().items())), separators=("\t , ", " :\t "))
        for line in (json.dumps(first_move()), f" {wide} \r".replace("legal", "\\u006cegal")):
            bot.begin(beginning())
            bot.write(line)
            answers.append(bot.read("action"))
    assert answers[0] == answers[1]


def test_the_end_of_a_match_is_not_answered_and_the_end_of_the_input_ends_the_process(program):
    with program() as bot:
        bot.begin(beginning())
        bot.choose(first_move())
        bot.tell(last_message())
        bot.begin(beginning())
        bot.tell(last_message())
        assert bot.hang_up() == (0, b"", b"")


def test_a_process_without_a_match_ends_when_told_to(program):
    with program() as bot:
        assert bot.quit() == (0, b"", b"")


def test_the_c_program_is_clean_c11(tmp_path):
    needed("cc")
    strict = ["-std=c11", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    subprocess.run(["cc", *strict, "-o", tmp_path / "bot", EXAMPLES / "c" / "bot.c"], check=True)


def test_the_plain_python_program_is_forty_lines_of_code():
    text = (EXAMPLES / "python_program" / "bot.py").read_text().split('"""', 2)[2]
    assert sum(bool(line.strip()) for line in text.splitlines()) <= 40
