"""An embedded store as mappings. The operations are in _malkoha, the annotations in _store.pyi."""

import atexit
import os
from collections.abc import ItemsView, Mapping, MutableMapping, ValuesView
from itertools import chain, islice
from typing import NamedTuple

from . import _malkoha

# The writes of update() and clear() that are one batch.
CHUNK = 1024
_MISSING = object()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_malkoha._forked)
atexit.register(_malkoha._close_all)


class Verification(NamedTuple):
    records: int
    live: int
    lost: int
    lost_keys: list
    damage: list


class Repair(NamedTuple):
    keys: int
    skipped: list
    lost_keys: list
    set_aside: list


class Recovery(NamedTuple):
    checkpoint: str | None
    cut: tuple | None
    cut_files: list
    skipped: list
    lost_keys: list


class _Items(ItemsView):
    def __iter__(self):
        return self._mapping._pairs()


class _Values(ValuesView):
    def __iter__(self):
        return (value for _, value in self._mapping._pairs())

    def __contains__(self, value):
        return any(value == found for found in self)


class _Views:
    """Views that read pairs together, and not key by key."""

    def items(self):
        """A view of the keys with their values."""
        return _Items(self)

    def values(self):
        """A view of the values."""
        return _Values(self)

    def __reduce__(self):
        raise TypeError("a store cannot be copied or pickled: pass its path, and open it there")


class Snapshot(_Views, _malkoha.Snapshot, Mapping):
    """A store, or a table of it, as it was at one moment."""

    def table(self, name):
        """A table of that moment; a KeyError if it was not there."""
        return Snapshot(self, name)


class _Changes(_Views):
    def snapshot(self):
        """The keys and values of this moment, whatever is written later. It keeps the space of its
        files until it is closed or collected."""
        return Snapshot(self)

    def __iter__(self):
        return iter(self.snapshot())

    def _pairs(self):
        return self.snapshot()._pairs()

    def prefix(self, prefix):
        """The keys that begin with these bytes, with their values: an iterator over pairs, sorted
        by key. Reads the whole log, unless keys are kept in order."""
        return self.snapshot().prefix(prefix)

    def range(self, start=None, stop=None):
        """The keys from `start` to before `stop`, with their values: an iterator over pairs, sorted
        by key. Reads the whole log, unless keys are kept in order."""
        return self.snapshot().range(start, stop)

    def pop(self, key, default=_MISSING):
        """Removes a key and returns its value: in one step, so that one thread gets it."""
        while (value := self.get(key)) is not None:
            if self.compare_and_swap(key, value, None):
                return value
        if default is _MISSING:
            raise KeyError(key)
        return default

    def popitem(self):
        """Removes a pair and returns it. Reads the log from its beginning each time."""
        for key, value in self._pairs():
            if self.compare_and_swap(key, value, None):
                return key, value
        raise KeyError("the store has no keys")

    def setdefault(self, key, default=None):
        """Sets the value of a key that has none, in one step; returns the value that it has."""
        while (value := self.get(key)) is None:
            self.put_if_absent(key, default)
        return value

    def update(self, other=(), /, **more):
        """Sets the values of a mapping, or of pairs, in batches of 1,024."""
        pairs = other
        if hasattr(other, "items"):
            pairs = other.items()
        elif hasattr(other, "keys"):
            pairs = ((key, other[key]) for key in other.keys())
        pairs = chain(pairs, more.items())
        while batch := list(islice(pairs, CHUNK)):
            self.put_many([key for key, _ in batch], [value for _, value in batch])

    def __ior__(self, other):
        self.update(other)
        return self

    def clear(self):
        """Removes all keys, in batches of 1,024."""
        keys = self._bytes()
        while batch := list(islice(keys, CHUNK)):
            self.remove_many(batch)


class Table(_Changes, _malkoha.Table, MutableMapping):
    """The keys of one table of a store."""

    def __repr__(self):
        return f"<malkoha.Table {self.name!r}>"


class Store(_Changes, _malkoha.Store, MutableMapping):
    __doc__ = _malkoha.Store.__doc__

    def __repr__(self):
        return f"<malkoha.Store {str(self.path)!r}{', closed' * self.closed}>"

    def table(self, name, *, ordered=False):
        """The keys of a table, separate from all others; made if it is not there, and with
        `ordered=True` kept in order as those of a store can be."""
        return Table(self, name, ordered)

    def verify(self):
        """Reads all records and compares them with their checksums: numbers of whole records, of
        keys that can be read and that cannot, these keys with their tables, and the damage."""
        return Verification(*self._verify())

    def recovery(self):
        """What opening found of a crash, and of damage: the damage of the checkpoint; cut files,
        offsets and bytes; skipped damage; the lost keys with their tables."""
        return Recovery(*self._recovery())

    @staticmethod
    def repair(path):
        """Repairs a damaged store that is not open. A lost record shows as the one before it, if
        there is one. Returns the number of keys, the damage, the keys that it lost with their
        tables, and the names that damaged files have now."""
        return Repair(*_malkoha.Store._repair(path))
