"""A client of an arena's server: hand bots in, follow their checks, read standings and matches.

    from arena.client import Client

    arena = Client("https://arena.example", token)
    version = arena.hand_in("cup", "my_bot.py")
    arena.wait("cup", version, show=print)
    arena.standings("cup")["overall"]

Every method returns what `/api/v1` answers, as plain data, and raises `ServerError` with the server's own sentence
where it refuses. `/api/v1/openapi.json` of a server describes the fields.
"""

from __future__ import annotations

import http.client
import io
import json
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from arena.core.errors import ArenaError, ConfigError
from arena.registry.bundles import Bundle
from arena.registry.discovery import own_bot

TIMEOUT_SECONDS = 60.0
POLL_SECONDS = 1.0
MAX_ANSWER_BYTES = 2**28
MAX_RETRIES = 5
"""Times that a request is made again where the server says that there are too many."""
MAX_RETRY_SECONDS = 60.0
CONTESTS_PATH = "/contests/"
ENDED_STATES = ("valid", "refused", "erased")
MODEL_SUFFIX = ".onnx"


class ServerError(ArenaError):
    """A server refuses something, or cannot be reached."""

    def __init__(self, words: str, status: int = 0) -> None:
        super().__init__(words)
        self.status = status
        """Of HTTP; 0 where there was no answer."""


class Target(NamedTuple):
    """A contest on a server, as its address names it."""

    server: str
    contest: str


def target_of(address: str) -> Target:
    """Return server and contest of the address of a contest's page; raises `ConfigError` for any other."""
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = urlsplit("")
    before, found, rest = parts.path.partition(CONTESTS_PATH)
    contest = rest.split("/")[0]
    if parts.scheme not in ("http", "https") or not parts.netloc or not found or not contest:
        raise ConfigError(f"{address}: is no contest's address, such as https://arena.example/contests/cup")
    return Target(f"{parts.scheme}://{parts.netloc}{before}", contest)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a token is for the server that was named alone."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        """Return no request."""


class Client:
    """A server's interface for programs; `token` is one of an account there, None to read what everybody may."""

    def __init__(self, server: str, token: str | None = None, timeout: float = TIMEOUT_SECONDS) -> None:
        self.server, self._token, self.timeout = server.rstrip("/"), token, timeout
        self._opener = urllib.request.build_opener(_NoRedirects)

    def __repr__(self) -> str:
        return f"<client of {self.server}>"

    # Reading

    def me(self) -> dict[str, Any]:
        """Return who the token belongs to."""
        return self._ask("/me")

    def contests(self) -> list[dict[str, Any]]:
        """Return all contests."""
        return list(self._ask("/contests")["contests"])

    def contest(self, contest: str) -> dict[str, Any]:
        """Return a contest."""
        return self._ask(_path("contests", contest))

    def standings(self, contest: str) -> dict[str, Any]:
        """Return the standings as of the latest complete round."""
        return self._ask(_path("contests", contest, "standings"))

    def bots(self, contest: str) -> Iterator[dict[str, Any]]:
        """Yield the bots of a contest."""
        return self._pages(_path("contests", contest, "bots"), "bots", "0")

    def versions(self, contest: str, bot: str) -> list[dict[str, Any]]:
        """Return the versions of one's own bot, the newest first; `version` has the report of a check."""
        return list(self._ask(_path("contests", contest, "bots", bot, "versions"))["versions"])

    def version(self, contest: str, bot: str, number: int) -> dict[str, Any]:
        """Return a version of one's own bot, with the report of its check."""
        return self._ask(_path("contests", contest, "bots", bot, "versions", number))

    def matches(self, contest: str, bot: str = "") -> Iterator[dict[str, Any]]:
        """Yield matches of the present season, the newest first; `bot` is the label of a version, `b12.3`."""
        return self._pages(_path("contests", contest, "matches"), "matches", "", bot=bot)

    def match(self, contest: str, match: str) -> dict[str, Any]:
        """Return a match with its moves."""
        return self._ask(_path("contests", contest, "matches", match))

    def events(self, contest: str, after: int = 0) -> list[dict[str, Any]]:
        """Return what happened in a contest after an event."""
        return list(self._ask(_path("contests", contest, "events"), after=after)["events"])

    # Changing

    def hand_in(self, contest: str, path: str | Path, name: str = "") -> dict[str, Any]:
        """Hand in the bot in a file or folder; return its version, which waits for its check.

        Raises `BotError` for a path that holds no bot.
        """
        file, content, main = packed_bot(str(path))
        query = {"file": file, "name": name, "main": main}
        return self._ask(_path("contests", contest, "submissions"), content, **query)

    def wait(
        self,
        contest: str,
        version: dict[str, Any],
        show: Callable[[dict[str, Any]], Any] = lambda line: None,
        poll: float = POLL_SECONDS,
    ) -> dict[str, Any]:
        """Wait for the end of a version's check; `show` is called with each line of its report as it comes."""
        shown = 0
        while True:
            now = self.version(contest, version["bot"], version["number"])
            for line in now["report"][shown:]:
                show(line)
            shown = max(shown, len(now["report"]))
            if now["state"] in ENDED_STATES:
                return now
            time.sleep(poll)

    def withdraw(self, contest: str, bot: str) -> dict[str, Any]:
        """Take one's own bot out of the rounds that follow."""
        return self._ask(_path("contests", contest, "bots", bot, "withdraw"), b"")

    def bring_back(self, contest: str, bot: str, number: int) -> dict[str, Any]:
        """Make a valid version of one's own bot its newest one again; return that. A withdrawn bot plays again."""
        return self._ask(_path("contests", contest, "bots", bot, "versions", str(number), "bring-back"), b"")

    def _pages(self, path: str, field: str, after: str, **query: str) -> Iterator[dict[str, Any]]:
        cursor: str | None = after
        while cursor is not None:
            found = self._ask(path, None, **query, after=cursor)
            yield from found[field]
            cursor = found["next"]

    def _ask(self, path: str, body: bytes | None = None, **query: object) -> dict[str, Any]:
        asked = {key: value for key, value in query.items() if value not in ("", None)}
        address = f"{self.server}/api/v1{path}{'?' * bool(asked)}{urlencode(asked)}"
        headers = {"Accept": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            headers["Content-Type"] = "application/octet-stream"
        for left in reversed(range(MAX_RETRIES)):
            try:
                request = urllib.request.Request(address, body, headers)
                with self._opener.open(request, timeout=self.timeout) as answer:
                    return _read(answer, address)
            except urllib.error.HTTPError as error:
                with error:
                    wait = _retry_seconds(error)
                    if error.code != 429 or not left or wait > MAX_RETRY_SECONDS:
                        raise ServerError(_words(error), error.code) from None
                time.sleep(wait)
            except (OSError, ValueError, http.client.HTTPException) as error:
                why = getattr(error, "reason", None) or error
                raise ServerError(f"{self.server}: cannot be reached: {why}") from None
        raise AssertionError("the last try returns or raises")


def _path(*parts: object) -> str:
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)


