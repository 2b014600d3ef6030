"""The mechanisms as the command line lists them: claims, neighbours, and whether their distribution is known."""

from dpassay.impl.benchmark_names import names_of
from dpassay.impl.catalogue import Entry, entries
from dpassay.properties.contract import MechanismRecord
from dpassay.properties.hunting.formatting import relation_words
from dpassay.properties.pairing.registry import has_exact_distribution

__all__ = ["mechanism_record", "mechanism_records"]


def mechanism_records(source: str | None = None) -> list[MechanismRecord]:
    """Return one record for each mechanism of the catalogue (of one source, if given), right or broken."""
    records = [mechanism_record(entry) for entry in entries()]
    return [record for record in records if source is None or source in record.sources]


def mechanism_record(entry: Entry) -> MechanismRecord:
    """Return the record of one mechanism."""
    mutation = entry.mutation
    return MechanismRecord(
        where=entry.where,
        claims=[str(claim) for claim in entry.mechanism.claims],
        neighbours=relation_words(entry.mechanism.neighbours),
        exact_distribution=has_exact_distribution(entry.mechanism),
        broken=mutation is not None,
        fault=None if mutation is None else mutation.fault,
        caught_by=[] if mutation is None else list(mutation.caught_by),
        sources=sorted({source for source, _ in entry.items}),
        items=list(entry.items),
        names=names_of(entry.where),
    )
