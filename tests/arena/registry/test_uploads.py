"""Uploads: one bot is found in a file, a folder or an archive without being run; everything else is one line."""

from __future__ import annotations

import contextlib
import io
import stat
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import BotError
from arena.registry import uploads
from arena.registry.bundles import MAX_BUNDLE_BYTES
from arena.registry.uploads import MAX_UPLOADED_SOURCE_BYTES, unzipped, uploaded_bot

BOT = b"from bots import Bot\nclass Mine(Bot):\n    def choose(self, state):\n        return state.legal_actions()[0]\n"
LOUD = b"raise SystemExit('this was run')\n" + BOT
"""Nothing here may ever run it."""
OTHER = BOT.replace(b"Mine", b"Other")
MANIFEST = b'command = ["./run"]\n'


def packed(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


@pytest.mark.parametrize(
    ("files", "found", "kept"),
    [
        ({"mine.py": LOUD}, ("mine", "Mine"), {"mine.py"}),
        ({"mine.zip": packed({"mine.py": LOUD})}, ("mine", "Mine"), {"mine.py"}),
        ({"folder/mine.py": b"import util\n" + LOUD, "folder/util.py": b""}, ("mine", "Mine"), {"mine.py", "util.py"}),
        (
            {"MINE.ZIP": packed({"a/b/mine.py": LOUD, "a/b/.git/HEAD": b"", "__MACOSX/a/b/._mine.py": b""})},
            ("mine", "Mine"),
            {"mine.py"},
        ),
        ({"bot/bot.toml": MANIFEST, "bot/run": b"#!/bin/sh\n"}, ("bot.toml", ""), {"bot.toml", "run"}),
    ],
)
def test_finds_the_bot_of_an_upload_without_running_it(files, found, kept):
    bundle, class_name = uploaded_bot(files)
    assert (bundle.module, class_name) == found
    assert {name for name in bundle.files if not name.startswith("bots/")} == kept


def test_takes_a_model_as_the_bot_that_plays_by_it():
    bundle, class_name = uploaded_bot({"net.onnx": b"a model"})
    assert bundle.files["model.onnx"] == b"a model"
    assert class_name == "OnnxModel"


def test_has_the_same_bundle_however_a_bot_is_handed_in():
    as_file, _ = uploaded_bot({"mine.py": BOT})
    as_archive, _ = uploaded_bot({"x.zip": packed({"deep/er/mine.py": BOT})})
    assert as_file.hash == as_archive.hash


def test_takes_the_named_class_of_a_file_that_holds_several():
    with pytest.raises(BotError, match="holds 2 bots"):
        uploaded_bot({"mine.py": BOT + OTHER})
    assert uploaded_bot({"mine.py": BOT + OTHER}, ":Other")[1] == "Other"


def test_takes_the_named_file_of_several_that_hold_bots():
    files = {"a.py": BOT, "b.py": OTHER}
    assert uploaded_bot(files, "b.py")[1] == "Other"
    assert uploaded_bot(files, "a.py:Mine")[1] == "Mine"
    for main in ("c.py", "../a.py", "a.py:Nobody", "a", "/etc/passwd"):
        with pytest.raises(BotError):
            uploaded_bot(files, main)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "holds no file"),
        ({".hidden.py": BOT}, "holds no file"),
        ({"mine.py": b"x ="}, "mine.py, line 1: is not valid Python"),
        ({"mine.py": b"x = 1"}, "mine.py: holds no bot"),
        ({"readme.txt": b""}, "neither a bot.toml nor a Python file"),
        ({"a.py": BOT, "b.py": OTHER}, "2 of its files hold bots, a.py, b.py"),
        ({"a.py": b"", "b.py": b""}, "none of its files holds a bot"),
        ({"bot.toml": b""}, "bot.toml: command: is missing"),
        ({"a": b"", "a/b.py": BOT, "c.py": BOT}, "a file as well as a folder"),
        ({"/etc/mine.py": BOT}, "no plain path"),
        ({"x.zip": packed({"../mine.py": BOT})}, "no plain path"),
        ({"x.zip": packed({"mine.py\n": BOT})}, "no plain path"),
        ({"x.zip": b"PK"}, "the archive cannot be read"),
        ({"x.zip": packed({"x.zip": packed({"mine.py": BOT})})}, "neither a bot.toml nor a Python file"),
        ({"x/" * 60 + "mine.py": BOT, "mine.py": BOT}, "no plain path"),
        ({"x" * 1_001 + ".py": BOT}, "no plain path"),
        ({"x" * 300 + ".py": BOT}, "no plain path|cannot be kept"),
        ({"x.zip": packed({"y/" * 60 + "mine.py": BOT, "mine.py": BOT})}, "no plain path"),
        ({"mine.py": BOT + b"x = " + b"(" * 100_000 + b")" * 100_000}, "too deep|not valid Python"),
        ({"mine.py": BOT + b"x = " + b"-" * 100_000 + b"1"}, "too deep|not valid Python"),
        ({"mine.py": BOT, "table.py": b"#" * (MAX_UPLOADED_SOURCE_BYTES + 1)}, "limited to 256 KiB"),
        ({"mine.py": BOT + f"BUNDLE_FILES = {['*.bin'] * 201}".encode()}, "more than 200 patterns"),
    ],
)
def test_says_in_one_line_what_is_wrong_with_an_upload(files, words):
    with pytest.raises(BotError, match=words) as caught:
        uploaded_bot(files)
    assert len(str(caught.value).splitlines()) == 1
    assert "arena-upload" not in str(caught.value)


def test_an_import_of_a_name_longer_than_any_file_is_none_of_the_bots_own():
    bundle, _ = uploaded_bot({"mine.py": b"import " + b"x" * 300 + b"\n" + BOT})
    assert "mine.py" in bundle.files


def test_refuses_what_unpacks_to_more_than_a_bot_may_have():
    bomb = packed({f"{number}.bin": b"\0" * 2**20 for number in range(MAX_BUNDLE_BYTES // 2**20 + 1)})
    assert len(bomb) < MAX_BUNDLE_BYTES / 100
    with pytest.raises(BotError, match="unpacks to more than"):
        unzipped(bomb)


def test_refuses_an_archive_that_claims_a_small_size_for_a_large_file():
    content = bytearray(packed({"mine.bin": b"\0" * 2**20}))
    for header, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.index(header) + offset
        content[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(BotError):
        unzipped(bytes(content))


def test_refuses_links_and_encrypted_files_in_an_archive():
    link = zipfile.ZipInfo("link.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(BotError, match="no plain file"):
        unzipped(packed({link: b"/etc/passwd"}))


def test_refuses_more_files_than_a_bot_may_have(monkeypatch):
    monkeypatch.setattr(uploads, "MAX_BUNDLE_FILES", 3)
    with pytest.raises(BotError, match="more than 3 files"):
        unzipped(packed({f"{number}.py": b"" for number in range(4)}))


GOOD = packed({"mine.py": BOT, "data/table.bin": zlib.compress(bytes(1000))})


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255), st.integers(0, len(GOOD)))
def test_a_damaged_archive_is_read_or_refused(place, value, end):
    content = bytearray(GOOD)
    content[place] = value
    with contextlib.suppress(BotError):  # anything else fails the test
        unzipped(bytes(content[:end] if end > place else content))
