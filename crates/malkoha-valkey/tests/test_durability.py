"""What is in a filter survives restarts, crashes, replication and copying, bit for bit."""

import random
import unittest

from servers import KINDS, Server, digest, until


def work(client, seed, commands=4000):
    """Commands of all kinds that write, in pipelines."""
    randomness = random.Random(seed)
    pipe = client.pipeline(transaction=False)
    item = lambda: f"item{randomness.randrange(5000)}"
    for number in range(commands):
        # Some stay small, some get a table while others look.
        key = f"s{randomness.randrange(30)}" if number % 10 == 0 else f"f{number % 3}"
        many = [item() for _ in range(8)]
        words = randomness.choice([
            ["CF.ADD", key, item()],
            ["CF.ADDNX", key, item()],
            ["CF.INSERT", key, "CAPACITY", "64", "ITEMS", *many],
            ["CF.INSERTNX", key, "ITEMS", *many],
            ["CF.MADD", key, *many],
            ["CF.DEL", key, item()],
            ["CF.MDEL", key, *many],
        ])
        pipe.execute_command(*words)
    pipe.execute(raise_on_error=False)
    return ["f0", "f1", "f2", *[f"s{number}" for number in range(30)]]


def digests(client, keys):
    return [digest(client, key) for key in keys]


def begin_loading(client, source, target):
    """Copies all chunks but the last; answers that one."""
    chunks, position = [], 0
    while True:
        position, chunk = client.cf().scandump(source, position)
        if position == 0:
            break
        chunks.append((position, chunk))
    for position, chunk in chunks[:-1]:
        client.execute_command("CF.LOADCHUNK", target, position, chunk)
    return chunks[-1]


class Durability(unittest.TestCase):
    def test_rdb_and_append_only_files(self):
        variants = {
            "rdb": ["--save", "1000 1"],
            "aof": ["--appendonly", "yes", "--appendfsync", "always"],
            "aof without rdb preamble": [
                "--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no",
            ],
        }
        for kind in KINDS:
            for name, options in variants.items():
                with self.subTest(kind=kind, files=name), Server(kind, *options) as server:
                    client = server.client()
                    keys = work(client, 1)
                    if name != "rdb":
                        client.execute_command("BGREWRITEAOF")
                        until(lambda: not client.info("persistence")["aof_rewrite_in_progress"]
                              and not client.info("persistence")["aof_rewrite_scheduled"],
                              "the append-only file is rewritten")
                        work(client, 2)
                    last = begin_loading(client, "f0", "part")
                    before = digests(client, keys + ["part"])
                    if name == "rdb":
                        server.restart()
                    else:
                        server.kill()
                        server.start()
                    client = server.client()
                    self.assertEqual(digests(client, keys + ["part"]), before)
                    client.execute_command("CF.LOADCHUNK", "part", *last)
                    self.assertEqual(digest(client, "part"), digest(client, "f0"))

    def test_replicas_are_identical(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as primary, Server(
                # Other settings, which must make no difference.
                kind, "--malkoha.capacity", "77", "--malkoha.error-rate", "0.2",
                "--malkoha.max-filter-bytes", "2000",
            ) as replica:
                client, other = primary.client(), replica.client()
                work(client, 1, 1000)
                last = begin_loading(client, "f0", "part")
                other.replicaof("127.0.0.1", primary.port)
                until(lambda: other.info("replication")["master_link_status"] == "up", "link")
                client.execute_command("CF.LOADCHUNK", "part", *last)
                client.config_set("malkoha.max-filter-bytes", 14_000)
                keys = work(client, 2)
                client.execute_command("CF.LOAD", "loaded", client.execute_command("CF.DUMP", "f1"))
                client.execute_command("CF.COMPACT", "f2")
                client.config_set("malkoha.max-filter-bytes", 1 << 30)
                client.copy("f0", "again")
                client.execute_command("CF.MERGE", "merged", "f0", "again")
                client.wait(1, 30_000)
                for number, words in enumerate(["SEED 5", "LIKE f1", "HASHKEY " + 4 * "0123abcd"]):
                    client.execute_command("CF.RESERVE", f"hash{number}", 64, *words.split())
                    client.execute_command("CF.MADD", f"hash{number}", *range(100))
                    keys.append(f"hash{number}")
                client.delete("f1")
                client.execute_command("CF.ADD", "f1", "anew")
                keys += ["part", "loaded", "merged"]
                self.assertEqual(digests(client, keys), digests(other, keys))
                self.assertGreater(client.info("malkoha_filters")["malkoha_refused"], 0)

    def test_replicas_are_told_what_came(self):
        """One command each, and two where a key is made."""
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as primary, Server(kind) as replica:
                client, other = primary.client(protocol=2), replica.client()
                other.replicaof("127.0.0.1", primary.port)
                until(lambda: other.info("replication")["master_link_status"] == "up", "link")
                run = client.execute_command
                for words in ["CF.ADD f a", "CF.ADDNX f a", "CF.ADDNX f b", "CF.INSERT f ITEMS c d",
                              "CF.INSERTNX f ITEMS d e", "CF.INSERTNX f ITEMS d e", "CF.MADD g a",
                              "CF.DEL f a", "CF.DEL f a", "CF.RESERVE fixed 4 EXPANSION 0"]:
                    run(*words.split())
                # What was refused is left out.
                self.assertEqual(run("CF.MADD", "fixed", *"abcdef"), [1, 1, 1, 1, -1, -1])
                client.wait(1, 30_000)
                self.assertEqual(digests(client, "fg"), digests(other, "fg"))
                self.assertEqual(digests(client, ["fixed"]), digests(other, ["fixed"]))
                stats = other.info("commandstats")
                calls = {name.removeprefix("cmdstat_"): stat["calls"]
                         for name, stat in stats.items() if name.startswith("cmdstat_cf.")}
                self.assertEqual(calls, {"cf.reserve": 3, "cf.add": 1, "cf.addnx": 1, "cf.insert": 1,
                                         "cf.insertnx": 1, "cf.madd": 2, "cf.del": 1})

    def test_copies(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                client = server.client()
                work(client, 3)
                client.copy("f0", "copy")
                client.restore("restored", 0, client.dump("f0"))
                wanted = digest(client, "f0")
                self.assertEqual(digest(client, "copy"), wanted)
                self.assertEqual(digest(client, "restored"), wanted)
                client.cf().add("copy", "other")
                self.assertEqual(digest(client, "f0"), wanted)
                client.unlink(*client.keys())
                until(lambda: client.info("malkoha_filters")["malkoha_filters"] == 0, "freed")
                self.assertEqual(client.info("malkoha_filters")["malkoha_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
