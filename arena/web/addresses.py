"""Where a server is reached: the address it listens on, and the public one that a proxy in front of it gives it."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from arena.core.errors import ConfigError

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
DEFAULT_PORTS = {"http": 80, "https": 443}
ROOT_PATTERN = re.compile(r"(/[A-Za-z0-9_.~-]+)+")
"""A path that a server may be below."""
NAME_PATTERN = re.compile(r"[A-Za-z0-9_.-]{1,253}")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Addresses:
    """The names of a server; built by `addresses_of`."""

    host: str = "127.0.0.1"
    port: int = 8000
    scheme: str = "http"
    """Of the public address."""
    public_host: str = ""
    """Name of the public address, with its port where that is not the scheme's; empty without one."""
    root: str = ""
    """Path that all pages are below, without a slash at its end."""
    allowed: frozenset[tuple[str, int | None]] = frozenset()
    """Other names that requests may use, with their ports; None for any port."""
    proxies: tuple[Network, ...] = ()
    """Whose forwarded headers count."""
    watchers: tuple[Network, ...] = ()
    """Who may see the metrics, besides this machine."""
    _names: frozenset[str] = field(init=False, repr=False)
    _any: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        address = as_address(self.host)
        unspecified = address is not None and address.is_unspecified
        local = unspecified or self.host in LOCAL_HOSTS or (address is not None and address.is_loopback)
        names = {self.host.lower(), *(LOCAL_HOSTS if local else ())}
        object.__setattr__(
            self, "_names", frozenset(names | ({socket.gethostname().lower()} if unspecified else set()))
        )
        object.__setattr__(self, "_any", unspecified)

    def has(self, host: str) -> bool:
        """Whether a `Host` header names the server; where it listens on every address, any address does."""
        if self.is_public(host):
            return True
        name, port = split_host(host)
        if port is not None and not self.allowed.isdisjoint(((name, None), (name, port))):
            return True
        if port != self.port:
            return False
        return name in self._names or (self._any and as_address(name) is not None)  # an address cannot be rebound

    def is_public(self, host: str) -> bool:
        """Whether a `Host` header is that of the public address."""
        default = DEFAULT_PORTS[self.scheme]
        return bool(self.public_host) and split_host(host, default) == split_host(self.public_host, default)

    def is_own(self, origin: str, scheme: str) -> bool:
        """Whether an `Origin` header names the server, asked by a scheme."""
        given, _, host = origin.partition("://")
        return given in DEFAULT_PORTS and given == (self.scheme if self.is_public(host) else scheme) and self.has(host)

    def is_proxy(self, client: str) -> bool:
        """Whether an address is that of a proxy whose forwarded headers count."""
        return _is_in(client, self.proxies)

    def is_watcher(self, client: str) -> bool:
        """Whether an address may see the metrics."""
        return _is_in(client, self.watchers)

    @property
    def url(self) -> str:
        """The address of the first page."""
        if self.public_host:
            return f"{self.scheme}://{self.public_host}{self.root}/"
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(
            self.host, f"[{self.host}]" if ":" in self.host else self.host
        )
        return f"http://{shown}:{self.port}{self.root}/"


def _is_in(client: str, networks: tuple[Network, ...]) -> bool:
    address = as_address(client)
    return address is not None and any(address in each for each in networks if each.version == address.version)


def addresses_of(
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str = "",
    root_path: str = "",
    allowed: Sequence[str] = (),
    forwarded_from: Sequence[str] = (),
    metrics_from: Sequence[str] = (),
) -> Addresses:
    """Return where a server is reached; raises `ConfigError` that names the option."""
    parts = urlsplit(public_url)
    try:
        public_port = parts.port
    except ValueError:
        raise ConfigError(f"--public-url {public_url}: its port is no number from 0 to 65535") from None
    if public_url and (
        parts.scheme not in DEFAULT_PORTS or not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc
    ):
        raise ConfigError(f"--public-url {public_url}: must be of the form https://arena.example or https://host/path")
    root, below = root_path.rstrip("/"), parts.path.rstrip("/")
    if root and below and root != below:
        raise ConfigError(f"--root-path {root_path}: differs from the path of --public-url, {below}")
    for option, path in (("--root-path", root), ("--public-url", below)):
        if path and not ROOT_PATTERN.fullmatch(path):
            raise ConfigError(f"{option} {path}: must be a path such as /arena")
    name = parts.hostname or ""
    shown = f"[{name}]" if ":" in name else name
    at_port = "" if public_port in (None, DEFAULT_PORTS.get(parts.scheme)) else f":{public_port}"
    return Addresses(
        host=host,
        port=port,
        scheme=parts.scheme or "http",
        public_host=f"{shown}{at_port}" if name else "",
        root=root or below,
        allowed=frozenset(_allowed(each) for each in allowed),
        proxies=tuple(_network(each, "--forwarded-from") for each in forwarded_from),
        watchers=tuple(_network(each, "--metrics-from") for each in metrics_from),
    )


def _allowed(text: str) -> tuple[str, int | None]:
    name, port = split_host(text, -1)
    if (as_address(name) is None and not NAME_PATTERN.fullmatch(name)) or port is None:
        raise ConfigError(f"--allowed-host {text[:80]}: must be a name such as arena.example, or name:port")
    return name, None if port == -1 else port


def _network(text: str, option: str) -> Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ConfigError(f"{option} {text[:80]}: must be an address or a network such as 10.0.0.0/8") from None


def split_host(host: str, default: int = 80) -> tuple[str, int | None]:
    """Return name, without the brackets of IPv6, and port of a `Host` header; None for a port that is no number."""
    name, colon, port = host.lower().rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host.lower(), str(default)
    elif not (port.isascii() and port.isdecimal() and len(port) < 6):
        return name, None
    name = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    return name.removesuffix("."), int(port)


def as_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address that a browser can name: without a zone, in which any sign may stand."""
    try:
        return None if "%" in host else ipaddress.ip_address(host)
    except ValueError:
        return None
