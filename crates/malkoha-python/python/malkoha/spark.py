"""Filters on a Spark cluster: built by all workers and united, broadcast, used to move less.

``on`` is the name of a column, or a list of several: the tuples of their values are the keys then.
``**options`` are those of CuckooFilter: ``fpr``, ``capacity``, ``seed`` or ``key``. All filters grow.
For texts they are those of Deduplicator: ``shingle``, ``bands``, ``rate``, ``seed`` or ``key``.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

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


def deduplicate_text(
    frame: DataFrame, on: str, near: float = 0.8, *, shuffle: bool = False, **options
) -> DataFrame:
    """The rows whose text in column `on`, which holds no nulls, is not similar to that of a row
    before them that stays. The same ones as of one machine: the order is that of the partitions,
    and of the rows in them. Tasks compute keys of their texts; the driver decides by them, now, and
    what this returns reads the frame a second time, which has to be the same.

    With `shuffle`, Spark shuffles the keys, tasks settle most rows, and the driver decides on the
    others alone. The same rows stay but for false positives: there are fewer."""
    options = {"near": near, **options}
    bands = Deduplicator(**options).band_keys([]).shape[1]
    pack = (lambda *keys: pa.record_batch(_parts.pairs(*keys))) if shuffle else _packed

    def sign(batches):
        part, row, check = TaskContext.get().partitionId(), 0, 0
        for batch in batches:
            texts = batch.column(on)
            keys = _parts.signed(texts, options)
            yield pack(_parts.ids(part, row, len(keys)), keys)
            row, check = row + len(keys), _parts.check(pc.utf8_length(texts), check)
        yield pack(*_parts.mark(part, check, bands))

    signed = frame.select(on).mapInArrow(sign, "id long, key long" if shuffle else PACKED)
    rows = _rows(_unsettled(signed, bands) if shuffle else signed)
    rows = ([np.frombuffer(column, np.int64) for column in row] for row in rows)
    rows = ((ids, keys.view("uint64").reshape(-1, bands), gone) for ids, keys, gone in rows)
    parts = frame.sparkSession.sparkContext.broadcast(_parts.decided(rows, options))

    def keep(batches):
        nothing = np.zeros(1, np.uint8), 0
        bits, wanted = parts.value.get(TaskContext.get().partitionId(), nothing)
        first, check = 0, 0
        for batch in batches:
            check = _parts.check(pc.utf8_length(batch.column(on)), check)
            yield batch.filter(pa.array(_parts.staying(bits, first, batch.num_rows)))
            first += batch.num_rows
        _parts.must_equal(check, wanted)

    return frame.mapInArrow(keep, frame.schema)


PACKED = "ids binary, keys binary, gone binary"


def _packed(ids, keys, gone=np.empty(0)):
    """Many rows as one."""
    columns = {"ids": ids, "keys": keys, "gone": gone}
    return pa.record_batch({name: [column.tobytes()] for name, column in columns.items()})


def _unsettled(pairs, bands):
    """The rows that are left for the driver. Keys move to equal ones, then to those of their row,
    twice: a row that is the first with each of its keys stays and takes them, and later rows with
    such a key go."""
    by_key, by_id = Window.partitionBy("key"), Window.partitionBy("id")
    is_mark = F.expr("id % 4294967296 = 0")
    known = {"first": F.min("id").over(by_key), "rows": F.count("*").over(by_key)}
    pairs = pairs.withColumns(known).where(is_mark | F.expr("rows > 1"))
    pairs = pairs.withColumn("stays", F.min(F.expr("first = id")).over(by_id))
    pairs = pairs.withColumn("taken", F.max("stays").over(by_key))
    pairs = pairs.where(is_mark | F.expr("not stays")).repartitionByRange("id")
    keys = F.max("taken").alias("taken"), F.collect_list("key").alias("keys")
    rows = pairs.groupBy("id").agg(*keys)

    def pack(batches):
        for batch in batches:
            ids, taken, keys = (batch.column(name) for name in ("id", "taken", "keys"))
            columns = ids, taken, keys.flatten(), pc.list_value_length(keys)
            columns = (column.to_numpy(zero_copy_only=False) for column in columns)
            yield _packed(*_parts.unsettled(*columns, bands))

    return rows.sortWithinPartitions("id").mapInArrow(pack, PACKED)


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
