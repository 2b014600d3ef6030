"""Experiments of the papers, on real or synthetic data: tables as CSV, figures if matplotlib is installed."""
