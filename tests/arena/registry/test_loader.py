"""Loading bundles: side by side, from their snapshot, whatever else is installed or lies about."""

import inspect
import json
import os
import shutil
import sys
import typing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import bots
from arena.core.errors import BotError
from arena.registry import loader
from arena.registry.bundles import API_FILE, Bundle, bundle_file
from arena.registry.loader import LoadedBundle, in_a_bundle, load_class
from tests.arena.registry.test_bundle import lay

BOT = "from bots import Bot\n\n\nclass Mine(Bot):\n    def choose(self, state):\n        return 0\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of its own, and no bundle loaded yet."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loader, "loaded_bundles", {})
    return tmp_path / "cache"


def bundle_of(folder, files, main="mine.py"):
    return bundle_file(lay(folder, files) / main)


def value_of(folder, files, name="VALUE", main="mine.py"):
    """A module-level name of a bundle's main module after loading it."""
    return load_class(bundle_of(folder, files, main), name)


def test_bundles_share_our_bots_package_as_long_as_it_is_what_is_installed(tmp_path):
    mine = value_of(tmp_path, {"mine.py": BOT}, "Mine")
    assert mine.__mro__[1] is bots.Bot


def test_a_bundle_of_another_version_of_our_bots_has_its_own_and_the_installed_base_api(tmp_path):
    bundle = bundle_of(tmp_path, {"mine.py": "from bots.random_bot import Random\nclass Mine(Random): ..."})
    random_bot = "bots/random_bot.py"
    older = Bundle(bundle.module, {**bundle.files, random_bot: bundle.files[random_bot] + b"VERSION = 0\n"})
    mine, theirs, base = load_class(older, "Mine").__mro__[:3]
    assert (mine.__name__, theirs.__name__, base.__name__) == ("Mine", "Random", "Bot")
    assert theirs.__module__.endswith(".bots.random_bot")
    assert theirs.__module__ != "bots.random_bot"
    assert inspect.getfile(base) == bots.base.__file__


def test_a_bundle_for_another_version_of_the_base_api_is_refused_in_one_line(tmp_path):
    bundle = bundle_of(tmp_path, {"mine.py": BOT})
    other = Bundle(bundle.module, {**bundle.files, API_FILE: b"0\n"})
    with pytest.raises(BotError) as caught:
        load_class(other, "Mine")
    assert str(caught.value) == f"bot 'Mine' is for version 0 of the bot API, and installed is {bots.API_VERSION}"


def test_a_bundle_made_before_api_versions_keeps_the_base_api_it_holds(tmp_path):
    files = {
        "bots/__init__.py": b"from bots.base import Bot",
        "bots/base.py": b"class Bot:\n    age = 'old'",
        "mine.py": BOT.encode(),
    }
    mine = load_class(Bundle("mine", files), "Mine")
    assert mine.age == "old"
    assert not issubclass(mine, bots.Bot)


def test_two_bundles_have_helpers_of_one_name_side_by_side(tmp_path):
    source = "import helper\nfrom helper import VALUE\n\ndef late():\n    import helper\n    return helper.VALUE\n"
    first = bundle_of(tmp_path / "a", {"mine.py": source, "helper.py": "VALUE = 'first'"})
    second = bundle_of(tmp_path / "b", {"mine.py": source, "helper.py": "VALUE = 'second'"})
    assert (load_class(first, "VALUE"), load_class(second, "VALUE")) == ("first", "second")
    assert (load_class(first, "late")(), load_class(second, "late")()) == ("first", "second")
    assert load_class(first, "helper").VALUE == "first"
    assert "helper" not in sys.modules


def test_names_in_annotations_are_those_of_the_class_own_bundle(tmp_path):
    source = "from __future__ import annotations\nclass Marker:\n    WHO = '{}'\nclass Mine:\n    marker: Marker\n"
    first, second = (
        load_class(bundle_of(tmp_path / who, {"mine.py": source.format(who)}), "Mine") for who in ("first", "second")
    )
    assert typing.get_type_hints(first)["marker"].WHO == "first"
    assert typing.get_type_hints(second)["marker"].WHO == "second"


def test_a_bundle_is_run_once_in_a_process(tmp_path):
    bundle = bundle_of(tmp_path, {"mine.py": "COUNT = []\nCOUNT.append(1)"})
    again = Bundle(bundle.module, dict(bundle.files))
    assert load_class(bundle, "COUNT") is load_class(again, "COUNT")
    assert load_class(bundle, "COUNT") == [1]


def test_editing_or_deleting_a_file_after_the_snapshot_changes_nothing(tmp_path):
    source = "import helper\n\ndef late():\n    import other\n    return helper.VALUE, other.VALUE\n"
    folder = tmp_path / "mine"
    files = {"mine.py": source, "helper.py": "VALUE = 1", "other.py": "VALUE = 1"}
    bundle = bundle_of(folder, files)
    lay(folder, {"helper.py": "VALUE = 2", "mine.py": "raise RuntimeError"})
    late = load_class(bundle, "late")
    shutil.rmtree(folder)
    assert late() == (1, 1)


