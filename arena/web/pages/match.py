"""One match, stepped through."""

from __future__ import annotations

import json

from arena.core.errors import ArenaError
from arena.core.match_ids import check_match_id, match_id
from arena.match.stored import StoredMatch
from arena.results.match_index import Filter
from arena.results.pages.replay import replay_values
from arena.results.pages.templates import packed
from arena.store import Store, readable
from arena.web.library import Library, Log, NotFoundError
from arena.web.links import Links
from arena.web.pages.matches import lines_of
from arena.web.rendering import Page, page


def page_of(library: Library, links: Links, name: str, match: str) -> Page:
    """Return the page of a match, by its id or a beginning of it that no other has."""
    log = library.log(name)

    whole = _find(log, match)

    def draw() -> Page:
        data, values = replay_values(_read(log, whole))
        values["description"] = f"Match {values['name']} of {name}, {len(values['plies'])} plies"
        return page("match.html", links, data=packed(data), log=log, scripts=["replay.js"], **values)

    found = library.keeper.get((log.path, "match", whole), log.path.stat().st_ino, draw)
    assert found is not None  # nothing gives up waiting
    return found.value


def latest_of(library: Library, links: Links, name: str) -> str:
    """Return the newest match in a log with its frames, as JSON; nothing where there is none."""
    log = library.log(name)
    index, view = library.view(log)
    newest = index.find(view, Filter(), "newest", 1, None).numbers
    if not newest:
        return ""
    (line,) = lines_of(log, view, library.plan(log), newest)

    def draw() -> str:
        data, values = replay_values(_read(log, _find(log, line.id)))
        title = f"{values['title']}, match {line.shown}"
        return json.dumps({"id": line.id, "title": title, "address": links.match(name, line.id), "data": packed(data)})

    found = library.keeper.get((log.path, "latest"), line.id, draw)
    assert found is not None  # nothing gives up waiting
    return found.value


def _find(log: Log, name: str) -> tuple[bytes, int]:
    """Return the identity of the block and the line-up of the one match whose id begins so."""
    try:
        check_match_id(name)
    except ArenaError as error:
        raise NotFoundError(str(error)) from None
    with Store.open(log.path) as store, readable(store):
        found = store.find_matches(name)
    if len(found) != 1:
        several = "; ".join(match_id(*each) for each in found)
        raise NotFoundError(f"more than one match begins so: {several}" if found else "there is no such match here")
    return found[0]


def _read(log: Log, whole: tuple[bytes, int]) -> StoredMatch:
    with Store.open(log.path) as store, readable(store):
        return store.match(*whole)
