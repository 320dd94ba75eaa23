"""Programs for developers, run from a checkout."""
