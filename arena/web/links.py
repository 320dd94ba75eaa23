"""Addresses of pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import quote, urlencode

from arena.core.names import COMPARISONS_FOLDER, CONTESTS_FOLDER, PLAYED_FOLDER

Query = Mapping[str, object]


class Links:
    """Addresses on the server, where a page's own address carries its state in the query.

    Names of tournaments and comparisons are those of their folders under the home, as `Log.name` has them. A subclass
    that writes files gives other addresses, and an empty one for a page that it leaves out.
    """

    is_live = True
    """Whether a server answers: pages may then follow a run, and offer what is computed on request."""
    token = ""
    """What forms that change something send along."""
    has_contests: Callable[[], bool] = staticmethod(lambda: False)
    """Returns whether there are contests, to which pages lead."""
    root = ""
    """Path that all pages of the server are below."""

    def __init__(self, root: str = "") -> None:
        self.root = root

    def path(self, path: str) -> str:
        """Return the address of a path of the server."""
        return f"{self.root}{path}"

    def contests(self) -> str:
        """Return the address of the list of contests."""
        return self.path("/contests")

    def contest(self, id: str, *parts: object) -> str:
        """Return the address of a contest, or of something in it."""
        return self.path("/".join(["/contests", *(_part(str(part)) for part in (id, *parts))]))

    def sign_in(self) -> str:
        """Return the address to sign in at."""
        return self.path("/sign-in")

    def sign_out(self) -> str:
        """Return the address to sign out at."""
        return self.path("/sign-out")

    def account(self, *parts: object) -> str:
        """Return the address of one's account, or of something in it."""
        return self.path("/".join(["/account", *(_part(str(part)) for part in parts)]))

    def home(self) -> str:
        """Return the address of the list of tournaments."""
        return self.path("/")

    def games(self) -> str:
        """Return the address of the list of games."""
        return self.path("/games")

    def game(self, name: str) -> str:
        """Return the address of a game."""
        return self.path(f"/games/{_part(name)}")

    def bots(self) -> str:
        """Return the address of the list of bots."""
        return self.path("/bots")

    def bot(self, name: str) -> str:
        """Return the address of a bot in all tournaments, by the name in its spec."""
        return _with_query(self.path("/bot"), {"name": name})

    def tournament(self, name: str) -> str:
        """Return the address of a tournament or comparison; of a contest, or its final, for the log of one."""
        kind, _, rest = name.partition("/")
        if kind == CONTESTS_FOLDER and rest:
            contest, _, *of_final = rest.split("/")
            return self.contest(contest, *of_final)
        return self.log(name)

    def log(self, name: str) -> str:
        """Return what the addresses of all that there is of a log begin with."""
        if name.startswith(f"{COMPARISONS_FOLDER}/"):
            return self.path(f"/comparisons/{_part(name.removeprefix(f'{COMPARISONS_FOLDER}/'))}")
        if name.startswith(f"{PLAYED_FOLDER}/"):
            return self.path(f"/played/{_part(name.removeprefix(f'{PLAYED_FOLDER}/'))}")
        if name.startswith(f"{CONTESTS_FOLDER}/"):
            return self.path(f"/{quote(name)}")
        return self.path(f"/tournaments/{_part(name)}")

    def matches(self, name: str, query: Query | None = None) -> str:
        """Return the address of a tournament's matches; the query filters and sorts them."""
        return _with_query(f"{self.log(name)}/matches", query)

    def match(self, name: str, match: str) -> str:
        """Return the address of a match, by its id."""
        return f"{self.log(name)}/matches/{_part(match)}"

    def position(self, name: str, match: str, ply: int | None = None, format: str = "svg") -> str:
        """Return the address of the drawing of a match's position; after its last ply without one."""
        return _with_query(f"{self.match(name, match)}/position.{format}", {"ply": ply})

    def pair(self, name: str, board: str, a: str, b: str) -> str:
        """Return the address of two bots on a board, by its slug and their labels."""
        return _with_query(f"{self.log(name)}/pair", {"board": board, "a": a, "b": b})

    def figures(self, name: str, board: str) -> str:
        """Return the address of the figures of a board, by its slug."""
        return _with_query(f"{self.log(name)}/figures", {"board": board})

    def figure(self, name: str, board: str, figure: str, format: str) -> str:
        """Return the address of a figure as a file."""
        return _with_query(f"{self.log(name)}/figures/{_part(figure)}.{format}", {"board": board})

    def events(self, name: str | None = None) -> str:
        """Return the address of the events of a tournament, by default of all; empty where there are none."""
        return self.path("/events") if name is None else f"{self.log(name)}/events"

    def latest(self, name: str) -> str:
        """Return the address of the latest match as data."""
        return f"{self.log(name)}/latest"

    def live(self, name: str) -> str:
        """Return the address of the matches in play of a tournament; empty where there are none."""
        return f"{self.log(name)}/live"

    def live_events(self, name: str) -> str:
        """Return the address of the events of its matches in play; empty where there are none."""
        return f"{self.log(name)}/live/events"

    def static(self, name: str, version: str) -> str:
        """Return the address of a style or script with this content."""
        return self.path(f"/static/{_part(name)}?v={version}")


def _part(text: str) -> str:
    return quote(text, safe="")


def _with_query(path: str, query: Query | None) -> str:
    kept = {key: value for key, value in (query or {}).items() if value not in (None, "")}
    return f"{path}?{urlencode(kept)}" if kept else path
