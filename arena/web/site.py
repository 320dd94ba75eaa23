"""Pages of tournaments as plain files, for any static host and for opening from disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from arena.core.errors import ConfigError
from arena.core.files import blocking_file, is_plain_path, read_regular, write_file
from arena.tournament.logs import find_log
from arena.web.catalog import Log, LogCatalog, NotFoundError
from arena.web.filters import game_name, name_in
from arena.web.highlights import Highlight, highlights
from arena.web.links import Links, Query
from arena.web.pages import bots, comparison, games, match, pair, tournament, tournaments
from arena.web.pages.matches import lines_of
from arena.web.rendering import Page, page, static

LIST_FILE = "arena-site.json"
"""Names the files of a site, so that the next one in its place takes no other away."""
MAX_LIST_BYTES = 2**24
"""Largest list that is read, in bytes."""
MAX_PAIRS = 500
"""Pages of pairs of bots."""
SAMPLED_PAGES = 3
"""Replays of a tournament that the estimate of sizes draws."""
TYPICAL_BYTES = {"board": 120_000, "pair": 9_000, "game": 60_000, "bot": 12_000, "list": 12_000}
"""Sizes of pages in bytes, roughly."""
STYLE_FILES = ("style.css", "web.css", "icon.svg")


class Estimate(NamedTuple):
    """What a site will hold."""

    pages: int
    replays: int
    matches: int
    """In the logs."""
    bytes: int


class SiteLinks(Links):
    """Addresses of files, relative to a page so many folders deep; empty for pages that the site leaves out."""

    is_live = False

    def __init__(self, known: frozenset[str], depth: int) -> None:
        self.known, self.up = known, "../" * depth

    def _to(self, file: str) -> str:
        return f"{self.up}{file}" if file in self.known else ""

    def home(self) -> str:
        return self._to("index.html")

    def games(self) -> str:
        return self._to("games/index.html")

    def game(self, name: str) -> str:
        return self._to(game_file(name))

    def bots(self) -> str:
        return self._to("bots/index.html")

    def bot(self, name: str) -> str:
        return self._to(bot_file(name))

    def tournament(self, name: str) -> str:
        return self._to(f"{name}/index.html")

    def matches(self, name: str, query: Query | None = None) -> str:
        return "" if any((query or {}).values()) else self._to(f"{name}/matches.html")

    def match(self, name: str, match: str) -> str:
        return self._to(match_file(name, match))

    def position(self, name: str, match: str, ply: int | None = None, format: str = "svg") -> str:
        return ""

    def pair(self, name: str, board: str, a: str, b: str) -> str:
        return self._to(pair_file(name, board, a, b))

    def figures(self, name: str, board: str) -> str:
        return self._to(figures_file(name, board))

    def figure(self, name: str, board: str, figure: str, format: str) -> str:
        return ""

    def events(self, name: str | None = None) -> str:
        return ""

    def latest(self, name: str) -> str:
        return ""

    def live(self, name: str) -> str:
        return ""

    def live_events(self, name: str) -> str:
        return ""

    def static(self, name: str, version: str) -> str:
        return f"{self.up}static/{name}"


def game_file(name: str) -> str:
    """Return the file of a game."""
    return f"games/{name if name.replace('.', '_').isidentifier() else _short(name)}.html"


def bot_file(name: str) -> str:
    """Return the file of a bot, whose name may be anything."""
    return f"bots/{_short(name)}.html"


def match_file(name: str, match: str) -> str:
    """Return the file of a match, by its id."""
    return f"{name}/match-{match}.html"


def figures_file(name: str, board: str) -> str:
    """Return the file of a board's figures, by its slug."""
    return f"{name}/figures-{_short(board)}.html"


def pair_file(name: str, board: str, a: str, b: str) -> str:
    """Return the file of two bots on a board; it is the same for both orders."""
    return f"{name}/pair-{_short(board, *sorted((a, b)))}.html"


def _short(*parts: str) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()


