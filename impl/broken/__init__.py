"""Deliberately wrong variants, each with the laws that must catch it."""
