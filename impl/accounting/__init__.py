"""Bounds, calibration, composition, filters."""
