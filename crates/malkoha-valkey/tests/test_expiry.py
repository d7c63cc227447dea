"""Filters whose items expire: what they return, and that replicas, restarts and copies agree bit
for bit. Time is told by CF.ADVANCE where a test must not wait for it."""

import time
import unittest

import redis

from servers import KINDS, Server, chunks, digest, until

SECOND = 1000
HOUR = 3600 * SECOND
ITEMS = [f"item{number}" for number in range(3000)]


def told(run, key):
    return dict(zip(*[iter(run("CF.INFO", key))] * 2))


def stream(run, key, steps, first=0):
    """Items of which a tenth come again, removals, and time that goes on ten minutes a step."""
    start = told(run, key)[b"Time"] or int(time.time() * SECOND)
    for step in range(steps):
        run("CF.ADVANCE", key, start + (step + 1) * HOUR // 6)
        items = [f"{first + step}:{number}" for number in range(200 * (step % 4))]
        if items:
            run("CF.MADD", key, *items)
        run("CF.INSERTNX", key, "ITEMS", *[f"{first + step - 1}:{n}" for n in range(20)], "new")
        for number in range(5):
            run("CF.ADD", key, f"{first + step}:{number}")
            run("CF.ADDNX", key, f"{first + step}:{number}")
            run("CF.DEL", key, f"{first + step - 3}:{number}")
        run("CF.MDEL", key, *[f"{first + step - 2}:{n}" for n in range(50, 60)])


class Expiry(unittest.TestCase):
    def refused(self, message, run, *words):
        with self.assertRaises(redis.ResponseError) as caught:
            run(*words)
        self.assertIn(message, str(caught.exception))

    def test_items_expire(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                client = server.client(protocol=2)
                run = client.execute_command
                run("CF.RESERVE", "f", 100, "EXPIRE", 3600, "RESOLUTION", 600, "SEED", 1)
                now = int(time.time() * SECOND)
                self.assertEqual(run("CF.MADD", "f", *ITEMS), [1] * len(ITEMS))
                self.assertEqual([run("CF.ADD", "f", "item0"), run("CF.COUNT", "f", "item0")], [1, 1])
                self.assertEqual(run("CF.ADDNX", "f", "item0"), 0)
                info = told(run, "f")
                live = info[b"Number of items inserted"]
                self.assertTrue(2950 <= live <= 3000, live)
                self.assertEqual([float(info[b"Items expire after"]), float(info[b"Resolution"])],
                                 [3600, 600])
                self.assertTrue(now - HOUR // 6 <= info[b"Time"] <= now + 1000)
                # Half an hour later some are seen again.
                run("CF.ADVANCE", "f", now + HOUR // 2)
                run("CF.MADD", "f", *ITEMS[:1000])
                self.assertEqual(sum(run("CF.INSERTNX", "f", "ITEMS", *ITEMS[1000:2000])), 0)
                run("CF.ADVANCE", "f", now + HOUR)
                self.assertTrue(all(run("CF.MEXISTS", "f", *ITEMS)))
                # What INSERTNX found is as old as it was.
                run("CF.ADVANCE", "f", now + HOUR + HOUR // 6 + 1000)
                self.assertTrue(all(run("CF.MEXISTS", "f", *ITEMS[:1000])))
                self.assertLess(sum(run("CF.MEXISTS", "f", *ITEMS[1000:])), 60)
                self.assertLess(told(run, "f")[b"Number of items inserted"], 1001)
                self.assertEqual(run("CF.DEL", "f", "item1"), 1)
                self.assertEqual(run("CF.DEL", "f", "none at all"), 0)
                self.assertEqual(run("CF.ADDNX", "f", "item1"), 1)
                # An earlier time changes nothing.
                before = digest(client, "f")
                run("CF.ADVANCE", "f", now)
                self.assertEqual(digest(client, "f"), before)
                # All is forgotten a day later, and the memory comes back.
                size = client.memory_usage("f")
                run("CF.ADVANCE", "f", now + 24 * HOUR)
                self.assertEqual(sum(run("CF.MEXISTS", "f", *ITEMS)), 0)
                run("CF.COMPACT", "f")
                self.assertEqual(told(run, "f")[b"Number of items inserted"], 0)
                self.assertLess(client.memory_usage("f"), size // 3)

    def test_what_cannot_be(self):
        with Server("redis") as server:
            run = server.client(protocol=2).execute_command
            self.refused("Unknown argument", run, "CF.RESERVE", "f", 100, "RESOLUTION", 1)
            run("CF.RESERVE", "f", 100, "EXPIRE", 60, "SEED", 1)
            run("CF.RESERVE", "g", 100, "EXPIRE", 61, "SEED", 1)
            run("CF.RESERVE", "lasting", 100, "SEED", 1)
            self.refused("expire", run, "CF.MERGE", "f", "lasting")
            self.refused("the time that keys live", run, "CF.MERGE", "f", "g")
            self.refused("do not expire", run, "CF.ADVANCE", "lasting", 1)
            self.refused("not found", run, "CF.ADVANCE", "none", 1)
            # One that must not grow: what is in can be seen again, and what expires makes room.
            run("CF.RESERVE", "fixed", 4, "EXPIRE", 60, "EXPANSION", 0, "SEED", 1)
            self.assertEqual(run("CF.MADD", "fixed", *"abcdef"), [1, 1, 1, 1, -1, -1])
            self.assertEqual(run("CF.MADD", "fixed", *"abcd"), [1, 1, 1, 1])
            run("CF.ADVANCE", "fixed", int(time.time() * SECOND) + HOUR)
            self.assertEqual(run("CF.MADD", "fixed", *"efgh"), [1, 1, 1, 1])

    def test_unions_and_files(self):
        with Server("redis") as server:
            client = server.client(protocol=2)
            run = client.execute_command
            for key in "ab":
                run("CF.RESERVE", key, 100, "EXPIRE", 3600, "SEED", 1)
            run("CF.MADD", "a", *ITEMS[:2000])
            run("CF.ADVANCE", "b", int(time.time() * SECOND) + HOUR // 2)
            run("CF.MADD", "b", *ITEMS[1000:])
            run("CF.MERGE", "both", "a", "b")
            self.assertTrue(all(run("CF.MEXISTS", "both", *ITEMS)))
            self.assertEqual(told(run, "both")[b"Time"], told(run, "b")[b"Time"])
            run("CF.LOAD", "file", run("CF.DUMP", "both"))
            for key in ["both", "file"]:
                self.assertTrue(all(run("CF.MEXISTS", key, *ITEMS)))
                run("CF.ADVANCE", key, int(time.time() * SECOND) + HOUR + HOUR // 4)
                self.assertLess(sum(run("CF.MEXISTS", key, *ITEMS[:1000])), 50)
                self.assertTrue(all(run("CF.MEXISTS", key, *ITEMS[1000:])))

    def test_replicas_restarts_and_copies_agree(self):
        options = ["--appendonly", "yes", "--appendfsync", "always"]
        for kind, more in zip(KINDS, [["--aof-use-rdb-preamble", "no"], []]):
            with self.subTest(kind=kind), Server(kind, *options, *more) as primary, Server(kind) as late, \
                    Server(kind) as replica:
                client = primary.client(protocol=2)
                run = client.execute_command

                def follow(server):
                    other = server.client()
                    other.replicaof("127.0.0.1", primary.port)
                    until(lambda: other.info("replication")["master_link_status"] == "up", "link")
                    return other

                def agree(*keys):
                    wanted = [digest(client, key) for key in keys]
                    client.wait(len(others), 30_000)
                    for other in others:
                        self.assertEqual([digest(other, key) for key in keys], wanted)
                    return wanted

                others = [follow(replica)]
                run("CF.RESERVE", "f", 100, "EXPIRE", 3600)
                run("CF.RESERVE", "g", 5000, "EXPIRE", 7200, "RESOLUTION", 60, "ERROR", 0.001)
                for key in "fg":
                    stream(run, key, 8)
                agree("f", "g")
                # One that comes later has the state as it is, with what has expired in it.
                others.append(follow(late))
                agree("f", "g")
                # A copy goes on as the original does.
                client.restore("dumped", 0, client.dump("f"))
                client.copy("f", "copied")
                for chunk in chunks(client, "f"):
                    run("CF.LOADCHUNK", "chunks", *chunk)
                for key in ["f", "dumped", "copied", "chunks"]:
                    stream(run, key, 9, first=8)
                keys = ["f", "dumped", "copied", "chunks", "g"]
                self.assertEqual(len(set(agree(*keys)[:4])), 1)
                run("BGREWRITEAOF")
                until(lambda: not client.info("persistence")["aof_rewrite_in_progress"]
                      and not client.info("persistence")["aof_rewrite_scheduled"], "rewritten")
                stream(run, "f", 5, first=17)
                wanted = agree(*keys)
                primary.kill()
                primary.start()
                client = primary.client(protocol=2)
                self.assertEqual([digest(client, key) for key in keys], wanted)

    def test_steps_that_begin_during_a_command(self):
        """Replicas hear of the time once for each piece of a command, before what it changed."""
        with Server("redis") as primary, Server("redis") as replica:
            client, other = primary.client(protocol=2), replica.client()
            other.replicaof("127.0.0.1", primary.port)
            until(lambda: other.info("replication")["master_link_status"] == "up", "link")
            for transaction in [False, True]:
                client.execute_command("CF.RESERVE", "f", 100, "EXPIRE", 0.2, "RESOLUTION", 0.001)
                for words in [["CF.MADD", "f"], ["CF.INSERTNX", "f", "ITEMS"], ["CF.MDEL", "f"]]:
                    with client.pipeline(transaction) as pipe:
                        pipe.execute_command(*words, *range(50_000))
                        pipe.execute()
                    client.wait(1, 30_000)
                    self.assertEqual(digest(client, "f"), digest(other, "f"), (transaction, words))
                client.delete("f")

    def test_clocks_alone_let_items_expire(self):
        """Nothing is written meanwhile, so replicas are told nothing."""
        with Server("redis") as primary, Server("redis") as replica:
            client, other = primary.client(), replica.client()
            other.replicaof("127.0.0.1", primary.port)
            until(lambda: other.info("replication")["master_link_status"] == "up", "link")
            run = client.execute_command
            begun = time.monotonic()
            run("CF.RESERVE", "f", 100, "EXPIRE", 2.5, "RESOLUTION", 0.5)
            run("CF.ADD", "f", "cuckoo")
            added = time.monotonic()
            client.wait(1, 10_000)
            for server in client, other:
                found = server.execute_command("CF.EXISTS", "f", "cuckoo")
                self.assertTrue(found or time.monotonic() - begun > 2.5)
            time.sleep(max(0, added + 3.1 - time.monotonic()))
            for server in client, other:
                self.assertFalse(server.execute_command("CF.EXISTS", "f", "cuckoo"))
                self.assertEqual(server.execute_command("CF.COUNT", "f", "cuckoo"), 0)
                self.assertEqual(server.execute_command("CF.MEXISTS", "f", "cuckoo"), [0])
            self.assertEqual(digest(client, "f"), digest(other, "f"))
            self.assertEqual(run("CF.ADDNX", "f", "cuckoo"), 1)
            client.wait(1, 10_000)
            self.assertEqual(digest(client, "f"), digest(other, "f"))


if __name__ == "__main__":
    unittest.main()
