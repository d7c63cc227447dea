"""The work of a cluster on one part of a table, for every engine."""

from . import CuckooFilter


def filter_of(keys, options):
    """A filter of the distinct keys of a part."""
    seen = CuckooFilter(**options)
    seen.add_many(keys.unique())
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
    return part[keys.contains_many(part[on])]


def split(part, on, parts_of):
    """Rows of a part with distinct keys, in two: keys of this part alone, and the others, which may
    be in several parts."""
    part = part.drop_duplicates(on)
    alone = parts_of.count_many(part[on]) <= 1
    return part[alone], part[~alone]
