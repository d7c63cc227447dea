"""Filters on a Dask cluster: built by all workers and united, sent to all, used to move less.

``**options`` are those of CuckooFilter: ``fpr``, ``capacity``, ``seed`` or ``key``. All filters grow.
"""

from functools import partial

import dask
import dask.dataframe as dd

from . import CuckooFilter, _parts

__all__ = ["build", "deduplicate", "prune"]


def build(column: dd.Series, **options) -> CuckooFilter:
    """A filter of all keys of a column. Each worker builds filters of its partitions; what moves are
    filters, in a tree of unions."""
    return _tree(_filters(column, options), _parts.united, options).compute()


def prune(frame: dd.DataFrame, on: str, keys: CuckooFilter) -> dd.DataFrame:
    """The rows whose key in column `on` is in the filter, and its false positives: before a join, so
    that the others do not move. Rows whose key is null are left out."""
    return frame.map_partitions(_parts.kept, on, dask.delayed(keys), meta=frame._meta)


def deduplicate(frame: dd.DataFrame, on: str, **options) -> dd.DataFrame:
    """One row for each key of column `on`, which holds no nulls: no key is lost. A filter of each
    partition tells which keys may be in several; only their rows move. Which of the rows of a key
    stays is left open."""
    parts_of = _tree(_filters(frame[on], options), _parts.summed, options).persist()
    meta = frame._meta
    alone = frame.map_partitions(_side, on, parts_of, 0, meta=meta)
    others = frame.map_partitions(_side, on, parts_of, 1, meta=meta)
    return dd.concat([alone, others.drop_duplicates(on, split_out=others.npartitions)])


def _side(part, on, parts_of, side):
    return _parts.split(part, on, parts_of)[side]


def _filters(column, options):
    make = dask.delayed(partial(_parts.filter_of, options=options), pure=False)
    return [make(part) for part in column.to_delayed()]


def _tree(filters, unite, options, width=4):
    unite = dask.delayed(partial(unite, options=options), pure=False)
    while len(filters) > 1:
        filters = [unite(filters[i : i + width]) for i in range(0, len(filters), width)]
    return filters[0]
