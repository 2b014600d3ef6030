"""Privacy notions, one a file: what each bounds, and how two output distributions are compared."""
