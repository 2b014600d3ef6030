"""Counterexample search."""
