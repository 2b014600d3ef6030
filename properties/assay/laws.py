"""All laws, in the order in which they are checked: first what needs no samples."""

from dpassay.properties.assay.accountant_laws import ACCOUNTANT_LAWS
from dpassay.properties.assay.finding import Law
from dpassay.properties.assay.mechanism_laws import MECHANISM_LAWS
from dpassay.properties.assay.nonsense import NONSENSE_LAWS

__all__ = ["LAWS"]

LAWS: list[Law] = [*sorted(MECHANISM_LAWS, key=lambda law: law.sampled), *ACCOUNTANT_LAWS, *NONSENSE_LAWS]
