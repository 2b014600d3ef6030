"""Anytime-valid tests of mechanisms that can only be sampled."""
