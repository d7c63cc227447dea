"""Filters on a Spark cluster: built by all workers and united, broadcast, used to move less.

``on`` is the name of a column, or a list of several: the tuples of their values are the keys then.
``**options`` are those of CuckooFilter: ``fpr``, ``capacity``, ``seed`` or ``key``. All filters grow.
For texts they are those of Deduplicator: ``shingle``, ``bands``, ``rate``, ``seed`` or ``key``.
"""

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame

from . import CuckooFilter, _parts
from .text import Deduplicator

__all__ = ["build", "deduplicate", "deduplicate_text", "prune"]


def build(frame: DataFrame, on: str | list[str], **options) -> CuckooFilter:
    """A filter of all keys of column `on`. Each task builds a filter of its partition; what moves
    are filters."""
    return _parts.united(_filters(frame, on, options, distinct=True), options)


def prune(frame: DataFrame, on: str | list[str], keys: CuckooFilter) -> DataFrame:
    """The rows whose key in column `on` is in the filter, and its false positives: before a join, so
    that the others do not move. Rows whose key is null are left out. The filter is broadcast."""
    keys = frame.sparkSession.sparkContext.broadcast(keys)

    def keep(batches):
        for batch in batches:
            yield batch.filter(pa.array(keys.value.contains_many(batch.select(_parts.columns(on)))))

    return frame.mapInArrow(keep, frame.schema)


def deduplicate(frame: DataFrame, on: str | list[str], **options) -> DataFrame:
    """One row for each key of column `on`, which holds no nulls: no key is lost. A filter of all
    rows' keys counts which may be there several times; only their rows are shuffled. Which of the
    rows of a key stays is left open. The frame is read twice, and has to be the same each time."""
    on = _parts.columns(on)
    copies = _parts.summed(_filters(frame, on, options, distinct=False), options)
    copies = frame.sparkSession.sparkContext.broadcast(copies)

    def side(alone):
        def rows(batches):
            for batch in batches:
                is_alone = copies.value.count_many(batch.select(on)) <= 1
                yield batch.filter(pa.array(is_alone == alone))

        return rows

    alone = frame.mapInArrow(side(True), frame.schema)
    others = frame.mapInArrow(side(False), frame.schema)
    return alone.union(others.dropDuplicates(on))


def deduplicate_text(frame: DataFrame, on: str, near: float = 0.8, **options) -> DataFrame:
    """The rows whose text in column `on`, which holds no nulls, is not similar to that of a row
    before them that stays. The same ones as of one machine: the order is that of the partitions,
    and of the rows in them. Tasks compute keys of their texts; the driver decides by them, now, and
    what this returns reads the frame a second time, which has to be the same."""
    options = {"near": near, **options}

    def sign(batches):
        number, check = TaskContext.get().partitionId(), 0
        for batch in batches:
            texts = batch.column(on)
            keys = _parts.signed(texts, options).tobytes()
            check = _parts.check(pc.utf8_length(texts), check)
            columns = [pa.array([number]), pa.array([check]), pa.array([keys], pa.binary())]
            yield pa.record_batch(columns, ["part", "check", "keys"])

    signed = frame.select(on).mapInArrow(sign, "part long, check long, keys binary")
    seen, masks, checks = Deduplicator(**options), defaultdict(list), {}
    bands = seen.band_keys([]).shape[1]
    for row in _rows(signed):
        keys = np.frombuffer(row["keys"], np.uint64).reshape(-1, bands)
        masks[row["part"]].append(seen.keep_keys(keys))
        checks[row["part"]] = row["check"]
    parts = {part: (np.concatenate(masks[part]), check) for part, check in checks.items()}
    parts = frame.sparkSession.sparkContext.broadcast(parts)

    def keep(batches):
        mask, wanted = parts.value.get(TaskContext.get().partitionId(), ([], 0))
        first, check = 0, 0
        for batch in batches:
            check = _parts.check(pc.utf8_length(batch.column(on)), check)
            here = mask[first : first + batch.num_rows]
            _parts.must_equal(len(here), batch.num_rows)
            first += batch.num_rows
            yield batch.filter(pa.array(here, pa.bool_()))
        _parts.must_equal(check, wanted)

    return frame.mapInArrow(keep, frame.schema)


def _filters(frame, on, options, *, distinct):
    def part(batches):
        seen = CuckooFilter(**options)
        add = seen.add_unique_many if distinct else seen.add_many
        for batch in batches:
            add(batch)
        yield pa.record_batch({"filter": pa.array([seen.to_bytes()], pa.binary())})

    filters = frame.select(_parts.columns(on)).mapInArrow(part, "filter binary")
    return (CuckooFilter.from_bytes(bytes(row["filter"])) for row in _rows(filters))


def _rows(frame):
    """The rows, in order. All tasks compute them first, because toLocalIterator() asks for one
    partition after another."""
    frame.persist().count()
    yield from frame.toLocalIterator()
    frame.unpersist()
