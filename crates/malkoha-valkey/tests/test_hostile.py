"""Damaged and hostile bytes are refused, and the server lives."""

import random
import struct
import unittest

import redis

from servers import KINDS, Server, chunks, digest

POLYNOMIAL = 0x95AC9329AC4BC9B5


def table():
    rows = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
        rows.append(crc)
    return rows


ROWS = table()


def crc64(data):
    """The servers' own, which ends what DUMP gives."""
    crc = 0
    for byte in data:
        crc = crc >> 8 ^ ROWS[(crc ^ byte) & 255]
    return crc


def mutations(data, randomness, count):
    for _ in range(count):
        damaged = bytearray(data)
        kind = randomness.randrange(4)
        at = randomness.randrange(len(damaged))
        if kind == 0:
            damaged[at] ^= 1 << randomness.randrange(8)
        elif kind == 1:
            del damaged[at:]
        elif kind == 2:
            damaged[at:at] = randomness.randbytes(randomness.randrange(1, 20))
        else:
            end = min(len(damaged), at + 8)
            damaged[at:end] = b"\xff" * (end - at)
        yield bytes(damaged)


class Hostile(unittest.TestCase):
    def attempt(self, client, *words):
        """Whether a command is accepted; an error is fine, a lost connection is not."""
        try:
            client.execute_command(*words)
            return True
        except redis.ResponseError:
            return False

    def test_bytes_from_outside(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                client = server.client()
                client.cf().create("f", 100)
                client.cf().insert("f", [f"item{n}" for n in range(600)] + ["often"] * 9)
                wanted = digest(client, "f")
                whole = client.execute_command("CF.DUMP", "f")
                first = client.cf().scandump("f", 0)[1]
                second = client.cf().scandump("f", 1)[1]
                payload = client.dump("f")[:-8]
                client.cf().insert("small", ["a", "b"] * 20)
                small, of_small = client.cf().scandump("small", 0)[1], client.dump("small")[:-8]
                randomness = random.Random(4)
                for damaged in mutations(whole, randomness, 400):
                    self.assertFalse(self.attempt(client, "CF.LOAD", "new", damaged))
                for damaged in mutations(first, randomness, 400):
                    self.assertFalse(self.attempt(client, "CF.LOADCHUNK", "new", 1, damaged)
                                     and damaged != first)
                    client.delete("new")
                for damaged in mutations(second, randomness, 400):
                    client.execute_command("CF.LOADCHUNK", "new", 1, first)
                    self.assertFalse(self.attempt(client, "CF.LOADCHUNK", "new", 2, damaged)
                                     and digest(client, "new") != wanted)
                    client.delete("new")
                for damaged in mutations(small, randomness, 400):
                    self.assertFalse(self.attempt(client, "CF.LOADCHUNK", "new", 1, damaged)
                                     and digest(client, "new") != digest(client, "small"))
                    client.delete("new")
                for damaged in [*mutations(payload, randomness, 400), *mutations(of_small, randomness, 400)]:
                    damaged += struct.pack("<Q", crc64(damaged))
                    if self.attempt(client, "RESTORE", "new", 0, damaged):
                        self.attempt(client, "CF.MADD", "new", "a", "b")
                        client.delete("new")
                self.assertEqual(digest(client, "f"), wanted)

    def test_chunks_of_two_states_and_damaged_first_ones_are_refused(self):
        with Server("valkey") as server:
            client = server.client()
            load = lambda chunk: self.attempt(client, "CF.LOADCHUNK", "new", *chunk)
            for words in [], ["EXPIRE", 1000], ["EXPANSION", 0]:
                client.execute_command("CF.RESERVE", "f", 300_000, *words)
                client.execute_command("CF.MADD", "f", *range(1000))
                before = list(chunks(client, "f"))
                client.execute_command("CF.DEL", "f", 5)
                client.execute_command("CF.ADD", "f", 5)
                after = list(chunks(client, "f"))
                self.assertGreater(len(after), 2)
                for number in range(1, len(before)):
                    mixed = before[:number] + after[number:]
                    self.assertFalse(all(map(load, mixed)))
                    client.delete("new")
                position, first = after[0]
                for bit in range(8 * len(first)):
                    damaged = bytearray(first)
                    damaged[bit // 8] ^= 1 << bit % 8
                    self.assertFalse(load((position, bytes(damaged))), bit)
                self.assertTrue(all(map(load, after)))
                self.assertEqual(digest(client, "new"), digest(client, "f"))
                client.flushall()

    def test_a_chunk_must_fit_the_limit(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                client = server.client()
                client.cf().create("f", 10_000)
                first, second = (client.cf().scandump("f", n)[1] for n in (0, 1))
                client.config_set("malkoha.max-filter-bytes", 4000)
                too_large = lambda: self.assertRaisesRegex(redis.ResponseError, "max-filter-bytes")
                with too_large():
                    client.cf().loadchunk("new", 1, first + second)
                client.cf().loadchunk("new", 1, first)
                with too_large():
                    client.cf().loadchunk("new", 2, second)
                client.config_set("malkoha.max-filter-bytes", 1 << 20)
                client.cf().loadchunk("new", 2, second)

    def test_a_refused_chunk_changes_nothing(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                client = server.client()
                client.cf().insert("f", [f"item{n}" for n in range(60)])
                first, second = (client.cf().scandump("f", n)[1] for n in (0, 1))
                load = lambda number, bytes: self.attempt(
                    client, "CF.LOADCHUNK", "new", number, bytes)
                self.assertFalse(load(2, second))
                self.assertTrue(load(1, first))
                self.assertFalse(load(1, first))
                self.assertFalse(load(3, second))
                self.assertFalse(load(2, second[:-1]))
                self.assertFalse(self.attempt(client, "CF.ADD", "new", "x"))
                self.assertTrue(load(2, second))
                self.assertEqual(digest(client, "new"), digest(client, "f"))


if __name__ == "__main__":
    unittest.main()
