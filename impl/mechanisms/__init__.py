"""Mechanisms, one family per file."""
