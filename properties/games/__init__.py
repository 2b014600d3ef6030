"""Optimal adaptive adversaries against filters and accounts."""
