"""Filters on a Ray cluster: built by all workers and united, sent to all, used to move less.

``on`` is the name of a column, or a list of several: the tuples of their values are the keys then.
``**options`` are those of CuckooFilter: ``fpr``, ``capacity``, ``seed`` or ``key``. All filters grow.
For texts they are those of Deduplicator: ``shingle``, ``bands``, ``rate``, ``seed`` or ``key``.
"""

import numpy as np
import pyarrow as pa
import ray
from pandas.util import hash_pandas_object
from ray.data import Dataset

from . import CuckooFilter, _parts
from .text import Deduplicator

__all__ = ["build", "deduplicate", "deduplicate_text", "prune"]


def build(data: Dataset, on: str | list[str], **options) -> CuckooFilter:
    """A filter of all keys of column `on`. Workers build filters of their blocks; what moves are
    filters."""
    return _united(data, on, _parts.united, options, distinct=True)


def prune(data: Dataset, on: str | list[str], keys: CuckooFilter) -> Dataset:
    """The rows whose key in column `on` is in the filter, and its false positives: before a join, so
    that the others do not move. Rows whose key is null are left out. The filter is put into the
    object store, once on each machine."""
    keys = ray.put(keys)

    def keep(part):
        return part.filter(pa.array(ray.get(keys).contains_many(part.select(_parts.columns(on)))))

    return data.map_batches(keep, batch_format="pyarrow", batch_size=None)


def deduplicate(data: Dataset, on: str | list[str], **options) -> Dataset:
    """One row for each key of column `on`, which holds no nulls: no key is lost. A filter of all
    rows' keys counts which may be there several times; only their rows move. Which of the rows of a
    key stays is left open. The data is read three times, of which once column `on` alone, and has to
    be the same each time: materialize() what is not, or is slow to make. Rows that move are put into
    the object store now."""
    on = _parts.columns(on)
    copies = ray.put(_united(data, on, _parts.summed, options, distinct=False))

    def side(alone):
        def rows(part):
            if not len(part):
                return part
            is_alone = ray.get(copies).count_many(part.select(on)) <= 1
            return part.filter(pa.array(is_alone == alone))

        return data.map_batches(rows, batch_format="pyarrow", batch_size=None)

    groups = 4 * int(ray.cluster_resources().get("CPU", 1))
    shared = side(False).materialize()
    # Ray cannot group what has no rows.
    return side(True).union(_once(shared, on, groups)) if shared.count() else side(True)


def deduplicate_text(
    data: Dataset, on: str, near: float = 0.8, *, actors: int = 1, **options
) -> Dataset:
    """The rows whose text in column `on`, which holds no nulls, is not similar to that of a row
    before them that stays. The same ones as of one machine: the order is that of the blocks, and of
    the rows in them. Workers compute keys of their texts; one actor decides by them, now. The data is
    read once and put into the object store.

    Several `actors` divide the bands among them: each holds and compares the keys of its own. The
    same rows stay but for false positives, which are other ones, at the same rate."""
    options = {"near": near, **options}
    Deduplicator(**options)  # Bad options are an error here, not in an actor.
    order, data.context.execution_options.preserve_order = (
        data.context.execution_options.preserve_order,
        True,
    )
    try:
        blocks = data.to_arrow_refs()
    finally:
        data.context.execution_options.preserve_order = order
    if actors == 1:
        decider = _Decider.remote(options)
        signed = [(_signed.remote(block, on, options),) for block in blocks]
    else:
        decider = _Arbiter.remote([_Holder.remote(options) for _ in range(actors)])
        spread = _spread.options(num_returns=1 + actors)
        signed = [spread.remote(block, on, options, actors) for block in blocks]
        # In a list, they stay where they are until a holder asks for its own.
        signed = [(shared, bands) for shared, *bands in signed]
    masks = [decider.keep.remote(i, *keys) for i, keys in enumerate(signed)]
    return ray.data.from_arrow_refs([_kept.remote(*one) for one in zip(blocks, masks)])


def _texts(block, on):
    """A column; a block without rows may have none."""
    return block[on] if len(block) else pa.array([], pa.string())


@ray.remote
def _signed(block, on, options):
    return _parts.signed(_texts(block, on), options)


@ray.remote
def _spread(block, on, options, actors):
    keys = _parts.signed(_texts(block, on), options)
    if not 1 <= actors <= keys.shape[1]:
        raise ValueError(f"there are {keys.shape[1]} bands: give at most that many actors, not {actors}")
    bands = [keys[:, actor::actors].copy() for actor in range(actors)]
    return _parts.shared(keys), *((part, keys.shape[1]) for part in bands)


@ray.remote
def _kept(block, mask):
    return block.filter(pa.array(mask)) if len(block) else block


@ray.remote
class _Decider:
    def __init__(self, options):
        self.seen, self.next = Deduplicator(**options), 0

    def keep(self, number, keys):
        self.next = _parts.follows(number, self.next)
        return self.seen.keep_keys(keys)


@ray.remote
class _Arbiter:
    """Decides by what the holders of bands find."""

    def __init__(self, holders):
        self.holders, self.next, self.added = holders, 0, []

    def keep(self, number, shared, bands):
        self.next = _parts.follows(number, self.next)
        found = [holder.find.remote(keys) for holder, keys in zip(self.holders, bands)]
        ray.get(self.added)
        keep = _parts.settled(np.logical_or.reduce(ray.get(found)), shared)
        mask = ray.put(keep)
        # A holder does this before it looks for the keys of the next block.
        self.added = [holder.add.remote(keys, mask) for holder, keys in zip(self.holders, bands)]
        return keep


@ray.remote
class _Holder:
    """The keys of some bands."""

    def __init__(self, options):
        self.rate = options.get("rate", 1e-4)
        self.hash, self.seen = {name: options[name] for name in ("seed", "key") if name in options}, None

    def find(self, signed):
        keys, bands = signed
        if self.seen is None:
            self.seen = CuckooFilter(fpr=self.rate / bands, **self.hash)
        return self.seen.contains_many(keys.ravel()).reshape(keys.shape).any(axis=1)

    def add(self, signed, mask):
        self.seen.add_unique_many(signed[0][mask].ravel())


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


def _united(data, on, unite, options, *, distinct):
    on = _parts.columns(on)

    def part(rows):
        seen = CuckooFilter(**options)
        add = seen.add_unique_many if distinct else seen.add_many
        add(rows.select(on))
        return pa.table({"filter": pa.array([seen.to_bytes()], pa.large_binary())})

    keys = data.select_columns(on)
    filters = keys.map_batches(part, batch_format="pyarrow", batch_size=None)
    read = (CuckooFilter.from_bytes(row["filter"]) for row in filters.iter_rows())
    return unite(read, options)
