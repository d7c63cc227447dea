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

from ._errors import BuildError, InsertError, MalkohaError, ReadError, ReadOnlyError, UnionError
from ._malkoha import CuckooFilter, CuckooMap, ExpiringCuckooFilter, __version__

__all__ = [
    "BuildError",
    "CuckooFilter",
    "CuckooMap",
    "ExpiringCuckooFilter",
    "InsertError",
    "MalkohaError",
    "ReadError",
    "ReadOnlyError",
    "UnionError",
    "__version__",
]
