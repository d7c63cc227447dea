"""Malkoha's store, compared with other stores for Python: bench/stores.py [--keys N] [--runs N] [--only "NAME,..."].

Needs a release build and lmdb, rocksdict, diskcache and sqlitedict. Every store writes without waiting for
the device, and is set to its best otherwise. Keys have 16 to 32 random bytes, values 100. Keys are made just
before the call that takes them, and only calls are timed. Each run is a process with a directory of its own
in --path. Prints the medians in Markdown: thousands of keys a second by the clock, one at a time and in
batches of 1,000. Each measurement ends after 10 seconds, so a slow store is measured with fewer keys.

--results FILE collects runs of several calls.
"""

import argparse
import gc
import importlib.metadata
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

BATCH = 1000
LIMIT = 10
COLUMNS = ("put", "put, batches", "get", "get, batches", "get, absent", "get, absent, batches")


class Malkoha:
    def __init__(self, path):
        from malkoha import Store

        self.store = Store(path, durability="system")
        self.put, self.put_many = self.store.__setitem__, self.store.put_many
        self.get, self.get_many = self.store.get, self.store.get_many
        self.close = self.store.close


class Lmdb:
    def __init__(self, path):
        import lmdb

        fast = dict(sync=False, metasync=False, writemap=True, map_async=True)
        self.env = lmdb.open(str(path), map_size=4 << 30, readahead=False, **fast)
        self.close = self.env.close

    def put(self, key, value):
        with self.env.begin(write=True) as transaction:
            transaction.put(key, value)

    def put_many(self, keys, values):
        with self.env.begin(write=True) as transaction:
            transaction.cursor().putmulti(list(zip(keys, values)))

    def reads(self):
        # One transaction for all, and single gets in batches: getmulti() returns only what it finds, and is
        # slower with a dictionary to put that in order.
        self.get = self.env.begin().get


class Rocksdict:
    def __init__(self, path):
        from rocksdict import BlockBasedOptions, Cache, DBCompressionType, Options, Rdict, WriteBatch

        options, blocks = Options(raw_mode=True), BlockBasedOptions()
        options.create_if_missing(True)
        options.increase_parallelism(os.cpu_count())
        options.set_write_buffer_size(256 << 20)
        options.set_compression_type(DBCompressionType.none())
        options.set_allow_mmap_reads(True)
        blocks.set_block_size(1024)
        blocks.set_bloom_filter(10, False)
        blocks.set_block_cache(Cache(1 << 30))
        options.set_block_based_table_factory(blocks)
        self.store, self.batch = Rdict(str(path), options), WriteBatch
        self.put, self.get, self.get_many = self.store.__setitem__, self.store.get, self.store.get
        # Tables answer faster than its list of latest writes.
        self.reads, self.close = self.store.flush, self.store.close

    def put_many(self, keys, values):
        batch = self.batch(raw_mode=True)
        for key, value in zip(keys, values):
            batch.put(key, value)
        self.store.write(batch)


class Diskcache:
    def __init__(self, path):
        from diskcache import Cache

        none = dict(eviction_policy="none", cull_limit=0, size_limit=1 << 40)
        self.store = Cache(str(path), sqlite_synchronous=0, sqlite_cache_size=1 << 16, **none)
        self.put, self.get, self.close = self.store.set, self.store.get, self.store.close

    def put_many(self, keys, values):
        with self.store.transact():
            for key, value in zip(keys, values):
                self.store.set(key, value)

    def get_many(self, keys):
        with self.store.transact():
            return [self.store.get(key) for key in keys]


class Sqlitedict:
    def __init__(self, path):
        from sqlitedict import SqliteDict

        plain = dict(encode=lambda value: value, decode=bytes)
        keys = dict(encode_key=lambda key: key, decode_key=bytes)
        self.store = SqliteDict(f"{path}.sqlite", journal_mode="OFF", outer_stack=False, **plain, **keys)
        self.store.conn.execute("PRAGMA synchronous=OFF")
        self.get, self.close = self.store.get, self.store.close

    def put(self, key, value):
        self.store[key] = value
        self.store.commit()

    def put_many(self, keys, values):
        self.store.update(zip(keys, values))
        self.store.commit()


