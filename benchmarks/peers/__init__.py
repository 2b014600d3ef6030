"""Comparisons with auditors that are not on the package index, run from a checkout of theirs."""
