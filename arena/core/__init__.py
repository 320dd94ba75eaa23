"""Errors, files, paths and models that all rooms use."""
