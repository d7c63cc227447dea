"""Filters on a Dask cluster: built by all workers and united, sent to all, used to move less.

``on`` is the name of a column, or a list of several: the tuples of their values are the keys then. For
``build``, select them: ``frame[["user", "page"]]``.
``**options`` are those of CuckooFilter: ``fpr``, ``capacity``, ``seed`` or ``key``. All filters grow.
For texts they are those of Deduplicator: ``shingle``, ``bands``, ``rate``, ``seed`` or ``key``.
"""

from functools import partial

import dask
import dask.dataframe as dd

from . import CuckooFilter, _parts
from .text import Deduplicator

__all__ = ["build", "deduplicate", "deduplicate_text", "prune"]


def build(column: dd.Series | dd.DataFrame, **options) -> CuckooFilter:
    """A filter of all keys of a column. Each worker builds filters of its partitions; what moves are
    filters, in a tree of unions."""
    return _tree(_filters(column.to_delayed(), options), _parts.united, options).compute()


def prune(frame: dd.DataFrame, on: str | list[str], keys: CuckooFilter) -> dd.DataFrame:
    """The rows whose key in column `on` is in the filter, and its false positives: before a join, so
    that the others do not move. Rows whose key is null are left out."""
    return frame.map_partitions(_parts.kept, on, dask.delayed(keys), meta=frame._meta)


def deduplicate(frame: dd.DataFrame, on: str | list[str], **options) -> dd.DataFrame:
    """One row for each key of column `on`, which holds no nulls: no key is lost. A filter of each
    partition tells which keys may be in several; only their rows move. Which of the rows of a key
    stays is left open."""
    # The very parts that are split below: a column by itself, Dask may read in other parts.
    parts = frame.to_delayed()
    on = _parts.columns(on)
    filters = _filters([part[on] for part in parts], options)
    parts_of = _tree(filters, _parts.summed, options).persist()
    split = dask.delayed(_parts.split, nout=2, pure=False)
    sides = zip(*[split(part, on, parts_of) for part in parts])
    alone, others = [dd.from_delayed(side, meta=frame._meta) for side in sides]
    return dd.concat([alone, others.drop_duplicates(on, split_out=others.npartitions)])


def deduplicate_text(frame: dd.DataFrame, on: str, near: float = 0.8, **options) -> dd.DataFrame:
    """The rows whose text in column `on`, which holds no nulls, is not similar to that of a row
    before them that stays. The same ones as of one machine: the order is that of the partitions,
    and of the rows in them. Workers compute keys of their texts; this process decides by them, now,
    and what it returns reads the frame a second time, which has to be the same."""
    options = {"near": near, **options}
    parts = frame.to_delayed()
    sign = dask.delayed(_signed, pure=False)
    keep = dask.delayed(_kept, pure=False)
    seen, kept = Deduplicator(**options), []
    # Not more at a time, because the keys of all texts can be too many for this process.
    for i in range(0, len(parts), 64):
        some = parts[i : i + 64]
        for part, (keys, check) in zip(some, dask.compute(*[sign(part[on], options) for part in some])):
            kept.append(keep(part, on, seen.keep_keys(keys), check))
    return dd.from_delayed(kept, meta=frame._meta)


def _signed(texts, options):
    return _parts.signed(texts, options), _parts.check(texts.str.len())


def _kept(part, on, mask, check):
    _parts.must_equal(_parts.check(part[on].str.len()), check)
    return part[mask]


def _filters(columns, options):
    make = dask.delayed(partial(_parts.filter_of, options=options), pure=False)
    return [make(column) for column in columns]


def _tree(filters, unite, options, width=4):
    unite = dask.delayed(partial(unite, options=options), pure=False)
    while len(filters) > 1:
        filters = [unite(filters[i : i + width]) for i in range(0, len(filters), width)]
    return filters[0]
