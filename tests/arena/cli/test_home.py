"""The arena's home: the option, the environment, the nearest arena.toml upwards, else reports/ here."""

import os
from pathlib import Path

import pytest

from arena.cli.app import run_command
from arena.core.errors import ConfigError
from arena.core.paths import HOME_FILE, MAX_HOME_FILE_BYTES, home_folder, home_path


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with an arena.toml, and the working folder two below it; the environment names no home."""
    monkeypatch.delenv("ARENA_HOME", raising=False)
    (tmp_path / HOME_FILE).write_text('home = "my results"\n')
    (tmp_path / "a/b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b")
    return tmp_path


def test_the_first_that_is_given_names_the_home(project, monkeypatch):
    assert home_path() == project / "my results"
    monkeypatch.setenv("ARENA_HOME", "elsewhere")
    assert home_path() == Path("elsewhere")
    assert home_path("here") == Path("here")
    monkeypatch.delenv("ARENA_HOME")
    (project / HOME_FILE).unlink()
    assert home_path() == Path("reports")


def test_the_nearest_file_counts_and_its_home_is_relative_where_the_working_folder_holds_it(project, monkeypatch):
    (project / "a" / HOME_FILE).write_text("")
    assert home_path() == project / "a" / "reports"
    monkeypatch.chdir(project / "a")
    assert home_path() == Path("reports")
    (project / "a" / HOME_FILE).write_text('home = "../ours"')
    assert home_path() == project / "ours"
    (project / "a" / HOME_FILE).write_text('home = "/srv/arena"')
    assert home_path() == Path("/srv/arena")


def test_results_are_found_after_a_change_of_folder(project, monkeypatch, capsys):
    assert run_command(["run", "--game", "epicycle", "--players", "2", "--bots", "random,greedy", "--blocks", "2"]) == 0
    monkeypatch.chdir(project)
    assert run_command(["leaderboard", "epicycle"]) == 0
    monkeypatch.chdir(project / "a")
    capsys.readouterr()
    assert run_command(["status"]) == 0
    told = capsys.readouterr().out
    assert "epicycle" in told and f"They are under {project}/my results." in " ".join(told.split())


def test_without_any_file_the_place_that_was_looked_in_is_named(project, capsys):
    (project / HOME_FILE).unlink()
    assert run_command(["leaderboard", "epicycle"]) == 2
    assert f"no tournament of that name under {project}/a/b/reports, and no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("home = 3", 'may hold home = "FOLDER" and nothing else'),
        ('home = ""', 'may hold home = "FOLDER" and nothing else'),
        ('home = "a\\u001bb"', 'may hold home = "FOLDER" and nothing else'),
        (f'home = "{"x" * 5000}"', 'may hold home = "FOLDER" and nothing else'),
        ('hoem = "x"', 'may hold home = "FOLDER" and nothing else'),
        ("home =", "is not TOML"),
        (b"\xff", "is not UTF-8"),
        ("#" * (MAX_HOME_FILE_BYTES + 1), "too large to name a home"),
    ],
)
def test_a_file_that_names_no_home_is_refused_in_one_line(project, content, told):
    (project / HOME_FILE).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as caught:
        home_folder()
    assert told in str(caught.value) and str(caught.value).startswith(f"{project / HOME_FILE}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_plain_file_is_refused_without_waiting_for_it(project, kind):
    path = project / HOME_FILE
    path.rename(project / "other")
    {"link": lambda: path.symlink_to("other"), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir}[kind]()
    with pytest.raises(ConfigError, match="cannot be read"):
        home_folder()


def test_a_file_of_another_user_is_refused_unless_that_is_root(project, monkeypatch):
    if os.getuid() == 0:
        os.chown(project / HOME_FILE, 4242, -1)
    else:
        owner = os.getuid()
        monkeypatch.setattr("os.getuid", lambda: owner + 1)
    with pytest.raises(ConfigError, match="belongs to another user, so it does not count; choose a home"):
        home_folder()
    assert home_folder("mine") == Path("mine")
    if os.getuid() == 0:
        os.chown(project / HOME_FILE, 0, -1)
        monkeypatch.setattr("os.getuid", lambda: 4242)
        assert home_folder() == project / "my results"


def test_a_working_folder_that_was_removed_is_no_reason_to_fail(project):
    Path.cwd().rmdir()
    assert home_path() == Path("reports")
