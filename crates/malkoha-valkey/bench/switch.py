"""Ten filters of RedisBloom, two million items, go over to the module: what is found, at which rate and
in which time, then a million additions and a million deletes. CSV.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so REDISBLOOM_MODULE=redisbloom.so \\
    python crates/malkoha-valkey/bench/switch.py
"""

import csv
import os
import sys
import time

from common import Server

REDISBLOOM = os.environ["REDISBLOOM_MODULE"]
FILTERS, ITEMS, MORE, BATCH = 10, 200_000, 100_000, 10_000
STRANGERS = 50_000


def batches(prefix, count, first=0):
    for at in range(first, count, BATCH):
        yield [f"{prefix}:{n}" for n in range(at, min(at + BATCH, count))]


def asked(run, key, prefix, count, first=0):
    return sum(sum(run("CF.MEXISTS", key, *items)) for items in batches(prefix, count, first))


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["what", "value"])
    keys = [f"filter{number}" for number in range(FILTERS)]
    with Server("redis") as server:
        server.kill()
        server.start_with("--loadmodule", REDISBLOOM)
        client = server.client(protocol=2)
        run = client.execute_command
        for number, key in enumerate(keys):
            # Every other one has expanded.
            words = ["20000", "EXPANSION", "2"] if number % 2 else ["600000"]
            run("CF.RESERVE", key, *words)
            for items in batches(key, ITEMS):
                run("CF.INSERT", key, "ITEMS", *items)
        assert all(asked(run, key, key, ITEMS) == ITEMS for key in keys)
        strangers = [asked(run, key, "stranger", STRANGERS) for key in keys]
        table.writerow(["RedisBloom: used_memory", client.info("memory")["used_memory"]])
        client.save()
        server.kill()
        start = time.monotonic()
        server.start()
        client = server.client(protocol=2)
        run = client.execute_command
        table.writerow(["seconds to start", f"{time.monotonic() - start:.2f}"])
        table.writerow(["used_memory", client.info("memory")["used_memory"]])
        table.writerow(["found of 2000000", sum(asked(run, key, key, ITEMS) for key in keys)])
        now = [asked(run, key, "stranger", STRANGERS) for key in keys]
        table.writerow(["filters that answer as before", sum(a == b for a, b in zip(now, strangers))])
        expected = [told(run, key, "Error rate expected") for key in keys]
        for kind in (0, 1):
            rate = sum(now[kind::2]) / len(now[kind::2]) / STRANGERS
            told_rate = sum(map(float, expected[kind::2])) / len(expected[kind::2])
            name = ["reserved", "expanded"][kind]
            table.writerow([f"rate measured, {name}", f"{rate:.4f}"])
            table.writerow([f"rate told, {name}", f"{told_rate:.4f}"])
        for key in keys:
            for items in batches(f"{key}:new", MORE):
                assert all(run("CF.MADD", key, *items))
        table.writerow(["found of 1000000 added", sum(asked(run, key, f"{key}:new", MORE) for key in keys)])
        table.writerow(["used_memory after", client.info("memory")["used_memory"]])
        deleted = sum(sum(run("CF.MDEL", key, *items)) for key in keys for items in batches(key, MORE))
        table.writerow(["deleted of 1000000", deleted])
        for key in keys:
            run("CF.COMPACT", key)
        left = [asked(run, key, key, ITEMS, MORE) for key in keys]
        table.writerow(["found of the other 1000000", sum(left)])
        table.writerow(["found of those added", sum(asked(run, key, f"{key}:new", MORE) for key in keys)])
        table.writerow(["used_memory after deletes", client.info("memory")["used_memory"]])
        stats = client.info("commandstats")
        for name in ("cf.madd", "cf.mdel", "cf.compact"):
            table.writerow([f"microseconds a call, {name}", stats[f"cmdstat_{name}"]["usec_per_call"]])


def told(run, key, field):
    flat = run("CF.INFO", key)
    pairs = flat.items() if isinstance(flat, dict) else zip(flat[::2], flat[1::2])
    return {name.decode() if isinstance(name, bytes) else name: value for name, value in pairs}[field]


main()
