"""Bytes an item and false positives after growth, and what copies cost, as CSV.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so python crates/malkoha-valkey/bench/memory.py
"""

import csv
import sys

from common import KINDS, Server

ITEMS = 1_000_000
BATCH = 10_000


def batches(first):
    return (range(at, at + BATCH) for at in range(first, first + ITEMS, BATCH))


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["server", "reserved", "items", "bytes", "false_positives", "count_of_copies"])
    for kind in KINDS:
        with Server(kind) as server:
            client = server.client()
            run = client.execute_command
            for reserved in (10_000, ITEMS):
                run("CF.RESERVE", reserved, reserved)
                for items in batches(0):
                    assert all(run("CF.MADD", reserved, *items))
                    assert all(run("CF.MEXISTS", reserved, *items))
                wrong = sum(sum(run("CF.MEXISTS", reserved, *items)) for items in batches(2 * ITEMS))
                table.writerow([kind, reserved, ITEMS, client.memory_usage(reserved), wrong, ""])
            run("CF.RESERVE", "same", 1000)
            before = client.memory_usage("same")
            for items in batches(0):
                run("CF.MADD", "same", *["item"] * len(items))
            more = client.memory_usage("same") - before
            table.writerow([kind, 1000, ITEMS, more, "", run("CF.COUNT", "same", "item")])


main()
