"""Foundations: the lecture slides of Gaboardi (2017), and the mechanisms of the common benchmark."""
