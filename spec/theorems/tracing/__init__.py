"""Tracing: what may be concluded from the leaves of a mechanism, polyhedra of its noise with one outcome each."""
