"""How much memory processes or threads need that share one mapped filter: bench/memory.py [MEBIBYTES [WORKERS]].

Linux alone. Each of them looks up keys all over the filter; then each process's share of memory is read, in
which a page that several have mapped counts in parts (proportional set size).
"""

import re
import sys
import tempfile
import threading
from multiprocessing import get_context
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np

from malkoha import CuckooFilter


def share():
    """MiB of the process's share of all its memory, and of what it has alone."""
    told = Path("/proc/self/smaps_rollup").read_text()
    return [int(re.search(rf"^{name}: +(\d+)", told, re.M)[1]) / 1024 for name in ("Pss", "Rss")]


def work(path, ready, read, mapped):
    before = share()
    keys = np.arange(3_000_000)
    seen = CuckooFilter.open(path) if mapped else CuckooFilter.load(path)
    found = int(seen.contains_many(keys).sum())
    del keys
    ready.wait()
    after = share()
    read.wait()
    return found, after[0] - before[0], after[1] - before[1]


def main():
    mebibytes = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    path = Path(tempfile.mkdtemp()) / "seen.mlk"
    seen = CuckooFilter(mebibytes * 2**20 * 8 * 10 // 137, 0.001, growable=False)
    seen.add_many(np.arange(1_000_000))
    seen.save(path)
    del seen
    size = path.stat().st_size / 2**20
    print(f"a filter of {size:.0f} MiB in {processes} processes or threads, MiB in all against each one's start")

    def tell(method, mapped, total):
        print(f"{method}, {'open' if mapped else 'load'}: {total:.0f} MiB, {total / size:.2f} filters", flush=True)

    for method in ("spawn", "fork"):
        for mapped in (True, False):
            context = get_context(method)
            with context.Manager() as manager, context.Pool(processes) as pool:
                ready, read = manager.Barrier(processes), manager.Barrier(processes)
                done = pool.starmap(work, [(path, ready, read, mapped)] * processes, chunksize=1)
            assert all(found >= 1_000_000 for found, _, _ in done)
            tell(method, mapped, sum(pss for _, pss, _ in done))
    for mapped in (True, False):
        with ThreadPool(processes) as pool:
            ready, read = threading.Barrier(processes), threading.Barrier(processes)
            done = pool.starmap(work, [(path, ready, read, mapped)] * processes, chunksize=1)
        # One process has them all: the first thread saw it before the others began.
        tell("threads", mapped, max(pss for _, pss, _ in done))
    path.unlink()


if __name__ == "__main__":
    main()
