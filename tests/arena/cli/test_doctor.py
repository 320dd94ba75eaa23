"""`arena doctor`, and what is refused where the sandbox is missing."""

import os
import re
import resource
import socket
import sqlite3
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from arena import api
from arena.cli import doctor, system_checks
from arena.core.errors import WorkerError
from arena.core.findings import MISSING, NOTE, OK, WARNING, Finding, check_tool
from arena.core.machine import cores
from arena.core.versions import versions
from arena.isolation.levels.sandbox import Setting, user_namespaces
from arena.registry.discovery import own_bot
from arena.registry.submitting import store_submission
from arena.workers.process import WorkerProcess
from tests.support.tournaments import arena, count, home_of, write

CONFIG = """
name = "small"
games = [{ game = "epicycle", players = 2 }]
blocks = 1
bots = [{ bot = "random" }, { bot = "b.py:Low", isolation = "sandbox" }]
"""
BOTS = """
from bots import Bot


class Low(Bot):
    def choose(self, state):
        return state.legal_actions()[0]
"""
GET_IT = "bubblewrap is not installed; Debian and Ubuntu: apt-get install bubblewrap"


@pytest.fixture
def empty(tmp_path):
    """A folder to search for programs in, with nothing in it."""
    (tmp_path / "nothing").mkdir()
    return str(tmp_path / "nothing")


def examine(folder, *arguments, **environment):
    """What `arena doctor` prints, as (exit code, {what: (status, told)}, last line, all lines)."""
    done = arena("doctor", *arguments, folder=folder, **environment)
    assert done.stderr == ""
    *lines, blank, verdict = done.stdout.splitlines()
    assert blank == ""
    found = {}
    for line in lines:
        status, what, told = line[:9].strip(), line[9:26].strip(), line[26:]
        if status:
            found[what] = (status, told)
        else:
            what = list(found)[-1]
            found[what] = (found[what][0], f"{found[what][1]} {told}")
    return done.returncode, found, verdict, [*lines, verdict]


def test_a_machine_with_everything_is_told_so_with_versions(tmp_path):
    code, found, verdict, _ = examine(tmp_path, ARENA_HOME="kept here")
    root = os.getuid() == 0
    assert (code, verdict) == (0, f"The arena can run here{'; see the warnings.' if root else ', submitted bots too.'}")
    assert {what for what, (status, _) in found.items() if status != "ok"} == ({"user"} if root else set())
    told = {what: text for what, (_, text) in found.items()}
    assert told["Python"].startswith(".".join(map(str, sys.version_info[:3])))
    assert "ray 2." in told["packages"]
    assert told["SQLite"] == sqlite3.sqlite_version
    assert told["cores"].startswith(f"{cores()} of ")
    assert re.fullmatch(r"\d+\.\d+\.\d+", told["libseccomp"])
    assert re.search(r"bubblewrap \d", told["bubblewrap"])
    assert "kept here: will be made, writable" in told["home"]
    assert not (tmp_path / "kept here").exists()


def test_without_bubblewrap_it_names_what_is_refused_and_the_words_that_allow_it_and_the_arena_still_runs(
    tmp_path, empty
):
    code, found, verdict, lines = examine(tmp_path, PATH=empty, COLUMNS="80")
    assert (code, verdict) == (0, "The arena can run here; see the warnings.")
    status, told = found["sandbox"]
    assert status == "warning"
    assert GET_IT in told
    assert "submitted bots are refused" in told
    assert 'isolation = "process"' in told
    assert found["bubblewrap"] == ("warning", "no bwrap on the PATH; the sandbox needs it: apt-get install bubblewrap")
    assert {found[what][0] for what in ("C compiler", "Node")} == {"note"}
    assert all(len(line) <= 80 or " " not in line[26:] for line in lines)  # but for paths that are longer


@pytest.mark.parametrize(
    ("number", "status", "told"), [(0, WARNING, "run the arena as an ordinary user"), (1000, OK, "")]
)
def test_root_is_warned_of_what_a_bot_could_do_with_its_rights(number, status, told):
    finding = doctor.user(number)
    assert (finding.status, told in finding.text) == (status, True)


