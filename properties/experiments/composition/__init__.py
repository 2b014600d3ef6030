"""Experiments after Cesar and Rogers (2020)."""