@pytest.mark.parametrize(
    ("statement", "expression", "expected"),
    [
        ("import helper", "helper.WHO", "helper"),
        ("import helper as h", "h.WHO", "helper"),
        ("from helper import WHO", "WHO", "helper"),
        ("from helper import *", "WHO", "helper"),
        ("from . import helper", "helper.WHO", "helper"),
        ("from .helper import WHO", "WHO", "helper"),
        ("import kit.saw", "kit.saw.WHO", "kit.saw"),
        ("import kit.saw as saw", "saw.WHO", "kit.saw"),
        ("from kit import saw", "saw.WHO", "kit.saw"),
        ("from kit.saw import WHO", "WHO", "kit.saw"),
        ("import kit", "kit.WHO", "kit"),
        ("from kit.inner.deep import ABOVE", "ABOVE", ("kit", "kit.saw", "kit.inner")),
        ("from loose import part", "part.WHO", "loose.part"),
        ("import loose.part", "loose.part.WHO", "loose.part"),
        ("import os.path", "os.path.basename('a/b')", "b"),
        ("from os import path", "path.basename('a/b')", "b"),
        ("import bots, engine", "bots.Bot.__name__ + engine.__name__", "Botengine"),
    ],
)
def test_every_form_of_import_works_at_the_top_and_inside_functions(tmp_path, statement, expression, expected):
    files = {
        "helper.py": "WHO = 'helper'",
        "kit/__init__.py": "WHO = 'kit'",
        "kit/saw.py": "WHO = 'kit.saw'",
        "kit/inner/__init__.py": "WHO = 'kit.inner'",
        "kit/inner/deep.py": "from .. import WHO as kit, saw\nfrom . import WHO as me\nABOVE = (kit, saw.WHO, me)",
        "loose/part.py": "WHO = 'loose.part'",
    }
    top = f"{statement}\nVALUE = {expression}\n"
    assert value_of(tmp_path / "top", {**files, "mine.py": top}) == expected
    if "*" not in statement:
        late = "def late():\n" + "".join(f"    {line}\n" for line in (statement, f"return {expression}"))
        assert value_of(tmp_path / "late", {**files, "mine.py": late}, "late")() == expected


def test_a_module_named_at_run_time_is_found_when_it_is_declared(tmp_path):
    files = {
        "mine.py": "BUNDLE_FILES = ['kit/*.py']\nname = 'kit.' + 'saw'\nVALUE = __import__(name).saw.WHO",
        "kit/__init__.py": "",
        "kit/saw.py": "WHO = 'kit.saw'",
    }
    assert value_of(tmp_path, files) == "kit.saw"


def test_modules_may_import_each_other_in_circles(tmp_path):
    files = {
        "mine.py": "import a\nVALUE = a.both()",
        "a.py": "import b\nWHO = 'a'\ndef both():\n    return WHO + b.WHO + b.back()",
        "b.py": "import a\nWHO = 'b'\ndef back():\n    return a.WHO",
    }
    assert value_of(tmp_path, files) == "aba"


def test_a_module_with_the_name_of_an_installed_one_is_the_bundles_own(tmp_path):
    import colorsys

    files = {"mine.py": "import colorsys\nVALUE = colorsys.WHO", "colorsys.py": "WHO = 'mine'"}
    assert value_of(tmp_path, files) == "mine"
    assert sys.modules["colorsys"] is colorsys
    assert not hasattr(colorsys, "WHO")


@pytest.mark.parametrize("name", ["bots", "engine", "arena"])
def test_user_folders_named_like_our_packages_shadow_nothing(tmp_path, monkeypatch, name):
    files = {
        "mine.py": f"import {name}\nVALUE = {name}.__file__\n",
        f"{name}/__init__.py": "raise RuntimeError('shadowed')",
        f"{name}/mine.py": f"import {name}\nVALUE = {name}.__file__\n",
    }
    lay(tmp_path / "user", files)
    monkeypatch.chdir(tmp_path / "user")
    for path in (Path("mine.py"), Path(name) / "mine.py"):
        bundle = bundle_file(path.resolve())
        ours = Path(bots.__file__).parents[1] / name
        assert set(bundle.files) - {API_FILE} == {"mine.py"}
        assert Path(load_class(bundle, "VALUE")).read_bytes() == (ours / "__init__.py").read_bytes()


def test_declared_data_lies_beside_the_module(tmp_path):
    files = {
        "mine.py": "from pathlib import Path\nBUNDLE_FILES = ['data/*.json']\n"
        "VALUE = (Path(__file__).parent / 'data' / 'book.json').read_text()\n",
        "data/book.json": json.dumps({"moves": 3}),
    }
    assert json.loads(value_of(tmp_path, files)) == {"moves": 3}


def test_a_dataclass_and_its_forward_references_work_in_a_bundle(tmp_path):
    source = (
        "from __future__ import annotations\nimport typing\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Node:\n    child: Node | None = None\n"
        "VALUE = typing.get_type_hints(Node)['child'] == Node | None\n"
    )
    assert value_of(tmp_path, {"mine.py": source}) is True


