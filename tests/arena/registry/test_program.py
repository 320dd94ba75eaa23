"""Programs as bots: the manifest, the files that belong to it, and how they are found; nothing is started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import engine
from arena.core.errors import ArenaError, ConfigError
from arena.isolation import default_level
from arena.plan.config import config_from
from arena.plan.resolve import make_plan
from arena.registry import declarations
from arena.registry.bundles import MAX_BUNDLE_BYTES, Bundle, bundle_file
from arena.registry.describe import describe
from arena.registry.discovery import find_bot
from arena.registry.manifest import Program, Setting, bundle_program, load_program, read_program
from engine import EngineError, Parameter
from engine.specs import resolve
from tests.arena.registry.test_bundle import lay

ROOT = Path(__file__).parents[3]
GOOD = """
about = "Plays."
command = ["python3", "bot.py"]
games = ["epicycle", "midgard"]
players = [2, 3]

[parameters]
depth = { default = 3, minimum = 1, maximum = 9, help = "plies looked ahead" }
pace = { default = 0.5, minimum = 0 }
style = { default = "calm", choices = ["calm", "bold"] }
loud = { default = false }
"""
FILES: dict[str, str | bytes] = {"deep/bot.toml": GOOD, "deep/bot.py": "print()", "deep/data/table.bin": b"\0\1"}


def refusal(call, *arguments):
    """The one line of an error."""
    with pytest.raises((ArenaError, EngineError)) as caught:
        call(*arguments)
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


def read(text: str) -> Program:
    return read_program(text.encode(), "deep")


# The manifest


def test_a_manifest_is_read_with_its_defaults():
    program = read('command = ["./bot"]')
    assert program == Program(name="deep", command=("./bot",))
    assert (program.files, program.games, program.players, program.resettable) == (None, None, None, False)
    assert program.settings == ()


def test_a_manifest_may_name_its_bot_and_is_called_after_its_folder_otherwise(tmp_path):
    lay(tmp_path, FILES | {"other/bot.toml": f'name = "elsewhere"\n{GOOD}'})
    assert load_program(tmp_path / "deep/bot.toml").name == "deep"
    assert load_program(tmp_path / "other/bot.toml").name == "elsewhere"


def test_a_folder_whose_name_will_not_do_needs_a_name_in_the_manifest(tmp_path):
    lay(tmp_path, {"my bot/bot.toml": GOOD})
    told = refusal(load_program, tmp_path / "my bot/bot.toml")
    assert "name: is missing, and the folder's name, 'my bot', must be 1 to 64 letters" in told


def test_parameters_have_the_kind_of_their_defaults():
    assert read(GOOD).settings == (
        Parameter("depth", int, 3, "plies looked ahead", 1, 9),
        Parameter("pace", float, 0.5, "", 0),
        Parameter("style", str, "calm", "", choices=("calm", "bold")),
        Parameter("loud", bool, False),
    )


WRONG = {
    "not TOML": ("command =", ["deep: bot.toml: is not TOML"]),
    "no command": ("", ["command: is missing"]),
    "empty command": ("command = []", ["command = []", "must have at least 1"]),
    "command as a text": ('command = "./bot"', ["command = './bot'", "must be a list"]),
    "empty word": ('command = [""]', ["command", "none of them empty"]),
    "absolute program": ('command = ["/usr/bin/node"]', ["command = ", "a program on PATH or with ./file"]),
    "program elsewhere": ('command = ["./../bot"]', ["command = ", "the bot's own folder"]),
    "program of another folder": ('command = ["bin/bot"]', ["command = ", "./file"]),
    "build elsewhere": ('command = ["./b"]\nbuild = ["../make"]', ["build = ['../make']", "./file"]),
    "unknown key": ('command = ["./bot"]\nresetable = true', ["resetable = True", "'resettable'"]),
    "text for yes": ('command = ["./bot"]\nresettable = "yes"', ["resettable = 'yes'", "must be true or false"]),
    "name that is a path": ('name = "a/b"\ncommand = ["./bot"]', ["name = 'a/b'", "letters, digits"]),
    "number for a parameter": (
        'command = ["./bot"]\n[parameters]\ndepth = 3',
        ["parameters.depth = 3: must be a table"],
    ),
    "no games": ('command = ["./bot"]\ngames = []', ["games = []", "at least 1"]),
    "players twice": ('command = ["./bot"]\nplayers = [2, 2]', ["players = [2, 2]", "different"]),
    "no players": ('command = ["./bot"]\nplayers = [0]', ["players[0] = 0", "must be 1 or more"]),
    "file outside": ('command = ["./bot"]\nfiles = ["../x"]', ["'../x' leaves the bot's folder"]),
    "file at the root": ('command = ["./bot"]\nfiles = ["/etc/passwd"]', ["'/etc/passwd' leaves"]),
    "parameter without default": ('command = ["./bot"]\n[parameters]\na = {}', ["parameters.a.default: is missing"]),
    "list as default": ('command = ["./bot"]\n[parameters]\na = { default = [1] }', ["parameters.a.default", "a text"]),
    "unknown key of a parameter": (
        'command = ["./bot"]\n[parameters]\na = { default = 1, minimun = 1 }',
        ["parameters.a.minimun = 1", "'minimum'"],
    ),
    "parameter with a name for nobody": (
        'command = ["./bot"]\n[parameters]\n"a=b" = { default = 1 }',
        ["parameters: 'a=b' is no name"],
    ),
    "default out of bounds": (
        'command = ["./bot"]\n[parameters]\na = { default = 0, minimum = 1 }',
        ["parameters: default: a=0: below the smallest value allowed, 1"],
    ),
    "bounds of a text": (
        'command = ["./bot"]\n[parameters]\na = { default = "x", minimum = 1 }',
        ["parameters: a: minimum and maximum are for numbers"],
    ),
    "default that is no choice": (
        'command = ["./bot"]\n[parameters]\na = { default = "x", choices = ["y"] }',
        ["parameters: default: a=x: not a choice"],
    ),
    "choice of another kind": (
        'command = ["./bot"]\n[parameters]\na = { default = 1, choices = [1, "y"] }',
        ["parameters: choices: a=y: must be a whole number"],
    ),
    "text that breaks specs": (
        'command = ["./bot"]\n[parameters]\na = { default = "x,y" }',
        ["parameters: default: a=x,y: may not hold commas"],
    ),
    "text that steers a terminal": (
        'command = ["./bot"]\n[parameters]\na = { default = "x", choices = ["x", "\\u009b31m"] }',
        ["parameters: choices: a=\\x9b31m: may not hold commas"],
    ),
    "game that steers a terminal": (
        'command = ["./bot"]\ngames = ["epicycle", "\\u001b[2J"]',
        ["games", "is no name of a game"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_manifest_is_refused_in_one_line(case):
    text, expected = WRONG[case]
    said = refusal(read, text)
    for part in expected:
        assert part in said


def test_prose_in_a_manifest_cannot_steer_a_terminal():
    found = read(
        'about = "two\\nlines \\u001b[31m\\u202e"\ncommand = ["./bot"]\n'
        '[parameters]\na = { default = 1, help = "\\u001b[31m" }'
    )
    assert (found.about, found.settings[0].help) == ("two\nlines  [31m ", " [31m")


def test_every_key_of_a_manifest_is_described():
    text = (ROOT / "arena" / "isolation" / "PROTOCOL.md").read_text()
    for model in (Program, Setting):
        for key in model.model_fields:
            assert f"`{key}`" in text, f"{model.__name__}.{key} is not described"


# What it says of itself


BOARDS = [("epicycle", 2), ("epicycle", 5), ("pyramid_punch", 2)]


def described(manifest):
    return describe(Bundle("bot.toml", {"bot.toml": manifest.encode()}), "deep", "", BOARDS)


def test_a_program_is_described_in_the_form_in_which_python_bots_are():
    told = described(GOOD)
    assert declarations.read_declaration(told, 3, "deep").settings == read(GOOD).settings
    assert (told["about"], told["games"], told["players"]) == ("Plays.", ["epicycle", "midgard"], [2, 3])
    assert told["parameters"][0]["help"] == "plies looked ahead"
    source, _ = find_bot("random")
    assert set(describe(source.bundle(), "random", source.class_name, BOARDS)) == set(told)


def test_a_program_says_why_it_does_not_play_in_the_words_of_a_python_bot():
    from bots import Bot

    class Same(Bot):
        games = ("epicycle", "midgard")
        players = (2, 3)

        def choose(self, state):
            return 0

    games = [engine.load_game(*board) for board in BOARDS]
    assert described(GOOD)["refusals"] == [Same.refusal(game) for game in games]
    assert described('command = ["./bot"]')["refusals"] == [None] * 3


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"dept": 1}, "deep has no option 'dept'; did you mean 'depth'?"),
        ({"depth": 10}, "deep: depth=10: above the largest value allowed, 9"),
        ({"style": "wild"}, "deep: style=wild: not a choice; known: calm, bold"),
    ],
)
def test_a_wrong_parameter_is_told_with_the_programs_name(options, told):
    assert refusal(resolve, read(GOOD).settings, options, "deep") == told


# Its files


def names(bundle: Bundle) -> set[str]:
    assert bundle.is_program
    assert bundle.module == "bot.toml"
    return set(bundle.files)


def test_a_program_is_bundled_with_every_file_of_its_folder_that_is_not_hidden(tmp_path):
    hidden = {".git/config": "", ".env": "", "__pycache__/x.pyc": "", "node_modules/left/index.js": "", "sub/.x": ""}
    lay(tmp_path / "deep", hidden)
    lay(tmp_path, FILES)
    assert names(bundle_program(tmp_path / "deep/bot.toml")) == {"bot.toml", "bot.py", "data/table.bin"}


def test_a_manifest_may_say_which_files_there_are(tmp_path):
    lay(tmp_path, {**FILES, "deep/bot.toml": f'files = ["*.py", "data/**/*.bin"]\n{GOOD}', "deep/notes.txt": ""})
    assert names(bundle_program(tmp_path / "deep/bot.toml")) == {"bot.toml", "bot.py", "data/table.bin"}


def test_a_bundles_hash_changes_with_any_of_its_files_and_with_nothing_else(tmp_path):
    lay(tmp_path, FILES | {"deep/.hidden": "1"})
    before = bundle_program(tmp_path / "deep/bot.toml").hash
    lay(tmp_path, {"deep/.hidden": "2"})
    os.utime(tmp_path / "deep/bot.py", (1, 1))
    assert bundle_program(tmp_path / "deep/bot.toml").hash == before
    lay(tmp_path, {"deep/data/table.bin": b"\0\2"})
    assert bundle_program(tmp_path / "deep/bot.toml").hash != before


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"bot.toml": 'command = ["./bot"]'}, "bot.toml: command: no file 'bot' among the bot's files, and no build"),
        ({"bot.toml": 'command = ["./bot"]\nbuild = ["./make"]'}, "bot.toml: build: no file 'make' among"),
        ({"bot.toml": 'command = ["./bot"]\nfiles = ["*.c"]', "bot": ""}, "bot.toml: files: '*.c' matches no file"),
        ({"bot.toml": 'command = ["./bot"]\nfiles = ["a**b"]', "bot": ""}, "files: 'a**b' matches no file"),
        ({"bot.toml": 'command = ["sh"]', "a\nb": ""}, "have names that can be printed"),
        ({"bot.toml": 'command = ["sh"]', "a\udcff/b": ""}, "have names that can be printed, unlike 'a\\udcff/b'"),
        ({"bot.toml": 'command = ["./bot"]', ".bot": ""}, "no file 'bot'"),
    ],
)
def test_files_that_are_not_there_are_told(tmp_path, files, told):
    lay(tmp_path, files)
    assert told in refusal(bundle_program, tmp_path / "bot.toml")


def test_what_a_build_makes_need_not_be_there(tmp_path):
    lay(tmp_path, {"bot.toml": 'command = ["./bot"]\nbuild = ["cc", "-o", "bot", "bot.c"]', "bot.c": ""})
    assert names(bundle_program(tmp_path / "bot.toml")) == {"bot.toml", "bot.c"}


@pytest.mark.parametrize("link", ["secret.txt", "bot.py"])
@pytest.mark.parametrize("manifest", [GOOD, f'files = ["*"]\n{GOOD}'])
def test_no_link_leads_out_of_a_programs_folder(tmp_path, link, manifest):
    lay(tmp_path, {"deep/bot.toml": manifest, "other/key": "secret"})
    (tmp_path / "deep" / link).symlink_to(tmp_path / "other" / "key")
    assert f"{link}: cannot be read: Is a link" in refusal(bundle_program, tmp_path / "deep/bot.toml")


def test_a_link_to_a_folder_is_refused_also_when_a_pattern_leads_through_it(tmp_path):
    lay(tmp_path, {"deep/bot.toml": GOOD, "deep/bot.py": "", "other/key": "secret"})
    (tmp_path / "deep" / "data").symlink_to(tmp_path / "other")
    assert "data: cannot be read: Is a link" in refusal(bundle_program, tmp_path / "deep/bot.toml")
    lay(tmp_path, {"deep/bot.toml": f'files = ["data/key"]\n{GOOD}'})
    assert "key: cannot be read: Is a link, or below one" in refusal(bundle_program, tmp_path / "deep/bot.toml")


def test_the_manifest_and_the_python_file_are_no_links_to_another_ones_bot(tmp_path):
    lay(tmp_path, FILES | {"deep/mine.py": "from bots import Bot\nclass Mine(Bot): ..."})
    (tmp_path / "thief").mkdir()
    for name in ("bot.toml", "mine.py"):
        (tmp_path / "thief" / name).symlink_to(tmp_path / "deep" / name)
    for spec in ("thief/bot.toml", "thief/mine.py:Mine"):
        assert "cannot be read: Is a link" in refusal(find_bot(spec, [tmp_path])[0].bundle)


def test_a_link_within_the_folder_is_refused_too(tmp_path):
    lay(tmp_path, FILES)
    (tmp_path / "deep/again.py").symlink_to("bot.py")
    assert "again.py: cannot be read: Is a link" in refusal(bundle_program, tmp_path / "deep/bot.toml")


def test_a_python_bots_files_do_not_leave_its_folder_either(tmp_path):
    lay(tmp_path, {"deep/mine.py": 'BUNDLE_FILES = ["*.txt"]', "other/key": "secret"})
    (tmp_path / "deep/data.txt").symlink_to(tmp_path / "other/key")
    assert "data.txt: cannot be read: Is a link" in refusal(bundle_file, tmp_path / "deep/mine.py")


def test_what_is_no_file_is_left_out(tmp_path):
    lay(tmp_path, FILES)
    os.mkfifo(tmp_path / "deep/pipe")
    assert "pipe" not in names(bundle_program(tmp_path / "deep/bot.toml"))


def test_a_program_has_a_largest_size(tmp_path):
    lay(tmp_path, FILES)
    with open(tmp_path / "deep/big.bin", "wb") as file:
        file.truncate(MAX_BUNDLE_BYTES + 1)
    assert "limited to 64 MiB" in refusal(bundle_program, tmp_path / "deep/bot.toml")


# Finding it


def test_a_program_is_found_by_its_manifest_with_options(tmp_path):
    lay(tmp_path / "second", FILES)
    source, options = find_bot("deep/bot.toml:depth=5,loud=true", [tmp_path / "first", tmp_path / "second"])
    assert (source.name, source.module, source.class_name) == ("deep", "bot.toml", "")
    assert (default_level(source), source.submitted, options) == ("process", False, {"depth": "5", "loud": "true"})
    assert source.bundle() == bundle_program(tmp_path / "second/deep/bot.toml")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("deep/bot.toml:depth", "cannot be read at 'depth'"),
        ("deap/bot.toml", "no file 'deap/bot.toml' in"),
        ("deep/program.toml", "a program's manifest is a file called bot.toml"),
    ],
)
def test_a_program_that_is_not_there_is_told(tmp_path, spec, told):
    lay(tmp_path, FILES | {"deep/program.toml": GOOD})
    assert told in refusal(find_bot, spec, [tmp_path])


def test_a_folder_is_a_program_unless_a_bot_has_its_name(tmp_path, monkeypatch):
    lay(tmp_path, {f"{folder}/bot.toml": GOOD for folder in ("deep", "greedy", "my bots/deep")})
    monkeypatch.chdir(tmp_path)
    for spec in ("deep", "deep/", "./deep", "my bots/deep", str(tmp_path / "deep"), "./greedy"):
        source, options = find_bot(f"{spec}:depth=5")
        assert (source.is_program, source.bundle(), options["depth"]) == (
            True,
            bundle_program(source.root / "bot.toml"),
            "5",
        )
    assert not find_bot("greedy")[0].is_program
    assert "my bots: is a folder without a bot.toml" in refusal(find_bot, "./my bots")


def config(**bot):
    return config_from({"name": "t", "games": [{"game": "epicycle", "players": 2}], "bots": [bot, {"bot": "random"}]})


def test_a_program_enters_a_plan_with_its_parameters_in_its_identity(tmp_path):
    lay(tmp_path, FILES)
    plans = {
        spec: make_plan(config(bot=f"deep/bot.toml{spec}"), folder=tmp_path) for spec in ("", ":depth=3", ":depth=4")
    }
    bots = {spec: plan.bots[0] for spec, plan in plans.items()}
    assert [bot.spec for bot in bots.values()] == ["deep", "deep", "deep:depth=4"]
    assert bots[""].identity == bots[":depth=3"].identity != bots[":depth=4"].identity
    assert bots[""].isolation == "process"
    lay(tmp_path, {"deep/bot.py": "print(1)"})
    assert make_plan(config(bot="deep/bot.toml"), folder=tmp_path).bots[0].identity != bots[""].identity


def test_a_program_cannot_run_in_the_worker_itself(tmp_path):
    lay(tmp_path, FILES)
    with pytest.raises(ConfigError, match=r"bots\[0\]: 'deep/bot.toml' is a program: isolation must be process or san"):
        make_plan(config(bot="deep/bot.toml", isolation="none"), folder=tmp_path)
