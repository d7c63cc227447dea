"""Filters on a Dask cluster: built by all workers and united, sent to all, used to move less.

``on`` is the name of a column, or a list of several: the tuples of their values are the keys then. For
``build``, select them: ``frame[["user", "page"]]``.
``**options`` are those of CuckooFilter: ``fpr``, ``capacity``, ``seed`` or ``key``. All filters grow.
For texts they are those of Deduplicator: ``shingle``, ``bands``, ``rate``, ``seed`` or ``key``.
"""

from functools import partial
from itertools import chain

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

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


def deduplicate_text(
    frame: dd.DataFrame, on: str, near: float = 0.8, *, shuffle: bool = False, **options
) -> dd.DataFrame:
    """The rows whose text in column `on`, which holds no nulls, is not similar to that of a row
    before them that stays. The same ones as of one machine: the order is that of the partitions,
    and of the rows in them. Workers compute keys of their texts; this process decides by them, now,
    and what it returns reads the frame a second time, which has to be the same.

    With `shuffle`, Dask shuffles the keys, workers settle most rows, and this process decides on
    the others alone. The same rows stay but for false positives: there are fewer."""
    options = {"near": near, **options}
    bands = Deduplicator(**options).band_keys([]).shape[1]
    parts = frame.to_delayed()
    sign, keep = dask.delayed(_signed, pure=False), dask.delayed(_kept, pure=False)
    signed = [sign(part[on], number, options, bands) for number, part in enumerate(parts)]
    if shuffle:
        signed = _unsettled(signed, bands)
    # Not more at a time, because the keys of all texts can be too many for this process.
    some = (dask.compute(*signed[i : i + 64]) for i in range(0, len(signed), 64))
    found = _parts.decided(chain.from_iterable(some), options)
    kept = [keep(part, on, *found[number]) for number, part in enumerate(parts)]
    return dd.from_delayed(kept, meta=frame._meta)


def _signed(texts, part, options, bands):
    keys = _parts.signed(texts, options)
    mark, check = _parts.mark(part, _parts.check(texts.str.len()), bands)
    ids = np.concatenate([mark, _parts.ids(part, 0, len(keys))])
    return ids, np.concatenate([check, keys]), ids[:0]


def _kept(part, on, bits, check):
    _parts.must_equal(_parts.check(part[on].str.len()), check)
    return part[_parts.staying(bits, 0, len(part))]


def _unsettled(signed, bands):
    """The rows that are left for this process. Keys move to equal ones, then to those of their row,
    twice: a row that is the first with each of its keys stays and takes them, and later rows with
    such a key go."""
    pairs = dask.delayed(lambda rows: pd.DataFrame(_parts.pairs(*rows[:2])), pure=False)
    pairs = dd.from_delayed([pairs(rows) for rows in signed], meta={"id": "int64", "key": "int64"})

    def share(part):
        part = part[part["key"].duplicated(keep=False) | _parts.is_mark(part["id"])]
        return part.assign(first=part["id"] == part.groupby("key")["id"].transform("min"))

    def stay(part):
        return part.assign(stays=part.groupby("id")["first"].transform("min"))

    def take(part):
        part = part.assign(taken=part.groupby("key")["stays"].transform("max"))
        return part[~part["stays"] | _parts.is_mark(part["id"])]

    def pack(part):
        part = part.sort_index()
        ids, first, counts = np.unique(part.index, return_index=True, return_counts=True)
        taken = np.logical_or.reduceat(part["taken"].to_numpy(), first)
        return _parts.unsettled(ids, taken, part["key"].to_numpy(), counts, bands)

    for by, step in ("key", share), ("id", stay), ("key", take):
        pairs = pairs.shuffle(by).map_partitions(step)
    parts = pairs.set_index("id", divisions=[part << 32 for part in range(len(signed) + 1)])
    return [dask.delayed(pack, pure=False)(part) for part in parts.persist().to_delayed()]


def _filters(columns, options):
    make = dask.delayed(partial(_parts.filter_of, options=options), pure=False)
    return [make(column) for column in columns]


def _tree(filters, unite, options, width=4):
    unite = dask.delayed(partial(unite, options=options), pure=False)
    while len(filters) > 1:
        filters = [unite(filters[i : i + width]) for i in range(0, len(filters), width)]
    return filters[0]
