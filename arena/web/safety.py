"""What the server answers at all: the host's own names, requests of bounded size, changes from its own pages alone.

Against DNS rebinding a request has to name the server as it was bound. What changes something needs a token besides,
which only the server's own pages have, and a browser has to say that it comes from one of them.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from fastapi import Request

from arena.core.errors import ArenaError
from arena.web.addresses import Addresses

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Refusal = Callable[[Scope, int, str], tuple[str, str]]
"""Returns the content and the media type with which a request is refused, by its status and words."""

PLAIN_TEXT = "text/plain"
MAX_ADDRESS_BYTES = 4096
"""Most bytes of an address."""
MAX_BODY_BYTES = 2**18
"""Most bytes of a request's body."""
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
"""Headers of every answer."""
HEALTH_PATH = "/healthz"
"""What is answered under any name: it tells whether the server works, and nothing else."""
FOREIGN_REQUEST = "the request comes from a page of another server"
TOKEN_FIELD = "token"
TOKEN_HEADER = "x-arena-token"
FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
MAX_FORM_FIELDS = 100
MAX_FORM_FILES = 1_000
"""Files that a form may carry; a bot of more is handed in as an archive."""


class ForbiddenError(ArenaError):
    """A request that changes something does not come from a page of this server."""


class Guard:
    """Refuses requests before anything reads them, and gives every answer its headers."""

    def __init__(
        self,
        app: App,
        names: Addresses,
        release: Callable[[], None] = lambda: None,
        body_limit: Callable[[Scope], int] = lambda scope: MAX_BODY_BYTES,
        refused: Refusal = lambda scope, status, words: (f"{status}: {words}\n", PLAIN_TEXT),
    ) -> None:
        """`body_limit` gives the most bytes of a request's body, before any of it is read."""
        self.app, self.names, self._body_limit, self._refused = app, names, body_limit, refused
        self.release = release
        """Ends what pages wait for; called before the server ends."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        if scope["path"] == HEALTH_PATH:  # probes ask for it under whatever name
            await self.app(scope, _bounded(receive, MAX_BODY_BYTES), with_headers)
            return
        host = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
        if self.names.is_public(host):
            scope["scheme"] = self.names.scheme
        refusal = self._refusal(scope)
        if refusal is None:
            self._place(scope)
            limit = MAX_BODY_BYTES if scope["method"] in ("GET", "HEAD") else self._body_limit(scope)
            refusal = _too_large(scope, limit)
        if refusal is not None:
            await _refuse(refusal[0], *self._refused(scope, *refusal), with_headers)
            return
        await self.app(scope, _bounded(receive, limit), with_headers)

    def _place(self, scope: Scope) -> None:
        """Take the path that the server is below from a request; a proxy may have taken it already."""
        root = self.names.root
        if root:
            path = scope["path"]
            scope["root_path"] = root
            scope["path"] = path if path == root or path.startswith(f"{root}/") else root + path

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and words with which a request is refused before it is read; None for others."""
        headers = scope["headers"]
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self.names.has(hosts[0]):
            return 421, "this server does not have that name; use the address that `arena serve` has printed"
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_ADDRESS_BYTES:
            return 414, f"the address is longer than {MAX_ADDRESS_BYTES:,} bytes"
        fetch = {name: value for name, value in headers if name.startswith(b"sec-fetch-")}
        if scope["method"] in ("GET", "HEAD"):
            own = fetch.get(b"sec-fetch-site", b"none") in (b"same-origin", b"none")
            follows = (fetch.get(b"sec-fetch-mode"), fetch.get(b"sec-fetch-dest")) == (b"navigate", b"document")
            return (
                None if own or follows else (403, FOREIGN_REQUEST)
            )  # a link may be followed, nothing loaded or computed
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        if origins and not all(self.names.is_own(origin, scope["scheme"]) for origin in origins):
            return 403, FOREIGN_REQUEST
        return None if fetch.get(b"sec-fetch-site", b"none") in (b"same-origin", b"none") else (403, FOREIGN_REQUEST)


def _too_large(scope: Scope, limit: int) -> tuple[int, str] | None:
    """Return the status and words that refuse a body of more bytes than a limit."""
    length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if not length.isdigit():
        return 400, "the length of the request is no number"
    if len(length) > 12 or int(length) > limit:
        size = f"{limit >> 20} MiB" if limit >= 2**20 else f"{limit >> 10} KiB"
        return 413, f"this is larger than {size}, and no more is taken here"
    return None


def _bounded(receive: Receive, left: int) -> Receive:
    """Return a `receive` that hands on no more of a body than is allowed; the rest counts as a client that left."""

    async def receive_part() -> MutableMapping[str, Any]:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        return message if left >= 0 else {"type": "http.disconnect"}

    return receive_part


async def _refuse(status: int, content: str, media_type: str, send: Send) -> None:
    body = content.encode("utf-8", "replace")
    headers = [
        (b"content-type", f"{media_type}; charset=utf-8".encode()),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def new_token() -> str:
    """Return a token for the forms of a server."""
    return secrets.token_urlsafe(24)


async def changes_something(request: Request) -> None:
    """Check the token of a request, in its header or in a field of its form: a dependency of every POST.

    Raises `ForbiddenError` for a missing or another one.
    """
    given: object = request.headers.get(TOKEN_HEADER)
    if given is None and request.headers.get("content-type", "").startswith(FORM_TYPES):
        try:
            form = await request.form(max_files=MAX_FORM_FILES, max_fields=MAX_FORM_FIELDS)
        except (ValueError, LookupError):  # of a charset that no browser sends
            raise ForbiddenError("the form cannot be read") from None
        given = form.get(TOKEN_FIELD)
    token = request.app.state.links.token
    if not isinstance(given, str) or not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        await request.close()
        raise ForbiddenError("the page is older than this server; load it again")
