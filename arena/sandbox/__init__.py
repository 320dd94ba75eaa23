"""Bots in processes of their own; PROTOCOL.md says what they and the arena tell each other."""