def test_without_a_package_it_says_how_to_get_it_and_exits_with_1(tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('numba is broken')")
    code, found, verdict, _ = examine(tmp_path, PYTHONPATH=str(tmp_path))
    assert (code, verdict) == (1, "The arena cannot run here until what is missing is installed.")
    assert found["cache"] == ("missing", "cannot be looked at: numba is broken")


def test_packages_that_are_absent_or_old_are_named_with_the_command_that_installs_them(monkeypatch):
    def version(name):
        if name == "absent":
            raise PackageNotFoundError
        return {"old": "1.9.12", "new": "2.1rc1", "pinless": "0.1"}[name]

    wanted = ["absent>=3", "old>=1.10", "new>=2", "pinless", 'tests>=1; extra == "dev"']
    monkeypatch.setattr(doctor, "requires", lambda name: wanted)
    monkeypatch.setattr(doctor, "version", version)
    told = f"absent>=3, old>=1.10; {sys.executable} -m pip install 'absent>=3' 'old>=1.10'"
    assert doctor.packages() == Finding(MISSING, "packages", told)
    del wanted[:2]
    assert doctor.packages() == Finding(OK, "packages", "new 2.1rc1, pinless 0.1")


def test_a_home_that_cannot_be_written_is_missing(tmp_path):
    (tmp_path / "file").write_text("")
    finding = doctor.home_of(tmp_path / "file" / "home")
    assert (finding.status, finding.what) == (MISSING, "home")
    assert f"{tmp_path / 'file'} is no folder that you may write to" in finding.text


def test_little_space_and_few_open_files_are_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "MIN_FREE_BYTES", 2**80)
    assert doctor.home_of(tmp_path).status == WARNING
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (64, 128))
    assert doctor.open_files() == Finding(
        WARNING, "open files", "64 for a process; the arena may need 256: ulimit -n 256"
    )


def test_a_cache_folder_that_cannot_be_used_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    finding = doctor.cache()
    assert finding.status == WARNING
    assert finding.text.startswith(f"ARENA_CACHE = {tmp_path / 'file'} cannot be written; {tmp_path}")


@pytest.mark.parametrize(
    ("value", "root", "root_too", "status"),
    [("0", False, False, WARNING), ("0", True, False, OK), ("0", True, True, WARNING), ("1", False, True, OK)],
)
def test_a_kernel_that_forbids_user_namespaces_is_told_with_the_setting(tmp_path, value, root, root_too, status):
    path = tmp_path / "setting"
    path.write_text(f"{value}\n")
    finding = user_namespaces([Setting(str(path), "0", root_too, "sysctl it")], root)
    assert finding.status == status
    assert (f"{path} is 0; the sandbox needs: sysctl it" == finding.text) == (status == WARNING)


def test_a_program_that_only_some_bots_need_is_a_note(monkeypatch):
    finding = check_tool("Node", "no such program", "nodejs", "some need it")
    assert finding == Finding(NOTE, "Node", "no no such program on the PATH; some need it: apt-get install nodejs")


# Refusals


REFUSED = re.compile(
    f"^error: .*'b.py:Low' is for the sandbox, and this machine has none: {GET_IT}; `arena doctor` tells more; "
    r'isolation = "process" \(in a command: --isolation process\) runs it all the same, with your rights$'
)


@pytest.mark.parametrize(
    "command",
    [
        ["run", "t.toml", "--workers", 1],
        pytest.param(["run", "t.toml", "--backend", "ray"], marks=pytest.mark.system),
        ["check", "b.py:Low", "--game", "epicycle"],
        ["submit", "b.py:Low", "--name", "low", "--author", "Ann"],
    ],
    ids=lambda command: " ".join(map(str, command[::2])),
)
def test_without_the_sandbox_a_bot_for_it_is_refused_in_one_line_and_nothing_is_left_behind(tmp_path, empty, command):
    write(tmp_path, CONFIG, BOTS)
    (tmp_path / "temporary").mkdir()
    before = sorted(os.listdir(tmp_path))
    done = arena(*command, folder=tmp_path, PATH=empty, TMPDIR=str(tmp_path / "temporary"), ARENA_HOME="reports")
    assert (done.returncode, done.stdout) == (2, "")
    assert REFUSED.fullmatch(done.stderr.rstrip("\n")), done.stderr
    assert sorted(name for name in os.listdir(tmp_path) if name != "reports") == before
    assert os.listdir(tmp_path / "temporary") == []
    assert not (tmp_path / "reports" / "small").exists()


def test_a_submitted_bot_is_refused_in_a_match_too(tmp_path, empty):
    write(tmp_path, CONFIG, BOTS)
    source = own_bot(str(tmp_path / "b.py"))
    store_submission(source.module, source.class_name, source.bundle(), "low", "Ann", tmp_path)
    done = arena("match", "epicycle", "low", "random", "--home", ".", folder=tmp_path, PATH=empty)
    assert (done.returncode, done.stdout) == (2, "")
    assert REFUSED.fullmatch(done.stderr.rstrip("\n").replace("'low'", "'b.py:Low'")), done.stderr