class Dbm:
    def __init__(self, path):
        try:
            from dbm import gnu

            self.store = gnu.open(f"{path}.dbm", "nf")
        except ImportError:
            import dbm

            self.store = dbm.open(f"{path}.dbm", "n")
        self.put, self.get, self.close = self.store.__setitem__, self.store.get, self.store.close


STORES = dict(
    malkoha=Malkoha, lmdb=Lmdb, rocksdict=Rocksdict, diskcache=Diskcache, sqlitedict=Sqlitedict, dbm=Dbm
)


def fresh(items):
    """Copies, as a program has that has just read them."""
    return [bytes(memoryview(item)) for item in items]


def rate(columns, do, wanted=None):
    """Thousands of keys a second, and how many there were. Only the calls are timed."""
    took = done = 0
    for at in range(0, len(columns[0]), BATCH):
        batch = [fresh(column[at : at + BATCH]) for column in columns]
        began = time.perf_counter()
        found = do(*batch)
        took += time.perf_counter() - began
        done += len(batch[0])
        assert wanted is None or list(found) == wanted[at : at + BATCH]
        if took > LIMIT:
            break
    return done / took / 1000, done


def measure(name, count, path):
    generator = random.Random(1)
    keys = [generator.randbytes(generator.randint(16, 32)) for _ in range(count)]
    absent = [generator.randbytes(generator.randint(16, 32)) for _ in range(count)]
    values = [(key * 7)[:100].ljust(100, b"v") for key in keys]
    gc.disable()

    def puts(keys, values):
        for key, value in zip(keys, values):
            store.put(key, value)

    def gets(keys):
        return [store.get(key) for key in keys]

    found = {}
    store = STORES[name](path / "one")
    found["put"], _ = rate([keys, values], puts)
    store.close()
    store = STORES[name](path / "many")
    found["put, batches"], stored = rate([keys, values], getattr(store, "put_many", puts))
    if hasattr(store, "reads"):
        store.reads()
    order = generator.sample(range(stored), stored)
    there, wanted = [keys[i] for i in order], [values[i] for i in order]
    for column, asked, wanted in (("get", there, wanted), ("get, absent", absent, [None] * count)):
        found[column], _ = rate([asked], gets, wanted)
        found[column + ", batches"], _ = rate([asked], getattr(store, "get_many", gets), wanted)
    store.close()
    print(json.dumps({name: found}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default=",".join(STORES))
    parser.add_argument("--path")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        with tempfile.TemporaryDirectory(dir=given.path) as path:
            return measure(given.one, given.keys, pathlib.Path(path))
    results = given.results.read_text().splitlines() if given.results and given.results.exists() else []
    for _ in range(given.runs):
        for name in given.only.split(","):
            command = [sys.executable, __file__, "--one", name, "--keys", str(given.keys)]
            command += ["--path", given.path] if given.path else []
            results.append(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    if given.results:
        given.results.write_text("\n".join(line.strip() for line in results) + "\n")
    all_runs = {}
    for line in results:
        for name, found in json.loads(line).items():
            all_runs.setdefault(name, []).append(found)
    cpu = next((line for line in open("/proc/cpuinfo") if line.startswith("model name")), ": ?")
    print(f"{given.keys:,} keys, {cpu.split(': ')[1].strip()}, Python {platform.python_version()}, ", end="")
    packages = {d.name: d.version for d in importlib.metadata.distributions() if d.name in all_runs}
    print(*(f"{name} {version}" for name, version in packages.items()), sep=", ")
    print(f"\n| thousands a second | {' | '.join(COLUMNS)} | runs |\n| --- |{' ---: |' * (len(COLUMNS) + 1)}")
    for name, runs in all_runs.items():
        cells = [f"{statistics.median(run[column] for run in runs):,.0f}" for column in COLUMNS]
        print(f"| {name} | {' | '.join(cells)} | {len(runs)} |")


if __name__ == "__main__":
    main()
