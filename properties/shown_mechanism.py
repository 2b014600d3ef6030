"""Records of mechanisms for the command `show`: description, code and the largest loss that a search finds."""

import inspect
import math
from typing import Any

from dpassay.claims import PureDP
from dpassay.impl.benchmark_names import BENCHMARK, names_of
from dpassay.impl.catalogue import Entry
from dpassay.properties.contract import ShownMechanismRecord, WitnessRecord
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import Witness
from dpassay.properties.mechanisms import mechanism_record
from dpassay.properties.records import plain
from dpassay.spec.verdict import Evidence

__all__ = ["shown_mechanism"]


def shown_mechanism(entry: Entry) -> ShownMechanismRecord:
    """Return the record of a mechanism; the search for its largest loss takes seconds."""
    known = mechanism_record(entry)
    fields = {name: getattr(known, name) for name in known.__struct_fields__}
    kind = type(entry.mechanism)
    record = ShownMechanismRecord(
        **fields,
        description=inspect.getdoc(kind) or "",
        reference=BENCHMARK if names_of(entry.where) else None,
        code=inspect.getsource(kind),
    )
    if not known.exact_distribution:
        return record
    found = hunt(entry.mechanism, PureDP(0.0), trace=False, calls=1)  # any loss refutes it: the largest is shown
    if found.evidence is Evidence.SAMPLED or found.witness is None:
        return record
    return ShownMechanismRecord(
        **{name: getattr(record, name) for name in fields},
        description=record.description,
        reference=record.reference,
        epsilon_lower=plain(found.epsilon_lower),
        epsilon_upper=plain(found.epsilon_upper),
        ratio=_ratio(found.witness),
        witness=WitnessRecord(**plain(found.witness)),
        code=record.code,
    )


def _ratio(witness: Witness) -> tuple[Any, Any]:
    """Enclose the ratio of the probabilities of the event, rounded outwards."""
    (least, most), (other_least, other_most) = witness.p_left, witness.p_right
    low = math.nextafter(least / other_most, 0) if other_most else math.inf
    high = math.nextafter(most / other_least, math.inf) if other_least else math.inf
    return plain(low), plain(high)
