"""Filters that RedisBloom saved and dumped: they answer as before, take new items, shrink away.

The fixtures were made by RedisBloom itself, its release in their names, on Redis 7.0.15:
docs/REDISBLOOM.md says how."""

import base64
import json
import os
import random
import shutil
import struct
import unittest

import redis

from servers import KINDS, MODULE, Server, chunks, digest, until
from test_hostile import crc64

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures/redisbloom")
RELEASES = ["2.8.20"]
# What was added and not deleted again.
ITEMS = {
    "plain": [f"plain:{i}" for i in range(700)],
    "grown": [f"grown:{i}" for i in range(4000) if i % 4],
    "wide": [f"wide:{i}" for i in range(900)],
    "made": [f"made:{i}" for i in range(300)] + ["three times"],
    "empty": [],
}
STRANGERS = [f"stranger:{i}" for i in range(10_000)]
NEW = [f"new:{i}" for i in range(3000)]
FIELDS = ["Size", "Number of buckets", "Number of filters", "Number of items inserted",
          "Number of items deleted", "Bucket size", "Expansion rate", "Max iterations"]


def info(client, key):
    told = client.execute_command("CF.INFO", key)
    pairs = told.items() if isinstance(told, dict) else zip(told[::2], told[1::2])
    return {(k.decode() if isinstance(k, bytes) else k): v for k, v in pairs}


def yes(client, key, items):
    return [n for n, told in enumerate(client.execute_command("CF.MEXISTS", key, *items)) if told]


def copied(client, key, to):
    for position, chunk in chunks(client, key):
        client.execute_command("CF.LOADCHUNK", to, position, chunk)


def header(buckets, tables, size=2, expansion=1):
    """The first chunk of a filter without items, with buckets of this size."""
    return struct.pack("<4Q3H", 0, buckets, 0, tables, size, 20, expansion)


def payload(client, *tables):
    """What DUMP gives of a filter with tables of this many buckets and bytes."""
    number = lambda n: b"\x81" + struct.pack(">Q", n)
    fields = [2, 64, 0, 0, 2, 20, 1]
    data = b"".join(b"\x02" + number(field) for field in fields)
    for buckets, length in tables:
        data += b"\x02" + number(buckets) + b"\x05" + number(length) + bytes(length)
    # The type, and the server's version.
    other = client.dump("made")
    data = other[:10] + data + b"\x00" + other[-10:-8]
    return data + struct.pack("<Q", crc64(data))


