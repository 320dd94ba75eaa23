"""Tuning of a bot's parameters: what is asked, the run of iteration after iteration, and its result."""
