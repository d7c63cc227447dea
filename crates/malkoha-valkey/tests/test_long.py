"""Commands that take long let others be served in between, and are what they say in the end."""

import threading
import time
import unittest

import redis

from servers import KINDS, Server, chunks, digest, until

MANY = 6_000


class Long(unittest.TestCase):
    def each(self, protocols=(2, 3)):
        """All servers and protocols; the database is empty each time, and replicas agree in the end."""
        for kind in KINDS:
            with Server(kind) as server, Server(kind) as replica:
                other = replica.client()
                other.replicaof("127.0.0.1", server.port)
                until(lambda: other.info("replication")["master_link_status"] == "up", "link")
                for protocol in protocols:
                    client = server.client(protocol=protocol)
                    client.flushall()
                    # Told if a test fails.
                    print(f"{kind}, RESP{protocol}")
                    yield server, client, other, protocol
                client.wait(1, 30_000)
                keys = client.keys()
                self.assertTrue(keys)
                self.assertEqual([digest(client, key) for key in keys],
                                 [digest(other, key) for key in keys])

    def test_many_items_in_one_command(self):
        for server, client, other, protocol in self.each():
            run = client.execute_command
            items = [f"item{number}" for number in range(MANY)]
            # With a seed, or now and then an item would look like another one.
            run("CF.RESERVE", "f", 1000, "ERROR", 1e-6, "SEED", 1)
            self.assertEqual(run("CF.INSERT", "f", "ITEMS", *items), [1] * MANY)
            self.assertEqual(run("CF.MADD", "g", *items), [1] * MANY)
            self.assertEqual(run("CF.INSERTNX", "f", "ITEMS", *items[100:], *"abc"),
                             [0] * (MANY - 100) + [1] * 3)
            self.assertEqual(run("CF.MEXISTS", "f", *items, "none"), [1] * MANY + [0])
            self.assertEqual(run("CF.MEXISTS", "none", *items), [0] * MANY)
            self.assertEqual(run("CF.MDEL", "f", "none", *items[:MANY // 2]), [0] + [1] * (MANY // 2))
            self.assertEqual(client.cf().info("f")[b"Number of items inserted"] if protocol == 3 else
                             client.cf().info("f").insertedNum, MANY // 2 + 3)
            run("CF.RESERVE", "fixed", 5000, "EXPANSION", 0, "ERROR", 1e-6, "SEED", 1)
            added = run("CF.MADD", "fixed", *items)
            self.assertEqual(sum(bool(one) and one != -1 for one in added), 5000)
            run("CF.RESERVE", "short", 5000, "EXPIRE", 3600, "ERROR", 1e-6, "SEED", 1)
            self.assertEqual(run("CF.INSERTNX", "short", "ITEMS", *items, *items), [1] * MANY + [0] * MANY)
            self.assertEqual(run("CF.MDEL", "short", *items[10:], *items[10:20]),
                             [1] * (MANY - 10) + [0] * 10)
            # Transactions and scripts run to their end.
            with client.pipeline() as pipe:
                pipe.execute_command("CF.MADD", "all", *items)
                pipe.execute_command("CF.MEXISTS", "all", *items)
                self.assertEqual(pipe.execute(), [[1] * MANY] * 2)
            script = "local items = {} for i = 1, 7000 do items[i] = i end " \
                     "return #redis.call('CF.MADD', KEYS[1], unpack(items))"
            self.assertEqual(client.eval(script, 1, "script"), 7000)
            # What came behind in the same connection waits for its turn.
            pipe = client.pipeline(transaction=False)
            pipe.execute_command("CF.MADD", "order", *items)
            pipe.execute_command("CF.COUNT", "order", f"item{MANY - 1}")
            self.assertGreaterEqual(pipe.execute()[1], 1)

    def test_large_filters(self):
        """Dumps, files, unions and sweeps are done next to the server, and others wait for nothing but
        filters that are read meanwhile."""
        for server, client, other, protocol in self.each((2,)):
            run = client.execute_command
            items = [f"item{number}" for number in range(200_000)]
            run("CF.RESERVE", "a", 160_000, "SEED", 1)
            run("CF.RESERVE", "b", 160_000, "SEED", 1)
            run("CF.RESERVE", "short", 1000, "EXPIRE", 3600)
            run("CF.MADD", "a", *items[:160_000])
            run("CF.MADD", "b", *items[40_000:])
            run("CF.MADD", "short", *items[:160_000])
            pipes = [server.client(protocol=2) for _ in range(3)]
            file = run("CF.DUMP", "a")
            threads = [threading.Thread(target=pipe.execute_command, args=words) for pipe, words in zip(
                pipes, [["CF.MERGE", "union", "a", "b"], ["CF.LOAD", "loaded", file], ["CF.DUMP", "b"]])]
            for thread in threads:
                thread.start()
            # Some of these wait for the union; none of them changes it or is lost.
            added = 0
            while any(thread.is_alive() for thread in threads):
                run("CF.ADD", "a", f"later{added}")
                added += 1
            for thread in threads:
                thread.join()
            found = lambda key, items: sum(run("CF.MEXISTS", key, *items))
            self.assertEqual(found("union", items), 200_000)
            self.assertEqual(found("loaded", items[:160_000]), 160_000)
            later = [f"later{number}" for number in range(added)]
            self.assertEqual(found("a", later), added)
            self.assertEqual(run("CF.DUMP", "loaded"), file)
            # Once more, into what is there.
            run("CF.MERGE", "union", "b")
            self.assertGreaterEqual(run("CF.COUNT", "union", "item199999"), 2)
            size = client.memory_usage("short")
            run("CF.ADVANCE", "short", int(time.time() + 7200) * 1000)
            run("CF.COMPACT", "short")
            self.assertLess(client.memory_usage("short"), size // 2)
            client.delete("b", "loaded")

    def test_large_filters_are_reserved_beside_the_server(self):
        """Their memory is cleared there; whoever comes second is told so."""
        for server, client, other, protocol in self.each((2,)):
            outcomes = []

            def reserve():
                try:
                    outcomes.append(server.client().execute_command("CF.RESERVE", "f", 5_000_000))
                except redis.ResponseError as error:
                    outcomes.append(str(error))

            threads = [threading.Thread(target=reserve) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(outcomes.count("item exists"), 2, outcomes)
            client.execute_command("CF.MADD", "f", *range(2000))
            with client.pipeline() as pipe:
                pipe.execute_command("CF.RESERVE", "g", 5_000_000)
                pipe.execute_command("CF.ADD", "g", "a")
                self.assertEqual(pipe.execute()[1], 1)

    def test_a_refused_chunk_is_read_again_in_pieces(self):
        """The chunks before it were read again at once, which held the server for 50 ms."""
        for server, client, other, protocol in self.each((2,)):
            run = client.execute_command
            run("CF.RESERVE", "f", 3_000_000)
            run("CF.MADD", "f", *range(5000))
            *before, last = chunks(client, "f")
            self.assertGreater(len(before), 3)
            for position, chunk in before:
                run("CF.LOADCHUNK", "new", position, chunk)
                if position == 3:
                    with self.assertRaisesRegex(redis.ResponseError, "load chunk"):
                        run("CF.LOADCHUNK", "new", 4, b"x" + before[-1][1][1:])
                    client.copy("new", "copy")
                elif position > 3:
                    run("CF.LOADCHUNK", "copy", position, chunk)
            for key in ("new", "copy"):
                run("CF.LOADCHUNK", key, *last)
                self.assertEqual(digest(client, key), digest(client, "f"))

    def test_merges_of_the_same_filters_come_one_after_the_other(self):
        with Server("redis") as server:
            client, outcomes = server.client(protocol=2), []
            items = [f"item{number}" for number in range(90_000)]
            for number, key in enumerate("abc"):
                client.execute_command("CF.RESERVE", key, 30_000, "SEED", 1)
                client.execute_command("CF.MADD", key, *items[number * 30_000:][:30_000])
            client.execute_command("CF.RESERVE", "union", 90_000, "SEED", 1)

            def merge(*words):
                outcomes.append(server.client(protocol=2).execute_command("CF.MERGE", *words))

            # Each into what another one changes.
            threads = [threading.Thread(target=merge, args=words) for words in [
                ("union", "a", "a"), ("union", "b"), ("union", "c"), ("c", "union")]]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(outcomes, [b"OK"] * 4)
            self.assertTrue(all(client.execute_command("CF.MEXISTS", "union", *items)))

    def test_dumps_do_not_pass_changes_that_wait(self):
        with Server("redis") as server:
            client = server.client(protocol=2)
            run = client.execute_command
            for key in ["f", "other"]:
                run("CF.RESERVE", key, 160_000, "SEED", 1)
                run("CF.MADD", key, *[f"item{number}" for number in range(160_000)])
            blocked = lambda: client.info("clients")["blocked_clients"]

            def begun(*words):
                """A command that waits, or has been done: its thread and reply."""
                other, replies, before = server.client(protocol=2), [], blocked()
                thread = threading.Thread(target=lambda: replies.append(other.execute_command(*words)))
                thread.start()
                until(lambda: blocked() > before or not thread.is_alive(), words)
                return thread, replies

            # Keeps the thread that works next to the server, so that the first dump must wait.
            commands = [begun("CF.MERGE", "union", *["other"] * 8), begun("CF.DUMP", "f"),
                        begun("CF.ADD", "f", "late"), begun("CF.DUMP", "f")]
            for thread, _ in commands:
                thread.join()
            _, first, _, second = [replies[0] for _, replies in commands]
            self.assertTrue(first != second)
            self.assertTrue(second == run("CF.DUMP", "f"))

    def test_others_are_served_and_see_what_was_done(self):
        with Server("redis") as server:
            client, other = server.client(protocol=2), server.client(protocol=2)
            items = [f"item{number}" for number in range(150_000)]
            client.execute_command("CF.RESERVE", "f", 1000)
            other.ping()
            thread = threading.Thread(
                target=lambda: client.execute_command("CF.MADD", "f", *items))
            thread.start()
            seen = set()
            while thread.is_alive():
                seen.add(other.cf().info("f").insertedNum)
            thread.join()
            self.assertGreater(len(seen), 20)

    def test_keys_and_clients_may_go_meanwhile(self):
        with Server("redis") as server:
            other = server.client(protocol=2)
            items = [f"item{number}" for number in range(150_000)]

            def begun(command, *words):
                """A client whose command has begun, in a thread, and what becomes of it."""
                client, outcome = server.client(protocol=2, retry=None), []

                def work():
                    try:
                        outcome.append(client.execute_command(command, *words))
                    except redis.RedisError as error:
                        outcome.append(error)

                thread = threading.Thread(target=work)
                thread.start()
                until(lambda: int(other.info("clients")["blocked_clients"]) > 0, "it has begun")
                return thread, outcome

            thread, outcome = begun("CF.MADD", "f", *items)
            other.delete("f")
            thread.join()
            self.assertIn("deleted", str(outcome[0]))
            self.assertEqual(other.exists("f"), 0)
            thread, outcome = begun("CF.MADD", "f", *items)
            other.rename("f", "renamed")
            thread.join()
            self.assertIn("another name", str(outcome[0]))
            self.assertEqual((other.exists("f"), other.delete("renamed")), (0, 1))
            thread, outcome = begun("CF.MADD", "f", *items)
            other.client_kill_filter(_type="normal", skipme=True)
            thread.join()
            self.assertIsInstance(outcome[0], redis.ConnectionError)
            time.sleep(0.1)
            # It stops there.
            before = other.cf().info("f").insertedNum
            self.assertTrue(0 < before < len(items))
            time.sleep(0.1)
            self.assertEqual(other.cf().info("f").insertedNum, before)
            thread, outcome = begun("CF.MADD", "g", *items)
            other.replicaof("127.0.0.1", 1)
            thread.join()
            self.assertIn("UNBLOCKED", str(outcome[0]))


if __name__ == "__main__":
    unittest.main()
