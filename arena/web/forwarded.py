"""The client and scheme that a proxy tells of in the header `Forwarded` (RFC 7239).

`X-Forwarded-For` and `X-Forwarded-Proto`, which most proxies send, are read by uvicorn. Where a request has both, they
count: a proxy that sets them may hand on a `Forwarded` that its client has made up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from arena.web.addresses import DEFAULT_PORTS, Addresses, as_address, split_host
from arena.web.safety import App, Receive, Scope, Send

HEADER, OTHER_HEADER = b"forwarded", b"x-forwarded-for"
PAIR_PATTERN = re.compile(r"[ \t]*([A-Za-z0-9!#$%&'*+.^_`|~-]+)=(?:\"([^\"\\]*)\"|([^\s\",;=]+))[ \t]*([;,]|$)")
"""A parameter, and what follows it; without escapes, which no address needs."""


class ForwardedHeader:
    """Gives requests that come from the proxies of a server the client that these tell of."""

    def __init__(self, app: App, addresses: Addresses) -> None:
        self.app, self.addresses = app, addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        if scope["type"] == "http" and scope.get("client") and self.addresses.is_proxy(scope["client"][0]):
            self._read(scope)
        await self.app(scope, receive, send)

    def _read(self, scope: Scope) -> None:
        headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        if any(name == OTHER_HEADER for name, _ in headers):
            return
        text = b",".join(value for name, value in headers if name == HEADER)
        for hop in reversed(hops_of(text.decode("latin-1"))):  # the last one is that of the nearest proxy
            client = address_of(hop.get("for", ""))
            if client is None:
                return  # a name that hides it
            scope["client"] = (client, 0)
            if hop.get("proto", "").lower() in DEFAULT_PORTS:
                scope["scheme"] = hop["proto"].lower()
            if not self.addresses.is_proxy(client):
                return


def hops_of(text: str) -> list[dict[str, str]]:
    """Return the parameters of each hop of a `Forwarded` header; none for one that is not of its form."""
    hops: list[dict[str, str]] = [{}]
    place, end = 0, None
    while end != "":
        found = PAIR_PATTERN.match(text, place)
        if found is None or found[1].lower() in hops[-1]:
            return []
        hops[-1][found[1].lower()] = found[2] if found[3] is None else found[3]
        place, end = found.end(), found[4]
        if end == ",":
            hops.append({})
    return hops


def address_of(node: str) -> str | None:
    """Return the address of a `for` parameter, without its port; None for any other name."""
    bare = as_address(node)
    name = node if bare is not None else split_host(node)[0]
    found = as_address(name)
    return None if found is None else str(found)
