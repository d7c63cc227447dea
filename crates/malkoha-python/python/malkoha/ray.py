"""Filters on a Ray cluster: built by all workers and united, sent to all, used to move less.

``**options`` are those of CuckooFilter: ``fpr``, ``capacity``, ``seed`` or ``key``. All filters grow.
"""

import pandas as pd
import ray
from pandas.util import hash_pandas_object
from ray.data import Dataset

from . import CuckooFilter, _parts

__all__ = ["build", "deduplicate", "prune"]


def build(data: Dataset, on: str, **options) -> CuckooFilter:
    """A filter of all keys of column `on`. Workers build filters of their blocks; what moves are
    filters."""
    return _united(data, on, _parts.united, options)


def prune(data: Dataset, on: str, keys: CuckooFilter) -> Dataset:
    """The rows whose key in column `on` is in the filter, and its false positives: before a join, so
    that the others do not move. Rows whose key is null are left out. The filter is put into the
    object store, once on each machine."""
    keys = ray.put(keys)
    return data.map_batches(
        lambda part: _parts.kept(part, on, ray.get(keys)), batch_format="pandas", batch_size=None
    )


def deduplicate(data: Dataset, on: str, **options) -> Dataset:
    """One row for each key of column `on`, which holds no nulls: no key is lost. A filter of each
    block tells which keys may be in several; only their rows move. Which of the rows of a key stays
    is left open."""
    # Blocks have to be the same each time.
    data = data.materialize()
    parts_of = ray.put(_united(data, on, _parts.summed, options))

    def side(which):
        return data.map_batches(
            lambda part: _parts.split(part, on, ray.get(parts_of))[which],
            batch_format="pandas",
            batch_size=None,
        )

    return side(0).union(_once(side(1), on, max(data.num_blocks(), 1)))


def _once(data, on, groups):
    """One row for each key, of whatever blocks: all rows move. Ray calls a function for each group,
    so a group is many keys."""
    group = f"group of {on}"

    def mark(rows):
        return rows.assign(**{group: hash_pandas_object(rows[on], index=False) % groups})

    def first(rows):
        return rows.drop_duplicates(on).drop(columns=group)

    marked = data.map_batches(mark, batch_format="pandas", batch_size=None)
    return marked.groupby(group, num_partitions=groups).map_groups(first, batch_format="pandas")


def _united(data, on, unite, options):
    def part(rows):
        return pd.DataFrame({"filter": [_parts.filter_of(rows[on], options).to_bytes()]})

    filters = data.map_batches(part, batch_format="pandas", batch_size=None)
    read = (CuckooFilter.from_bytes(row["filter"]) for row in filters.iter_rows())
    return unite(read, options)
