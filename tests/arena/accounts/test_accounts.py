"""Accounts: who may do what, kept in one database, with a row in the audit log for every change."""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import sqlite3
import stat
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.accounts import DATABASE_FILE, OPERATOR, Accounts, Allowance
from arena.accounts.schema import SCHEMA_VERSION
from arena.accounts.tokens import MAX_TOKENS, TOKEN_PREFIX
from arena.core.errors import AccountError, ArenaError, StoreError
from arena.core.paths import ROOT

SOURCE, OTHER = ("aa" * 16, "mine", "Mine"), ("bb" * 16, "mine", "Mine")
USUAL = Allowance(max_bots=2, max_per_day=3)


class Time:
    """A clock that tests set."""

    def __init__(self):
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def accounts(tmp_path, time):
    with Accounts.open(tmp_path, time) as opened:
        opened.contests.add("cup", {"title": "Cup"}, OPERATOR)
        yield opened


def author(accounts, name="Ann", role="author"):
    found = accounts.authors.add(name, role, OPERATOR)
    accounts.contests.join("cup", found.id, OPERATOR)
    return found


def valid(accounts, version):
    accounts.submissions.begin_check(version)
    accounts.submissions.end_check(version, True)


# The database


def test_nobody_else_may_read_the_database(accounts, tmp_path):
    assert stat.S_IMODE((tmp_path / DATABASE_FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "spoil",
    [
        "CREATE VIEW authors_of AS SELECT * FROM authors",
        "CREATE TRIGGER t AFTER INSERT ON audit BEGIN DELETE FROM audit; END",
        f"PRAGMA user_version = {SCHEMA_VERSION + 1}",
        "DROP TABLE audit",
    ],
)
def test_refuses_a_database_that_is_not_as_the_arena_makes_it(tmp_path, spoil):
    Accounts(tmp_path).close()
    with contextlib.closing(sqlite3.connect(tmp_path / DATABASE_FILE)) as db:
        db.execute(spoil)
        db.commit()
    with pytest.raises(StoreError) as caught:
        Accounts(tmp_path)
    assert len(str(caught.value).splitlines()) == 1


@given(st.binary(min_size=1, max_size=200))
def test_refuses_a_file_that_is_no_database(tmp_path_factory, content):
    home = tmp_path_factory.mktemp("home")
    (home / DATABASE_FILE).write_bytes(content)
    with pytest.raises(StoreError):
        Accounts(home)


def test_a_change_that_fails_leaves_nothing(accounts):
    before = accounts.database.audit()
    with pytest.raises(AccountError, match="is in the list twice"):
        accounts.invitations.invite("cup", ["Ann", "Bob", "ann"], OPERATOR)
    assert accounts.database.audit() == before


def add_many(home, start, number):
    with Accounts.open(home) as accounts:
        for each in range(number):
            with contextlib.suppress(AccountError):
                accounts.authors.add(f"author {start + each}", "author", OPERATOR)


def test_two_processes_may_change_it_at_once_and_no_name_is_given_twice(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=add_many, args=(tmp_path, start, 30)) for start in (0, 10)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    with Accounts.open(tmp_path) as accounts:
        names = [each.name for each in accounts.authors.all()]
        assert sorted(names) == sorted({f"author {number}" for number in range(40)})
        assert len(accounts.database.audit()) == 40


# Authors and tokens


@pytest.mark.parametrize("name", ["ann", "Αnn".replace("Α", "А"), "A n n", "Ánn"])
def test_nobody_takes_a_name_that_is_read_like_another(accounts, name):
    author(accounts)
    with pytest.raises(AccountError, match=r"read like|must be|taken"):
        accounts.authors.add(name, "author", OPERATOR)


@pytest.mark.parametrize("name", ["", " Ann", "<b>", "=1+1", "a\nb", "x" * 65, "-"])
def test_refuses_names_that_pages_could_not_show(accounts, name):
    with pytest.raises(AccountError):
        accounts.authors.add(name, "author", OPERATOR)


def test_a_token_is_kept_as_a_hash_alone(accounts, tmp_path):
    token = accounts.tokens.issue(author(accounts), "api", ["read"], OPERATOR)
    assert token.startswith(TOKEN_PREFIX)
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert token.removeprefix(TOKEN_PREFIX).encode() not in kept


def test_a_token_lets_in_until_it_is_revoked_or_expires_or_its_author_is_erased(accounts, time):
    ann = author(accounts)
    one, two, three = (
        accounts.tokens.issue(ann, "api", ["read", "submit"], OPERATOR, days=days) for days in (None, 1, 9)
    )
    grant = accounts.tokens.check(one)
    assert (grant.author.id, grant.scopes) == (ann.id, {"read", "submit"})
    accounts.tokens.revoke(ann.id, grant.id, ann.id)
    assert accounts.tokens.check(one) is None
    assert accounts.tokens.check(two) is not None
    time.now += timedelta(days=1)
    assert accounts.tokens.check(two) is None
    assert accounts.tokens.check(three) is not None
    accounts.authors.erase(ann.id, OPERATOR)
    assert accounts.tokens.check(three) is None


@given(st.text(max_size=120))
def test_no_other_text_is_a_token(tmp_path_factory, text):
    with Accounts.open(tmp_path_factory.mktemp("home")) as accounts:
        accounts.tokens.issue(accounts.authors.add("Ann", "author", OPERATOR), "api", ["read"], OPERATOR)
        assert accounts.tokens.check(text) is None
        assert accounts.tokens.check(TOKEN_PREFIX + text) is None


def test_only_organisers_have_tokens_to_organise(accounts):
    with pytest.raises(AccountError, match="for organisers"):
        accounts.tokens.issue(author(accounts), "api", ["admin"], OPERATOR)
    boss = author(accounts, "Boss", "organiser")
    token = accounts.tokens.issue(boss, "api", ["admin"], OPERATOR)
    assert accounts.tokens.check(token).may("admin")
    accounts.authors.give_role(boss.id, "author", OPERATOR)
    assert not accounts.tokens.check(token).may("admin")


def test_nobody_revokes_the_token_of_another(accounts):
    token = accounts.tokens.issue(author(accounts), "api", ["read"], OPERATOR)
    bob = author(accounts, "Bob")
    with pytest.raises(AccountError):
        accounts.tokens.revoke(bob.id, accounts.tokens.check(token).id, bob.id)
    assert accounts.tokens.check(token) is not None


# Invitations


def test_an_invitation_makes_one_author_who_takes_part(accounts):
    ((_, code),) = accounts.invitations.invite("cup", ["Ann"], OPERATOR)
    assert accounts.invitations.find(code).name == "Ann"
    ann, token = accounts.invitations.accept(code, "somebody else")
    assert ann.name == "Ann"
    assert accounts.tokens.check(token).author == ann
    assert accounts.contests.member("cup", ann.id) is not None
    assert accounts.invitations.find(code) is None
    with pytest.raises(AccountError, match="has been used"):
        accounts.invitations.accept(code, "Bob")


def test_an_open_invitation_has_so_many_uses_and_an_end(accounts, time):
    code = accounts.invitations.invite_anybody("cup", 3, OPERATOR, days=2)
    accounts.invitations.accept(code, "Ann")
    with pytest.raises(AccountError, match="taken"):
        accounts.invitations.accept(code, "Ann")
    assert accounts.invitations.find(code).uses == 2
    assert accounts.invitations.join(code, author(accounts, "Bob")) == "cup"
    time.now += timedelta(days=2)
    with pytest.raises(AccountError):
        accounts.invitations.accept(code, "Cid")


def test_who_takes_part_already_uses_no_invitation_up(accounts):
    code = accounts.invitations.invite_anybody("cup", 1, OPERATOR)
    ann = author(accounts)
    assert accounts.invitations.join(code, ann) == "cup"
    assert accounts.invitations.find(code).uses == 1
    accounts.invitations.accept(code, "Bob")
    with pytest.raises(AccountError, match="used"):
        accounts.invitations.accept(code, "Cid")


def test_an_invitation_to_organise_is_for_a_new_person(accounts):
    ((_, code),) = accounts.invitations.invite(None, ["Ann"], OPERATOR, role="organiser")
    with pytest.raises(AccountError, match="for a new organiser"):
        accounts.invitations.join(code, author(accounts))
    assert accounts.invitations.find(code).uses == 1


def test_a_new_session_ends_the_oldest_of_many(accounts):
    ann = author(accounts)
    sessions = [accounts.tokens.issue(ann, "session", ["read"], OPERATOR) for _ in range(MAX_TOKENS + 1)]
    kept = [accounts.tokens.check(session) is not None for session in sessions]
    assert kept == [False] + [True] * MAX_TOKENS


def test_revoking_the_token_of_a_program_ends_the_sessions_that_it_may_have_begun(accounts):
    ann, bob = author(accounts), author(accounts, "Bob")
    program = accounts.tokens.issue(ann, "api", ["read"], OPERATOR)
    asking, other, bobs = (accounts.tokens.issue(of, "session", ["read"], OPERATOR) for of in (ann, ann, bob))
    accounts.tokens.revoke(ann.id, accounts.tokens.check(program).id, ann.id, accounts.tokens.check(asking).id)
    assert [accounts.tokens.check(each) is not None for each in (program, asking, other, bobs)] == [
        *(False, True, False, True)
    ]


def test_revoking_a_session_ends_no_other(accounts):
    ann = author(accounts)
    one, other = (accounts.tokens.issue(ann, "session", ["read"], OPERATOR) for _ in range(2))
    accounts.tokens.revoke(ann.id, accounts.tokens.check(one).id, ann.id)
    assert accounts.tokens.check(other) is not None


def test_a_token_lets_in_while_the_disk_is_full(accounts):
    ann = author(accounts)
    token = accounts.tokens.issue(ann, "api", ["read"], OPERATOR)
    full = "CREATE TEMP TRIGGER full BEFORE UPDATE ON tokens BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
    accounts.database._db.execute(full)
    grant = accounts.tokens.check(token)
    assert grant is not None
    assert grant.author == ann
    assert accounts.tokens.of(ann.id)[0].used is None


def test_a_token_lets_in_while_another_process_writes(accounts, tmp_path):
    token = accounts.tokens.issue(author(accounts), "api", ["read"], OPERATOR)
    with contextlib.closing(sqlite3.connect(tmp_path / DATABASE_FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert accounts.tokens.check(token) is not None
        other.execute("ROLLBACK")


# Handing in


def test_the_newest_valid_version_of_each_bot_plays(accounts):
    ann = author(accounts)
    first, _ = accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)
    assert accounts.submissions.playing("cup") == []
    valid(accounts, first)
    second, is_new = accounts.submissions.hand_in("cup", ann.id, "bot", OTHER, USUAL)
    assert is_new
    assert [each.label for each in accounts.submissions.playing("cup")] == [first.label]
    accounts.submissions.begin_check(second)
    accounts.submissions.report(second, {"problem": "crash"})
    accounts.submissions.end_check(second, False)
    assert [each.label for each in accounts.submissions.playing("cup")] == [first.label]
    assert accounts.submissions.version(second.bot, second.number).report == [{"problem": "crash"}]


def test_the_same_source_again_is_no_new_version(accounts):
    ann = author(accounts)
    first, _ = accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)
    again, is_new = accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)
    assert (again.label, is_new) == (first.label, False)


