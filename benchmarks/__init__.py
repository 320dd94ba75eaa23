"""Measurements of this installation, run by `make bench`."""
