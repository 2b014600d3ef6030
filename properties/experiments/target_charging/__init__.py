"""Experiments on target charging (Cohen and Lyu 2023)."""
