"""Comparisons that need a trick: a rational with e^epsilon times another, and equality of balls."""

from fractions import Fraction

from flint import arb

from dpassay.spec.ball import Real, ball, is_at_most, refine
from dpassay.spec.proof.recording import note
from dpassay.spec.verdict import Evidence, Holds, Undecided, Verdict, Violated

__all__ = ["above_exponential", "agree"]

AGREEMENT_BITS = 60
AGREEMENT_START = 128
RATIONAL_LIMIT_BITS = 1 << 16


def above_exponential(p: Fraction, q: Fraction, exponent: Fraction) -> bool:
    """Return whether ``p > e^exponent q``, for rational p and q >= 0.

    Always decidable: e^exponent is irrational for every rational exponent but 0 (Lindemann), so that rational
    bounds on it separate from p / q at some precision.

    Raises
    ------
    UndecidedError
        If they do not separate at 65536 bits.
    """
    if exponent == 0 or q == 0 or p <= 0:
        return p > q
    return not is_at_most(
        lambda: ball(p / q).log(),
        lambda: ball(exponent),
        "a rational and e^exponent times another",
        limit=RATIONAL_LIMIT_BITS,
    )


def agree(left: Real, right: Real, name: str) -> Verdict:
    """Decide whether two numbers agree to 60 bits: |left - right| <= 2^-60 max(1, |right|).

    Equality itself cannot be decided by balls; the verdict says that it is an agreement.
    """
    note(left, right, equality=True)
    allowance = ball(Fraction(1, 2**AGREEMENT_BITS))

    def decide() -> Verdict | None:
        a, b = left(), right()
        gap, allowed = abs(a - b), allowance * abs(b).max(arb(1))
        if gap <= allowed:
            return Holds(evidence=Evidence.ENCLOSED, detail=f"{name} agree to {AGREEMENT_BITS} bits")
        if gap > allowed:
            detail = f"{name}: {a.str(12, radius=False)} against {b.str(12, radius=False)}"
            return Violated(evidence=Evidence.ENCLOSED, detail=detail)
        return None

    verdict = refine(decide, start=AGREEMENT_START)
    if verdict is not None:
        return verdict
    return Undecided(evidence=Evidence.ENCLOSED, detail=f"{name}: no enclosure narrow enough")
