"""Laws for accountants, calibrators and converters: nothing is drawn, and every finding can be asked again."""

from dpassay.properties.assay.answer_laws import NONSENSE_ARGUMENTS_LAW, RANGE_LAW
from dpassay.properties.assay.composition_laws import COMPOSITION_LAWS
from dpassay.properties.assay.finding import Law
from dpassay.properties.assay.movement_laws import MOVEMENT_LAWS
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
"""All of them, in the order in which they are checked: what answers are held against, then how they hang together."""
