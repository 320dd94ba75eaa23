"""Processes that play matches, and how drivers talk to them."""
