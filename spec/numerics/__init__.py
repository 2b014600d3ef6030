"""Enclosures of integrals: quadratures, smoothing, the normal distribution on complex balls."""
