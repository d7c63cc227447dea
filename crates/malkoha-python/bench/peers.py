"""Malkoha against other packages: bench/peers.py [--keys 1M,10M,100M] [--out FILE] [--only "NAME;..."].

Needs what bench/requirements.txt names, and a release build (``maturin develop --release``).
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
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys

from contenders import LOOKUPS, PEERS, RATE, Data, memory

# The most keys of packages that take microseconds for each.
SLOW = {"pybloom-live": 1_000_000, "pyprobables": 1_000_000}
# Bytes a key of those that keep the keys, at their peak.
BYTES = {"set": 160, "polars semi-join": 110}


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
    main()