def test_written_out_isolation_in_a_process_plays_without_the_sandbox(tmp_path, empty):
    config = write(tmp_path, CONFIG.replace("sandbox", "process"), BOTS)
    done = arena("run", config, "--home", home_of(config), "--workers", 1, "--quiet", folder=tmp_path, PATH=empty)
    assert (done.returncode, done.stderr) == (0, "")
    assert count(config) == 2


def test_a_worker_elsewhere_that_cannot_sandbox_says_so_when_it_is_told_the_plan(tmp_path, empty, monkeypatch):
    plan = api.load_plan(write(tmp_path, CONFIG, BOTS)).with_keys([bytes(32)])
    monkeypatch.setenv("PATH", empty)
    worker = WorkerProcess()
    try:
        worker.start()
        with pytest.raises(WorkerError, match=f"^{os.uname().nodename} cannot sandbox bots: {GET_IT}$"):
            worker.give_plan(plan.message())
        worker.give_plan(api.load_plan(write(tmp_path, CONFIG.replace("sandbox", "none"), BOTS), worker).message())
    finally:
        worker.stop()


# Surroundings


MOUNTS = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:50 / /mnt/shared rw - nfs4 server:/x rw
31 30 0:51 / /mnt/shared/my\\040own rw - xfs /dev/vdb rw
"""


@pytest.mark.parametrize(
    ("home", "status", "kind"),
    [("/home/x", OK, "ext4 (/)"), ("/mnt/shared/cups", WARNING, "nfs4"), ("/mnt/shared/my own/cups", OK, "xfs")],
)
def test_a_home_on_a_network_file_system_is_warned_of(home, status, kind):
    (finding,) = system_checks.disks(home, MOUNTS)
    assert finding.status == status and f"home on {kind}" in finding.text
    assert ("choose a local home" in finding.text) == (status == WARNING)


def test_a_clock_before_the_newest_file_is_wrong():
    assert system_checks.clock().status == OK
    finding = system_checks.clock(now=86_400.0)
    assert finding.status == WARNING and finding.text.startswith("1970-01-02 00:00:00 UTC is before")


def test_little_shared_memory_is_warned_of(monkeypatch):
    assert system_checks.ray().status == OK
    monkeypatch.setattr(system_checks, "MIN_SHARED_BYTES", 2**80)
    assert system_checks.ray().status == WARNING
    monkeypatch.setattr(system_checks, "MIN_SHARED_BYTES", 0)
    monkeypatch.setattr(system_checks, "SOCKET_FOLDER", system_checks.SOCKET_FOLDER / "nowhere")
    assert "--backend local" in system_checks.ray().text


def test_compiled_code_of_other_versions_is_told_with_its_size(tmp_path):
    for name in ("ours", "old", "older"):
        (tmp_path / "numba" / name).mkdir(parents=True)
        (tmp_path / "numba" / name / "kernel.nbc").write_bytes(bytes(2**20))
    (finding,) = system_checks.compiled(str(tmp_path / "numba" / "ours"))
    assert finding.status == OK
    assert finding.text == f"2 MiB for 2 other versions or settings; rm -r {tmp_path / 'numba'} frees it"
    assert not list(system_checks.compiled(str(tmp_path / "numba" / "ours" / "none")))


NODE = {
    **{"host": "a", "cpus": 8, "python": "3.12.1", "ray": "2.50", "arena": "0.1.0", "code": "ours", "ahead": 0.1},
    "versions": versions(),
}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, None),
        ({"code": "other"}, "other code than here"),
        ({"arena": "", "code": ""}, "arena not installed"),
        ({"versions": {**versions(), "numba": "0.1"}}, "numba is 0.1, not"),
        ({"ahead": -30.0}, "its clock is -30.0 s"),
        ({"error": "timed out"}, "cannot be asked: timed out"),
    ],
)
def test_a_node_that_differs_is_warned_of(change, told):
    finding = system_checks.node({**NODE, **change}, "ours")
    assert (finding.status == WARNING and told in finding.text) if told else finding.status == OK


def test_an_address_where_nobody_listens_is_told_at_once():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(WorkerError, match=f"no Ray cluster at ray://127.0.0.1:{port}: "):
        list(system_checks.cluster(f"ray://127.0.0.1:{port}"))
