"""What a fault in the sandbox is told with when the bot looked for a network."""

import re

LOOKED = re.compile(
    r"\bsocket\b|getaddrinfo|gaierror|EAI_AGAIN|ENETUNREACH|network is unreachable|name resolution|name or service",
    re.IGNORECASE,
)
"""In what programs say when there is no network, or a socket is refused."""
HINT = "The sandbox has no network."


def with_hint(detail: str, isolation: str) -> str:
    """A fault's detail with a line more, if it speaks of networks where there is none."""
    return f"{detail.rstrip()}\n{HINT}" if isolation == "sandbox" and LOOKED.search(detail) else detail
