"""Verify logs and archives: the file, its plans, its matches, its exports, matches played again."""
