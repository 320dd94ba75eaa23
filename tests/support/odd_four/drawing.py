"""The drawing of connect four."""

from connect_four.drawing import picture  # noqa: F401 - for `KernelState`
