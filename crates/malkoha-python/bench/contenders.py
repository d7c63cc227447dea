"""The packages that peers.py compares, each doing each thing its best way."""

import pathlib
import sys
import time

import numpy as np

RATE = 0.001
LOOKUPS = 1_000_000
SOME = 200_000
CHUNK = 1_000_000


class Timer:
    """Adds up processor and wall time of blocks."""

    def __init__(self):
        self.cpu = self.wall = 0.0

    def __enter__(self):
        self.began = time.process_time(), time.perf_counter()

    def __exit__(self, *_):
        self.cpu += time.process_time() - self.began[0]
        self.wall += time.perf_counter() - self.began[1]


def rates(keys, runs, do, by="cpu"):
    """Millions of keys a second of the best of some runs, and what the last one returned. `do` gets a
    timer, which leaves out what is only preparation."""
    best = float("inf")
    for _ in range(runs):
        timer = Timer()
        result = do(timer)
        best = min(best, getattr(timer, by))
    return round(keys / best / 1e6, 2), result


def memory(name):
    """MiB of this process: VmRSS now, VmHWM at its peak."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return 0.0


def lists(keys):
    return ([key for key in keys[at : at + CHUNK].tolist()] for at in range(0, len(keys), CHUNK))


class Data:
    """Distinct random keys, queries of which the second half is absent, and a few for single lookups."""

    def __init__(self, count):
        random = np.random.default_rng(1)
        # An odd factor: distinct keys all over the range, in no order, without sorting them.
        numbers = np.arange(1, count + LOOKUPS // 2 + 1, dtype="u8")
        numbers *= np.uint64(0x9E3779B97F4A7C15)
        numbers >>= np.uint64(2)
        self.keys, absent = numbers[:count], numbers[count:]
        present = self.keys[random.integers(0, count, LOOKUPS // 2)]
        self.queries = np.concatenate([present, absent])
        self.some = self.queries[len(present) - SOME // 2 : len(present) + SOME // 2].tolist()
        self.runs = 3 if count <= 10_000_000 else 1


def check(mask):
    """The share of the absent that seem to be in; all present ones are."""
    mask, half = np.asarray(mask), LOOKUPS // 2
    assert mask[:half].all() and mask[half:].mean() < 5 * RATE
    return round(float(mask[half:].mean()) * 100, 3)


def one_by_one(data, filled):
    return rates(SOME, 5, lambda timer: [key in filled for key in timed(timer, data.some)])[0]


def add_each(seen, keys):
    for key in keys:
        seen.add(key)


def add_one_by_one(data, make):
    keys = data.keys[:CHUNK].tolist()

    def fill(timer):
        seen = make()
        with timer:
            add_each(seen, keys)

    return rates(len(keys), data.runs, fill)[0]


def timed(timer, some):
    """The items, while the timer runs."""
    with timer:
        yield from some


def malkoha(data, growing, threads, layout=None):
    from malkoha import CuckooFilter

    def make():
        return CuckooFilter(None if growing else len(data.keys), RATE, growable=growing, layout=layout)

    def fill(timer):
        with timer:
            seen = make()
            seen.add_many(data.keys, threads=threads)
        return seen

    def mask(timer):
        with timer:
            return seen.contains_many(data.queries, threads=threads)

    by = "cpu" if threads == 1 else "wall"
    add, seen = rates(len(data.keys), data.runs, fill, by)
    peak = memory("VmHWM")
    many, found = rates(LOOKUPS, 5, mask, by)
    one, bits = one_by_one(data, seen), seen.size_in_bytes * 8 / len(data.keys)

    def remove(timer):
        with timer:
            assert seen.remove_many(data.keys).all()

    removed, _ = rates(len(data.keys), 1, remove)
    add_one = add_one_by_one(data, make)
    return dict(
        add=add, add_one=add_one, one=one, many=many, remove=removed, bits=bits, fpr=check(found), peak=peak
    )


def mix(key):
    """Python's hash of an integer is itself: rbloom asks for a better one."""
    return (key * 0x9E3779B97F4A7C15F39CC0605CEDC835 & (1 << 128) - 1) - (1 << 127)


