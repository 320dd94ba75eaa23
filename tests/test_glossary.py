"""Words have one meaning: the glossary is short, and words that were retired stay away from code, docs and pages."""

import ast
import re
import subprocess

import pytest

from tests.support.documents import ROOT

GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
MAX_TERMS = 40
RETIRED_NAMES = {
    "AGAIN": "RETRY_SECONDS",
    "Absent": "AbsentPlayer",
    "CLUTTER": "UNUSED_SVG",
    "COMPLAINTS": "STDERR_FILE",
    "Charge": "KnownFault",
    "Course": "PlayedBefore",
    "Death": "WorkerDeath",
    "FADING": "LOG_ERROR_RATE",
    "Found": "MatchPage",
    "GetUp": "EndSession",
    "Given": "SearchInfo",
    "Hall": "SessionRegistry",
    "IN_FLIGHT": "CHUNKS_PER_WORKER",
    "Impossible": "BrokenRules",
    "KNOCK_LIMIT": "PROBE_SECONDS",
    "Kept": "SubmissionResult",
    "Killed": "ProcessKilled",
    "LONG": "BUSY_SECONDS",
    "LOOK": "POLL_SECONDS",
    "Left": "SeatView",
    "Library": "LogCatalog",
    "Lingered": "PauseOverrun",
    "Lost": "WorkerLost",
    "MOST_SURE": "MAX_CONFIDENCE",
    "Merged": "MergeResult",
    "NEVER": "UNSEEN_VALUE_COUNT",
    "NoRoom": "DiskFull",
    "ODD": "UNSAFE_CHARS",
    "PATIENCE": "TIMEOUT_SECONDS",
    "Packed": "ArchivedFile",
    "Presence": "PlanCoverage",
    "Retell": "ReplayRequest",
    "Retold": "ReplayReply",
    "SILENCE": "SILENCE_SECONDS",
    "SOON": "MIN_ALARM_SECONDS",
    "SURPRISE": "INITIAL_LOG_ERROR",
    "Seen": "ActivityStart",
    "Sheet": "RunStatusView",
    "Side": "VersionedLeaderboard",
    "Sit": "StartSession",
    "Taken": "TableResults",
    "Told": "ReplayedPly",
    "Wanted": "ExportRequest",
    "WholeMatch": "MatchRows",
    "converse": "exchange",
    "course": "moves",
    "dismiss": "close",
    "doubtful": "checks_rules",
    "fell": "forfeit_ply",
    "in_the_way": "blocking_file",
    "is_at_rest": "is_read_only_copy",
    "keep_orphans": "adopt_orphans",
    "knock": "probe",
    "let_stand": "confirm_overrun",
    "listed_dice": "list_dice_kinds",
    "lose": "on_worker_lost",
    "mourn": "on_worker_death",
    "others_than_seen": "unseen_share",
    "read_told": "read_protocol_info",
    "surroundings": "system_checks",
    "telling_what_is_kept": "adding_saved_state",
    "tells_of_a_kill": "mentions_external_kill",
    "without_room": "disk_full",
}
"""Names in Python that nothing may have any more, each with what to write."""
RETIRED_PHRASES = {
    r"told seats": "whether seats are known",
    r"nothing is written\.": "read-only",
    r"what a plan still lacks": "the matches that a plan still needs",
    r"benched": "disqualified",
    r"makes all count": "includes all matches",
}
"""Words that no docstring, page or text may have any more, as patterns, each with what to write."""


def listed(*patterns):
    found = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in found.stdout.split("\n") if name and (ROOT / name).is_file()]


SOURCES = listed("arena/*.py", "engine/*.py", "bots/*.py", "examples/*.py", "scripts/*.py", "benchmarks/*.py")
TEXTS = [*SOURCES, *listed("arena/*.html", "arena/*.js", "docs/*.md", "arena/*.md", "README.md", "CONTRIBUTING.md")]


def names(source):
    """Yield every name in a Python source: of classes, functions, parameters, variables and attributes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                yield name


def test_the_glossary_has_at_most_forty_terms_in_order_each_of_one_or_two_sentences():
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", GLOSSARY.read_text(), re.MULTILINE)
    terms = [term for term, _ in rows]
    assert 0 < len(terms) <= MAX_TERMS and terms == sorted(set(terms))
    assert [term for term, meaning in rows if not 1 <= len(re.findall(r"[.](?:\s|$)", meaning)) <= 2] == []


def test_no_retired_name_is_in_the_code():
    found = {
        f"{path.relative_to(ROOT)}: {name} -> {RETIRED_NAMES[name]}"
        for path in SOURCES
        for name in names(path.read_text())
        if name in RETIRED_NAMES
    }
    assert found == set()


@pytest.mark.parametrize("phrase", RETIRED_PHRASES)
def test_no_retired_phrase_is_in_code_docs_or_pages(phrase):
    pattern = re.compile(rf"\b{phrase}", re.IGNORECASE)
    found = [str(path.relative_to(ROOT)) for path in TEXTS if pattern.search(path.read_text())]
    assert found == [], f"write: {RETIRED_PHRASES[phrase]}"