class RedisBloom(unittest.TestCase):
    def setUp(self):
        with open(f"{FIXTURES}/{RELEASES[-1]}.json") as file:
            self.told = json.load(file)

    def started(self, kind, release, *options):
        """A server that starts on a file of RedisBloom."""
        server = Server(kind, *options)
        server.kill()
        shutil.copy(f"{FIXTURES}/{release}.rdb", f"{server.directory}/dump.rdb")
        server.start()
        return server

    def found(self, client, key, items):
        self.assertEqual(len(yes(client, key, items)), len(items), key)

    def test_files_answer_as_before(self):
        for kind in KINDS:
            for release in RELEASES:
                with self.subTest(kind=kind, release=release), \
                        self.started(kind, release) as server:
                    client = server.client(protocol=2)
                    for key, items in ITEMS.items():
                        told = self.told[key]
                        if items:
                            self.found(client, key, items)
                        self.assertEqual(yes(client, key, STRANGERS), told["strangers"], key)
                        now = info(client, key)
                        for field in FIELDS[1:]:
                            self.assertEqual(now[field], told["info"][field], (key, field))
                        self.assertEqual(now["RedisBloom items"], now[FIELDS[3]])
                        self.assertEqual(client.type(key), b"MBbloomCF")
                    self.assertEqual(client.execute_command("CF.COUNT", "made", "three times"), 3)
                    self.assertGreater(client.ttl("plain"), 10**8)

    def test_dumps_load_and_are_what_redisbloom_writes(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                client = server.client(protocol=2)
                for key, told in self.told.items():
                    payload = base64.b64decode(told["dump"])
                    client.restore(key, 0, payload)
                    # But for the server's version and checksum: a way back.
                    self.assertEqual(client.dump(key)[:-10], payload[:-10], key)
                    for position, chunk in told["chunks"]:
                        client.execute_command("CF.LOADCHUNK", f"{key} again", position,
                                               base64.b64decode(chunk))
                    if told["chunks"]:
                        self.assertEqual(digest(client, f"{key} again"), digest(client, key))
                        theirs = [(p, base64.b64decode(c)) for p, c in told["chunks"]]
                        self.assertEqual(list(chunks(client, key)), theirs)
                    for cut in range(0, len(payload), 97):
                        with self.assertRaises(redis.ResponseError):
                            client.restore("cut", 0, payload[:cut])
                self.assertTrue(client.ping())

    def test_new_items_and_deletes(self):
        for kind in KINDS:
            with self.subTest(kind=kind), \
                    self.started(kind, RELEASES[-1], "--appendonly", "no") as server, \
                    Server(kind, "--replicaof", "127.0.0.1", str(server.port)) as replica:
                client, other = server.client(protocol=2), replica.client()
                run = client.execute_command
                until(lambda: other.info("replication")["master_link_status"] == "up", "a replica")
                run("CF.RESERVE", "grown", 5000, "ERROR", "0.001", "BESIDE")
                for key in ["plain", "grown", "made", "empty"]:
                    ttl = client.ttl(key)
                    self.assertEqual(run("CF.ADD", key, "first"), 1)
                    self.assertTrue(all(run("CF.MADD", key, *NEW)))
                    self.found(client, key, [*ITEMS[key], *NEW])
                    self.assertEqual(client.type(key), b"malkohacf")
                    self.assertLess(abs(client.ttl(key) - ttl), 60)
                    # Digests have it in them.
                    client.persist(key)
                    now = info(client, key)
                    self.assertEqual(now["Number of items inserted"],
                                     self.told[key]["info"]["Number of items inserted"] + 3001)
                    if ITEMS[key]:
                        again = run("CF.INSERTNX", key, "ITEMS", *ITEMS[key])
                        self.assertEqual(set(again), {0}, key)
                        copied(client, key, f"{key} again")
                        client.restore(f"{key} dumped", 0, client.dump(key))
                        self.assertEqual(digest(client, f"{key} again"), digest(client, key))
                        self.assertEqual(digest(client, f"{key} dumped"), digest(client, key))
                client.wait(1, 5000)
                for key in ["plain", "grown", "made", "empty", "grown again"]:
                    self.assertEqual(digest(other, key), digest(client, key), key)
                # It is not to grow: what is left of its slots is its room.
                added = run("CF.INSERT", "wide", "ITEMS", *NEW[:300])
                self.assertEqual(added.count(1), 1024 - 880)
                with self.assertRaisesRegex(redis.ResponseError, "Filter is full"):
                    run("CF.ADD", "wide", "one more")
                # Older tables take what newer ones hold, and at last nothing is left.
                before = info(client, "grown")
                run("CF.MDEL", "grown", *ITEMS["grown"][:2000])
                run("CF.COMPACT", "grown")
                self.assertLess(info(client, "grown")["RedisBloom bytes"], before["RedisBloom bytes"])
                self.found(client, "grown", [*ITEMS["grown"][2000:], *NEW])
                for key in ["grown", "plain"]:
                    run("CF.MDEL", key, *ITEMS[key])
                    run("CF.MDEL", key, *ITEMS[key])
                    left = info(client, key).get("RedisBloom items", 0)
                    self.assertLess(left, len(ITEMS[key]) // 10, key)
                client.wait(1, 5000)
                self.assertEqual(digest(other, "grown"), digest(client, "grown"))

    def test_both_parts_survive_restarts(self):
        for kind in KINDS:
            with self.subTest(kind=kind), self.started(kind, RELEASES[-1]) as server:
                client = server.client()
                keys = ["plain", "grown", "wide", "empty"]
                for key in keys[:2]:
                    client.execute_command("CF.MADD", key, *NEW)
                client.execute_command("CF.DEL", "wide", "wide:1")
                before = [digest(client, key) for key in keys]
                client.save()
                server.restart()
                self.assertEqual([digest(client, key) for key in keys], before)
                client.config_set("aof-use-rdb-preamble", "no")
                client.config_set("appendonly", "yes")
                until(lambda: not client.info("persistence")["aof_rewrite_in_progress"]
                      and not client.info("persistence")["aof_rewrite_scheduled"], "a rewritten file")
                server.options = (*server.options, "--appendonly", "yes")
                server.restart()
                self.assertEqual([digest(client, key) for key in keys], before)

    def test_arguments_of_redisbloom_are_understood(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                server.kill()
                server.start_with("--loadmodule", MODULE, "CF_MAX_EXPANSIONS", "16", "ERROR_RATE", "0.1",
                                  "CF-INITIAL-SIZE", "5000")
                client = server.client()
                self.assertEqual(client.config_get("malkoha.capacity"), {"malkoha.capacity": "5000"})
                self.assertIn("cf-max-expansions is an argument of RedisBloom", server.log())
                client.execute_command("CF.ADD", "f", "x")
                self.assertEqual(info(client, "f")["Capacity"], 5000)

    def test_what_cannot_be_done_says_so(self):
        with self.started(KINDS[0], RELEASES[-1]) as server:
            client = server.client()
            run = client.execute_command
            run("CF.ADD", "plain", "x")
            for words in [("CF.MERGE", "to", "plain"), ("CF.DUMP", "made"),
                          ("CF.RESERVE", "like", 100, "LIKE", "made")]:
                with self.assertRaisesRegex(redis.ResponseError, "RedisBloom"):
                    run(*words)
            with self.assertRaisesRegex(redis.ResponseError, "BESIDE"):
                run("CF.RESERVE", "plain", 100, "BESIDE")
            client.config_set("malkoha.max-filter-bytes", 1 << 29)
            for impossible in [
                header(0, 1), header(63, 1), header(64, 0), header(64, 1 << 16),
                header(64, 1, size=0), header(64, 1, size=256),
                # A filter that must not grow has one table; the others are too large, or overflow.
                header(64, 2, expansion=0), header(64, 65_535, expansion=32_768),
                header(1 << 29, 1), header(1 << 63, 1, size=255),
                # Lookups take remainders, so the buckets of every table are a power of two.
                header(64, 2, expansion=3), b"\xff" * 38,
            ]:
                with self.assertRaisesRegex(redis.ResponseError, "Couldn't create filter!"):
                    run("CF.LOADCHUNK", "bad", 1, impossible)
            run("CF.LOADCHUNK", "two", 1, header(64, 2))
            for position, length in [(0, 1), (1, 1), (2, 2), (66, 0), (130, 129), (300, 10), (2**49, 5),
                                     (2**64 - 1, 9)]:
                with self.assertRaises(redis.ResponseError):
                    run("CF.LOADCHUNK", "two", position, bytes(length))
            run("CF.LOADCHUNK", "two", 129, b"\1" * 128)
            self.assertEqual(info(client, "two")["RedisBloom items"], 128)
            client.restore("restored", 0, payload(client, (64, 128), (128, 256)))
            for tables in [((64, 128), (32, 64)), ((64, 127), (64, 128)), ((48, 96), (64, 128))]:
                with self.assertRaises(redis.ResponseError):
                    client.restore("bad", 0, payload(client, *tables))

    def test_a_large_table_is_cut(self):
        with Server(KINDS[0]) as server:
            client = server.client()
            client.execute_command("CF.LOADCHUNK", "large", 1, header(1 << 20, 1))
            client.execute_command("CF.LOADCHUNK", "large", 1 + (2 << 20), random.randbytes(2 << 20))
            copied(client, "large", "copy")
            self.assertEqual(len(list(chunks(client, "large"))), 3)
            self.assertEqual(digest(client, "copy"), digest(client, "large"))

    def test_a_header_takes_no_memory(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                client = server.client()
                def resident():
                    with open(f"/proc/{server.process.pid}/statm") as file:
                        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                before = resident()
                client.execute_command("CF.LOADCHUNK", "f", 1, header(1 << 26, 1, size=20))
                self.assertGreater(client.memory_usage("f"), 1 << 30)
                self.assertLess(resident() - before, 64 << 20)
                self.assertEqual(yes(client, "f", ["x"]), [])
                client.execute_command("CF.LOADCHUNK", "f", 1001, b"\1" * 1000)
                self.assertEqual(info(client, "f")["RedisBloom items"], 1000)


if __name__ == "__main__":
    unittest.main()
