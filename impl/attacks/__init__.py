"""Attacks: what an adversary recovers from answers that are too accurate."""
