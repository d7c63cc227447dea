"""Filters on a Spark cluster: built by all workers and united, broadcast, used to move less.

``**options`` are those of CuckooFilter: ``fpr``, ``capacity``, ``seed`` or ``key``. All filters grow.
"""

import pyarrow as pa
from pyspark.sql import DataFrame

from . import CuckooFilter, _parts

__all__ = ["build", "deduplicate", "prune"]


def build(frame: DataFrame, on: str, **options) -> CuckooFilter:
    """A filter of all keys of column `on`. Each task builds a filter of its partition; what moves
    are filters."""
    return _parts.united(_filters(frame, on, options, distinct=True), options)


def prune(frame: DataFrame, on: str, keys: CuckooFilter) -> DataFrame:
    """The rows whose key in column `on` is in the filter, and its false positives: before a join, so
    that the others do not move. Rows whose key is null are left out. The filter is broadcast."""
    keys = frame.sparkSession.sparkContext.broadcast(keys)

    def keep(batches):
        for batch in batches:
            yield batch.filter(pa.array(keys.value.contains_many(batch.column(on))))

    return frame.mapInArrow(keep, frame.schema)


def deduplicate(frame: DataFrame, on: str, **options) -> DataFrame:
    """One row for each key of column `on`, which holds no nulls: no key is lost. A filter of all
    rows' keys counts which may be there several times; only their rows are shuffled. Which of the
    rows of a key stays is left open. The frame is read twice, and has to be the same each time."""
    copies = _parts.summed(_filters(frame, on, options, distinct=False), options)
    copies = frame.sparkSession.sparkContext.broadcast(copies)

    def side(alone):
        def rows(batches):
            for batch in batches:
                is_alone = copies.value.count_many(batch.column(on)) <= 1
                yield batch.filter(pa.array(is_alone == alone))

        return rows

    alone = frame.mapInArrow(side(True), frame.schema)
    others = frame.mapInArrow(side(False), frame.schema)
    return alone.union(others.dropDuplicates([on]))


def _filters(frame, on, options, *, distinct):
    def part(batches):
        seen = CuckooFilter(**options)
        add = seen.add_unique_many if distinct else seen.add_many
        for batch in batches:
            add(batch.column(on))
        yield pa.record_batch({"filter": pa.array([seen.to_bytes()], pa.binary())})

    filters = frame.select(on).mapInArrow(part, "filter binary")
    return (CuckooFilter.from_bytes(bytes(row["filter"])) for row in filters.toLocalIterator())
