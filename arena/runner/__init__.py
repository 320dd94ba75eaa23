"""Play what a plan needs and write it to a log."""
