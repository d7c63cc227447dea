"""Malkoha beside other packages: bench/peers.py [--keys 1M,10M,100M] [--out FILE] [--only "NAME;..."].

Needs what bench/requirements.txt names beside a release build (``maturin develop --release``).
Writes Markdown, a table for each number of keys. Each package is measured in a process of its own and does
each thing its best way: batches where it has them, in lists where it takes no arrays, which are made
beforehand. What would take hours, or more memory than there is, gets fewer keys or is left out, and the
table says so.

One by one are `add`s of a million keys into a filter that is made for all of them, from nothing, and lookups.
Rates are millions of keys a second by processor time, which other work disturbs least; those of two threads
and of polars by the clock. "peak" is the most memory beyond the keys, bits are those of the filter.
"""

import argparse
import datetime
import importlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

import numpy as np

RATE = 0.001
LOOKUPS = 1_000_000
SOME = 200_000
CHUNK = 1_000_000
# The most keys of packages that take microseconds for each.
SLOW = {"pybloom-live": 1_000_000, "pyprobables": 1_000_000}
# Bytes a key of those that keep the keys, at their peak.
BYTES = {"set": 160, "polars semi-join": 110}


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


def measure(name, count):
    """In this process, which has nothing else to do."""
    do, module = PEERS[name]
    importlib.import_module(module)
    data = Data(count)
    if name in SLOW:
        data.runs = 1
    # What the keys took is not the filter's.
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    found = do(data)
    print(json.dumps(found | dict(peak=found["peak"] - before)))


def row(name, count):
    """A line of the table, measured in a process of its own."""
    if count > SLOW.get(name, count):
        return f"| {name}: measured with {SLOW[name]:,} keys, as each takes microseconds | | | | | | | | |"
    needed = BYTES.get(name, 24) * count
    with open("/proc/meminfo") as told:
        available = int(next(line for line in told if line.startswith("MemAvailable")).split()[1]) * 1024
    if needed > available * 0.7:
        return f"| {name}: would take {needed / 1e9:.0f} GB | | | | | | | | |"
    command = [sys.executable, __file__, "--one", name, "--keys", str(count)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        return f"| {name}: {said} | | | | | | | | |"
    found = json.loads(done.stdout)
    digits = dict(bits=1, peak=0, fpr=3)
    columns = ("add", "add_one", "one", "many", "remove", "bits", "fpr", "peak")
    cells = [(found.get(column), digits.get(column, 1)) for column in columns]
    cells = ["" if value is None else f"{value:,.{digit}f}" for value, digit in cells]
    return f"| {name} | " + " | ".join(cells) + " |"


def number(text):
    return int(text.rstrip("kM")) * {"k": 1000, "M": 1_000_000}.get(text[-1], 1)


def head(words):
    cpu = next((line for line in open("/proc/cpuinfo") if line.startswith("model name")), ": ?")
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    yield f"`bench/peers.py {' '.join(words)}`, {cpu.split(': ')[1].strip()}, {os.cpu_count()} processors,"
    yield f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC, load {load}; Python {platform.python_version()}"
    names = ["rbloom", "fastbloom-rs", "pybloom-live", "pyprobables", "polars", "numpy"]
    yield "; " + ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names) + "."


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keys", default="1M,10M,100M")
    parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--only")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        return measure(given.one, number(given.keys))

    def write(line):
        print(line, file=given.out, flush=True)

    write("\n".join(head(sys.argv[1:])).replace("\n;", ";"))
    for count in map(number, given.keys.split(",")):
        write(f"\n{count:,} keys of 64 bits, {LOOKUPS:,} lookups of which half are in, rate {RATE}\n")
        write(
            "| | add | `add`, one by one | `in`, one by one | mask of a batch | remove | bits a key | wrong, % "
            "| peak, MiB |"
        )
        write("| --- |" + " ---: |" * 8)
        for name in PEERS:
            if given.only is None or name in given.only.split(";"):
                write(row(name, count))


if __name__ == "__main__":
    import importlib.metadata

    main()