def test_an_older_version_can_be_brought_back(accounts):
    ann = author(accounts)
    for source in (SOURCE, OTHER):
        valid(accounts, accounts.submissions.hand_in("cup", ann.id, "bot", source, USUAL)[0])
    back = accounts.submissions.bring_back("b1", 1, USUAL, ann.id)
    assert (back.number, back.source, back.state) == (3, SOURCE, "valid")
    assert [each.label for each in accounts.submissions.playing("cup")] == ["b1.3"]


def test_a_withdrawn_bot_that_is_brought_back_counts_as_one_more(accounts):
    ann = author(accounts)
    valid(accounts, accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)[0])
    accounts.submissions.withdraw("b1", ann.id)
    for name in ("one", "two"):
        accounts.submissions.hand_in("cup", ann.id, name, SOURCE, USUAL)
    with pytest.raises(AccountError, match="2 bots"):
        accounts.submissions.bring_back("b1", 1, USUAL, ann.id)


def test_a_deadline_is_compared_as_it_is_when_a_version_is_kept(accounts, time):
    ann, bob = author(accounts), author(accounts, "Bob")
    allowance = USUAL._replace(deadline=time.now)
    accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, allowance)
    time.now += timedelta(microseconds=1)
    with pytest.raises(AccountError, match="deadline"):
        accounts.submissions.hand_in("cup", ann.id, "bot", OTHER, allowance)
    accounts.contests.extend("cup", bob.id, time.now + timedelta(hours=1), OPERATOR)
    accounts.submissions.hand_in("cup", bob.id, "another", SOURCE, allowance)
    accounts.contests.extend("cup", ann.id, time.now - timedelta(hours=1), OPERATOR)
    with pytest.raises(AccountError, match="deadline"):
        accounts.submissions.hand_in("cup", ann.id, "bot", OTHER, USUAL)


