"""Tuning of a bot's parameters: their space, and the methods that search it. Pure: numbers in, numbers out."""
