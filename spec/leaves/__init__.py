"""Mechanisms as finite lists of leaves: polyhedra of independent noise, each with one outcome."""
