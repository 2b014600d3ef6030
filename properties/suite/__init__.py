"""Conformance tests of a library under pytest: ``pytest --pyargs dpassay.properties.suite --dpassay-library NAME``.

One test for each law and each case that it applies to, ``test_law[mechanism-law]``. Expected failures are
strict: one that passes fails the run.
"""
