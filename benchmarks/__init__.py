"""Side-by-side comparisons with peers; never part of the tests."""