def _read(answer: Any, address: str) -> dict[str, Any]:
    content = answer.read(MAX_ANSWER_BYTES + 1)
    try:
        found = json.loads(content) if len(content) <= MAX_ANSWER_BYTES else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ServerError(f"{address}: answers with something else than an arena does")
    return found


def _retry_seconds(error: urllib.error.HTTPError) -> float:
    text = error.headers.get("Retry-After", "1")
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 1.0


def _words(error: urllib.error.HTTPError) -> str:
    """Return what a server says, in one printable line."""
    try:
        text = str(json.loads(error.read(2**16))["error"])
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        text = f"the server answers {error.code} {error.reason}"
    return "".join(letter if letter.isprintable() else " " for letter in text)[:1000]


def packed_bot(path: str) -> tuple[str, bytes, str]:
    """Return what is sent of the bot in a file or folder: a file's name, its content, and which file in it is the bot.

    A bot's own modules and data go along, in an archive. Raises an `ArenaError` for a path that holds no bot.
    """
    if path.lower().endswith(MODEL_SUFFIX):
        try:
            return Path(path).name, Path(path).read_bytes(), ""
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    source = own_bot(path)
    bundle = source.bundle()
    main = "" if bundle.is_program else f"{source.module}.py:{source.class_name}"
    return f"{source.title}.zip", _zipped(bundle), main


def _zipped(bundle: Bundle) -> bytes:
    """Return a bundle's files, without what every arena has, as a ZIP archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(bundle.files.items()):
            if not name.startswith("bots/"):
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return content.getvalue()
