"""Bundles: what belongs to a bot's source, read without running it."""

import contextlib
import os
import shutil
import threading
from pathlib import Path

import pytest

from arena.core.errors import BotError
from arena.core.files import remove
from arena.core.paths import ROOT
from arena.registry.bundles import API_FILE, MAX_BUNDLE_BYTES, Bundle, bundle_file, bundle_module
from arena.registry.discovery import built_in_bots, find_bot, named_bots
from bots import API_VERSION

BOT = "from bots import Bot\n\n\nclass Mine(Bot):\n    def choose(self, state):\n        return 0\n"


def lay(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


API = {API_FILE}
"""What `from bots import Bot` brings along, whatever lies in the user's folder."""


def bundled(folder: Path, files: dict[str, str | bytes], main: str = "mine.py") -> set[str]:
    """The user's own files in a bundle."""
    bundle = bundle_file(lay(folder, files) / main)
    assert bundle.files.get(API_FILE) in (None, f"{API_VERSION}\n".encode())
    return set(bundle.files) - API


def refusal(folder: Path, files: dict[str, str | bytes], main: str = "mine.py") -> str:
    with pytest.raises(BotError) as caught:
        bundle_file(lay(folder, files) / main)
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("import helper", {"helper.py"}),
        ("import helper as h, other", {"helper.py", "other.py"}),
        ("from helper import x", {"helper.py"}),
        ("from helper import *", {"helper.py"}),
        ("from . import helper", {"helper.py"}),
        ("from .helper import x", {"helper.py"}),
        ("import kit", {"kit/__init__.py"}),
        ("import kit.saw", {"kit/__init__.py", "kit/saw.py"}),
        ("from kit import saw", {"kit/__init__.py", "kit/saw.py"}),
        ("from kit.saw import teeth", {"kit/__init__.py", "kit/saw.py"}),
        ("from kit.inner import deep", {"kit/__init__.py", "kit/inner/__init__.py", "kit/inner/deep.py", "kit/saw.py"}),
        ("from loose import part", {"loose/part.py"}),
        ("def late():\n    import helper", {"helper.py"}),
        ("try:\n    import helper\nexcept ImportError:\n    helper = None", {"helper.py"}),
        ("if False:\n    import helper", {"helper.py"}),
        ("import numpy, json, not_there", set()),
        ("from kit import not_there", {"kit/__init__.py"}),
    ],
)
def test_a_bundle_holds_what_its_file_imports_from_its_own_folder(tmp_path, statement, expected):
    files = {
        "mine.py": f"{statement}\n{BOT}",
        "helper.py": "x = 1",
        "other.py": "",
        "unrelated.py": "",
        "notes.txt": "not imported",
        "kit/__init__.py": "",
        "kit/saw.py": "teeth = 8",
        "kit/unused.py": "",
        "kit/inner/__init__.py": "",
        "kit/inner/deep.py": "from .. import saw\nfrom . import deep",
        "loose/part.py": "",
    }
    assert bundled(tmp_path, files) == {"mine.py"} | expected


def test_imports_are_followed_from_file_to_file_and_in_circles(tmp_path):
    files = {"mine.py": f"import a\n{BOT}", "a.py": "import b", "b.py": "import c, a", "c.py": "import mine"}
    assert bundled(tmp_path, files) == set(files)


@pytest.mark.parametrize("name", ["arena", "bots", "engine"])
def test_folders_and_files_named_like_our_packages_are_never_bundled(tmp_path, name):
    files = {
        "mine.py": f"import {name}\nimport {name}.extra\nfrom {name} import extra\n{BOT}",
        f"{name}/__init__.py": "raise RuntimeError",
        f"{name}/extra.py": "",
        f"{name}.py": "",
    }
    assert bundled(tmp_path, files) == {"mine.py"}


@pytest.mark.parametrize(
    "declaration",
    [
        'BUNDLE_FILES = ["book.txt", "tables/*.bin"]',
        'BUNDLE_FILES = ("book.txt", "tables/*.bin")',
        'BUNDLE_FILES: list[str] = ["book.txt", "tables/*.bin"]',
        'BUNDLE_FILES = ["**/*.txt", "**/*.bin"]',
        'BUNDLE_FILES = ["book.txt"]\nBUNDLE_FILES += ["tables/*.bin"]',
    ],
)
def test_declared_files_are_bundled(tmp_path, declaration):
    files = {
        "mine.py": f"{declaration}\n{BOT}",
        "book.txt": "moves",
        "tables/a.bin": b"\x00\xff",
        "tables/b.bin": b"",
        "tables/c.md": "",
    }
    found = bundle_file(lay(tmp_path, files) / "mine.py").files
    assert set(found) - API == {"mine.py", "book.txt", "tables/a.bin", "tables/b.bin"}
    assert found["tables/a.bin"] == b"\x00\xff"


