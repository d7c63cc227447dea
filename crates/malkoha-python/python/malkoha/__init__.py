"""Cuckoo filters: sets that take a few bits per key. They delete, count, grow and never lose a key.

    >>> from malkoha import CuckooFilter
    >>> seen = CuckooFilter(fpr=0.001)
    >>> seen.add("cuckoo")
    >>> "cuckoo" in seen, "magpie" in seen
    (True, False)
    >>> seen.contains_many(["magpie", "cuckoo"])
    array([False,  True])

"No" is always right. "Yes" is wrong with a probability that you choose. The guide is docs/PYTHON.md
of the repository.
"""

from ._errors import (
    BuildError,
    InsertError,
    MalkohaError,
    ReadError,
    ReadOnlyError,
    StoreClosedError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreNotFoundError,
    StoreValueError,
    TableNotFoundError,
    UnionError,
)
from ._malkoha import CuckooFilter, CuckooMap, ExpiringCuckooFilter, __version__
from ._store import Snapshot, Store, Table

__all__ = [
    "BuildError",
    "CuckooFilter",
    "CuckooMap",
    "ExpiringCuckooFilter",
    "InsertError",
    "MalkohaError",
    "ReadError",
    "ReadOnlyError",
    "Snapshot",
    "Store",
    "StoreClosedError",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "StoreNotFoundError",
    "StoreValueError",
    "Table",
    "TableNotFoundError",
    "UnionError",
    "__version__",
]
