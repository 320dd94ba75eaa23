"""Tournaments: an opened log with its plan, which is the one door to its matches."""
