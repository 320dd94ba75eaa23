"""Blocks, seatings, tables and duels. Pure."""
