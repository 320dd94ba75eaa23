"""Opponents that play within the steps of batches, by their specs."""

from __future__ import annotations

from bots.batch import policy as policy
