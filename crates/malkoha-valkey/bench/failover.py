"""A filter of a few million lines on a cluster of three primaries with a replica each, while it is
loaded, its slots move, a primary is killed and a replica is lost, by `malkoha remote --replicas 1`. As
CSV. Wrong are lines that were confirmed and are not in, or are in more or fewer times than was told.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so MALKOHA_COMMAND=target/release/malkoha \\
    python crates/malkoha-valkey/bench/failover.py
"""

import csv
import json
import os
import sys
import threading
import time

from common import KINDS

from clusters import Cluster
from servers import until
from test_remote import Remote, lines

LINES = int(os.environ.get("MALKOHA_LINES", "1000000"))
SHARDS, BATCH = 24, 20_000
# Lines of each batch whose copies are counted on all shards.
COUNTED = 100


class Added:
    """Batches of lines, and what was told of each."""

    def __init__(self, remote):
        self.remote, self.batches, self.end = remote, [], 0

    def add(self, count, timeout=60):
        told = self.remote.add(lines(self.end, self.end + count), timeout)
        self.batches.append((self.end, self.end + count, told))
        self.end += count
        return told

    def during(self, work):
        """Adds batches until the work is done, and two more."""
        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            self.add(BATCH)
        thread.join()
        self.add(2 * BATCH)

    def sums(self, since):
        names = ["added", "unconfirmed", "resent", "unknown"]
        return {name: sum(told[name] for _, _, told in self.batches[since:]) for name in names}

    def missing(self):
        """Lines that are not in: all, and those of batches that were confirmed as a whole."""
        out = self.remote.run("check", "-v", lines=lines(0, self.end), code=None).split()
        numbers = [int(line.removeprefix("line")) for line in out]
        sure = [(first, end) for first, end, told in self.batches if not told["unconfirmed"]]
        return len(numbers), sum(first <= n < end for n in numbers for first, end in sure)

    def miscounted(self, client):
        """Of some lines of each batch, those whose copies are not as many as was told; how many were
        looked at."""
        wrong, looked = 0, 0
        for first, end, told in self.batches:
            if told["unconfirmed"]:
                continue
            most = 1 + (told["resent"] > 0)
            step = max(1, (end - first) // COUNTED)
            for number in range(first, end, step):
                counts = [client.execute_command("CF.COUNT", f"urls:{shard}", f"line{number}")
                          for shard in range(SHARDS)]
                wrong += not 1 <= sum(counts) <= most
                looked += 1
        return wrong, looked


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["server", "stage", "lines", "unconfirmed", "resent", "unknown", "missing",
                    "confirmed_and_missing", "counted", "miscounted", "keys", "seconds"])
    bad = 0
    for kind in KINDS:
        with Cluster(kind, 1) as cluster:
            remote = Remote(cluster.servers)
            added, begun = Added(remote), [time.monotonic(), 0]
            remote.run("load", "--shards", str(SHARDS), "--capacity", str(4 * LINES), "--fpr", "1e-7",
                       "--replicas", "1")
            client = cluster.client()

            def stage(what):
                missing, wrong = added.missing()
                miscounted, looked = added.miscounted(client)
                keys = json.loads(remote.run("info", "--json"))["keys"]
                sums, everything = added.sums(begun[1]), added.sums(0)
                # Each line once, but those that were sent twice, and those that nobody vouches for.
                least = added.end - everything["unconfirmed"]
                off = not least <= keys <= added.end + everything["resent"]
                table.writerow([kind, what, added.end, sums["unconfirmed"], sums["resent"],
                                sums["unknown"], missing, wrong, looked, miscounted, keys,
                                f"{time.monotonic() - begun[0]:.0f}"])
                sys.stdout.flush()
                begun[:] = time.monotonic(), len(added.batches)
                return wrong + miscounted + off

            while added.end < LINES:
                added.add(min(10 * BATCH, LINES - added.end))
            bad += stage("loaded")
            slots = sorted({client.keyslot(f"urls:{shard}") for shard in range(SHARDS)})
            bounds = [0, 5461, 10922, 16384]
            of = [[slot for slot in slots if first <= slot < end] for first, end in zip(bounds, bounds[1:])]

            def reshard():
                for source in range(3):
                    cluster.move(of[source], source, (source + 1) % 3)

            added.during(reshard)
            bad += stage(f"{len(slots)} slots, all that have shards, have moved")
            added.during(lambda: cluster.fail_over(0))
            cluster.primaries[0].start()
            until(lambda: cluster.primaries[0].client().info("replication")["master_link_status"] == "up",
                  "what was the primary follows")
            bad += stage("a primary was killed and came back")
            cluster.replicas[1].kill()
            told = added.add(BATCH, timeout=3)
            assert told["unconfirmed"] > 0, told
            bad += stage("a replica is lost")
            cluster.replicas[1].start()
            until(lambda: cluster.replicas[1].client().info("replication")["master_link_status"] == "up",
                  "the replica is back")
            told = added.add(BATCH)
            assert told["unconfirmed"] == 0, told
            bad += stage("it is back")
    sys.exit(bad > 0)


main()
