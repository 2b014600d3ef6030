"""The names of the common benchmark: those of the comparison, each of them a mechanism of the catalogue."""

from benchmarks.rows import EXTRAS, ROWS

from dpassay.impl.benchmark_names import address_of, all_names, names_of
from dpassay.impl.catalogue import entries


def test_names_are_those_of_the_benchmark() -> None:
    assert {name: address_of(name) for name in all_names()} == {row.name: row.target for row in (*ROWS, *EXTRAS)}


def test_names_are_mechanisms_of_the_catalogue() -> None:
    places = {entry.where for entry in entries()}
    for name in all_names():
        address = address_of(name.lower())
        assert address in places
        assert names_of(address or "") == [name]