def test_parameters_of_a_bot_are_read_in_a_bundle(tmp_path):
    source = (
        "from __future__ import annotations\nfrom typing import Annotated\nfrom bots import Between, Bot\n"
        "class Mine(Bot):\n    depth: Annotated[int, Between(1, 9), 'plies'] = 2\n    def choose(self, state): ...\n"
    )
    (parameter,) = value_of(tmp_path, {"mine.py": source}, "Mine").parameters
    assert (parameter.name, parameter.default, parameter.maximum, parameter.help) == ("depth", 2, 9, "plies")


@pytest.mark.parametrize("damage", ["changed", "missing", "a folder", "gone", "a file for the folder"])
def test_a_damaged_copy_in_the_cache_is_made_again(tmp_path, cache, damage):
    source = "from pathlib import Path\nBUNDLE_FILES = ['data.txt']\nHERE = Path(__file__).parent\n"
    bundle = bundle_of(tmp_path, {"mine.py": source, "data.txt": "good"})
    folder = load_class(bundle, "HERE")
    assert (folder / "data.txt").read_text() == "good"
    if damage == "changed":
        (folder / "data.txt").write_text("bad")
    elif damage == "gone":
        shutil.rmtree(folder)
    elif damage == "a file for the folder":
        shutil.rmtree(folder)
        folder.write_text("bad")
    else:
        (folder / "data.txt").unlink()
        if damage == "a folder":
            (folder / "data.txt").mkdir()
    loader.loaded_bundles.clear()
    assert (load_class(bundle, "HERE") / "data.txt").read_text() == "good"
    assert os.listdir(cache / "bundles") == [bundle.hash]


def test_an_intact_copy_in_the_cache_is_left_alone(tmp_path, cache):
    bundle = bundle_of(tmp_path, {"mine.py": "VALUE = 1"})
    load_class(bundle, "VALUE")
    before = (cache / "bundles" / bundle.hash / "mine.py").stat()
    loader.loaded_bundles.clear()
    load_class(bundle, "VALUE")
    after = (cache / "bundles" / bundle.hash / "mine.py").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("damaged", [False, True])
def test_many_may_lay_out_one_bundle_at_once(cache, damaged):
    files = {f"data/{number}.bin": bytes([number]) * 100 for number in range(50)}
    bundle = Bundle("mine", {"mine.py": b"VALUE = 5"} | files)
    if damaged:
        lay(cache / "bundles" / bundle.hash, files | {"data/7.bin": "bad"})
    with ThreadPoolExecutor(6) as pool:
        folders = {loaded.folder for loaded in pool.map(LoadedBundle, [bundle] * 12, [bundle.hash] * 12)}
    assert folders == {cache / "bundles" / bundle.hash}
    (folder,) = folders
    assert all((folder / name).read_bytes() == content for name, content in bundle.files.items())
    assert os.listdir(cache / "bundles") == [bundle.hash]


def test_tracebacks_name_files_of_the_bundle(tmp_path):
    fails = value_of(tmp_path, {"mine.py": "def fails():\n    return 1 / 0\n"}, "fails")
    with pytest.raises(ZeroDivisionError) as caught:
        fails()
    frame = caught.traceback[-1]
    assert (frame.path.name, frame.lineno) == ("mine.py", 1)
    assert in_a_bundle(str(frame.path))
    assert not in_a_bundle(__file__)
    assert "1 / 0" in str(frame.statement)


def test_a_module_that_fails_is_forgotten_and_tried_again(tmp_path):
    gate = tmp_path / "gate"
    gate.touch()
    bundle = bundle_of(
        tmp_path, {"mine.py": f"import os\nif os.path.exists({str(gate)!r}):\n    raise OSError('shut')\nVALUE = 1"}
    )
    with pytest.raises(OSError, match="shut"):
        load_class(bundle, "VALUE")
    gate.unlink()
    assert load_class(bundle, "VALUE") == 1


def test_a_cache_that_keeps_nothing_is_an_error(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(os, "rename", lambda *_: None)
    with pytest.raises(OSError, match="cannot be kept here"):
        load_class(bundle_of(tmp_path, {"mine.py": "VALUE = 1"}), "VALUE")
    assert os.listdir(cache / "bundles") == []


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("from helper import y", ImportError, "y"),
        ("import helper.more", ModuleNotFoundError, r"'helper\.more'.*BUNDLE_FILES"),
        ("import not_there", ModuleNotFoundError, "not_there"),
        ("from .not_there import x", ModuleNotFoundError, "not_there"),
        ("from . import not_there", ImportError, "not_there"),
        ("raise SystemExit('bye')", SystemExit, "bye"),
    ],
)
def test_what_goes_wrong_while_loading_is_raised(tmp_path, source, error, message):
    bundle = bundle_of(tmp_path, {"mine.py": f"import helper\n{source}\nVALUE = 1", "helper.py": "x = 1"})
    with pytest.raises(error, match=message):
        load_class(bundle, "VALUE")


def test_a_class_that_is_not_there_is_an_attribute_error(tmp_path):
    with pytest.raises(AttributeError, match="Mine"):
        load_class(bundle_of(tmp_path, {"mine.py": "x = 1"}), "Mine")
