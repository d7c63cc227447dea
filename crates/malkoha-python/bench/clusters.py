"""Dask, Ray and Spark with four workers on this machine, with a filter and without:

    unshare -n sh -c 'ip link set lo up; exec python bench/clusters.py dask|ray|spark [JOB ...] [OPTION ...]'

Jobs are those of JOBS, by default all. `deduplicate` keeps one of the rows of each key: --distinct keys, of
which a --twice'th are there twice. `join` keeps those of --rows rows whose key is one of --known. `texts`
keeps one of two similar texts: --texts of 60 words, each twice, the second time with one word changed;
`texts-spread` by a shuffle, on Ray by two actors. Each job reads Parquet files and writes some, which are
then compared with the exact answer, key by key, or for texts: of each pair one is there.

Keys are 64 bits without order; a row has --columns more of eight bytes. In a network of its own, "moved"
is all that went through the loopback interface: between workers, and between them and the driver. Spark's
workers read what others of the same machine have shuffled from disk, so Spark also says what it shuffled.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

from malkoha import CuckooFilter

WORKERS = 4
PART = 60_000_000
RATE = 0.001


def keys_of(numbers):
    """Distinct keys in no order."""
    return (numbers.astype("u8") * np.uint64(0x9E3779B97F4A7C15)).view("i8")


def table(numbers, columns):
    more = {f"amount {i}" if i else "amount": numbers * (i + 0.5) for i in range(columns - 1)}
    return pa.table({"key": keys_of(numbers), "row": numbers.astype("i8"), **more})


def make(folder, count, columns, numbers):
    """Files of PART bytes; what is there is kept. `numbers` returns those of the rows from a to b."""
    if not folder.exists():
        aside = folder.with_suffix(".part")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        part = PART // 8 // (columns + 1)
        for start in range(0, count, part):
            rows = table(numbers(start, min(start + part, count)), columns)
            pa.parquet.write_table(rows, aside / f"{start // part:04}.parquet", compression="none")
        aside.rename(folder)
    return str(folder)


def make_texts(folder, pairs):
    if folder.exists():
        return str(folder)
    random, words = np.random.default_rng(1), np.array([f"word{n}" for n in range(50_000)])
    first = random.integers(0, len(words), (pairs, 60))
    second = first.copy()
    second[np.arange(pairs), random.integers(0, 60, pairs)] = random.integers(0, len(words), pairs)
    order, texts = random.permutation(2 * pairs), np.concatenate([first, second])
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(order, 20)):
        rows = {"key": part % pairs, "text": [" ".join(text) for text in words[texts[part]]]}
        pa.parquet.write_table(pa.table(rows), folder / f"{number:02}.parquet")
    return str(folder)


class Data:
    def __init__(self, folder, rows, known, distinct, twice, columns, pairs):
        self.known, self.every, self.distinct, self.pairs = known, rows // known, distinct, pairs
        self.texts = make_texts(folder / f"texts-{pairs}", pairs)
        name = f"{rows}-{known}-{columns}"
        self.rows = make(folder / f"rows-{name}", rows, columns, lambda a, b: np.arange(a, b))
        few = lambda a, b: np.arange(a, b) * self.every
        self.few = make(folder / f"known-{name}", known, 2, few)
        doubled = distinct + distinct // twice
        order = np.random.default_rng(1).permutation(doubled) % distinct
        name = f"{distinct}-{twice}-{columns}"
        self.doubled = make(folder / f"doubled-{name}", doubled, columns, lambda a, b: order[a:b])
        self.out = str(folder / "out")

    def check(self, job):
        """What was written is the exact answer."""
        found = pa.dataset.dataset(self.out, format="parquet").to_table(["key"])["key"].to_numpy()
        if job.startswith("texts"):
            lost = self.pairs - len(np.unique(found))
            assert lost <= 2 * self.pairs * 1e-4, (lost, len(found))
            return len(found), lost
        exact = np.arange(self.distinct)
        if job.startswith("join"):
            exact = np.arange(0, self.known * self.every, self.every)
        exact = np.sort(keys_of(exact))
        lost = len(exact) - len(np.intersect1d(exact, found))
        assert lost == 0 and np.array_equal(np.sort(found), exact), (lost, len(found), len(exact))
        return len(found), lost


class Dask:
    spread = {"shuffle": True}

    def __init__(self):
        import dask
        import dask.dataframe as dd
        from distributed import Client

        import malkoha.dask

        self.dd, self.helpers, self.name = dd, malkoha.dask, f"Dask {dask.__version__}"
        self.client = Client(
            n_workers=WORKERS, threads_per_worker=1, memory_limit="2.5GB", dashboard_address=None
        )

    def read(self, path):
        return self.dd.read_parquet(path)

    def build(self, frame):
        return self.helpers.build(frame["key"], fpr=RATE)

    def join(self, frame, few):
        # Not a broadcast of all of its rows.
        return frame.merge(few.rename(columns={"row": "r", "amount": "a"}), on="key", broadcast=False)

    def once(self, frame):
        return frame.drop_duplicates("key", split_out=frame.npartitions)

    def write(self, frame, out):
        frame.to_parquet(out, write_index=False)

    def shuffled(self):
        return None

    def close(self):
        self.client.close()


class Ray:
    spread = {"actors": 2}

    def __init__(self):
        import ray
        import ray.data
        from ray.cluster_utils import Cluster

        import malkoha.ray

        self.ray, self.helpers, self.name = ray, malkoha.ray, f"Ray {ray.__version__}"
        # A node for each worker: what they send each other goes over the network.
        self.cluster = Cluster()
        for _ in range(WORKERS):
            self.cluster.add_node(num_cpus=1, object_store_memory=1200 << 20, include_dashboard=False)
        ray.init(address=self.cluster.address, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False

    def read(self, path):
        return self.ray.data.read_parquet(path)

    def build(self, frame):
        return self.helpers.build(frame, "key", fpr=RATE)

    def join(self, frame, few):
        few = few.rename_columns({"row": "r", "amount": "a"})
        return frame.join(few, "inner", 4 * WORKERS, on=("key",))

    def once(self, frame):
        return self.helpers._once(frame, "key", 4 * WORKERS)

    def write(self, frame, out):
        frame.write_parquet(out)

    def shuffled(self):
        return None

    def close(self):
        self.ray.shutdown()
        self.cluster.shutdown()


class Spark:
    spread = {"shuffle": True}

    def __init__(self):
        import pyspark
        from pyspark.sql import SparkSession

        import malkoha.spark

        self.helpers, self.name = malkoha.spark, f"Spark {pyspark.__version__}"
        self.log = pathlib.Path(f"/tmp/malkoha-spark-{os.getpid()}")
        self.log.mkdir()
        os.environ["PYSPARK_PYTHON"] = sys.executable
        options = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.memory": "1500m",
            "spark.executor.memory": "1500m",
            "spark.driver.maxResultSize": "1g",
            "spark.sql.shuffle.partitions": "32",
            # Not a broadcast of all of its rows.
            "spark.sql.autoBroadcastJoinThreshold": "-1",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": self.log.as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }
        builder = SparkSession.builder.master(f"local-cluster[{WORKERS},1,1800]")
        for name, value in options.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        self.seen = 0

    def read(self, path):
        return self.session.read.parquet(path)

    def build(self, frame):
        return self.helpers.build(frame, "key", fpr=RATE)

    def join(self, frame, few):
        return frame.join(few.withColumnsRenamed({"row": "r", "amount": "a"}), "key")

    def once(self, frame):
        return frame.dropDuplicates(["key"])

    def write(self, frame, out):
        frame.write.parquet(out)

    def shuffled(self):
        """Bytes that tasks wrote for others since the last call."""
        time.sleep(3)
        total = 0
        for log in self.log.rglob("*"):
            for line in log.open() if log.is_file() else ():
                if '"SparkListenerTaskEnd"' in line:
                    metrics = json.loads(line).get("Task Metrics") or {}
                    total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
        since, self.seen = total - self.seen, total
        return since

    def close(self):
        self.session.stop()
        shutil.rmtree(self.log)


ENGINES = {"dask": Dask, "ray": Ray, "spark": Spark}


def join(engine, data, filtered):
    rows, few = engine.read(data.rows), engine.read(data.few)
    if filtered:
        rows = engine.helpers.prune(rows, "key", engine.build(few))
    return engine.join(rows, few)


def deduplicate(engine, data, filtered):
    rows = engine.read(data.doubled)
    return engine.helpers.deduplicate(rows, "key", fpr=RATE) if filtered else engine.once(rows)


def texts(engine, data, spread):
    rows = engine.read(data.texts)
    return engine.helpers.deduplicate_text(rows, "text", **(engine.spread if spread else {}))


JOBS = {
    "deduplicate": lambda *given: deduplicate(*given, True),
    "deduplicate-plain": lambda *given: deduplicate(*given, False),
    "join": lambda *given: join(*given, True),
    "join-plain": lambda *given: join(*given, False),
    "texts": lambda *given: texts(*given, False),
    "texts-spread": lambda *given: texts(*given, True),
}


def moved():
    """Bytes that the loopback interface has sent."""
    lines = pathlib.Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split(":")[1].split()[8]) for line in lines if line.strip().startswith("lo:"))


def processors():
    """Seconds of processor time of all that runs in this network, and of what has ended there."""
    here, ticks = os.readlink("/proc/self/ns/net"), 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "ns/net") == here:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
        except OSError:  # It has ended.
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("jobs", nargs="*", choices=[[], *JOBS])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--known", type=int, default=1_000_000)
    parser.add_argument("--distinct", type=int, default=20_000_000)
    parser.add_argument("--twice", type=int, default=4)
    parser.add_argument("--columns", type=int, default=2)
    parser.add_argument("--texts", type=int, default=500_000)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/malkoha-clusters"))
    given = parser.parse_args()
    folder = given.folder.resolve()
    data = Data(folder, given.rows, given.known, given.distinct, given.twice, given.columns, given.texts)
    engine = ENGINES[given.engine]()
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"{engine.name}, Python {platform.python_version()}, {WORKERS} workers of one thread on "
          f"{os.cpu_count()} processors, load {load}, {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC;",
          f"{given.rows:,} rows, {given.known:,} known, {given.distinct:,} distinct, one in {given.twice} of them twice; "
          f"{given.columns + 1} columns\n\n"
          "| job | s by the clock | s of processor | moved, MB | shuffled, MB | rows | lost |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for job in given.jobs or JOBS:
        shutil.rmtree(data.out, ignore_errors=True)
        engine.shuffled()
        began, sent, worked = time.perf_counter(), moved(), processors()
        try:
            engine.write(JOBS[job](engine, data), data.out)
            took, worked, sent = time.perf_counter() - began, processors() - worked, moved() - sent
            shuffled = engine.shuffled()
            rows, lost = data.check(job)
        except Exception as error:  # The other jobs are of interest still.
            print(f"| {job} | {time.perf_counter() - began:.0f} | failed: {str(error)[:400]!r} | | | | |", flush=True)
            continue
        shuffled = "" if shuffled is None else f"{shuffled / 1e6:,.0f}"
        print(f"| {job} | {took:.0f} | {worked:.0f} | {sent / 1e6:,.0f} | {shuffled} | {rows:,} | {lost} |", flush=True)
    engine.close()
    shutil.rmtree(data.out, ignore_errors=True)


if __name__ == "__main__":
    main()
