"""Certified answers to the questions of accountants.

Every bound comes from an enclosure or from an explicit event.
"""

from dpassay.arguments import UsageError
from dpassay.properties.assay.composition_reference_values import COMPOSITION_TRUTHS
from dpassay.properties.assay.conversion_reference_values import CONVERSION_TRUTHS
from dpassay.properties.assay.enclosures import Truth, Truths
from dpassay.properties.assay.noise_reference_values import NOISE_TRUTHS
from dpassay.properties.assay.sampling_reference_values import SAMPLING_TRUTHS

__all__ = ["truth_of"]

_TRUTHS: Truths = {**COMPOSITION_TRUTHS, **NOISE_TRUTHS, **SAMPLING_TRUTHS, **CONVERSION_TRUTHS}


def truth_of(question: str, **arguments: object) -> Truth:
    """Return the certified truth for a question.

    Raises
    ------
    UsageError
        If there is no truth for such a question.
    """
    if question not in _TRUTHS:
        raise UsageError(f"question must be one of {', '.join(sorted(_TRUTHS))}, got {question!r}")
    return _TRUTHS[question](**arguments)
