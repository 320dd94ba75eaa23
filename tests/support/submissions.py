"""Submit bots in tests without the check that `arena submit` makes before."""

from __future__ import annotations

from pathlib import Path

from arena.registry.discovery import own_bot
from arena.registry.submitting import SubmissionResult, store_submission


def submit(path: str, name: str, author: str, home: str | Path | None = None) -> SubmissionResult:
    """Keep a bot's source; raises as `store_submission` does."""
    source = own_bot(path)
    return store_submission(source.module, source.class_name, source.bundle(), name, author, home)
