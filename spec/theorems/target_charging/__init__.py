"""The target-charging technique: Cohen and Lyu (2023)."""
