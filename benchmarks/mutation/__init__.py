"""Random one-point mutants of `spec` and `impl`, judged by the statements and tests that reach them."""
