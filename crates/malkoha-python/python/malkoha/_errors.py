"""The exceptions of this package: one for each family of the library's errors."""

from errno import ENOENT, ENOSPC


class MalkohaError(Exception):
    """The base of this package's exceptions."""


class BuildError(MalkohaError, ValueError):
    """A number is out of range, or no filter is as was asked for. The message says what to change."""


class InsertError(MalkohaError, ValueError):
    """A key was not inserted. The filter is unchanged.

    After a batch, ``refused`` has the positions of the keys that were refused, ascending. All the
    others are in. After a single key it is empty.
    """

    def __init__(self, message: str, refused: list[int] | tuple[int, ...] = ()) -> None:
        super().__init__(message, refused)
        self.refused: list[int] = list(refused)

    def __str__(self) -> str:
        return str(self.args[0])


class ReadError(MalkohaError, ValueError):
    """A file or bytes that are not a filter of the kind that was asked for, or are damaged.

    Files that cannot be read at all give an OSError.
    """


class ReadOnlyError(MalkohaError, TypeError):
    """The filter lies in a mapped file, or the store was opened read-only: it cannot change."""


class StoreError(MalkohaError):
    """The base of the exceptions of a store. What the system refuses is an OSError."""


class StoreClosedError(StoreError, ValueError):
    """The store or the snapshot was closed."""


class StoreDamagedError(StoreError):
    """Bytes of a store are not those that were written, or are of another version.

    ``file`` and ``offset`` say where, if it is one place.
    """

    def __init__(self, message: str, file: str | None = None, offset: int | None = None) -> None:
        super().__init__(message, file, offset)
        self.file = file
        self.offset = offset

    def __str__(self) -> str:
        return str(self.args[0])


class StoreFullError(StoreError, OSError):
    """The device has no room. Reading continues, and writing too once there is room."""

    errno: int = ENOSPC


class StoreLockedError(StoreError):
    """The store is open for writing, here or in another process."""


class StoreNotFoundError(StoreError, FileNotFoundError):
    """There is no store in the directory."""

    errno: int = ENOENT


class StoreValueError(StoreError, ValueError):
    """A key, a value, a batch or an option that a store cannot take."""


class TableNotFoundError(StoreError, LookupError):
    """The table was removed, or never made."""


class UnionError(MalkohaError, ValueError):
    """Two filters that cannot be united or intersected. The first is as it was."""
