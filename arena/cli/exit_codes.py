"""Exit codes of the `arena` command."""

FINE, USER_ERROR, NOT_ALL_PLAYED, INTERRUPTED = 0, 1, 2, 130
