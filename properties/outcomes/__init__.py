"""Outcomes as the tests see them: symbols, numbers, features, events."""
