"""Exact adaptive interactions: transcripts with probabilities, filters, rounds, budgets, games."""
