"""The longest command while a filter grows from 10,000 items to 10,000,000 and all are deleted;
lookups at three sizes; a million adds of one item. As CSV, from the server's own statistics.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so python crates/malkoha-valkey/bench/latency.py

As root the server runs before other processes: what they take is not the module's.
"""

import csv
import os
import sys

from common import FIRST, KINDS, Pipe, Server, microseconds

FIRST_ITEMS = 10_000
ITEMS = int(os.environ.get("MALKOHA_ITEMS", "10000000"))
BATCH = 500
SLOW = 100_000


def row(table, kind, what, client, command):
    """What the server says of a command since the last row."""
    calls, usec = microseconds(client, command)
    histogram = client.execute_command("LATENCY", "HISTOGRAM", command)
    histogram = dict(zip(histogram[::2], histogram[1::2]))[command.lower().encode()]
    histogram = dict(zip(histogram[::2], histogram[1::2]))[b"histogram_usec"]
    cumulative = dict(zip(histogram[::2], histogram[1::2]))
    below = max((n for top, n in cumulative.items() if top <= 1100), default=0)
    slow = [entry["duration"] for entry in client.slowlog_get(SLOW)]
    table.writerow([kind, what, command, calls, f"{usec / calls:.2f}",
                    max(slow, default="below 300"), calls - below])
    sys.stdout.flush()
    reset(client)


def reset(client):
    client.config_resetstat()
    client.slowlog_reset()


def batches(first, end):
    return (range(at, min(at + BATCH, end)) for at in range(first, end, BATCH))


def lookups(table, kind, what, client, pipe, items):
    """Of items from all over the filter."""
    some = lambda first, end: [number * 7919 % items for number in range(first, end)]
    for at in range(0, 1_000_000, 1000):
        words = [f"{number:08d}" for number in some(at, at + 1000)]
        client.execute_command("CF.MEXISTS", "f", *words)
    row(table, kind, f"{what}, of 1000 items", client, "CF.MEXISTS")
    for at in range(0, 200_000, BATCH):
        pipe.run("CF.EXISTS", "f", some(at, at + BATCH))
    row(table, kind, what, client, "CF.EXISTS")


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["server", "while", "command", "calls", "mean_us", "longest_us",
                    "calls_over_1100_us"])
    for kind in KINDS:
        with Server(kind, "--slowlog-log-slower-than", "300", "--slowlog-max-len", str(SLOW),
                    first=FIRST) as server:
            client, pipe = server.client(protocol=2), Pipe(server)
            client.execute_command("CF.RESERVE", "f", FIRST_ITEMS, "GROWTH", 1024)
            for numbers in batches(0, FIRST_ITEMS):
                assert pipe.run("CF.ADD", "f", numbers) == len(numbers)
            reset(client)
            lookups(table, kind, "10 thousand are in", client, pipe, FIRST_ITEMS)
            legs = [(FIRST_ITEMS, ITEMS // 10, "a tenth"), (ITEMS // 10, ITEMS, "all")]
            for first, end, size in legs:
                for numbers in batches(first, end):
                    assert pipe.run("CF.ADD", "f", numbers) == len(numbers)
                row(table, kind, f"it grows until {size} are in", client, "CF.ADD")
                lookups(table, kind, f"{size} are in", client, pipe, end)
            for numbers in batches(0, ITEMS):
                assert pipe.run("CF.DEL", "f", numbers) == len(numbers)
            row(table, kind, "all are deleted", client, "CF.DEL")
            for _ in range(0, 1_000_000, BATCH):
                pipe.run("CF.ADD", "same", [7] * BATCH)
            assert client.execute_command("CF.COUNT", "same", "00000007") == 1_000_000
            row(table, kind, "one item is added a million times", client, "CF.ADD")


main()
