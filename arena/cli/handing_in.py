"""`arena submit --to`: hand a bot in to a contest on a server, and follow its check."""

from __future__ import annotations

import os
from typing import Any

from arena.cli.exit_codes import FAILED, FINE
from arena.cli.output import print_detail, print_json, print_text
from arena.client import Client, target_of
from arena.core.errors import ConfigError
from arena.core.text import without_controls

TOKEN_VARIABLE = "ARENA_TOKEN"


def print_hand_in(path: str, address: str, name: str | None, as_json: bool) -> int:
    """Run `arena submit --to` and return the exit code."""
    target, token = target_of(address), os.environ.get(TOKEN_VARIABLE)
    if not token:
        raise ConfigError(f"{TOKEN_VARIABLE}: is not set; your account on {target.server} shows how to get a token")
    client = Client(target.server, token.strip())
    version = client.hand_in(target.contest, path, name or "")
    if not as_json:
        print_text(
            f"Handed in: version {version['number']} of {version['bot']}, "
            f"{target.server}/contests/{target.contest}/bots/{version['bot']}/versions/{version['number']}"
            if version["is_new"]
            else f"Nothing changed: this source is version {version['number']} of {version['bot']} already."
        )
    ended = client.wait(target.contest, version, (lambda line: None) if as_json else print_line)
    if as_json:
        print_json(ended)
    else:
        is_valid = ended["state"] == "valid"
        print_text("Valid: it plays from the next round on." if is_valid else f"{ended['state'].capitalize()}.")
    return FINE if ended["state"] == "valid" else FAILED


def print_line(line: dict[str, Any]) -> None:
    """Print a line of the report of a check, which a server has sent."""
    if "board" not in line:
        _print(line.get("text", ""))
        return
    _print(f"{line['board']}: {line.get('result', '')}")
    problems = line.get("problems")
    for problem in problems if isinstance(problems, list) else ():
        _print(f"\n{problem.get('cause', '')} {problem.get('where', '')}:")
        print_detail(str(problem.get("detail") or "nothing was said"))
        _print(f"{problem.get('advice', '')} To reproduce:")
        _print(f"  {problem.get('command', '')}")


def _print(text: object) -> None:
    print_text(without_controls(str(text)))
