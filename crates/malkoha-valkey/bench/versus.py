"""CF.* of this module against RedisBloom's own on servers of one build, by turns: 20 clients, one
command in flight and 50; requests per second, the server's processor time per command, p50, p99 and
the longest wait. As CSV. Items are drawn from MALKOHA_RANGE numbers (default: a million, so that
many are added more than once).

MALKOHA_MODULE=target/release/libmalkoha_valkey.so REDISBLOOM_MODULE=redisbloom.so \\
    python crates/malkoha-valkey/bench/versus.py

Redis 8 comes from `tests/newer-servers sid target/servers`, with its folder first in PATH.
RedisBloom is built from the tag of the same release, here v8.0.6, with its Makefile's flags: `-O3
-flto -fPIC -std=gnu99 -DNDEBUG -D_GNU_SOURCE -DREDIS_MODULE_TARGET -DREDISMODULE_SDK_RLEC`.
"""

import csv
import os
import subprocess
import sys

from common import FIRST, Server

REDISBLOOM = os.environ["REDISBLOOM_MODULE"]
SHARE = int(os.environ.get("MALKOHA_SHARE", "1"))
ROUNDS = int(os.environ.get("MALKOHA_ROUNDS", "3"))
RANGE = os.environ.get("MALKOHA_RANGE", "1000000")
ITEM = "__rand_int__"
# Requests with 50 in flight; with one, a tenth.
COMMANDS = {
    "ADD": (["CF.ADD", "f", ITEM], 1_000_000),
    "ADDNX": (["CF.ADDNX", "f", ITEM], 1_000_000),
    "EXISTS": (["CF.EXISTS", "f", ITEM], 1_000_000),
    "COUNT": (["CF.COUNT", "f", ITEM], 1_000_000),
    "MEXISTS x 10": (["CF.MEXISTS", "f", *[ITEM] * 10], 300_000),
    "INSERT x 100": (["CF.INSERT", "f", "ITEMS", *[ITEM] * 100], 20_000),
    "DEL": (["CF.DEL", "f", ITEM], 1_000_000),
}


def used(client, command):
    """Microseconds a call, by the server's own statistics."""
    stats = client.info("commandstats")[f"cmdstat_{command.lower()}"]
    return stats["usec"] / stats["calls"]


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["round", "module", "pipeline", "command", "requests", "requests_per_second",
                    "server_us_per_command", "p50_ms", "p99_ms", "longest_ms", "load_average"])
    with Server("redis", first=FIRST) as ours, Server("redis", first=FIRST) as theirs:
        theirs.kill()
        theirs.start_with("--loadmodule", REDISBLOOM)
        for number in range(ROUNDS):
            for pipeline in (50, 1):
                servers = {"malkoha": ours, "RedisBloom": theirs}
                for server in servers.values():
                    client = server.client()
                    client.flushall()
                    client.execute_command("CF.RESERVE", "f", 4_000_000)
                for what, (words, requests) in COMMANDS.items():
                    requests = requests // (1 if pipeline == 50 else 10) // SHARE
                    for module, server in servers.items():
                        client = server.client()
                        client.config_resetstat()
                        done = subprocess.run(
                            ["redis-benchmark", "-p", str(server.port), "-c", "20", "-r", RANGE,
                             "-n", str(requests), "-P", str(pipeline), "--csv", *words],
                            capture_output=True, text=True, check=True)
                        figures = list(csv.reader(done.stdout.splitlines()))[-1]
                        table.writerow([number + 1, module, pipeline, what, requests, figures[1],
                                        f"{used(client, words[0]):.3f}", figures[4], figures[6],
                                        figures[7], f"{os.getloadavg()[0]:.1f}"])
                        sys.stdout.flush()


main()