def test_reports_are_read_when_they_are_asked_for(accounts):
    version, _ = accounts.submissions.hand_in("cup", author(accounts).id, "bot", SOURCE, USUAL)
    accounts.submissions.begin_check(version)
    accounts.submissions.report(version, {"problem": "crash"})
    assert [each.report for each in accounts.submissions.versions("b1")] == [[]]
    assert accounts.submissions.versions("b1", with_reports=True)[0].report == [{"problem": "crash"}]


def test_an_author_hands_in_what_the_contest_allows_and_no_more(accounts, time):
    ann = author(accounts)
    for name in ("one", "two"):
        accounts.submissions.hand_in("cup", ann.id, name, SOURCE, USUAL)
    with pytest.raises(AccountError, match="2 bots"):
        accounts.submissions.hand_in("cup", ann.id, "three", SOURCE, USUAL)
    accounts.submissions.hand_in("cup", ann.id, "one", OTHER, USUAL)
    with pytest.raises(AccountError, match="3 versions a day"):
        accounts.submissions.hand_in("cup", ann.id, "one", SOURCE, USUAL)
    time.now += timedelta(days=1)
    accounts.submissions.hand_in("cup", ann.id, "one", SOURCE, USUAL)
    accounts.contests.limit("cup", ann.id, 3, None, OPERATOR)
    accounts.submissions.hand_in("cup", ann.id, "three", SOURCE, USUAL)


