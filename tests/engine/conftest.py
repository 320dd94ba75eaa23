"""Assertions explained in the shared contract too, and property tests that draw the same examples on every run."""

import hypothesis
import pytest

pytest.register_assert_rewrite("tests.engine.contract")

hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")
