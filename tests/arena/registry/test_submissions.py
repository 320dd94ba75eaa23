"""Submitted bots: kept by content, found by name or by name and hash, never lost, and read without being run."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import api
from arena.core.errors import ArenaError
from arena.core.lookalikes import are_confusable
from arena.core.paths import ROOT
from arena.isolation import default_level
from arena.plan.config import config_from
from arena.plan.resolve import make_plan
from arena.registry import submissions
from arena.registry.bundles import API_FILE
from arena.registry.discovery import find_bot
from arena.registry.submissions import stored_bundle, submitted
from arena.registry.submitting import withdraw
from tests.arena.registry.test_bundle import BOT, lay
from tests.support.submissions import submit

PROGRAM = {"prog/bot.toml": 'command = ["./run"]\n[parameters]\ndepth = { default = 3 }', "prog/run": "#!/bin/sh\n"}
LOUD = f"raise SystemExit('this was run')\n{BOT}"
"""Nothing here may ever run it."""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A working folder with bots, and a home that is not there yet."""
    lay(tmp_path, PROGRAM | {"mine.py": LOUD, "helped.py": f"import helper\n{BOT}", "helper.py": "X = 1\n"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    return tmp_path


def refusal(call, *arguments):
    """The one line of an error; nothing is changed by what is refused."""
    before = kept_files()
    with pytest.raises(ArenaError) as caught:
        call(*arguments)
    assert kept_files() == before
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    return text


def kept_files():
    return {path.name: path.read_bytes() for path in Path("home").glob("bots/*") if path.suffix != ".lock"}


def change(number: int) -> None:
    """Another version of mine.py."""
    lay(Path(), {"mine.py": f"{LOUD}# {number}\n"})


def hashes(name: str) -> list[str]:
    return [version.hash for version in submitted()[name].versions]


# Submitting


def test_a_submitted_bot_is_found_by_its_name_and_runs_in_a_sandbox(desk):
    kept = submit("mine.py", "ann_1", "Ann")
    source, options = find_bot("ann_1:depth=2")
    assert kept.changed
    assert (source.name, source.class_name, source.submitted, default_level(source)) == (
        "ann_1",
        "Mine",
        True,
        "sandbox",
    )
    assert (source.origin, options) == ("submitted by Ann, version 1", {"depth": "2"})
    assert source.bundle().files["mine.py"] == LOUD.encode()


def test_a_python_bot_is_kept_with_all_that_belongs_to_it(desk):
    expected = find_bot("helped.py:Mine")[0].bundle()
    submit("helped.py", "helped", "Ann")
    for path in desk.glob("*.py"):
        path.unlink()
    kept = find_bot("helped")[0].bundle()
    assert kept == expected
    assert {"helped.py", "helper.py", API_FILE} <= set(kept.files)


def test_a_bot_for_another_version_of_the_base_api_is_to_be_submitted_again(desk, monkeypatch):
    submit("mine.py", "ann_1", "Ann")
    monkeypatch.setattr("arena.registry.bundles.API_VERSION", 2)
    assert refusal(find_bot("ann_1")[0].bundle) == "bot 'ann_1' is for version 1 of the bot API, and installed is 2"
    submit("mine.py", "ann_1", "Ann")
    assert find_bot("ann_1")[0].bundle().files[API_FILE] == b"2\n"


@pytest.mark.parametrize("path", ["prog", "prog/bot.toml"])
def test_a_program_is_kept_as_its_files(desk, path):
    submit(path, "prog-2.0", "Bob")
    source, options = find_bot("prog-2.0:depth=4")
    assert (source.is_program, default_level(source), options) == (True, "sandbox", {"depth": "4"})
    assert source.bundle().files == {"bot.toml": PROGRAM["prog/bot.toml"].encode(), "run": b"#!/bin/sh\n"}


def test_a_file_with_several_bots_needs_to_be_told_which(desk):
    lay(desk, {"two.py": f"{BOT}\nclass Also(Mine): ...\nclass Other(Mine): ...\nclass Helper: ...\n"})
    assert refusal(submit, "two.py", "x", "Ann") == "two.py: holds 2 bots, Also, Other; name one: two.py:Also"
    assert submit("two.py:Other", "x", "Ann").submission.newest.class_name == "Other"


def test_a_bot_derived_from_one_in_another_file_is_found_by_its_method(desk):
    choose = "\n    def choose(self, state):\n        return super().choose(state)\n"
    lay(desk, {"next.py": f"from mine import Mine\n\nclass Helper: ...\n\nclass Next(Mine):{choose}"})
    assert find_bot("next.py")[0].class_name == "Next"
    lay(desk, {"next.py": f"from mine import Mine\n\nclass Next(Mine):{choose}\nclass Last(Mine):{choose}"})
    assert refusal(find_bot, "next.py") == "next.py: holds 2 bots, Next, Last; name one: next.py:Next"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("none.py", "no file 'none.py' in the working folder"),
        ("helper.py", "helper.py: holds no bot; derive a class from bots.Bot"),
        ("home", "no bot './home'; bots of one's own are named"),
        ("mine", "no bot './mine'; bots of one's own are named path/to/file.py, or by a folder with a bot.toml"),
        (".", ".: is a folder without a bot.toml"),
        ("greedy", "no bot './greedy'; bots of one's own are named path/to/file.py"),
        ("mine.py:Mine:depth=2", "a bot is submitted as it is"),
    ],
)
def test_only_a_file_or_a_program_can_be_submitted(desk, path, told):
    assert told in refusal(submit, path, "x", "Ann")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "must be 1 to 64 letters"),
        ("a/b", "must be 1 to 64 letters"),
        ("a@b", "must be 1 to 64 letters"),
        ("x" * 65, "must be 1 to 64 letters"),
        ("mine.py", "would be read as a path"),
        ("bot.TOML", "would be read as a path"),
        ("greedy", "a bot 'greedy' comes with the arena or is installed"),
        ("Greedy", "a bot 'greedy' comes with the arena or is installed"),
        ("ANN", "a bot 'ann' has been submitted; choose another name"),
    ],
)
def test_a_name_that_will_not_do_is_refused(desk, name, told):
    submit("prog", "ann", "Ann")
    assert told in refusal(submit, "mine.py", name, "Ann")


