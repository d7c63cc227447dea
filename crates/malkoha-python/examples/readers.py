"""One process writes a filter or a store, any number of others read it and notice changes.

    python readers.py write DIRECTORY       # in one process: adds the lines of standard input
    python readers.py read DIRECTORY        # in others: prints the lines that are in

A set that several processes change at once is one of the server's module: shared_set.py.
"""

import os
import sys
from pathlib import Path

from malkoha import CuckooFilter, Store


class Following:
    """A filter file that another process replaces: mapped, so that all readers share its memory."""

    def __init__(self, path):
        self.path, self.version = path, None

    def filter(self):
        # Saving writes another file and renames it, so the file at this path is always whole.
        about = os.stat(self.path)
        version = about.st_dev, about.st_ino, about.st_mtime_ns
        if version != self.version:
            self.seen, self.version = CuckooFilter.open(self.path), version
        return self.seen


class Reader:
    """A store to which another process writes. A reader has the state at its opening, so it opens
    the store again when it wants later writes: this reads the index, and the log since then."""

    def __init__(self, path):
        self.path = path
        self.refresh()

    def refresh(self):
        self.store = Store(self.path, read_only=True)


def write(directory, lines):
    file = directory / "seen.mlk"
    seen = CuckooFilter.load(file) if file.exists() else CuckooFilter(fpr=1e-6)
    with Store(directory / "store") as store:
        for number, line in enumerate(lines):
            seen.add(line)
            store[line] = str(number)
        seen.save(file)


def read(directory, lines):
    following, reader = Following(directory / "seen.mlk"), Reader(directory / "store")
    for line in lines:
        if line in following.filter():
            if line not in reader.store:
                reader.refresh()
            yield line, reader.store.get(line)


if __name__ == "__main__":
    action, directory = sys.argv[1], Path(sys.argv[2])
    lines = (line.rstrip("\n") for line in sys.stdin)
    if action == "write":
        write(directory, lines)
    else:
        for line, value in read(directory, lines):
            print(line, value.decode() if value else "")
