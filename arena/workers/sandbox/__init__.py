"""Bots in processes of their own: limits, the sandbox, and how they are talked to (see PROTOCOL.md)."""
