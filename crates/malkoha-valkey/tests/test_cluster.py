"""A cluster of three primaries: slots move under load, a primary crashes, and no item is lost."""

import os
import time
import unittest

from clusters import Cluster, Load
from servers import KINDS, until

FILTERS = 40


class ClusterTest(unittest.TestCase):
    # Set more for a longer run.
    SLOTS_TO_MOVE = int(os.environ.get("MALKOHA_SLOTS", "150"))

    def test_no_item_is_lost(self):
        safe = ["--appendonly", "yes", "--appendfsync", "always"]
        for kind in KINDS:
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


if __name__ == "__main__":
    unittest.main()
