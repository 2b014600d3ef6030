"""The experiments of Lebensold, Precup and Balle (2024)."""
