"""The work of a cluster on one part of a table, for every engine."""

import zlib
from collections import defaultdict

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


def ids(part, first, count):
    """Ids of rows of a part, in order. The part's own id is before them: that of its mark."""
    return (part << 32) + np.arange(first + 1, first + count + 1, dtype="uint32").astype("int64")


def is_mark(ids):
    return ids % (1 << 32) == 0


def mark(part, check, bands):
    """The id and the keys of a part's mark, which brings its check to the process that decides."""
    return ids(part, -1, 1), np.full((1, bands), part << 32 | check, "uint64")


def pairs(ids, keys):
    """Each key by itself, with its row's id."""
    return {"id": np.repeat(ids, keys.shape[1]), "key": keys.ravel().view("int64")}


def unsettled(ids, taken, keys, counts, bands):
    """Of rows with `counts` keys each, the ids and keys of those to decide on, where a row's last
    key repeats, and the ids of those that go, because a key of theirs is taken."""
    asked = is_mark(ids) | ~taken
    at = np.minimum(np.arange(bands), counts[asked, None] - 1)
    at += (np.cumsum(counts) - counts)[asked, None]
    return ids[asked], keys.view("uint64")[at], ids[~asked]


def decided(batches, options):
    """Decides by the ids and keys of rows, in order. Each batch also has the ids of rows that go in
    any case. Returns for each part the bits of its rows up to the last that goes, set for those that
    go, and its check."""
    seen, gone, checks = Deduplicator(**options), defaultdict(list), {}
    for ids, keys, others in batches:
        marks = is_mark(ids)
        checks |= zip((ids[marks] >> 32).tolist(), (keys[marks, 0] % (1 << 32)).tolist())
        for some in ids[~marks][~seen.keep_keys(keys[~marks])], others:
            parts, first = np.unique(some >> 32, return_index=True)
            for part, rows in zip(parts.tolist(), np.split(some, first[1:])):
                gone[part].append(rows.astype("uint32") - 1)
    none = np.empty(0, "uint32")
    numbers = {part: np.concatenate([none, *gone[part]]) for part in checks}
    bits = {part: np.packbits(np.bincount(numbers[part], minlength=1)) for part in checks}
    return {part: (bits[part], checks[part]) for part in checks}


def staying(bits, first, count):
    """A mask of `count` rows from `first` on, by at least one byte of bits: of none, numpy makes
    whatever was in memory."""
    return np.unpackbits(bits, count=first + count)[first:] == 0


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
