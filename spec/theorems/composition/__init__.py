"""Composition, ordering and truncation: Cesar and Rogers (2020)."""
