"""Filters on a cluster of this machine: bench/clusters.py dask|ray|spark [--rows 20M] [--left 100M]
[--right 1M] [--workers 4].

Rows are a key of 64 bits and a number. `--rows` rows, of which a quarter repeat a key of another partition, are
deduplicated with and without filters, and compared with the exact answer; a table of `--left` rows is joined with
one of `--right` keys, with and without pruning it first. Prints lines of a Markdown table: seconds, and the bytes
that moved between workers, as the engine tells or the loopback interface of a network of its own does
(``unshare``, which needs the administrator).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd

from malkoha import CuckooFilter

# Coprime to all sizes here: rows meet their keys in no order.
STEP = 7_654_321


def number(text):
    return int(text.rstrip("kM")) * {"k": 1000, "M": 1_000_000}.get(text[-1], 1)


def part(numbers, rows, distinct):
    """Those of `rows` rows with these numbers, in an order of their own: the first `distinct` have a key
    each, the others one of these."""
    numbers = np.asarray(numbers, dtype="i8")
    return pd.DataFrame({"key": numbers * STEP % rows % distinct, "n": numbers})


def loopback():
    lines = pathlib.Path("/proc/net/dev").read_text().splitlines()
    return int(next(line for line in lines if line.split()[0] == "lo:").split()[9])


def told(what, seconds, moved, note):
    print(f"| {ENGINE}, {what} | {seconds:.1f} | {moved / 1e6:,.0f} | {note} |", flush=True)


def timed(do, moved):
    before, start = moved(), time.perf_counter()
    result = do()
    seconds = time.perf_counter() - start
    return result, seconds, moved() - before


def exact(keys, distinct):
    """How many keys are lost, and how many come twice."""
    counts = np.bincount(keys, minlength=distinct)
    assert len(counts) == distinct
    return f"{int((counts == 0).sum())} lost, {int((counts > 1).sum())} twice, of {distinct:,}"


def known():
    seen = CuckooFilter(fpr=0.001)
    seen.add_many(np.arange(0, LEFT, LEFT // RIGHT))
    return seen


def dask_engine():
    import dask.dataframe as dd
    from distributed import Client, wait

    import malkoha.dask as cluster

    def table(rows, parts, distinct, step=1):
        size = rows // parts

        def make(i):
            numbers = np.arange(i * size, (i + 1) * size)
            if step > 1:
                return pd.DataFrame({"key": numbers * step, "m": numbers})
            return part(numbers, rows, distinct)

        return dd.from_map(make, range(parts), meta=make(0).iloc[:0])

    with Client(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, memory_limit="3GB"):
        frame = table(ROWS, PARTS, DISTINCT)
        for what, do in (
            ("deduplicated with filters", lambda: cluster.deduplicate(frame, "key")),
            ("deduplicated without", lambda: frame.drop_duplicates("key", split_out=PARTS)),
        ):
            done, seconds, moved = timed(lambda: wait_for(do().persist(), wait), loopback)
            told(what, seconds, moved, exact(done["key"].compute().to_numpy(), DISTINCT))
            del done
        left, right = table(LEFT, LEFT // SHARE, LEFT), table(RIGHT, 4, RIGHT, LEFT // RIGHT)
        for what, do in (
            ("joined after pruning", lambda: cluster.prune(left, "key", known())),
            ("joined without", lambda: left),
        ):
            join = lambda: len(do().merge(right, on="key", broadcast=False))
            count, seconds, moved = timed(join, loopback)
            told(what, seconds, moved, f"{count:,} rows")


def wait_for(frame, wait):
    wait(frame)
    return frame


def ray_engine():
    import ray
    from ray import data

    import malkoha.ray as cluster

    context = data.DataContext.get_current()
    context.enable_progress_bars = False

    def table(rows, parts, distinct):
        ids = data.range(rows, override_num_blocks=parts)
        return ids.map_batches(lambda batch: part(batch["id"], rows, distinct), batch_size=None)

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    try:
        frame = table(ROWS, PARTS, DISTINCT)
        for what, do in (
            ("deduplicated with filters", lambda: cluster.deduplicate(frame, "key")),
            ("deduplicated without", lambda: cluster.distinct(frame, "key")),
        ):
            done, seconds, _ = timed(lambda: do().materialize(), lambda: 0)
            keys = np.concatenate([batch["key"] for batch in done.iter_batches(batch_size=None)])
            told(what, seconds, MOVED.get(what, 0), exact(keys, DISTINCT))
            del done, keys
        left = table(LEFT, LEFT // SHARE, LEFT)
        keys = data.range(RIGHT, override_num_blocks=4)
        right = keys.map_batches(lambda b: {"key": b["id"] * (LEFT // RIGHT), "m": b["id"]})
        for what, do in (
            ("joined after pruning", lambda: cluster.prune(left, "key", known())),
            ("joined without", lambda: left),
        ):
            def join():
                return do().join(right, "inner", PARTS, on=("key",)).count()

            count, seconds, _ = timed(join, lambda: 0)
            told(what, seconds, moved_rows(do()), f"{count:,} rows")
    finally:
        ray.shutdown()


def spark_engine():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    import malkoha.spark as cluster

    log = tempfile.mkdtemp()

    def shuffled():
        """Bytes that all tasks so far have written for shuffles."""
        bytes_written = 0
        for file in pathlib.Path(log).rglob("*"):
            for line in file.read_text().splitlines() if file.is_file() else ():
                if '"SparkListenerTaskEnd"' in line and line.endswith("}"):
                    metrics = json.loads(line).get("Task Metrics") or {}
                    bytes_written += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
        return bytes_written

    def settled():
        # The log is written a little later.
        time.sleep(2)
        return shuffled()

    options = {
        "spark.ui.enabled": "false", "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{log}",
        "spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false",
        "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": str(PARTS),
        "spark.sql.autoBroadcastJoinThreshold": "-1", "spark.driver.maxResultSize": "2g",
        "spark.eventLog.buffer.kb": "1k", "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    builder = SparkSession.builder.master(f"local[{WORKERS}]")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")

    def table(rows, parts, distinct):
        ids = session.range(0, rows, 1, parts)
        return ids.selectExpr(f"id * {STEP} % {rows} % {distinct} as key", "id as n")

    try:
        frame = table(ROWS, PARTS, DISTINCT)
        for what, do in (
            ("deduplicated with filters", lambda: cluster.deduplicate(frame, "key")),
            ("deduplicated without", lambda: frame.dropDuplicates(["key"])),
        ):
            before, start = shuffled(), time.perf_counter()
            keys = do().select("key").toArrow()["key"].to_numpy()
            seconds = time.perf_counter() - start
            told(what, seconds, settled() - before, exact(keys, DISTINCT))
        left = table(LEFT, LEFT // SHARE, LEFT)
        right = session.range(0, RIGHT, 1, 4).selectExpr(f"id * {LEFT // RIGHT} as key", "id as m")
        for what, do in (
            ("joined after pruning", lambda: cluster.prune(left, "key", known())),
            ("joined without", lambda: left),
        ):
            before, start = shuffled(), time.perf_counter()
            count = do().join(right, "key").count()
            seconds = time.perf_counter() - start
            told(what, seconds, settled() - before, f"{count:,} rows")
    finally:
        session.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=["dask", "ray", "spark"])
    for name, usual in (("rows", "20M"), ("left", "100M"), ("right", "1M")):
        parser.add_argument(f"--{name}", type=number, default=number(usual))
    parser.add_argument("--workers", type=int, default=4)
    given = parser.parse_args()
    if "MALKOHA_OWN_NETWORK" not in os.environ:
        command = f"ip link set lo up && exec {sys.executable} {' '.join(sys.argv)}"
        own = ["unshare", "--net", "sh", "-c", command]
        sys.exit(subprocess.run(own, env=os.environ | {"MALKOHA_OWN_NETWORK": "1"}).returncode)
    global ENGINE, ROWS, DISTINCT, LEFT, RIGHT, WORKERS, PARTS, SHARE
    ENGINE, ROWS, LEFT, RIGHT = given.engine, given.rows, given.left, given.right
    WORKERS, PARTS, SHARE = given.workers, 4 * given.workers, 2_000_000
    # Keys that three quarters of the rows have, once or twice.
    DISTINCT = ROWS // 4 * 3
    {"dask": dask_engine, "ray": ray_engine, "spark": spark_engine}[given.engine]()


if __name__ == "__main__":
    main()
