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