class SelectedCatalog(LogCatalog):
    """The tournaments of a site."""

    def __init__(self, home: str | Path | None, targets: Sequence[str]) -> None:
        super().__init__(home)
        self.chosen = [self._named(target) for target in targets]

    def _named(self, target: str) -> Log:
        path = find_log(target, self.home).absolute()
        folder = path.parent
        if not folder.is_relative_to(self.home):
            raise ConfigError(f"{target}: is not under {self.home}; --home names another home")
        return super().log(str(folder.relative_to(self.home)))

    def logs(self) -> list[Log]:
        """Return the logs of the site."""
        return self.chosen

    def log(self, name: str) -> Log:
        """Return a log of the site by its name; raises `NotFoundError` for another one."""
        for log in self.chosen:
            if log.name == name:
                return log
        raise NotFoundError("this tournament is not part of the site")


def _made(make: Callable[..., Page], catalog: LogCatalog, *rest: str | SiteLinks) -> Page:
    """Return a page by its function, whose links come last here and second there."""
    *given, links = rest
    return make(catalog, links, *given)


class Site:
    """The pages of some tournaments, not written yet."""

    def __init__(self, targets: Sequence[str], home: str | Path | None = None, replays: int = 4) -> None:
        self.catalog = SelectedCatalog(home, targets)
        self.chosen: dict[str, list[Highlight]] = {}
        self.matches: dict[str, list[str]] = {}
        """By tournament: ids of the matches that can be stepped through."""
        self._pages: dict[str, Callable[[SiteLinks], Page]] = {}
        for log in self.catalog.logs():
            self._choose(log, replays)
            self._add(log)
        self._add_lists()

    def _choose(self, log: Log, replays: int) -> None:
        chosen = highlights(self.catalog, log, replays)
        _, view = self.catalog.view(log)
        lines = lines_of(log, view, self.catalog.plan(log), [each.number for each in chosen])
        self.chosen[log.name] = chosen
        self.matches[log.name] = [line.id for line in lines]

    def _add(self, log: Log) -> None:
        name, catalog = log.name, self.catalog
        main = comparison.page_of if log.is_comparison else tournament.page_of
        self._pages[f"{name}/index.html"] = partial(_made, main, catalog, name)
        self._pages[f"{name}/matches.html"] = partial(self._list, log)
        for id in self.matches[name]:
            self._pages[match_file(name, id)] = partial(_made, match.page_of, catalog, name, id)
        schedule = catalog.plan(log).schedule
        for board in schedule.boards if not log.is_comparison else []:
            self._pages[figures_file(name, board.slug)] = partial(
                _made, tournament.figures_page_of, catalog, name, board.slug
            )
        pairs = [
            (board.slug, *sorted((schedule.entries[a].label, schedule.entries[b].label)))
            for board in schedule.boards
            for a, b in combinations(board.entries, 2)
        ]
        for each in pairs if len(pairs) <= MAX_PAIRS else []:
            self._pages[pair_file(name, *each)] = partial(_made, pair.page_of, catalog, name, *each)

    def _add_lists(self) -> None:
        catalog = self.catalog
        plans = [catalog.plan(log) for log in catalog.logs()]
        self._pages["index.html"] = partial(_made, tournaments.page_of, catalog)
        self._pages["games/index.html"] = partial(_made, games.list_of, catalog)
        self._pages["bots/index.html"] = partial(_made, bots.list_of, catalog)
        boards = [board for plan in plans for board in plan.schedule.boards if not plan.schedule.is_foreign]
        for game in sorted({game_name(board.game) for board in boards}):
            self._pages[game_file(game)] = partial(_made, games.page_of, catalog, game)
        for bot in sorted({name_in(bot.spec) for plan in plans for bot in plan.resolved.bots}):
            self._pages[bot_file(bot)] = partial(_made, bots.page_of, catalog, bot)

    def _list(self, log: Log, links: SiteLinks) -> Page:
        """Return the list of the matches that can be stepped through."""
        _, view = self.catalog.view(log)
        chosen = self.chosen[log.name]
        lines = lines_of(log, view, self.catalog.plan(log), [each.number for each in chosen])
        kinds: dict[str, list[object]] = {}
        for line, each in zip(lines, chosen, strict=True):
            kinds.setdefault(each.kind, []).append((line, each.why))
        title = f"Chosen matches of {log.name}"
        values = {"log": log, "kinds": kinds, "chosen": len(chosen), "total": view.total}
        values["foreign"] = self.catalog.plan(log).resolved.foreign
        return page("highlights.html", links, title=title, description=f"{len(chosen)} matches", **values)

    def estimate(self) -> Estimate:
        """Return roughly how large the site will be; a few replays are drawn for it."""
        replays, matches, size = 0, 0, sum(len(static(name)) for name in STYLE_FILES)
        for log in self.catalog.logs():
            files = [match_file(log.name, id) for id in self.matches[log.name]]
            sampled = files[:: max(len(files) // SAMPLED_PAGES, 1)][:SAMPLED_PAGES]
            size += len(files) * sum(len(self._content(file)) for file in sampled) // max(len(sampled), 1)
            size += len(self.catalog.plan(log).schedule.boards) * TYPICAL_BYTES["board"]
            replays, matches = replays + len(files), matches + self.catalog.view(log)[1].total
        for file in self._pages:
            folder, _, rest = file.rpartition("/")
            kind = {"games": "game", "bots": "bot"}.get(folder, "pair" if rest.startswith("pair-") else "list")
            size += 0 if rest.startswith(("match-", "figures-")) else TYPICAL_BYTES[kind]
        return Estimate(len(self._pages), replays, matches, size)

    def _content(self, file: str) -> bytes:
        links = SiteLinks(frozenset(self._pages), file.count("/"))
        html = self._pages[file](links).html.replace('<a href=""', "<a")  # a page that the site leaves out
        return html.encode("utf-8", "replace")

    def write(self, out: Path) -> list[Path]:
        """Write the site, and return its files.

        Files of an earlier site in the same folder are replaced, and those that are no longer needed deleted. Raises
        `ConfigError` rather than replace a file that is not of such a site.
        """
        if blocking_file(out) is not None:
            raise ConfigError(f"--out {out}: is a file, or below one; name a folder")
        styles = [f"static/{name}" for name in STYLE_FILES]
        wanted, before = [*self._pages, *styles], listed(out)
        _check(out, wanted, before)
        _write_list(out, [*before, *wanted])  # if this is interrupted, the next one knows all of it
        paths = [write_file(out / file, [self._content(file)]) for file in self._pages]
        paths += [write_file(out / file, [static(file.removeprefix("static/"))]) for file in styles]
        _delete(out, set(before) - set(wanted))
        return [*paths, _write_list(out, wanted)]

    def close(self) -> None:
        """End what computes."""
        self.catalog.close()


def listed(out: Path) -> list[str]:
    """Return the files of the site in a folder; raises `ConfigError` for a list that cannot be read."""
    path = out / LIST_FILE
    if not os.path.lexists(path):
        return []
    try:
        files = json.loads(read_regular(path, MAX_LIST_BYTES))["files"]
        if all(isinstance(file, str) and is_plain_path(file) for file in files):
            return list(files)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise ConfigError(f"{path}: is no list of the files of a site; delete it, or name another folder")


def _check(out: Path, wanted: Sequence[str], before: Sequence[str]) -> None:
    """Raise `ConfigError` where a file that is not of an earlier site is in the way."""
    known = set(before)
    for file in wanted:
        if file not in known and os.path.lexists(out / file):
            raise ConfigError(f"--out {out}: has a file {file} that no earlier site wrote; name another folder")
    for folder in sorted({str(parent) for file in wanted for parent in PurePosixPath(file).parents} - {"."}):
        if (out / folder).is_symlink() or (os.path.lexists(out / folder) and not (out / folder).is_dir()):
            raise ConfigError(f"--out {out}: {folder} is no folder of its own; name another folder")


def _write_list(out: Path, files: Sequence[str]) -> Path:
    return write_file(out / LIST_FILE, [json.dumps({"files": sorted(set(files))}, indent=1).encode(), b"\n"])


def _delete(out: Path, files: set[str]) -> None:
    """Delete files of an earlier site, and the folders that are empty then."""
    for file in sorted(files):
        path = out / file
        folders = [out / parent for parent in PurePosixPath(file).parents if str(parent) != "."]
        if any(folder.is_symlink() for folder in folders) or not (path.is_file() or path.is_symlink()):
            continue
        path.unlink()
        for folder in folders:
            if any(folder.iterdir()):
                break
            folder.rmdir()
