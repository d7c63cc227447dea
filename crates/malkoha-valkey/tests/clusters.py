"""Clusters of real servers on loopback."""

import threading

import redis
from redis.backoff import ConstantBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.retry import Retry

from servers import Server, until

SLOTS = 16384


class Cluster:
    """Three primaries, each with as many replicas."""

    def __init__(self, kind, replicas=0, *options):
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000",
                   "--cluster-require-full-coverage", "no", *options]
        self.primaries = [Server(kind, *options) for _ in range(3)]
        self.replicas = [Server(kind, *options) for _ in range(3 * replicas)]
        bounds = [0, SLOTS // 3, 2 * SLOTS // 3, SLOTS]
        for server, first, end in zip(self.primaries, bounds, bounds[1:]):
            node = server.client()
            node.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            for other in self.servers:
                node.execute_command("CLUSTER", "MEET", "127.0.0.1", other.port)
        for server in self.servers:
            until(lambda: self.state(server) == "ok", "the cluster forms")
        for number, server in enumerate(self.replicas):
            primary = self.id(self.primaries[number % 3])
            until(lambda: server.client().execute_command("CLUSTER", "REPLICATE", primary),
                  "a replica knows its primary")
        for server in self.replicas:
            until(lambda: server.client().info("replication")["master_link_status"] == "up",
                  "a replica is in step")

    @property
    def servers(self):
        return self.primaries + self.replicas

    def view(self, server):
        """Who has which slots, and since which epoch, as a server knows it."""
        nodes = server.client().execute_command("CLUSTER", "NODES")
        if isinstance(nodes, dict):
            return sorted((node["node_id"], node["epoch"], node["slots"])
                          for node in nodes.values() if node["slots"])
        nodes = [line.split() for line in nodes.decode().splitlines()]
        return sorted((node[0], node[6], [it for it in node[8:] if not it.startswith("[")])
                      for node in nodes if len(node) > 8)

    def settle(self):
        """Waits until all servers know the same. Before that, a message from before a move can come
        after it, and a server that believes it removes the keys that have come to it."""
        def is_settled():
            views = [self.view(server) for server in self.servers]
            epochs = [node[1] for node in views[0]]
            return all(view == views[0] for view in views) and len(set(epochs)) == len(epochs)
        until(is_settled, "all servers know the same")

    def id(self, server):
        return server.client().execute_command("CLUSTER", "MYID").decode()

    def state(self, server):
        info = server.client().execute_command("CLUSTER", "INFO")
        info = info if isinstance(info, dict) else dict(
            line.split(":", 1) for line in info.decode().split())
        whole = info["cluster_known_nodes"] == str(len(self.servers))
        return info["cluster_state"] if whole else "forming"

    def client(self):
        nodes = [ClusterNode("127.0.0.1", server.port) for server in self.servers]
        return RedisCluster(startup_nodes=nodes, retry=Retry(ConstantBackoff(0.1), 200))

    def move(self, slots, source=0, target=1):
        """Moves slots from one primary to another, as redis-cli does."""
        self.settle()
        servers = [self.primaries[source], self.primaries[target]]
        [source, target], ids = [s.client() for s in servers], [self.id(s) for s in servers]
        others = [server.client() for server in self.primaries if server not in servers]
        for slot in slots:
            target.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
            source.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
            while keys := source.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 10):
                source.execute_command("MIGRATE", "127.0.0.1", servers[1].port, "", 0, 5000,
                                       "KEYS", *keys)
            for node in [target, source, *others]:
                node.execute_command("CLUSTER", "SETSLOT", slot, "NODE", ids[1])

    def fail_over(self, number):
        """Kills a primary and waits until its replica has taken over."""
        self.primaries[number].kill()
        replica = self.replicas[number]
        until(lambda: replica.client().info("replication")["role"] == "master", "a new primary", 60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.__exit__()


class Load(threading.Thread):
    """Adds items to many filters until it is told to stop; remembers those that the cluster has
    acknowledged."""

    def __init__(self, client, filters):
        super().__init__()
        self.client = client
        self.added = [[] for _ in range(filters)]
        self.enough = threading.Event()
        self.batches = 0

    def run(self):
        while not self.enough.is_set():
            number = self.batches % len(self.added)
            items = [f"item{self.batches}-{i}" for i in range(50)]
            self.batches += 1
            try:
                replies = self.client.execute_command("CF.MADD", f"filter{number}", *items)
            except redis.exceptions.RedisError:
                # Not acknowledged: it may be in or not.
                continue
            assert all(replies)
            self.added[number] += items

    def wrong(self, client):
        """Acknowledged items that are not in."""
        return sum(
            not found
            for number, items in enumerate(self.added) if items
            for found in client.execute_command("CF.MEXISTS", f"filter{number}", *items)
        )
