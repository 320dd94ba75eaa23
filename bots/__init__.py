"""Strategies; they know `engine` only. A module in or below this package offers each of its bots with a `name`."""

from bots.base import API_VERSION, Between, Bot, OneOf, TimeFor, first_decision, make_bot

__all__ = ["API_VERSION", "Between", "Bot", "OneOf", "TimeFor", "first_decision", "make_bot"]
