"""Property tests draw the same examples on every run, however slow the machine."""

import hypothesis

hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")
