"""Bytes a filter and an item by the server's own account (`used_memory`), what MEMORY USAGE, CF.INFO
and INFO tell of the same, false positives, and what copies cost. As CSV.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so python crates/malkoha-valkey/bench/memory.py

With another allocator: ALLOCATOR=/lib/x86_64-linux-gnu/libc.so.6, or any other library that has
malloc, which is loaded before the server's own. With REDISBLOOM_MODULE, RedisBloom too.
"""

import csv
import os
import sys

from common import KINDS, Server

ALLOCATOR = os.environ.get("ALLOCATOR")
REDISBLOOM = os.environ.get("REDISBLOOM_MODULE")
MOST = int(os.environ.get("MALKOHA_MOST", "10000000"))
BATCH = 10_000
# Filters, what each is reserved for (None: not at all), items of each.
CASES = [
    (2000, None, 50), (2000, None, 100), (500, None, 1000), (100, None, 10_000), (100, 10_000, 10_000),
    (1, 10_000, 1_000_000), (1, 1_000_000, 1_000_000),
    (1, 10_000, 10_000_000), (1, 10_000_000, 10_000_000),
]


def memory(server):
    """By a connection of its own, whose buffers are always alike."""
    with server.client() as client:
        return client.info("memory")["used_memory"]


def fill(client, key, reserved, items, *options):
    if reserved:
        client.execute_command("CF.RESERVE", key, reserved, *options)
    for first in range(0, items, BATCH):
        numbers = range(first, min(first + BATCH, items))
        if -1 in client.execute_command("CF.INSERT", key, "ITEMS", *numbers):
            return False
    return True


def told(client, key):
    info = client.execute_command("CF.INFO", key)
    return dict(zip(info[::2], info[1::2]))[b"Size"]


def case(kind, module, server, filters, reserved, items, *options):
    client = server.client(protocol=2)
    client.execute_command("FLUSHALL")
    before = memory(server)
    keys = [f"{number:04d}" for number in range(filters)]
    held = all([fill(client, key, reserved, items, *options) for key in keys])
    used = memory(server) - before
    usage, size = sum(map(client.memory_usage, keys)), sum(told(client, key) for key in keys)
    whole = client.info("malkoha_filters").get("malkoha_bytes", "")
    strangers = (range(at, at + BATCH) for at in range(2 * MOST, 2 * MOST + 200_000, BATCH))
    wrong = sum(sum(client.execute_command("CF.MEXISTS", keys[0], *numbers)) for numbers in strangers)
    return [kind, module, os.path.basename(ALLOCATOR or "own"), filters, reserved or "", items, *options[1:],
            *([""] if not options else []), "" if held else "refused some", used // filters,
            usage // filters, size // filters, whole and whole // filters,
            f"{used / filters / items:.3f}", f"{usage / used - 1:+.4f}", f"{wrong / 200_000:.5f}"]


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["server", "module", "allocator", "filters", "reserved", "items", "expansion", "refused",
                    "used_memory", "memory_usage", "cf_info_size", "info_bytes", "bytes_an_item",
                    "usage_beside_used", "false_positives"])
    options = ["--hz", "1", "--activerehashing", "no"]
    first = ["env", f"LD_PRELOAD={ALLOCATOR}"] if ALLOCATOR else []
    for kind in KINDS[:1] if REDISBLOOM else KINDS:
        with Server(kind, *options, first=first) as server:
            for filters, reserved, items in CASES:
                if items <= MOST:
                    table.writerow(case(kind, "malkoha", server, filters, reserved, items))
                    sys.stdout.flush()
            client = server.client()
            client.execute_command("CF.RESERVE", "same", 1000)
            before = memory(server)
            for _ in range(100):
                client.execute_command("CF.MADD", "same", *["item"] * BATCH)
            assert client.execute_command("CF.COUNT", "same", "item") == 100 * BATCH
            more = memory(server) - before
            table.writerow([kind, "malkoha", os.path.basename(ALLOCATOR or "own"), 1, 1000,
                            "one a million times", "", "", more])
            if not REDISBLOOM:
                continue
            server.kill()
            server.start_with("--loadmodule", REDISBLOOM)
            for filters, reserved, items in CASES:
                if items <= MOST:
                    for expansion in [["EXPANSION", 2]] if reserved else [[]]:
                        table.writerow(case(kind, "RedisBloom", server, filters, reserved, items, *expansion))
                        sys.stdout.flush()


main()
