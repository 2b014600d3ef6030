"""Foundations: the lecture slides of M. Gaboardi (2017)."""