@pytest.mark.parametrize("author", ["", " Ann", "A\nnn", "x" * 65])
def test_an_author_has_a_name_for_tables(desk, author):
    assert "must be 1 to 64 printable characters" in refusal(submit, "mine.py", "mine", author)


def test_nobody_takes_over_the_name_of_another_ones_bot(desk):
    submit("mine.py", "mine", "Ann")
    assert "belongs to a bot by Ann" in refusal(submit, "prog", "mine", "Bob")
    withdraw("mine")
    assert "belongs to a bot by Ann" in refusal(submit, "prog", "mine", "Bob")


# Versions


def test_versions_are_kept_in_order_and_the_newest_counts(desk):
    for number in range(3):
        change(number)
        submit("mine.py", "mine", "Ann")
    assert len(set(hashes("mine"))) == 3
    source = find_bot("mine")[0]
    assert source.origin == "submitted by Ann, version 3"
    assert source.bundle().files["mine.py"].endswith(b"# 2\n")
    for number, hash in enumerate(hashes("mine")):
        old = find_bot(f"mine@{hash[:6]}")[0]
        assert (old.name, old.origin) == ("mine", f"submitted by Ann, version {number + 1}")
        assert old.bundle().files["mine.py"].endswith(f"# {number}\n".encode())


def test_the_same_source_again_changes_nothing(desk):
    submit("mine.py", "mine", "Ann")
    before = kept_files()
    again = submit("mine.py", "mine", "Ann")
    assert not again.changed
    assert kept_files() == before


def test_an_older_source_again_is_the_newest_version(desk):
    for number in (1, 2, 1):
        change(number)
        assert submit("mine.py", "mine", "Ann").changed
    first, _, last = hashes("mine")
    assert first == last
    assert find_bot(f"mine@{first}")[0].origin == "submitted by Ann, version 3"


def test_one_source_under_two_names_is_stored_once(desk):
    submit("mine.py", "one", "Ann")
    submit("mine.py", "two", "Bob")
    assert len(list(Path("home/bots").glob("*.zip"))) == 1
    assert [find_bot(name)[0].name for name in ("one", "two")] == ["one", "two"]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("mine@123", "'mine@123': a version is named by 6 to 32 hexadecimal digits"),
        ("mine@xyzxyz", "a version is named by 6 to 32"),
        ("mine@000000", "bot 'mine' has no version 000000; it has "),
        ("mien@000000", "no submitted bot 'mien'; did you mean 'mine'?"),
        ("greedy@000000", "no submitted bot 'greedy'"),
        ("mien", "no bot 'mien'; did you mean 'mine'?"),
        ("Mine", "no bot 'Mine'; did you mean 'mine'?"),
    ],
)
def test_a_version_that_is_not_there_is_told(desk, spec, told):
    submit("mine.py", "mine", "Ann")
    assert told in refusal(find_bot, spec)


