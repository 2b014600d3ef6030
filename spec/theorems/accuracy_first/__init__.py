"""Accuracy-first privacy: Rogers, Samorodnitsky, Wu and Ramdas (2023), a file for each topic."""
