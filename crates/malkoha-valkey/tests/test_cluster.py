"""A cluster of three primaries: slots move under load, a primary crashes, and no item is lost."""

import os
import threading
import time
import unittest

import redis

from clusters import SLOTS, Cluster, Load
from servers import CLUSTER_KINDS, until

FILTERS = 40


class ClusterTest(unittest.TestCase):
    # Set more for a longer run.
    SLOTS_TO_MOVE = int(os.environ.get("MALKOHA_SLOTS", "150"))

    def test_no_item_is_lost(self):
        safe = ["--appendonly", "yes", "--appendfsync", "always"]
        for kind in CLUSTER_KINDS:
            with self.subTest(kind=kind), Cluster(kind, 0, *safe) as cluster:
                load = Load(cluster.client(), FILTERS)
                load.start()
                try:
                    until(lambda: load.batches > FILTERS, "load")
                    cluster.move(range(self.SLOTS_TO_MOVE))
                    before = load.batches
                    victim = cluster.primaries[1]
                    victim.kill()
                    time.sleep(0.5)
                    victim.start()
                    until(lambda: cluster.state(victim) == "ok", "the primary is back")
                    until(lambda: load.batches > before + 2 * FILTERS, "load after the crash")
                finally:
                    load.enough.set()
                    load.join()
                self.assertEqual(load.wrong(cluster.client()), 0)
                self.assertGreater(sum(map(len, load.added)), 1000)

    def test_what_is_made_while_its_slot_moves_is_left_nowhere(self):
        """A filter that a thread made was put where nobody finds it, and kept the slot from coming
        back; and items were said to be out whose filter had moved."""
        for kind in CLUSTER_KINDS:
            with self.subTest(kind=kind), Cluster(kind) as cluster:
                source, target = (server.client(protocol=2) for server in cluster.primaries[:2])
                slot_of = lambda key: source.execute_command("CLUSTER", "KEYSLOT", key)
                tags = [f"{{{n}}}" for n in range(100) if slot_of(f"{{{n}}}") < SLOTS // 3]
                busy, empty, here, new = tags[:4]
                items = [f"item{number}" for number in range(160_000)]
                for key in [f"{busy}f", f"{here}f"]:
                    source.execute_command("CF.RESERVE", key, len(items), "SEED", 1)
                    source.execute_command("CF.MADD", key, *items)
                file = source.execute_command("CF.DUMP", f"{busy}f")

                def begun(server, *words):
                    """Commands of a connection, of which the last waits: its thread and reply."""
                    client, replies = server.client(protocol=2, retry=None), []
                    blocked = lambda: server.client().info("clients")["blocked_clients"]
                    before = blocked()

                    def work():
                        pipe = client.pipeline(transaction=False)
                        for command in words:
                            pipe.execute_command(*command)
                        replies.append(pipe.execute(raise_on_error=False)[-1])

                    thread = threading.Thread(target=work)
                    thread.start()
                    until(lambda: blocked() > before or not thread.is_alive(), words[-1][0])
                    return thread, replies

                def hold(server):
                    """Keeps the thread that works next to the server for a while."""
                    return begun(server, ["CF.MERGE", f"{busy}union", *[f"{busy}f"] * 8])

                at = cluster.primaries[0]
                commands = [begun(at, ["CF.MEXISTS", f"{here}f", *items * 10])]
                cluster.move([slot_of(here)])
                commands += [hold(at), begun(at, ["CF.RESERVE", f"{empty}a", 5_000_000]),
                             begun(at, ["CF.LOAD", f"{empty}b", file])]
                cluster.move([slot_of(empty)])
                for thread, _ in commands:
                    thread.join()
                looked, held, reserved, loaded = [replies[0] for _, replies in commands]
                self.assertEqual(held, b"OK")
                for outcome in reserved, loaded:
                    self.assertIsInstance(outcome, redis.exceptions.TryAgainError)
                # It may have come to its end before.
                self.assertTrue(isinstance(looked, redis.exceptions.TryAgainError) or all(looked))
                count = lambda slot: source.execute_command("CLUSTER", "COUNTKEYSINSLOT", slot)
                self.assertEqual((count(slot_of(empty)), count(slot_of(here))), (0, 0))
                # Clients of clusters try again.
                client = cluster.client()
                client.execute_command("CF.RESERVE", f"{empty}a", 5_000_000)
                self.assertTrue(all(client.execute_command("CF.MEXISTS", f"{here}f", *items)))

                # What was deleted before the slot moved is not deleted once more by a client.
                thread, replies = begun(cluster.primaries[0], ["CF.MDEL", f"{busy}f", *items])
                cluster.move([slot_of(busy)])
                thread.join()
                left = sum(client.execute_command("CF.MEXISTS", f"{busy}f", *items))
                if isinstance(replies[0], redis.exceptions.TryAgainError):
                    self.assertEqual(left, len(items))
                elif isinstance(replies[0], redis.exceptions.ResponseError):
                    self.assertIn("moved to another name, database or node", str(replies[0]))
                    self.assertLess(left, len(items))
                else:
                    self.assertEqual(sum(replies[0]), len(items))
                    self.assertLess(left, len(items) // 20)

                # Where a slot arrives, a client that was sent there is served.
                slot, at = slot_of(new), cluster.primaries[1]
                target.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(cluster.primaries[0]))
                source.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id(at))
                thread, replies = begun(at, ["ASKING"], ["CF.RESERVE", f"{new}a", 5_000_000])
                thread.join()
                self.assertEqual(replies, [b"OK"])


if __name__ == "__main__":
    unittest.main()
