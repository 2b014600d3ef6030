"""Laws for accountants, calibrators and converters; they draw no samples, and every finding is reproducible."""

from dpassay.properties.assay.answer_laws import NONSENSE_ARGUMENTS_LAW, RANGE_LAW
from dpassay.properties.assay.composition_laws import COMPOSITION_LAWS
from dpassay.properties.assay.finding import Law
from dpassay.properties.assay.monotonicity_laws import MOVEMENT_LAWS
from dpassay.properties.assay.round_trip_laws import ROUND_TRIP_LAWS
from dpassay.properties.assay.sampling_laws import SAMPLING_LAWS
from dpassay.properties.assay.soundness_laws import SOUNDNESS_LAWS

__all__ = ["ACCOUNTANT_LAWS"]

ACCOUNTANT_LAWS: tuple[Law, ...] = (
    *SOUNDNESS_LAWS,
    RANGE_LAW,
    *ROUND_TRIP_LAWS,
    *COMPOSITION_LAWS,
    *SAMPLING_LAWS,
    *MOVEMENT_LAWS,
    NONSENSE_ARGUMENTS_LAW,
)
"""The laws of accountants in order of checking: comparison with certified values first, then consistency."""
