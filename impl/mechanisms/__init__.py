"""Mechanisms, one family a file."""
