"""Checks that hold a mechanism, its claim and its neighbours together."""
