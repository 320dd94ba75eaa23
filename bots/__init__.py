"""Strategies; know engine only. Every module here whose class is a named `Bot` offers that bot by its name."""

from bots.base import Between, Bot, OneOf, first_decision, make_bot

__all__ = ["Between", "Bot", "OneOf", "first_decision", "make_bot"]
