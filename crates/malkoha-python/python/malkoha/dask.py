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
    return _tree(_filters(column.to_delayed(), options), _parts.united, options).compute()


def prune(frame: dd.DataFrame, on: str, keys: CuckooFilter) -> dd.DataFrame:
    """The rows whose key in column `on` is in the filter, and its false positives: before a join, so
    that the others do not move. Rows whose key is null are left out."""
    return frame.map_partitions(_parts.kept, on, dask.delayed(keys), meta=frame._meta)


def deduplicate(frame: dd.DataFrame, on: str, **options) -> dd.DataFrame:
    """One row for each key of column `on`, which holds no nulls: no key is lost. A filter of each
    partition tells which keys may be in several; only their rows move. Which of the rows of a key
    stays is left open."""
    # The very parts that are split below: a column by itself, Dask may read in other parts.
    parts = frame.to_delayed()
    filters = _filters([part[on] for part in parts], options)
    parts_of = _tree(filters, _parts.summed, options).persist()
    split = dask.delayed(_parts.split, nout=2, pure=False)
    sides = zip(*[split(part, on, parts_of) for part in parts])
    alone, others = [dd.from_delayed(side, meta=frame._meta) for side in sides]
    return dd.concat([alone, others.drop_duplicates(on, split_out=others.npartitions)])


def _filters(columns, options):
    make = dask.delayed(partial(_parts.filter_of, options=options), pure=False)
    return [make(column) for column in columns]


def _tree(filters, unite, options, width=4):
    unite = dask.delayed(partial(unite, options=options), pure=False)
    while len(filters) > 1:
        filters = [unite(filters[i : i + width]) for i in range(0, len(filters), width)]
    return filters[0]