def test_declared_files_are_relative_to_the_file_that_declares_them(tmp_path):
    files = {
        "mine.py": f"import kit\n{BOT}",
        "kit/__init__.py": 'BUNDLE_FILES = ["data/*.txt"]',
        "kit/data/x.txt": "",
        "data/y.txt": "",
    }
    assert bundled(tmp_path, files) == {"mine.py", "kit/__init__.py", "kit/data/x.txt"}


def test_a_declared_python_file_brings_its_own_imports(tmp_path):
    files = {
        "mine.py": f'BUNDLE_FILES = ["plugins/*.py"]\n{BOT}',
        "plugins/one.py": "import helper",
        "plugins/__pycache__/one.cpython-311.pyc": b"",
        "helper.py": "",
    }
    assert bundled(tmp_path, files) == {"mine.py", "plugins/one.py", "helper.py"}


def test_a_bundle_is_a_snapshot(tmp_path):
    lay(tmp_path, {"mine.py": f"import helper\n{BOT}", "helper.py": "x = 1"})
    before = bundle_file(tmp_path / "mine.py")
    hash_before = before.hash
    lay(tmp_path, {"helper.py": "x = 2"})
    assert before.files["helper.py"] == b"x = 1"
    assert before.hash == hash_before != bundle_file(tmp_path / "mine.py").hash


def test_the_hash_is_over_names_and_contents_and_nothing_else(tmp_path):
    files = {"mine.py": f"import helper\n{BOT}", "helper.py": "x = 1"}
    first = bundle_file(lay(tmp_path / "here", files) / "mine.py")
    second = bundle_file(lay(tmp_path / "there", {**files, "stranger.py": "y"}) / "mine.py")
    assert first.hash == second.hash
    assert len(first.hash) == 32
    assert Bundle("m", {"a": b"bc"}).hash != Bundle("m", {"ab": b"c"}).hash
    assert Bundle("m", {"a": b"1", "b": b"2"}).hash == Bundle("m", {"b": b"2", "a": b"1"}).hash
    assert Bundle("m", {"a": b"1", "b": b"2"}).hash != Bundle("m", {"a": b"2", "b": b"1"}).hash


def test_reading_a_bundle_runs_nothing(tmp_path):
    files = {
        "mine.py": f"import helper\nopen('ran', 'w')\nraise SystemExit\n{BOT}",
        "helper.py": "raise RuntimeError",
    }
    assert bundled(tmp_path, files) == {"mine.py", "helper.py"}
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"mine.py": "def broken(:\n"}, ["mine.py, line 1", "not valid Python"]),
        ({"mine.py": f"import helper\n{BOT}", "helper.py": "\n\nx ="}, ["helper.py, line 3", "not valid Python"]),
        ({"mine.py": b"x = '\xff'"}, ["mine.py", "not valid Python"]),
        ({"mine.py": "x = 1\0"}, ["mine.py", "not valid Python"]),
        ({"mine.py": f"x = {'-' * 100_000}1"}, ["mine.py", "not valid Python"]),
        ({"mine.py": 'BUNDLE_FILES = ["*.txt"]'}, ["mine.py, line 1", "'*.txt'", "no file"]),
        ({"mine.py": 'BUNDLE_FILES = ["../x.txt"]', "../x.txt": ""}, ["mine.py, line 1", "'../x.txt'", "leaves"]),
        ({"mine.py": 'BUNDLE_FILES = ["/etc/hostname"]'}, ["mine.py, line 1", "'/etc/hostname'", "leaves"]),
        ({"mine.py": 'BUNDLE_FILES = [""]'}, ["mine.py, line 1", "''", "no file"]),
        ({"mine.py": 'BUNDLE_FILES = ["a**b"]'}, ["mine.py, line 1", "'a**b'", "no file"]),
        ({"mine.py": 'BUNDLE_FILES = ["x\\0y"]'}, ["mine.py, line 1", "no file"]),
        ({"mine.py": "\nBUNDLE_FILES = [name]"}, ["mine.py, line 2", "must be a list of file names"]),
        ({"mine.py": "BUNDLE_FILES = 'x.txt'"}, ["mine.py, line 1", "must be a list of file names"]),
        ({"mine.py": "BUNDLE_FILES = [1]"}, ["mine.py, line 1", "must be a list of file names"]),
        ({"mine.py": "BUNDLE_FILES = {[]: 1}"}, ["mine.py, line 1", "must be a list of file names"]),
        ({"mine.py": "BUNDLE_FILES: list[str]"}, ["mine.py, line 1", "must be a list of file names"]),
    ],
)
def test_what_cannot_be_bundled_is_told_with_file_and_line(tmp_path, files, expected):
    text = refusal(tmp_path / "deep", files)
    for part in expected:
        assert part in text