def test_nobody_hands_in_under_the_name_of_anothers_bot(accounts):
    accounts.submissions.hand_in("cup", author(accounts).id, "bot", SOURCE, USUAL)
    with pytest.raises(AccountError, match="by somebody else"):
        accounts.submissions.hand_in("cup", author(accounts, "Bob").id, "Bot", OTHER, USUAL)


def test_who_is_banned_or_takes_no_part_hands_in_nothing_and_plays_no_more(accounts):
    ann, stranger = author(accounts), accounts.authors.add("Eve", "author", OPERATOR)
    valid(accounts, accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)[0])
    with pytest.raises(AccountError, match="does not take part"):
        accounts.submissions.hand_in("cup", stranger.id, "other", SOURCE, USUAL)
    accounts.contests.ban("cup", ann.id, "keep", OPERATOR)
    with pytest.raises(AccountError, match="banned"):
        accounts.submissions.hand_in("cup", ann.id, "bot", OTHER, USUAL)
    assert accounts.submissions.playing("cup") == []
    accounts.contests.unban("cup", ann.id, OPERATOR)
    assert len(accounts.submissions.playing("cup")) == 1


def test_a_withdrawn_bot_plays_no_more_until_it_is_handed_in_again(accounts):
    ann = author(accounts)
    valid(accounts, accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)[0])
    assert accounts.submissions.withdraw("b1", ann.id)
    assert not accounts.submissions.withdraw("b1", ann.id)
    assert accounts.submissions.playing("cup") == []
    version, is_new = accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)
    assert is_new
    valid(accounts, version)
    assert [each.label for each in accounts.submissions.playing("cup")] == ["b1.2"]


