"""Selection with Gaussian noise: Lebensold, Precup and Balle (2024)."""
