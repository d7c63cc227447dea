"""A cluster of three primaries: slots move under load, a primary crashes, and no item is lost."""

import os
import threading
import time
import unittest

import redis
from redis.backoff import ConstantBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.retry import Retry

from servers import KINDS, Server, until

FILTERS = 40
SLOTS = 16384


class Cluster:
    def __init__(self, kind):
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000",
                   "--cluster-require-full-coverage", "no",
                   "--appendonly", "yes", "--appendfsync", "always"]
        self.servers = [Server(kind, *options) for _ in range(3)]
        bounds = [0, SLOTS // 3, 2 * SLOTS // 3, SLOTS]
        for server, first, end in zip(self.servers, bounds, bounds[1:]):
            node = server.client()
            node.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            for other in self.servers:
                node.execute_command("CLUSTER", "MEET", "127.0.0.1", other.port)
        for server in self.servers:
            until(lambda: self.info(server) == "ok", "the cluster forms")

    def info(self, server):
        info = server.client().execute_command("CLUSTER", "INFO")
        info = info if isinstance(info, dict) else dict(
            line.split(":", 1) for line in info.decode().split())
        return info["cluster_state"] if info["cluster_known_nodes"] == "3" else "forming"

    def client(self):
        nodes = [ClusterNode("127.0.0.1", server.port) for server in self.servers]
        return RedisCluster(startup_nodes=nodes, retry=Retry(ConstantBackoff(0.1), 200))

    def move(self, slots):
        """Moves slots of the first server to the second, as redis-cli does."""
        source, target = (server.client() for server in self.servers[:2])
        ids = [node.execute_command("CLUSTER", "MYID").decode() for node in (source, target)]
        for slot in slots:
            target.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
            source.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
            while keys := source.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 10):
                source.execute_command("MIGRATE", "127.0.0.1", self.servers[1].port, "", 0, 5000,
                                       "KEYS", *keys)
            for server in (self.servers[1], self.servers[0], self.servers[2]):
                server.client().execute_command("CLUSTER", "SETSLOT", slot, "NODE", ids[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.__exit__()


class Load(threading.Thread):
    """Adds items until it is told to stop; remembers those that the cluster has acknowledged."""

    def __init__(self, client):
        super().__init__()
        self.client = client
        self.added = [[] for _ in range(FILTERS)]
        self.enough = threading.Event()
        self.batches = 0

    def run(self):
        while not self.enough.is_set():
            number = self.batches % FILTERS
            items = [f"item{self.batches}-{i}" for i in range(50)]
            try:
                replies = self.client.execute_command("CF.MADD", f"filter{number}", *items)
            except redis.exceptions.RedisError:
                # Not acknowledged: it may be in or not.
                self.batches += 1
                continue
            assert all(replies)
            self.added[number] += items
            self.batches += 1


class ClusterTest(unittest.TestCase):
    # Set more for a longer run.
    SLOTS_TO_MOVE = int(os.environ.get("MALKOHA_SLOTS", "150"))

    def wrong(self, cluster, load):
        client = cluster.client()
        return sum(
            not found
            for number, items in enumerate(load.added) if items
            for found in client.execute_command("CF.MEXISTS", f"filter{number}", *items)
        )

    def test_no_item_is_lost(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Cluster(kind) as cluster:
                load = Load(cluster.client())
                load.start()
                try:
                    until(lambda: load.batches > FILTERS, "load")
                    cluster.move(range(self.SLOTS_TO_MOVE))
                    before = load.batches
                    victim = cluster.servers[1]
                    victim.kill()
                    time.sleep(0.5)
                    victim.start()
                    until(lambda: cluster.info(victim) == "ok", "the primary is back")
                    until(lambda: load.batches > before + 2 * FILTERS, "load after the crash")
                finally:
                    load.enough.set()
                    load.join()
                self.assertEqual(self.wrong(cluster, load), 0)
                self.assertGreater(sum(map(len, load.added)), 1000)


if __name__ == "__main__":
    unittest.main()
