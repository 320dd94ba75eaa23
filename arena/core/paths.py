"""Folders: of the installed packages, and of tournaments and submitted bots."""

import os
from pathlib import Path

from arena.core.errors import ConfigError
from arena.core.files import blocking_file, open_regular

ROOT = Path(__file__).resolve().parents[2]
"""Folder of the installed packages `arena`, `bots` and `engine`."""
DEFAULT_HOME = "reports"
"""Name of the home where nothing names another one."""
HOME_FILE = "arena.toml"
"""File that names the home of its folder and of all folders below."""
MAX_HOME_FILE_BYTES = 2**16
"""Most bytes of such a file."""
MAX_PATH_CHARS = 4096


def home_folder(home: str | Path | None = None) -> Path:
    """Return `home_path`; raises `ConfigError` where a file is in the way."""
    folder = home_path(home)
    if blocking_file(folder) is not None:
        raise ConfigError(f"{folder}: is a file, or below one; name a folder: --home or ARENA_HOME")
    return folder


def home_path(home: str | Path | None = None) -> Path:
    """Return the argument, else `ARENA_HOME`, else what the nearest `arena.toml` upwards names, else `reports`.

    Below the working folder it is relative. Raises `ConfigError` for an `arena.toml` that cannot be trusted or read.
    """
    if given := home or os.environ.get("ARENA_HOME"):
        return Path(given)
    file = nearest_home_file()
    if file is None:
        return Path(DEFAULT_HOME)
    folder, here = Path(os.path.normpath(file.parent / _home_in(file))), Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def nearest_home_file() -> Path | None:
    """Return the `arena.toml` of the working folder or the nearest one above it, whatever it is; None without one."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it has been removed
        return None
    return next((path for each in (here, *here.parents) if os.path.lexists(path := each / HOME_FILE)), None)


def _home_in(file: Path) -> str:
    """Return the home that an `arena.toml` names: one of our own or of root, as any other may be meant to mislead."""
    from arena.core.models import parse_toml  # with pydantic, which commands without such a file may not need

    try:
        with open_regular(file.name, file.parent) as opened:
            owner, content = os.fstat(opened.fileno()).st_uid, opened.read(MAX_HOME_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}; choose a home: --home or ARENA_HOME") from None
    if owner not in (os.getuid(), 0):
        raise ConfigError(f"{file}: belongs to another user, so it does not count; choose a home: --home or ARENA_HOME")
    if len(content) > MAX_HOME_FILE_BYTES:
        raise ConfigError(f"{file}: more than {MAX_HOME_FILE_BYTES:,} bytes, too large to name a home")
    data = parse_toml(content, str(file))
    home = data.pop("home", DEFAULT_HOME)
    if data or not isinstance(home, str) or not home.isprintable() or not 0 < len(home) <= MAX_PATH_CHARS:
        raise ConfigError(f'{file}: may hold home = "FOLDER" and nothing else')
    return home