def test_a_withdrawn_bot_stays_so_when_what_is_handed_in_next_is_refused(accounts):
    ann = author(accounts)
    valid(accounts, accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)[0])
    accounts.submissions.withdraw("b1", ann.id)
    version, _ = accounts.submissions.hand_in("cup", ann.id, "bot", OTHER, USUAL)
    assert accounts.submissions.playing("cup") == []
    assert accounts.submissions.hand_in("cup", ann.id, "bot", OTHER, USUAL) == (version, False)
    accounts.submissions.begin_check(version)
    accounts.submissions.end_check(version, False)
    assert accounts.submissions.playing("cup") == []
    assert accounts.submissions.bot("b1").withdrawn


@pytest.mark.parametrize("is_checking", [False, True])
def test_who_withdraws_a_bot_while_it_is_checked_finds_it_withdrawn_after_the_check(accounts, is_checking):
    ann = author(accounts)
    valid(accounts, accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)[0])
    accounts.submissions.withdraw("b1", ann.id)
    version, _ = accounts.submissions.hand_in("cup", ann.id, "bot", OTHER, USUAL)
    if is_checking:
        accounts.submissions.begin_check(version)
    assert accounts.submissions.withdraw("b1", ann.id)
    accounts.submissions.end_check(version, True)
    newest = accounts.submissions.versions("b1", with_reports=True)[0]
    assert newest.state == "refused"
    assert "withdrawn" in newest.report[-1]["text"]
    assert accounts.submissions.playing("cup") == []
    assert not accounts.submissions.withdraw("b1", ann.id)


def test_a_version_that_was_withdrawn_unchecked_is_checked_when_it_comes_again(accounts):
    ann = author(accounts)
    accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)
    accounts.submissions.withdraw("b1", ann.id)
    again, is_new = accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)
    assert (again.label, is_new, again.state) == ("b1.2", True, "waiting")


def test_a_bot_that_may_come_back_counts_as_one_that_is_there(accounts):
    ann = author(accounts)
    valid(accounts, accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)[0])
    accounts.submissions.withdraw("b1", ann.id)
    accounts.contests.limit("cup", ann.id, 2, 100, OPERATOR)
    for name in ("bot", "one"):
        accounts.submissions.hand_in("cup", ann.id, name, OTHER, USUAL)
    with pytest.raises(AccountError, match="2 bots"):
        accounts.submissions.hand_in("cup", ann.id, "two", OTHER, USUAL)


def test_checks_that_died_with_their_process_begin_anew(accounts):
    version, _ = accounts.submissions.hand_in("cup", author(accounts).id, "bot", SOURCE, USUAL)
    accounts.submissions.begin_check(version)
    accounts.submissions.report(version, {"board": 1})
    assert accounts.submissions.waiting() == []
    assert accounts.submissions.restart_checks() == 1
    assert [(each.label, each.report) for each in accounts.submissions.waiting()] == [(version.label, [])]


def test_erasing_an_author_removes_names_and_leaves_ids(accounts):
    ann, bob = author(accounts), author(accounts, "Bob")
    accounts.invitations.invite(None, ["Cid"], OPERATOR)
    for each, name, source in ((ann, "anns bot", SOURCE), (ann, "second", OTHER), (bob, "bobs", SOURCE)):
        valid(accounts, accounts.submissions.hand_in("cup", each.id, name, source, USUAL)[0])
    assert accounts.authors.erase(ann.id, OPERATOR) == [OTHER[0]]  # Bob has handed in the other one too
    everything = [
        str(row)
        for table in ("authors", "bots", "audit", "events")
        for row in accounts.database.rows(f"SELECT * FROM {table}")
    ]
    assert not any("Ann" in row or "anns" in row for row in everything)
    assert accounts.submissions.names("cup")["b1"] == ("(erased b1)", "(erased a1)")
    assert [each.bot for each in accounts.submissions.playing("cup")] == ["b3"]
    with pytest.raises(AccountError, match="erased already"):
        accounts.authors.erase(ann.id, OPERATOR)


