"""The work of a cluster on one part of a table, for every engine."""

import zlib

import numpy as np

from . import CuckooFilter
from .text import Deduplicator


def columns(on):
    """The names of one column or of several."""
    return [on] if isinstance(on, str) else list(on)


def filter_of(keys, options):
    """A filter of the distinct keys of a part: of a pandas column, or a frame of several."""
    seen = CuckooFilter(**options)
    seen.add_many(keys.drop_duplicates())
    return seen


def united(filters, options):
    """The union of filters of the same hash: that of sets."""
    total = CuckooFilter(**options)
    for one in filters:
        total |= one
    return total


def summed(filters, options):
    """Counts in how many of some filters a key seems to be."""
    total = CuckooFilter(**options)
    for one in filters:
        total.sum_with(one)
    return total


def kept(part, on, keys):
    """The rows of a pandas part whose key is in the filter."""
    return part[keys.contains_many(part[columns(on)])]


def split(part, on, parts_of):
    """Rows of a part with distinct keys, in two: keys of this part alone, and the others, which may
    be in several parts."""
    part = part.drop_duplicates(on)
    alone = parts_of.count_many(part[columns(on)]) <= 1
    return part[alone], part[~alone]


def signed(texts, options):
    """The keys by which a decider compares the texts of a part."""
    return Deduplicator(**options).band_keys(texts, threads=1)


def follows(number, wanted):
    """The number of the next block; an error if this one is not the wanted one."""
    if number != wanted:
        raise RuntimeError(f"block {number} came before block {wanted}")
    return number + 1


def shared(keys):
    """The rows of a part's band keys that share one with another row, and the numbers of the keys
    that they share: -1 for the others."""
    _, number, count = np.unique(keys, return_inverse=True, return_counts=True)
    number = number.reshape(keys.shape)
    number[count[number] == 1] = -1
    rows = np.flatnonzero((number >= 0).any(axis=1))
    return rows, number[rows]


def settled(found, shared):
    """Whether each row of a part stays: `found` says whether its keys are those of a row before the
    part, `shared` which keys its rows share."""
    keep, taken = ~found, set()
    for row, numbers in zip(*(column.tolist() for column in shared)):
        if keep[row]:
            numbers = {number for number in numbers if number >= 0}
            keep[row] = taken.isdisjoint(numbers)
            if keep[row]:
                taken |= numbers
    return keep


def check(lengths, before=0):
    """A number that another order of a part's texts, which have these lengths, is unlikely to have.
    `before` is that of the texts before them."""
    return zlib.crc32(np.asarray(lengths, "int64").tobytes(), before)


def must_equal(found, wanted):
    """Refuses a part whose second reading is not the first one."""
    if found != wanted:
        raise RuntimeError(
            "rows of a part or their order changed between two readings: persist the frame first"
        )