@pytest.mark.parametrize("name", ["my-bot.py", "3bot.py", "mine.txt", "mine", "bots.py", "engine.py"])
def test_a_bots_file_is_named_like_a_module(tmp_path, name):
    assert "my_bot.py" in refusal(tmp_path, {name: BOT}, name)


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(BotError, match=r"nowhere.*mine\.py: no such file"):
        bundle_file(Path("nowhere/mine.py"))


def test_a_bundle_has_a_largest_size(tmp_path):
    lay(tmp_path, {"mine.py": f'BUNDLE_FILES = ["big.bin"]\n{BOT}'})
    with open(tmp_path / "big.bin", "wb") as file:
        file.truncate(MAX_BUNDLE_BYTES + 1)
    with pytest.raises(BotError, match="limited to 64 MiB"):
        bundle_file(tmp_path / "mine.py")


def test_a_bot_in_an_installed_package_is_bundled_with_what_its_package_holds(tmp_path):
    files = {
        "plug/__init__.py": "",
        "plug/bot.py": f"import numpy\nimport other\nfrom plug import tools\nfrom . import more\n{BOT}",
        "plug/tools.py": "",
        "plug/more.py": "",
        "plug/unused.py": "",
        "other.py": "",
    }
    found = bundle_module(lay(tmp_path, files), "plug.bot")
    assert set(found.files) - API == {"plug/__init__.py", "plug/bot.py", "plug/tools.py", "plug/more.py"}
    assert found.module == "plug.bot"


def test_a_built_in_bots_bundle_is_its_file_and_what_that_imports_from_bots():
    source, _ = find_bot("random")
    assert set(source.bundle().files) == {API_FILE, "bots/random_bot.py"}


def test_editing_one_built_in_bot_leaves_the_others_bundles_alone(tmp_path):
    files = {
        "bots/__init__.py": "from bots.base import Bot",
        "bots/base.py": "class Bot: ...",
        "bots/one.py": "from bots import Bot",
        "bots/two.py": "from bots.base import Bot",
    }
    lay(tmp_path, files)
    before = {name: bundle_module(tmp_path, f"bots.{name}").hash for name in ("one", "two")}
    lay(tmp_path, {"bots/one.py": "from bots import Bot  # better"})
    after = {name: bundle_module(tmp_path, f"bots.{name}").hash for name in ("one", "two")}
    assert after["two"] == before["two"]
    assert after["one"] != before["one"]


@pytest.mark.parametrize("edited", ["bots/__init__.py", "bots/base.py"])
def test_editing_the_base_api_changes_no_bundle(tmp_path, monkeypatch, edited):
    before = {name: source.bundle().hash for name, source in named_bots().items()}
    shutil.copytree(ROOT / "bots", tmp_path / "bots", ignore=shutil.ignore_patterns("__pycache__"))
    lay(tmp_path, {edited: '"""Another docstring."""\n' + (ROOT / edited).read_text()})
    monkeypatch.setattr("arena.registry.bundles.ROOT", tmp_path)
    for name, source in built_in_bots(tmp_path / "bots").items():
        assert source.bundle().hash == before[name]


def test_another_version_of_the_base_api_changes_every_bundle(tmp_path, monkeypatch):
    lay(tmp_path, {"mine.py": BOT})
    before = {name: source.bundle().hash for name, source in named_bots().items()}
    mine = bundle_file(tmp_path / "mine.py").hash
    monkeypatch.setattr("arena.registry.bundles.API_VERSION", API_VERSION + 1)
    assert not [name for name, source in named_bots().items() if source.bundle().hash == before[name]]
    assert bundle_file(tmp_path / "mine.py").hash != mine


def test_a_bot_built_on_a_built_in_bot_brings_all_that_the_built_in_bot_is_made_of(tmp_path):
    files = {"mine.py": "from bots.greedy import Greedy\n\n\nclass Mine(Greedy): ...\n"}
    theirs = set(named_bots()["greedy"].bundle().files)
    assert bundled(tmp_path, files) | API == theirs | {"mine.py"}


@pytest.mark.parametrize("name", ["/tmp/x.py", "../x.py", "a/../../x.py", "a//x.py", "a/", ".", "", "x\0.py"])
def test_a_bundle_with_a_path_that_leads_out_of_its_folder_is_refused(name):
    with pytest.raises(BotError, match="is no plain path of a file in a bot's folder"):
        Bundle("x", {"x.py": b"", name: b""})


# Folders from strangers

PASSED_OVER = ("table.txt", "kit/__init__.py")
"""What is looked for among others: a pipe of that name is none of them."""


