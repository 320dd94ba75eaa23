"""The bot `onnx:file=MODEL`: found, bundled by content, known by it wherever it lies, and played at every isolation."""

import pytest

from arena import api
from arena.core.errors import ArenaError, ConfigError
from arena.plan.bot_entry import BotEntry
from arena.plan.bots import resolve_bots
from arena.registry.discovery import find_bot
from arena.verify.verification import verify
from engine import load_game
from tests.support.policies import linear

FOUR = load_game("connect_four", 2)


@pytest.fixture
def folder(tmp_path):
    for name, seed in (("one.onnx", 1), ("sub/copy.onnx", 1), ("two.onnx", 2)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(linear(FOUR, seed))
    return tmp_path


def resolved(folder, *specs):
    return resolve_bots([BotEntry(bot=spec) for spec in specs], [FOUR], [folder])


def refusal(spec, folder):
    with pytest.raises(ArenaError) as caught:
        find_bot(spec, [folder])
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


def test_the_content_of_a_model_is_its_identity_and_not_its_name_or_place(folder):
    one, copy, two = resolved(folder, "onnx:file=one.onnx", "onnx:file=sub/copy.onnx", "onnx:file=two.onnx")
    assert one.identity == copy.identity != two.identity
    assert one.spec == copy.spec != two.spec
    assert (one.label, copy.label) == ("onnx:file=one.onnx", "onnx:file=copy.onnx")
    assert one.bundle.files["model.onnx"] == linear(FOUR, 1)
    assert {name for name in one.bundle.files if not name.startswith("bots/")} == {"model.onnx", "onnx_model.py"}
    assert not any(str(folder) in repr(each) for each in (one.source, one.bundle, one.params))


def test_other_options_go_with_the_file_and_count_too(folder):
    plain, warm = resolved(folder, "onnx:file=one.onnx", "onnx:temperature=0.5,file=one.onnx")
    assert warm.label == "onnx:file=one.onnx,temperature=0.5"
    assert plain.identity != warm.identity


def test_a_model_that_cannot_be_read_is_told_in_one_line(folder):
    (folder / "link.onnx").symlink_to(folder / "one.onnx")
    (folder / "a b.onnx").write_bytes(b"")
    with open(folder / "huge.onnx", "wb") as file:
        file.truncate(65 * 2**20)
    assert refusal("onnx:file=none.onnx", folder) == f"no file 'none.onnx' in {folder}"
    assert "Is a link" in refusal("onnx:file=link.onnx", folder)
    assert "limited to 64 MiB" in refusal("onnx:file=huge.onnx", folder)
    assert "may not hold commas" in refusal("onnx:file=a b.onnx", folder)


def test_a_broken_model_is_refused_when_it_is_planned(folder):
    (folder / "bad.onnx").write_bytes(b"nonsense")
    with pytest.raises(ConfigError, match=r"^bot 'onnx' has a model that cannot be loaded: [^\n]+$"):
        resolved(folder, "onnx:file=bad.onnx")


def test_without_a_model_it_plays_nothing_and_says_what_to_write(folder):
    (bot,) = resolved(folder, "onnx")
    assert bot.refusals == ["plays connect_four by a model; write onnx:file=model.onnx"]


@pytest.mark.system
def test_a_model_plays_the_same_moves_at_every_isolation_and_again(folder):
    levels = ("none", "process", "sandbox")
    plan = {
        "name": "levels",
        "blocks": 2,
        "dice": "secret",
        "games": [{"game": "connect_four"}],
        "bots": [
            {"bot": "onnx", "params": {"file": str(folder / "one.onnx")}, "label": level, "isolation": level}
            for level in levels
        ]
        + [{"bot": f"onnx:file={folder / 'two.onnx'},temperature=0.5", "isolation": "sandbox"}],
    }
    board = api.run(plan, folder / "home", workers=1, backend="local").leaderboards["connect_four", 2]
    assert board["forfeits"].sum() == 0
    (log,) = (folder / "home").rglob("matches.db")
    for level in levels:
        report = verify(log, rerun="all", isolation=level, workers=1)
        assert report.sound, report
