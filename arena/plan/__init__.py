"""Configurations, resolved plans, and what they need."""
