"""Property tests draw the same examples on every run, and none depends on the machine's speed."""

import hypothesis

hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")
