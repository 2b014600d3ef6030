"""Privacy notions in the audit, one a file: the statements bet against, labels and reference mechanisms."""
