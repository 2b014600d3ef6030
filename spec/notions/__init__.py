"""Privacy notions, one per file: the divergence that each bounds, and the comparison of two distributions."""
