"""Optimal adaptive adversaries."""
