"""The sandbox holds for an ordinary user as for root: its tests once more, as somebody without rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.core.paths import ROOT

pytestmark = pytest.mark.system
USER = 64_200
TESTS = ("tests/arena/isolation/test_attacks.py", "tests/arena/isolation/test_refusals.py")
FINDINGS = "leaves_marks or wakes_itself or kernel_doors or remembers"
OPEN_UP = r"""
mount --make-rprivate /
mount -t tmpfs none /mnt
number=0
for folder in $CLOSED; do
    # what others may not enter becomes a folder that they may, which holds the same
    number=$((number + 1)); mkdir /mnt/$number; mount --rbind "$folder" /mnt/$number
    mount -t tmpfs -o mode=755 none "$folder"
    for each in /mnt/$number/* /mnt/$number/.[!.]*; do
        [ -e "$each" ] || continue
        if [ -d "$each" ]; then mkdir "$folder/${each##*/}"; else touch "$folder/${each##*/}"; fi
        mount --rbind "$each" "$folder/${each##*/}"
    done
done
for file in passwd subuid subgid; do
    { [ ! -e /etc/$file ] || cat /etc/$file; eval "printf %s \"\$MORE_$file\""; } > /mnt/$file
    touch /etc/$file && mount --bind /mnt/$file /etc/$file
done
exec setpriv --reuid=$USER_NUMBER --regid=$USER_NUMBER --clear-groups "$@"
"""


def closed(*paths: str) -> list[str]:
    """Folders on the way to these paths that others may not enter, outer ones first."""
    folders = {folder for path in paths for folder in (Path(path), *Path(path).parents)}
    return [str(folder) for folder in sorted(folders) if not folder.stat().st_mode & 0o001]


@pytest.mark.parametrize("own_numbers", [False, True], ids=["sharing its user", "with subordinate users"])
def test_attacks_fail_also_when_an_ordinary_user_runs_the_arena(own_numbers, tmp_path_factory):
    if os.getuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    assert shutil.which("newuidmap"), "the tests need 'newuidmap': apt-get install uidmap"
    folder = Path("/tmp") / f"ordinary-{os.getpid()}-{own_numbers}"
    folder.mkdir(mode=0o700)
    os.chown(folder, USER, USER)
    numbers = f"{USER}:1700000000:65536\n" if own_numbers else ""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "NUMBA", "COV"))},
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "ARENA_CACHE": str(folder / "cache"),
        "CLOSED": " ".join(closed(sys.base_prefix, sys.prefix, str(ROOT))),
        "USER_NUMBER": str(USER),
        "MORE_passwd": f"ordinary:x:{USER}:{USER}::/:/bin/sh\n",
        "MORE_subuid": numbers,
        "MORE_subgid": numbers,
    }
    options = [
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::pytest.PytestCacheWarning",
        "--basetemp",
        f"{folder}/base",
    ]
    command = ["unshare", "--mount", "sh", "-ec", OPEN_UP, "sh", sys.executable, "-m", "pytest", *options]
    zoo = ["tests/arena/isolation/test_zoo.py", "-k", f"sandbox and ({FINDINGS})"]
    try:
        for wanted in (TESTS, zoo):
            done = subprocess.run([*command, *wanted], cwd=ROOT, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
            assert "root" not in done.stdout
    finally:
        shutil.rmtree(folder, ignore_errors=True)