@pytest.mark.parametrize("name", ["book.txt", "mine.py", "kit/__init__.py", "kit", "table.txt"])
@pytest.mark.parametrize("make", ["link", "pipe", "sparse"])
def test_nothing_but_regular_files_of_the_folder_is_read(tmp_path, name, make):
    files = {"mine.py": f'import kit\nBUNDLE_FILES = ["book.txt", "t*.txt"]\n{BOT}', "kit/__init__.py": ""}
    lay(tmp_path / "bot", {**files, "book.txt": "", "table.txt": "", "turn.txt": ""})
    lay(tmp_path / "other", {**files, "book.txt": "secret", "table.txt": "secret"})
    path = tmp_path / "bot" / name
    if path.is_dir() and make != "link":
        return
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    if make == "link":
        path.symlink_to(tmp_path / "other" / name)
    elif make == "pipe":
        os.mkfifo(path)
    else:
        with path.open("wb") as file:
            file.truncate(20 * 2**30)
    told = "Is a link|Not a regular file|limited to 64 MiB|no such file|matches no file"
    with contextlib.nullcontext() if make == "pipe" and name in PASSED_OVER else pytest.raises(BotError, match=told):
        bundle_file(tmp_path / "bot" / "mine.py")


def test_a_link_swapped_in_at_any_time_gives_nobody_elses_file_away(tmp_path):
    lay(tmp_path, {"bot/mine.py": f'BUNDLE_FILES = ["data/book.txt"]\n{BOT}', "other/book.txt": "secret"})
    lay(tmp_path, {"bot/data/book.txt": "own", "bot/real/book.txt": "own"})
    data = tmp_path / "bot" / "data"
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            data.rename(tmp_path / "bot" / "aside")
            data.symlink_to(tmp_path / "other")
            data.unlink()
            (tmp_path / "bot" / "aside").rename(data)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            with contextlib.suppress(BotError):
                assert bundle_file(tmp_path / "bot" / "mine.py").files.get("data/book.txt") == b"own"
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize(
    "patterns", ['["\\ud800"]', '["' + "**/" * 3000 + '*"]', '["' + "d/" * 1500 + 'x"]', "1" + " + 1" * 900]
)
def test_a_pattern_that_no_file_can_have_is_told_in_one_line(tmp_path, patterns):
    lay(tmp_path, {"bot/mine.py": f"BUNDLE_FILES = {patterns}\n{BOT}"})
    with pytest.raises(
        BotError, match=r"mine.py, line 1: BUNDLE_FILES (entry .* matches no file|must be a list)"
    ) as told:
        bundle_file(tmp_path / "bot" / "mine.py")
    assert "\n" not in str(told.value)


def test_folders_in_folders_end_a_bundle_in_one_line_however_deep(tmp_path):
    lay(tmp_path, {"bot/mine.py": f'BUNDLE_FILES = ["**/*.txt"]\n{BOT}'})
    here = os.open(tmp_path / "bot", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        above, here = here, os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(above)
    os.close(here)
    with pytest.raises(BotError, match="a bot's folders are limited to 50, one in the other"):
        bundle_file(tmp_path / "bot" / "mine.py")
    remove(str(tmp_path / "bot"))  # which pytest could not


@pytest.mark.parametrize("pattern", ["**/*.txt", "*/**/*.txt", "loop/*/*.txt"])
def test_a_pattern_walks_through_no_link_and_no_endless_folder(tmp_path, monkeypatch, pattern):
    monkeypatch.setattr("arena.registry.bundles.MAX_SEARCHED_FILES", 50)
    lay(tmp_path, {"bot/mine.py": f'BUNDLE_FILES = ["{pattern}"]\n{BOT}', "bot/a/b/book.txt": ""})
    (tmp_path / "bot" / "loop").symlink_to("/")
    with contextlib.suppress(BotError):
        assert set(bundle_file(tmp_path / "bot" / "mine.py").files) - API == {"mine.py", "a/b/book.txt"}
    lay(tmp_path, {f"bot/many/{number}": "" for number in range(60)})
    if pattern != "loop/*/*.txt":
        with pytest.raises(BotError, match="holds more than 50 files and folders"):
            bundle_file(tmp_path / "bot" / "mine.py")


def test_the_number_of_files_and_the_size_of_a_source_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.registry.bundles.MAX_BUNDLE_FILES", 5)
    lay(tmp_path, {"mine.py": f'BUNDLE_FILES = ["data/*"]\n{BOT}', **{f"data/{number}": "" for number in range(5)}})
    with pytest.raises(BotError, match="limited to 5 files"):
        bundle_file(tmp_path / "mine.py")
    (tmp_path / "big.py").write_text(BOT + "#" * 2**22)
    with pytest.raises(BotError, match="a Python file is limited to 4 MiB"):
        bundle_file(tmp_path / "big.py")