def test_lists_go_on_from_where_they_ended(accounts):
    people = [author(accounts, name) for name in ("Ann", "Bob", "Åsa", "Dora")]
    accounts.contests.add("open", {"title": "Open"}, OPERATOR)
    for contest, number in (("cup", 0), ("cup", 1), ("open", 2), ("cup", 3)):
        accounts.contests.join(contest, people[number].id, OPERATOR)
        accounts.submissions.hand_in(contest, people[number].id, f"bot{number}", SOURCE, USUAL)
    listed = [bot.id for bot in accounts.submissions.bots("cup")]
    assert listed == ["b1", "b2", "b4"]
    assert [accounts.submissions.count(contest) for contest in ("cup", "open", "none")] == [3, 1, 0]
    assert [bot.id for bot in accounts.submissions.bots_after("cup", 1, 1)] == ["b2"]
    assert [bot.id for bot in accounts.submissions.bots_after("cup", 2, 9)] == ["b4"]

    def names(start, most, part=""):
        return [each.author.name for each in accounts.contests.members_from("cup", start, most, part)]

    assert names(0, 9) == ["Ann", "Bob", "Åsa", "Dora"]
    assert names(1, 2) == ["Bob", "Åsa"]
    assert names(0, 9, "ASA") == ["Åsa"]
    assert names(0, 9, "%") == []
    assert accounts.authors.names(["a1", "a3", "b2", "operator", "a99", "a'"]) == {"a1": "Ann", "a3": "Åsa"}


def test_every_change_says_who_made_it(accounts):
    ann = author(accounts)
    accounts.submissions.hand_in("cup", ann.id, "bot", SOURCE, USUAL)
    accounts.contests.announce("cup", "Maintenance at noon", OPERATOR)
    accounts.contests.extend("cup", ann.id, datetime(2026, 4, 1, tzinfo=UTC), OPERATOR)
    told = [(row.actor, row.action, row.subject) for row in accounts.database.audit("cup")]
    assert told == [
        (OPERATOR, "add contest", "cup"),
        (OPERATOR, "join", ann.id),
        (ann.id, "hand in", "b1.1"),
        (OPERATOR, "announce", "cup"),
        (OPERATOR, "extend deadline", ann.id),
    ]
    assert [event.kind for event in accounts.database.events("cup")] == ["opened", "bot"]


@pytest.mark.parametrize("id", ["", "a", "7", "b1", "a-1", "a1.5", "a٣", "a" + "9" * 30])
def test_what_is_no_id_is_refused_in_a_line(accounts, id):
    with pytest.raises(ArenaError):
        accounts.authors.get(id)


def test_a_request_that_began_before_its_author_was_erased_leaves_nothing_behind(accounts):
    ann = author(accounts)
    version, _ = accounts.submissions.hand_in("cup", ann.id, "quick", SOURCE, USUAL)
    valid(accounts, version)
    accounts.authors.erase(ann.id, OPERATOR)
    with pytest.raises(AccountError):
        accounts.submissions.hand_in("cup", ann.id, "another", OTHER, USUAL)
    with pytest.raises(AccountError):
        accounts.submissions.bring_back("b1", 1, USUAL, ann.id)
    with pytest.raises(AccountError, match="is erased"):
        accounts.tokens.issue(ann, "api", ["read"], ann.id)
    assert [bot.id for bot in accounts.submissions.bots("cup")] == ["b1"]
    assert accounts.submissions.erased_bundles() == {SOURCE[0]}


def test_the_page_of_files_describes_every_table(accounts):
    text = (ROOT / "docs" / "reference" / "files.md").read_text()
    tables = accounts.database.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rootpage")
    section = text.partition("## Accounts")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [name for (name,) in tables]


def test_processes_that_are_started_get_no_descriptor_of_the_database(accounts):
    accounts.authors.add("Ann", "author", OPERATOR)
    command = ["ls", "-l", "/proc/self/fd"]
    done = subprocess.run(command, close_fds=False, capture_output=True, text=True, check=True)
    assert "->" in done.stdout
    assert "arena.db" not in done.stdout
