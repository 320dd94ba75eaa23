"""The documentation is complete and true: keys, columns, links, names. `tests/system/test_pages.py` runs its blocks."""

import re

import pytest
from typer.main import get_command

from arena import api
from arena.cli.app import app as cli
from arena.plan.bot_entry import BotEntry
from arena.plan.config import Config, GameEntry, Limits, Output
from arena.plan.model import BoardRecord, BotRecord, ForeignRecord, KeyRecord, ResolvedPlan, SchedulerRecord
from arena.results.columns import TABLES
from arena.workers.process import WorkerProcess
from scripts.reference import named_commands, with_parts
from tests.support.documents import ROOT, described, pages

COMMANDS = vars(get_command(cli))["commands"]
NESTED = dict(named_commands(get_command(cli)))
PARAMETERS = [parameter for command in NESTED.values() for parameter in command.params]
OPTIONS = {option for parameter in PARAMETERS for option in [*parameter.opts, *parameter.secondary_opts]}
OPTIONS |= {"--help", "--num-cpus", "--system"}  # the second one is Ray's, the third that of our tests
CONFIGS = sorted((ROOT / "configs").glob("*.toml"))


@pytest.fixture(scope="module")
def worker():
    process = WorkerProcess()
    process.start()
    yield process
    process.stop()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_shipped_configuration_resolves_to_a_plan_and_is_listed(path, worker):
    plan = api.load_plan(path, worker)
    assert plan.schedule.total_matches > 0
    assert f"| `{path.name}` |" in (ROOT / "configs" / "README.md").read_text()


@pytest.mark.parametrize("model", [Config, GameEntry, BotEntry, Limits, Output])
def test_every_key_of_a_configuration_is_in_the_list_of_all_keys(model):
    missing = [key for key in model.model_fields if not described(key, "configs/README.md")]
    assert missing == []


def test_the_page_of_columns_has_every_table():
    text = (ROOT / "docs" / "reference" / "columns.md").read_text()
    assert re.findall(r"<!-- generated: (\w+) -->", text) == list(TABLES)


@pytest.mark.parametrize("page", [page for page in pages() if "<!-- generated: " in page.read_text()], ids=str)
def test_parts_of_pages_that_are_made_from_the_code_are_as_make_reference_writes_them(page):
    assert page.read_text() == with_parts(page.read_text()), "run `make reference`"


def test_pages_are_readable_where_they_lie():
    directives = re.compile(r"^```\{(?!toctree)|\(\S*generated/", re.MULTILINE)
    assert [str(page.relative_to(ROOT)) for page in pages() if directives.search(page.read_text())] == []


@pytest.mark.parametrize("model", [ResolvedPlan, BoardRecord, BotRecord, KeyRecord, SchedulerRecord, ForeignRecord])
def test_every_key_of_a_plan_is_described(model):
    assert [key for key in model.model_fields if not described(key, "docs/reference/files.md")] == []


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_every_link_to_a_file_leads_somewhere():
    missing = []
    for page in pages():
        for target in re.findall(r"\]\(([^)#\s]+)[^)\s]*\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                missing.append(f"{page.relative_to(ROOT)}: {target}")
    assert missing == []


def code_in(page):
    """Return the words in code of a page: without its blocks, what stands between backticks."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`]+)`", text)


def wrong(code):
    """Tell whether a word in code names a file, command, option or target that is not there."""
    target = re.fullmatch(r"make ([a-z-]+)", code)
    if target:
        return re.search(rf"^{target[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE) is None
    if re.fullmatch(r"(arena|benchmarks|bots|configs|docs|engine|examples|scripts|tests)/[\w./-]*", code):
        return not (ROOT / code).exists() and code not in ("bots/", "docs/_build", "arena/epicycle-v1")
    command = re.match(r"arena ([a-z][a-z-]*)\b(?! v[0-9])", code)  # `arena dice v1` is a word of the dice
    options = re.findall(r"(?<!\S)--[a-z][a-z0-9-]*", code) if command or code.startswith("--") else []
    return (command is not None and command[1] not in COMMANDS) or not OPTIONS.issuperset(options)


def test_every_file_command_option_and_target_that_the_text_names_is_there():
    named = {(page, code) for page in pages() for code in code_in(page)}
    assert sorted(f"{page.relative_to(ROOT)}: {code}" for page, code in named if wrong(code)) == []
