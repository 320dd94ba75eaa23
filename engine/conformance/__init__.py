"""The contract between games and the arena as checks that run on anybody's game, and tell what fails and where.

`CHECKS` lists them, `run_check` runs one in this process, `check_game` all of them in processes that may hang or crash.
"""

from engine.conformance.checks import CHECKS, FAILED, NOT_APPLICABLE, PASSED, Finding, run_check
from engine.conformance.probe import Check
from engine.conformance.supervised import check_game

__all__ = ["CHECKS", "FAILED", "NOT_APPLICABLE", "PASSED", "Check", "Finding", "check_game", "run_check"]