def test_digits_that_two_versions_begin_with_are_not_enough(desk):
    submit("mine.py", "mine", "Ann")
    index = Path("home/bots/index.json")
    data = json.loads(index.read_text())
    first = data["bots"]["mine"]["versions"][0]
    other = first["hash"][:8] + ("0" * 24 if first["hash"][8] != "0" else "1" * 24)
    data["bots"]["mine"]["versions"].append(first | {"hash": other})
    index.write_text(json.dumps(data))
    assert "begin so; give more of it" in refusal(find_bot, f"mine@{other[:8]}")
    assert find_bot(f"mine@{first['hash'][:9]}")[0].origin == "submitted by Ann, version 1"


# Withdrawing


def test_a_withdrawn_bot_is_found_by_its_hash_alone_until_it_is_submitted_again(desk):
    submit("mine.py", "mine", "Ann")
    short = submitted()["mine"].newest.short
    source = find_bot(f"mine@{short}")[0]
    assert withdraw("mine")
    assert not withdraw("mine")
    assert f"bot 'mine' has been withdrawn; tournaments that had it name it mine@{short}" in refusal(find_bot, "mine")
    assert find_bot(f"mine@{short}")[0] == source
    assert submit("mine.py", "mine", "Ann").changed
    assert find_bot("mine")[0] == source
    assert len(hashes("mine")) == 1


@pytest.mark.parametrize(("name", "told"), [("mien", "did you mean 'mine'?"), ("greedy", "no submitted bot 'greedy'")])
def test_only_a_submitted_bot_can_be_withdrawn(desk, name, told):
    submit("mine.py", "mine", "Ann")
    assert told in refusal(withdraw, name)


# In plans


def plan(*bots: str):
    entries = [{"bot": bot, "label": f"label {number}"} for number, bot in enumerate(bots)]
    data = {"name": "t", "games": [{"game": "epicycle", "players": 2}], "bots": [*entries, {"bot": "random"}]}
    return make_plan(config_from(data))


def test_a_tournament_goes_on_with_name_and_hash_as_if_it_were_the_name(desk):
    lay(desk, {"mine.py": BOT})
    submit("mine.py", "mine", "Ann")
    before = plan("mine")
    version = submitted()["mine"].newest.short
    change(1)
    lay(desk, {"mine.py": f"{BOT}# better\n"})
    submit("mine.py", "mine", "Ann")
    withdraw("mine")
    after = plan(f"mine@{version}")
    assert [block.identity for block in after.schedule.blocks()] == [b.identity for b in before.schedule.blocks()]
    assert after.bots[0].isolation == "sandbox"


def test_the_home_that_a_run_is_given_is_where_its_bots_are_looked_for(desk, monkeypatch):
    lay(desk, {"mine.py": BOT})
    submit("mine.py", "mine", "Ann", "elsewhere")
    found = api.load_plan(
        {"name": "t", "games": [{"game": "epicycle", "players": 2}], "bots": [{"bot": "mine"}, {"bot": "random"}]},
        home="elsewhere",
    )
    assert found.bots[0].source.submitted
    assert "no bot 'mine'" in refusal(find_bot, "mine")


def test_a_tournament_cannot_take_the_folder_of_the_bots(desk):
    data = {"name": "bots", "games": [{"game": "epicycle"}], "bots": [{"bot": "random"}]}
    assert "name = 'bots': is the folder of submitted bots" in refusal(config_from, data)


def test_a_bot_of_ours_that_comes_later_is_not_mistaken_for_a_submitted_one(desk):
    submit("mine.py", "mine", "Ann")
    index = Path("home/bots/index.json")
    index.write_text(index.read_text().replace('"mine"', '"greedy"', 1))
    short = submitted()["greedy"].newest.short
    assert f"two bots are called 'greedy': ours, and the submitted greedy@{short}" in refusal(find_bot, "greedy")
    assert find_bot(f"greedy@{short}")[0].submitted
    withdraw("greedy")
    assert not find_bot("greedy")[0].submitted


# Damage


