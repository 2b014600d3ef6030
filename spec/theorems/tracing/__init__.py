"""Tracing: conclusions from the leaves of a mechanism, polyhedra of its noise with one outcome each."""
