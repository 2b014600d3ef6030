"""The public interface for statements of your own.

A statement is a function with the decorator `statement`: its annotated parameters are the quantifiers, its docstring
is the sentence, its body decides the claim at one point and returns a verdict, or, without parameters, a proof.
``dpassay verify FILE.py`` verifies the statements of a file; ``dpassay init paper`` writes a complete example.

Decisions
    `ball`, `exact`, `at_most`, `at_least`, `less_than`, `agree`, `at_most_exact`, `below_exact`, `equal_exact`,
    `prove_on_box`; `sum_balls`, `max_balls`, `normal_cdf`, `normal_pdf`, `precision`, `ATTAINED`
Verdicts
    `Verdict`, `Holds`, `Violated`, `Undecided`, `Outcome`, `Evidence`, `Scope`, `conjunction`
Statements
    `statement`, `Statement`, `Source`, `register_items`, `Erratum`, `Severity`, `Figures`, `Pin`, `load_statements`
Domains
    `Domain`, `Reals`, `Integers`, `Choices`; `strategy_for`, which registers how members of a new domain are drawn
Proofs
    `proof`, `Proof`, `checked`, `computed`, `lemma`, `prose`, `suppose`, `all_of`; the checks `identity`,
    `rational_identity`, `nonnegative`, `positive`, `at_least_by`, `largest_at`, `nonnegative_from_zero`, `same_sign`,
    `nonnegative_on_orthant`, `positive_on_orthant`
Tests
    `assert_holds`, `assert_errata`; `assert_kills`, which plants a fault that a statement must detect
"""

from dpassay.properties.checks.statements import assert_errata, assert_holds, assert_kills
from dpassay.properties.strategies import strategy_for
from dpassay.spec.ball import (
    ATTAINED,
    at_least,
    at_most,
    ball,
    exact,
    less_than,
    max_balls,
    normal_cdf,
    normal_pdf,
    precision,
    sum_balls,
)
from dpassay.spec.domains.base import Choices, Domain, Integers, Reals
from dpassay.spec.proof.box import prove_on_box
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.polynomial import nonnegative_on_orthant, positive_on_orthant
from dpassay.spec.proof.rules import at_least_by, largest_at, nonnegative_from_zero, same_sign
from dpassay.spec.proof.steps import Proof, all_of, checked, computed, lemma, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, nonnegative, positive, rational_identity
from dpassay.spec.rational import at_most_exact, below_exact, equal_exact
from dpassay.spec.sources import Source, register_items
from dpassay.spec.statement import Erratum, Severity, Statement, load_statements, statement
from dpassay.spec.verdict import Evidence, Holds, Outcome, Scope, Undecided, Verdict, Violated, conjunction

__all__ = [
    "ATTAINED",
    "Choices",
    "Domain",
    "Erratum",
    "Evidence",
    "Figures",
    "Holds",
    "Integers",
    "Outcome",
    "Pin",
    "Proof",
    "Reals",
    "Scope",
    "Severity",
    "Source",
    "Statement",
    "Undecided",
    "Verdict",
    "Violated",
    "agree",
    "all_of",
    "assert_errata",
    "assert_holds",
    "assert_kills",
    "at_least",
    "at_least_by",
    "at_most",
    "at_most_exact",
    "ball",
    "below_exact",
    "checked",
    "computed",
    "conjunction",
    "equal_exact",
    "exact",
    "identity",
    "largest_at",
    "lemma",
    "less_than",
    "load_statements",
    "max_balls",
    "nonnegative",
    "nonnegative_from_zero",
    "nonnegative_on_orthant",
    "normal_cdf",
    "normal_pdf",
    "positive",
    "positive_on_orthant",
    "precision",
    "proof",
    "prose",
    "prove_on_box",
    "rational_identity",
    "register_items",
    "same_sign",
    "statement",
    "strategy_for",
    "sum_balls",
    "suppose",
]
