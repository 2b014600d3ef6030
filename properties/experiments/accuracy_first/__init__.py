"""The experiments of Rogers, Samorodnitsky, Wu and Ramdas (2023)."""