DAMAGED = {
    "empty": "",
    "not JSON": "bots",
    "another format": '{"format": 2, "bots": {}}',
    "no versions": '{"format": 1, "bots": {"mine": {"versions": []}}}',
    "a hash that is a path": json.dumps(
        {
            "bots": {
                "mine": {"versions": [dict.fromkeys(["hash", "module", "class_name", "author", "submitted"], "../x")]}
            }
        }
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_index_is_told_by_its_name_and_left_alone(desk, case):
    submit("mine.py", "mine", "Ann")
    Path("home/bots/index.json").write_text(DAMAGED[case])
    for call, arguments in ((find_bot, ["mine"]), (submit, ["mine.py", "mine", "Ann"]), (withdraw, ["mine"])):
        assert "home/bots/index.json: is damaged" in refusal(call, *arguments)


def test_a_home_that_is_a_file_is_told_as_one(desk, monkeypatch):
    monkeypatch.setenv("ARENA_HOME", "mine.py")
    for call, arguments in ((find_bot, ["greedy"]), (submit, ["mine.py", "mine", "Ann"]), (withdraw, ["mine"])):
        assert refusal(call, *arguments) == "mine.py: is a file, or below one; name a folder: --home or ARENA_HOME"


def spoil_content(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mine.py", BOT)


def spoil_bytes(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 255
    path.write_bytes(content)


def spoil_size(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mine.py", bytes(65 * 2**20))


@pytest.mark.parametrize(
    "spoil",
    [spoil_content, spoil_bytes, spoil_size, lambda path: path.write_bytes(b""), Path.unlink],
    ids=["another content", "another byte", "too large", "empty", "gone"],
)
def test_a_damaged_source_is_told_by_its_name_and_mended_by_submitting_it_again(desk, spoil):
    submit("mine.py", "mine", "Ann")
    version = submitted()["mine"].newest
    spoil(Path("home/bots") / f"{version.hash}.zip")
    told = refusal(find_bot("mine")[0].bundle)
    assert f"home/bots/{version.hash}.zip: is " in told
    assert "submit that source again" in told
    assert not submit("mine.py", "mine", "Ann").changed
    assert find_bot("mine")[0].bundle().files["mine.py"] == LOUD.encode()


@given(
    st.dictionaries(
        st.from_regex(r"[a-zé ]{1,9}(/[a-z.-]{1,5}x)?", fullmatch=True), st.binary(max_size=300), min_size=1, max_size=5
    )
)
def test_what_is_stored_comes_back_whole(files):
    assert submissions.unpacked_files(submissions.packed_files(files)) == files
    assert submissions.packed_files(files) == submissions.packed_files(dict(reversed(files.items())))


# At once


def test_many_who_submit_at_once_are_all_kept(desk):
    found = f"import sys; sys.path.append({str(ROOT)!r})"
    script = f"{found}; from tests.support.submissions import submit; submit(sys.argv[1], sys.argv[2], 'Ann')"
    jobs = []
    for number in range(4):
        lay(desk, {f"m{number}.py": f"{BOT}# {number}\n"})
        jobs += [(f"m{number}.py", f"own_{number}"), (f"m{number}.py", "shared")]
    started = [subprocess.Popen([sys.executable, "-c", script, *job], cwd=desk) for job in jobs]
    assert [process.wait(timeout=300) for process in started] == [0] * len(jobs)
    assert set(submitted()) == {"shared", *(f"own_{number}" for number in range(4))}
    assert set(hashes("shared")) == {hashes(f"own_{number}")[0] for number in range(4)}
    for entry in submitted().values():
        for version in entry.versions:
            assert stored_bundle(version).hash == version.hash
    assert not list(Path("home/bots").glob(".*"))


# What is worth a look


NEAR = [("greedy", "greedy1"), ("greedy", "gready"), ("ann_bot", "annbot"), ("ann_bot", "amn_bot"), ("b0b", "bob")]
NEAR += [("Ann", "\u0410nn"), ("Jos\u00e9", "jose"), ("robot", "roobt"), ("uct", "UCT")]


@pytest.mark.parametrize(("one", "other"), NEAR)
def test_names_that_may_be_taken_for_each_other_are_near(one, other):
    assert are_confusable(one, other)
    assert are_confusable(other, one)


@pytest.mark.parametrize(("one", "other"), [("uct", "act"), ("greedy", "random"), ("alpha", "alpaca")])
def test_other_names_are_not(one, other):
    assert not are_confusable(one, other)
    assert not are_confusable(other, one)


def told(name, author, source="mine.py"):
    return submit(source, name, author).submission.newest.warnings


def test_what_is_worth_a_look_is_told_and_kept_with_the_version(desk):
    assert told("eager", "Ann") == ()
    assert told("eager_2", "Ann", "prog") == ()
    (desk / "mine.py").write_text(BOT + "\n# another\n")
    assert told("eagre", "Bob") == (
        "the name 'eagre' is nearly that of 'eager' by Ann",
        "the first bot by an author called 'Bob'",
    )
    (desk / "mine.py").write_text(BOT + "\n# a third\n")
    assert "the author's name '\u0410nn' is nearly that of 'Ann'" in told("other", "\u0410nn")
    assert "the name 'greedi' is nearly that of 'greedy', which comes with the arena or is installed" in told(
        "greedi", "Bob"
    )
    assert told("stolen", "Bob", "prog") == ("this source has been submitted as 'eager_2' by Ann",)
    assert submitted()["stolen"].newest.warnings == ("this source has been submitted as 'eager_2' by Ann",)
