"""Pairs each mechanism of `impl` with its exact distribution and its worst-pair theorem, a file for each family.

Importing every module of this package fills the registries of :mod:`dpassay.properties.pairing.registry`, which
does so on the first question. A distribution is declared for one exact type: what a mutant samples is its own
business.
"""
