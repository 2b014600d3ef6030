"""All laws in order of checking; laws without samples come first."""

from dpassay.properties.assay.accountant_laws import ACCOUNTANT_LAWS
from dpassay.properties.assay.auditor_laws import AUDITOR_LAWS
from dpassay.properties.assay.finding import Law
from dpassay.properties.assay.invalid_arguments import NONSENSE_LAWS
from dpassay.properties.assay.parameter_laws import PARAMETER_LAWS
from dpassay.properties.assay.privacy_laws import PRIVACY_LAWS
from dpassay.properties.assay.relation_laws import RELATION_LAWS
from dpassay.properties.assay.replay_laws import REPLAY_LAWS
from dpassay.properties.assay.sensitivity_laws import SENSITIVITY_LAWS
from dpassay.properties.assay.traced_laws import TRACED_LAWS

__all__ = ["LAWS"]

MECHANISM_LAWS = (*REPLAY_LAWS, *TRACED_LAWS, *PARAMETER_LAWS, *SENSITIVITY_LAWS, *PRIVACY_LAWS)

LAWS: list[Law] = [
    *sorted(MECHANISM_LAWS, key=lambda law: law.sampled),
    *RELATION_LAWS,
    *ACCOUNTANT_LAWS,
    *AUDITOR_LAWS,
    *NONSENSE_LAWS,
]
