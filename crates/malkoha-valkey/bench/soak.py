"""A million mixed commands on a primary, then the digests of its replica and of itself restarted
from either kind of file; and a cluster thousands of whose slots move under load. As CSV.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so python crates/malkoha-valkey/bench/soak.py
"""

import csv
import os
import sys
import time

from common import KINDS, Server

from clusters import Cluster, Load
from servers import until
from test_durability import digests, work

COMMANDS = int(os.environ.get("MALKOHA_COMMANDS", "1000000"))
SLOTS = int(os.environ.get("MALKOHA_SLOTS", "3000"))


def replica_and_restart(kind):
    """Wrong are filters whose digest is another one anywhere."""
    files = ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"]
    with Server(kind, *files) as primary, Server(kind) as replica:
        client, other = primary.client(), replica.client()
        other.replicaof("127.0.0.1", primary.port)
        until(lambda: other.info("replication")["master_link_status"] == "up", "link")
        for seed in range(COMMANDS // 4000):
            keys = work(client, seed)
        client.wait(1, 60_000)
        wanted = digests(client, keys)
        seen = [digests(other, keys)]
        # As the log of commands has it, then as a rewritten one, then as an RDB file has it.
        for rewrite in (False, True):
            if rewrite:
                client.execute_command("BGREWRITEAOF")
                until(lambda: not client.info("persistence")["aof_rewrite_in_progress"], "rewrite")
            primary.restart()
            client = primary.client()
            seen.append(digests(client, keys))
        other.execute_command("SAVE")
        other.execute_command("DEBUG", "RELOAD", "NOSAVE")
        seen.append(digests(other, keys))
        wrong = sum(a != b for digests in seen for a, b in zip(digests, wanted))
        return "mixed commands", COMMANDS, wrong


def reshard(kind):
    """Wrong are acknowledged items that are not in."""
    with Cluster(kind) as cluster:
        load = Load(cluster.client(), 2000)
        load.start()
        try:
            until(lambda: load.batches > 2500, "load", 120)
            cluster.move(range(SLOTS))
            before = load.batches
            until(lambda: load.batches > before + 2000, "load afterwards", 120)
        finally:
            load.enough.set()
            load.join()
        wrong = load.wrong(cluster.client())
        return f"items while {SLOTS} slots move", sum(map(len, load.added)), wrong


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["server", "what", "amount", "wrong", "seconds"])
    wrong = 0
    for kind in KINDS:
        for work in (replica_and_restart, reshard):
            start = time.monotonic()
            what, amount, lost = work(kind)
            table.writerow([kind, what, amount, lost, f"{time.monotonic() - start:.0f}"])
            sys.stdout.flush()
            wrong += lost
    sys.exit(wrong > 0)


main()
