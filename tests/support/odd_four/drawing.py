"""The drawing of connect four."""

from connect_four.drawing import svg  # noqa: F401 - for `KernelState`
