"""Frames of Tumult Core without Spark: their domain, and what gives rows for a row, for its adapter."""

from __future__ import annotations

from unittest import mock

from tmlt.core.domains.collections import ListDomain
from tmlt.core.domains.spark_domains import (
    SparkDataFrameDomain,
    SparkFloatColumnDescriptor,
    SparkIntegerColumnDescriptor,
    SparkRowDomain,
    SparkStringColumnDescriptor,
)
from tmlt.core.transformations.spark_transformations import filter as filters
from tmlt.core.transformations.spark_transformations.map import (
    RowsToRowsTransformation,
    RowToRowsTransformation,
    RowToRowTransformation,
)

__all__ = ["SCHEMA", "TABLE", "WHOLES", "one_row", "rows_of_ids", "several_rows", "without_session"]

SCHEMA = {
    "id": SparkIntegerColumnDescriptor(),
    "group": SparkStringColumnDescriptor(),
    "whole": SparkIntegerColumnDescriptor(allow_null=True),
    "value": SparkFloatColumnDescriptor(allow_nan=True, allow_inf=True, allow_null=True),
}
TABLE = SparkDataFrameDomain(SCHEMA)
WHOLES = SparkDataFrameDomain({**SCHEMA, "whole": SparkIntegerColumnDescriptor()})
"""The same table without missing whole numbers, which may be added."""

_ROW = SparkRowDomain(SCHEMA)
_WIDE_ROW = SparkRowDomain({**SCHEMA, "new": SparkIntegerColumnDescriptor()})
_NEW_ROW = SparkRowDomain({"new": SparkIntegerColumnDescriptor()})


def one_row(*, augment=True):
    """Return what gives a row for a row, in place of it or in addition to its columns."""
    return RowToRowTransformation(_ROW, _WIDE_ROW if augment else _NEW_ROW, lambda _row: {"new": 1}, augment)


def several_rows(*, augment=True):
    """Return what gives rows for a row, in place of it or in addition to its columns."""
    domain = ListDomain(_WIDE_ROW if augment else _NEW_ROW)
    return RowToRowsTransformation(_ROW, domain, lambda _row: [{"new": 1}], augment)


def rows_of_ids():
    """Return what gives rows for all rows of an id."""
    return RowsToRowsTransformation(ListDomain(_ROW), ListDomain(_NEW_ROW), lambda rows: [{"new": len(rows)}])


def without_session(make, *arguments):
    """Return a filter, which tries its condition on an empty table, with a stand-in for the entry to Spark."""
    with mock.patch.object(filters, "SparkSession"):
        return make(*arguments)
