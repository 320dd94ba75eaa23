"""Assertions explained in the shared contract too."""

import pytest

pytest.register_assert_rewrite("tests.engine.contract")
