"""The exceptions of this package: one for each family of the library's errors."""


class MalkohaError(Exception):
    """The base of this package's exceptions."""


class BuildError(MalkohaError, ValueError):
    """No filter of this library is as was asked for. The message says what to change."""


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
    """The filter lies in a mapped file and cannot change."""


class UnionError(MalkohaError, ValueError):
    """Two filters that cannot be united or intersected. The first is as it was."""
