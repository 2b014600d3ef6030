"""Experiments on the foundations: Gaboardi (2017)."""
