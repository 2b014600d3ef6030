"""Anytime-valid tests: bets against a claim, games, campaigns, screening, power."""