def set_like(data, make, bits, update=lambda seen, keys: seen.update(keys), mask=None):
    """A package that takes lists."""

    def fill(timer):
        seen = make()
        for keys in lists(data.keys):
            with timer:
                update(seen, keys)
        return seen

    def each(timer):
        with timer:
            if mask:
                return np.array(mask(seen, asked))
            return np.fromiter(map(seen.__contains__, asked), bool, len(asked))

    asked = data.queries.tolist()
    add, seen = rates(len(data.keys), data.runs, fill)
    peak = memory("VmHWM")
    many, found = rates(len(asked), data.runs, each)
    one = one_by_one(data, seen) if hasattr(seen, "__contains__") else None
    size = bits(seen) / len(data.keys) if bits else None
    add_one = add_one_by_one(data, make)
    return dict(add=add, add_one=add_one, one=one, many=many, bits=size, fpr=check(found), peak=peak)


def rbloom(data, hash=None):
    from rbloom import Bloom

    make = lambda: Bloom(len(data.keys), RATE, *([hash] if hash else []))
    return set_like(data, make, lambda seen: seen.size_in_bits)


def fastbloom(data):
    from fastbloom_rs import FilterBuilder

    make = lambda: FilterBuilder(len(data.keys), RATE).build_bloom_filter()
    add = lambda seen, keys: seen.add_int_batch(keys)
    many = lambda seen, asked: seen.contains_int_batch(asked)
    found = set_like(data, make, lambda seen: 0, add, many)
    return found | dict(bits=None)


def pybloom(data):
    from pybloom_live import BloomFilter

    return set_like(data, lambda: BloomFilter(len(data.keys), RATE), lambda seen: seen.num_bits, add_each)


def probables(data):
    from probables import BloomFilter

    class Texts(BloomFilter):
        """Its keys are text."""

        def add(self, key):
            super().add(str(key))

        def __contains__(self, key):
            return self.check(str(key))

    make = lambda: Texts(est_elements=len(data.keys), false_positive_rate=RATE)
    return set_like(data, make, lambda seen: seen.number_bits, add_each)


def python_set(data):
    return set_like(data, set, lambda seen: (sys.getsizeof(seen) + 32 * len(seen)) * 8)


def polars(data):
    import polars as pl

    left, right = pl.DataFrame({"key": data.queries}), pl.DataFrame({"key": data.keys})

    def join(timer):
        with timer:
            return left.join(right, on="key", how="semi").height

    # Each join builds its table of the keys anew.
    many, height = rates(LOOKUPS + len(data.keys), data.runs, join, "wall")
    assert height == LOOKUPS // 2
    return dict(many=many, fpr=0.0, peak=memory("VmHWM"))


PEERS = {
    "malkoha, growing, 1 thread": (lambda data: malkoha(data, True, 1), "malkoha"),
    "malkoha, growing, 2 threads": (lambda data: malkoha(data, True, 2), "malkoha"),
    "malkoha, of fixed size, 1 thread": (lambda data: malkoha(data, False, 1), "malkoha"),
    "malkoha, of fixed size, 2 threads": (lambda data: malkoha(data, False, 2), "malkoha"),
    "malkoha, of fixed size, gap windows, 1 thread": (lambda data: malkoha(data, False, 1, "gap-windows"), "malkoha"),
    "rbloom, Python's hash": (rbloom, "rbloom"),
    "rbloom, another hash": (lambda data: rbloom(data, mix), "rbloom"),
    "fastbloom-rs": (fastbloom, "fastbloom_rs"),
    "pybloom-live": (pybloom, "pybloom_live"),
    "pyprobables": (probables, "probables"),
    "set": (python_set, "builtins"),
    "polars semi-join": (polars, "polars"),
}
