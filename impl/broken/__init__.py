"""Deliberately broken mechanisms, each with the laws that must detect it."""
