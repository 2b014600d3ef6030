"""Tracing: ordinary Python run on symbols in place of noise."""
