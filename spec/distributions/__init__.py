"""Exact output distributions of mechanisms."""
