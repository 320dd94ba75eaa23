"""`arena contest`."""

from __future__ import annotations

import contextlib
from pathlib import Path

from arena.accounts import OPERATOR, Accounts
from arena.accounts.contests import Contest
from arena.cli.arguments import ServeOptions
from arena.cli.output import Output, plain_table, print_json, print_text, print_to_stderr
from arena.contest.config import contest_from, read_contest
from arena.contest.driver import Driver, drive, only_driver
from arena.contest.entrants import games_of, resolved_house
from arena.contest.final import commit_to_key
from arena.contest.layout import ARCHIVE_FILE, CONFIG_FILE, contest_folder, final_log, season_folder, season_log
from arena.contest.standings import read_standings
from arena.contest.supervisor import Supervisor, end_with_supervisor
from arena.core.errors import ArenaError, ConfigError
from arena.core.files import read_regular, write_file
from arena.core.models import MAX_TOML_BYTES
from arena.core.paths import home_folder
from arena.runner.options import RunOptions
from arena.verify.archive import make_archive
from arena.workers.process import WorkerProcess


def init_contest(path: Path, update: bool, home: Path | None) -> None:
    """Run `arena contest init`."""
    config = read_contest(path)
    worker = WorkerProcess()
    try:
        resolved_house(config, [game for game, _ in games_of(config)], worker)
    finally:
        worker.stop()
    with Accounts.open(home) as accounts:
        if update:
            accounts.contests.configure(config.name, config.as_data(), OPERATOR)
        else:
            accounts.contests.add(config.name, config.as_data(), OPERATOR)
        contest = accounts.contests.get(config.name)
        folder = contest_folder(home, config.name)
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / CONFIG_FILE, [read_regular(path, MAX_TOML_BYTES)])
        print_text(f"Contest '{config.name}' is {'changed' if update else 'ready'}; `arena contest serve` opens it.")
        if config.deadline is not None and config.final_blocks:
            with contextlib.suppress(ArenaError):  # a driver that plays the final has its log
                key = commit_to_key(home, config.name, contest.season)
                print_text(f"The dice of its final follow from a secret key, whose BLAKE2b-256 hash is {key}.")
        if not update and not any(author.is_organiser and not author.erased for author in accounts.authors.all()):
            code = accounts.invitations.invite_anybody(config.name, 1, OPERATOR, "organiser")
            print_text(f"An organiser's invitation, good once, is below the server's address: /join/{code}")


def serve_contests(
    options: ServeOptions, workers: int | None, address: str | None, home: Path | None, checks: int | None = None
) -> None:
    """Run `arena contest serve`."""
    from arena.cli.serving import serve

    RunOptions.of(workers, None, address)
    addresses = options.addresses
    driving = ["--home", str(home_folder(home))]
    driving += [] if workers is None else ["--workers", str(workers)]
    driving += [] if address is None else ["--address", address]
    driving += [] if checks is None else ["--checks", str(checks)]
    with contextlib.ExitStack() as running:

        def begin() -> None:
            running.enter_context(Supervisor.of_driver(driving, print_to_stderr))

        serve(addresses, options.open, options.log_format, home, begin)


def drive_contests(workers: int | None, address: str | None, home: Path | None, checks: int | None) -> None:
    """Run `arena contest drive`."""
    if end_with_supervisor():
        return
    drive(home, RunOptions.of(workers, None, address), print_to_stderr, lambda *of: _archive(home, *of), checks)


def close_contest(contest: str, home: Path | None) -> None:
    """Run `arena contest close`."""
    with Accounts.open(home) as accounts:
        accounts.contests.close(contest, OPERATOR)
        season = accounts.contests.get(contest).season
        try:
            with only_driver(home):
                _end(accounts, contest, season, home)
        except ConfigError:
            print_text(f"'{contest}' is closed; its driver ends the round in play, and the season.")


def _end(accounts: Accounts, contest: str, season: int, home: Path | None) -> None:
    """End the season of a contest that is closed, where no driver does it."""
    over: list[tuple[str, int]] = []
    said: list[str] = []
    driver = Driver(accounts, home_folder(home), RunOptions.of(), said.append, lambda *of: over.append(of))
    try:
        with driver.on_signals():
            while (contest, season) not in over and driver.step_contest(contest) and not driver.stopping.is_set():
                pass
    finally:
        driver.close()
    if (contest, season) not in over:
        if driver.stopping.is_set():
            raise KeyboardInterrupt
        raise ConfigError(f"{contest}: its season could not be ended: {said[-1] if said else 'try again'}")
    _archive(home, contest, season)
    print_text(f"'{contest}' is closed, and its season has ended.")


def begin_season(contest: str, home: Path | None) -> None:
    """Run `arena contest season`."""
    with Accounts.open(home) as accounts:
        if accounts.contests.get(contest).state != "open":
            raise ConfigError(f"{contest}: is closed")
        number = accounts.contests.begin_season(contest, OPERATOR)
        print_text(f"Season {number} of '{contest}' begins when the round in play has ended.")


def _archive(home: Path | None, contest: str, season: int) -> None:
    """Write the archives of a season that has ended and of its final, unless they are there."""
    for log in (season_log(home, contest, season), final_log(home, contest, season)):
        archive = log.with_name(ARCHIVE_FILE)
        if log.is_file() and not archive.exists():
            with contextlib.suppress(ArenaError):  # of a log without a run, or with keys that are not disclosed
                make_archive(log, home, archive)


def print_status(as_json: bool, home: Path | None) -> None:
    """Run `arena contest status`."""
    with Accounts.open(home) as accounts:
        rows = [_status(accounts, contest, home) for contest in accounts.contests.all()]
    if as_json:
        print_json(rows)
    elif not rows:
        print_text("There is no contest; `arena contest init CONFIG` makes one.")
    else:
        table = plain_table(*rows[0])
        for row in rows:
            table.add_row(*("" if value is None else str(value) for value in row.values()))
        Output().print(table)


def _status(accounts: Accounts, contest: Contest, home: Path | None) -> dict[str, object]:
    """Return how far a contest has come."""
    config = contest_from(contest.config, contest.id)
    found = read_standings(season_folder(home, contest.id, contest.season))
    return {
        "contest": contest.id,
        "state": contest.state,
        "season": contest.season,
        "round": found.round if found else 0,
        "bots": len(accounts.submissions.playing(contest.id)),
        "authors": len(accounts.contests.members(contest.id)),
        "matches": found.matches if found else 0,
        "checked": accounts.submissions.is_checked(contest.id),
        "deadline": config.deadline.isoformat(timespec="minutes") if config.deadline else None,
    }
