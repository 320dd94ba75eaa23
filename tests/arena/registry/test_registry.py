"""Finding bots: by name, by entry point, by file; unknown and doubled names are told with what is near."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import arena.registry.discovery
from arena.core.errors import BotError
from arena.registry.bundles import API_FILE
from arena.registry.discovery import BUILT_IN_FOLDER, built_in_bots, find_bot, named_bots
from engine import NotationError
from engine.registry import all_offers
from tests.arena.registry.test_bundle import lay

BOT = "from bots import Bot\n\n\nclass Mine(Bot):\n    def choose(self, state):\n        return 0\n"


def distribution(folder: Path, name: str, entry_points: str, **modules: str) -> Path:
    """An installed distribution: its metadata and modules below a folder that goes on the path."""
    dist_info = {
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/entry_points.txt": f"[arena.bots]\n{entry_points}\n",
    }
    return lay(folder, dist_info | {f"{module}.py": source for module, source in modules.items()})


@pytest.fixture
def installed(monkeypatch):
    """Put a folder on the path of this process, as if its distributions were installed."""
    named_bots.cache_clear()
    all_offers.cache_clear()
    yield lambda folder: monkeypatch.syspath_prepend(str(folder))
    monkeypatch.undo()
    named_bots.cache_clear()
    all_offers.cache_clear()


def refusal(spec, folders=()):
    with pytest.raises((BotError, NotationError)) as caught:
        find_bot(spec, folders)
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


def test_built_in_bots_are_found_by_the_names_their_classes_give():
    source = named_bots()["random"]
    assert (source.module, source.class_name, source.origin) == ("bots.random_bot", "Random", "built-in")
    assert source.root == BUILT_IN_FOLDER.parent


def test_every_module_of_ours_with_a_named_class_offers_its_bot(tmp_path):
    files = {
        "bots/__init__.py": "",
        "bots/one.py": 'class One:\n    """Plays."""\n    name = "one"\n',
        "bots/two.py": 'class Helper:\n    pass\n\nclass Two:\n    depth = 1\n    name = "two_b"\n',
        "bots/tools.py": "name = 'no class'\n\ndef f():\n    class Inner:\n        name = 'inner'\n",
        "bots/computed.py": "class Computed:\n    name = 'com' + 'puted'\n",
        "bots/search/deep.py": "class Deep:\n    name = 'deep'\n",
    }
    found = built_in_bots(lay(tmp_path, files) / "bots")
    assert {name: (source.module, source.class_name) for name, source in found.items()} == {
        "one": ("bots.one", "One"),
        "two_b": ("bots.two", "Two"),
        "deep": ("bots.search.deep", "Deep"),
    }


def test_built_in_bots_are_listed_without_running_them(tmp_path):
    files = {"bots/one.py": "raise SystemExit\nclass One:\n    name = 'one'\n"}
    assert set(built_in_bots(lay(tmp_path, files) / "bots")) == {"one"}


def test_two_built_in_bots_of_one_name_are_refused_with_both_named(tmp_path):
    files = {name: "class A:\n    name = 'same'\n" for name in ("bots/one.py", "bots/two.py")}
    with pytest.raises(BotError, match=r"'same': bots\.one:A \(built-in\) and bots\.two:A \(built-in\)"):
        built_in_bots(lay(tmp_path, files) / "bots")


def test_a_spec_gives_source_and_options():
    source, options = find_bot("random:depth=3,style=calm")
    assert (source.name, options) == ("random", {"depth": "3", "style": "calm"})


@pytest.mark.parametrize(
    ("name", "hint"),
    [("randm", "did you mean 'random'?"), ("Random", "did you mean 'random'?"), ("zzz", "known: ")],
)
def test_an_unknown_name_is_told_with_what_is_near(name, hint):
    text = refusal(name)
    assert f"no bot '{name}'" in text
    assert hint in text


@pytest.mark.parametrize("spec", ["", " ", "a b", "random(depth=1)", "random:depth", "random:a=1,a=2", "mine.py:a b"])
def test_a_spec_that_cannot_be_read_is_refused(spec):
    assert "cannot be read" in refusal(spec) or "twice" in refusal(spec)


def test_a_bot_is_found_by_its_file_in_the_first_folder_that_has_it(tmp_path):
    for folder in ("a", "b"):
        lay(tmp_path / folder, {"mine.py": f"{BOT}WHERE = '{folder}'"})
    source, options = find_bot("mine.py:Mine:depth=2", [tmp_path / "empty", tmp_path / "b", tmp_path / "a"])
    assert options == {"depth": "2"}
    assert (source.name, source.module, source.class_name, source.root) == ("Mine", "mine", "Mine", tmp_path / "b")
    assert source.bundle().files["mine.py"].endswith(b"WHERE = 'b'")


def test_without_folders_a_file_is_looked_for_in_the_working_folder(tmp_path, monkeypatch):
    lay(tmp_path, {"sub/mine.py": BOT})
    monkeypatch.chdir(tmp_path)
    assert find_bot("sub/mine.py:Mine")[0].root == tmp_path / "sub"
    assert "the working folder" in refusal("other.py:Mine")


def test_a_file_may_be_named_by_its_whole_path(tmp_path):
    lay(tmp_path, {"mine.py": BOT})
    assert find_bot(f"{tmp_path}/mine.py:Mine", [Path("elsewhere")])[0].root == tmp_path


@pytest.mark.parametrize(
    "source",
    [
        "class Mine: ...",
        "from elsewhere import Mine",
        "from elsewhere import Other as Mine",
        "Mine = make()",
        "if True:\n    class Mine: ...",
    ],
)
def test_a_class_may_be_defined_imported_or_assigned(tmp_path, source):
    lay(tmp_path, {"mine.py": source})
    assert find_bot("mine.py:Mine", [tmp_path])[0].class_name == "Mine"


@pytest.mark.parametrize(
    ("content", "spec", "expected"),
    [
        (None, "mine.py:Mine", ["no file 'mine.py'"]),
        ("class Mein: ...", "mine.py:Mine", ["mine.py", "no class 'Mine'", "'Mein'"]),
        ("", "mine.py:Mine", ["mine.py", "no class 'Mine'"]),
        ("class Mine(:", "mine.py:Mine", ["mine.py, line 1", "not valid Python"]),
        (b"\xff", "mine.py:Mine", ["mine.py", "not valid Python"]),
        ("class Mine: ...", "mine.py:3Mine", ["'mine.py:3Mine'", "file.py:ClassName"]),
        (None, "mi\0ne.py:Mine", ["no file 'mi\\x00ne.py'"]),
    ],
)
def test_a_wrong_file_is_told(tmp_path, content, spec, expected):
    if content is not None:
        lay(tmp_path, {"mine.py": content})
    text = refusal(spec, [tmp_path])
    for part in expected:
        assert part in text


def test_a_folder_named_like_a_file_is_no_file(tmp_path):
    (tmp_path / "mine.py").mkdir()
    assert "no file 'mine.py'" in refusal("mine.py:Mine", [tmp_path])


def test_an_installed_bot_is_found_by_its_entry_point_without_running_it(tmp_path, installed):
    installed(
        distribution(tmp_path, "plug", "sharp = plugged:Mine", plugged=f"raise SystemExit\nimport help_me\n{BOT}")
    )
    lay(tmp_path, {"help_me.py": ""})
    source, options = find_bot("sharp:depth=4")
    assert (source.name, source.module, source.class_name, source.origin) == ("sharp", "plugged", "Mine", "plug")
    assert (source.root, options) == (tmp_path, {"depth": "4"})
    assert set(source.bundle().files) == {API_FILE, "plugged.py"}
    assert "did you mean 'sharp'?" in refusal("shap")


def test_two_plug_ins_of_one_name_are_refused_with_both_named(tmp_path, installed):
    installed(distribution(tmp_path / "a", "first", "sharp = one:Mine", one=BOT))
    installed(distribution(tmp_path / "b", "second", "sharp = two:Mine", two=BOT))
    for spec in ("sharp", "random"):
        text = refusal(spec)
        assert "two plug-ins offer a bot 'sharp'" in text
        assert "one:Mine (first)" in text
        assert "two:Mine (second)" in text


def test_a_plug_in_with_the_name_of_a_built_in_bot_is_refused_with_both_named(tmp_path, installed):
    installed(distribution(tmp_path, "plug", "random = plugged:Mine", plugged=BOT))
    text = refusal("random")
    assert "'random'" in text
    assert "bots.random_bot:Random (built-in)" in text
    assert "plugged:Mine (plug)" in text


def test_one_plug_in_that_is_on_the_path_twice_is_one(tmp_path, installed):
    for folder in ("a", "b"):
        installed(distribution(tmp_path / folder, "plug", "sharp = plugged:Mine", plugged=BOT))
    assert find_bot("sharp")[0].origin == "plug"


def test_a_plug_in_without_its_package_is_told_when_it_is_named(tmp_path, installed):
    installed(distribution(tmp_path, "plug", "sharp = not_there:Mine"))
    assert find_bot("random")[0].origin == "built-in"
    with pytest.raises(BotError, match="bot 'sharp': its package 'not_there' cannot be found"):
        find_bot("sharp")[0].bundle()


def test_commands_refuse_doubled_names_in_one_line(tmp_path):
    distribution(tmp_path / "a", "first", "sharp = one:Mine", one=BOT)
    distribution(tmp_path / "b", "second", "sharp = two:Mine", two=BOT)
    done = subprocess.run(
        [sys.executable, "-m", "arena", "bots"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}"},
        capture_output=True,
        text=True,
        cwd=Path(arena.registry.discovery.__file__).parents[2],
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: two plug-ins offer a bot 'sharp': one:Mine (first) and two:Mine (second); uninstall or rename one\n"
    )


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ('name = "lowest"', "lowest"),
        ('name: ClassVar[str] = "lowest-2.0"', "lowest-2.0"),
        ('name = ""', "Mine"),
        ('name = "low" + "est"', "Mine"),
        ("name: str", "Mine"),
        ("nickname = 'lowest'", "Mine"),
        ("pass", "Mine"),
    ],
)
def test_a_bot_in_a_file_may_give_itself_a_name_for_boards(tmp_path, line, title):
    lay(tmp_path, {"mine.py": BOT.replace("    def", f"    {line}\n\n    def")})
    source, _ = find_bot("mine.py:Mine", [tmp_path])
    assert (source.title, source.name) == (title, "Mine")


@pytest.mark.parametrize("name", ["two words", "<script>", "a|b", "x" * 65, "\u202e", "-dash"])
def test_a_name_that_is_not_plain_is_refused(tmp_path, name):
    lay(tmp_path, {"mine.py": BOT.replace("    def", f"    name = {name!r}\n\n    def")})
    text = refusal("mine.py:Mine", [tmp_path])
    assert text.startswith("mine.py: Mine: name = ") and "must be 1 to 64 letters" in text


def test_the_bot_of_a_file_is_found_whatever_it_imports(tmp_path):
    (tmp_path / "helper.py").write_text("")
    (tmp_path / "mine.py").write_text(
        "from . import helper\nimport os, bots\nfrom bots import Bot as Base\n\n\n"
        "class Mine(Base):\n    def choose(self, state):\n        return state.legal_actions()[0]\n"
    )
    assert find_bot(str(tmp_path / "mine.py"))[0].class_name == "Mine"
