"""Bounds, calibration, composition and filters."""
