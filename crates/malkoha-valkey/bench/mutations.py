"""Mutated payloads at each way in: RESTORE, CF.LOADCHUNK and CF.LOAD of filters whose items stay and
of those whose items expire, RESTORE and CF.LOADCHUNK of what RedisBloom dumps. Half of them are
sealed again, so that checksums do not catch them. What is accepted is used by every command. The
server must live, no command may panic, and memory must stay bounded. As CSV.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so python crates/malkoha-valkey/bench/mutations.py [COUNT] [WAY...]

A way is a part of its name in the table, such as "few items"; without one, all are tried.

Needs xxhash and hiredis from PyPI, and the clients of the tests.
"""

import csv
import random
import socket
import struct
import sys
import time

import hiredis
import xxhash

from common import Server, packed
from test_hostile import mutations

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
WAYS = sys.argv[2:] or [""]
BUNDLE = 200
HEADER = 128
# The server does not check what ends the payload of a DUMP here: RESTORE takes any eight bytes.
UNCHECKED = bytes(8)
# Bytes that the server may take beyond what it had.
BOUND = 64 << 20
KEYS = [b"new%03d" % number for number in range(BUNDLE)]
USES = [
    ["CF.INSERT", KEYS[0], "NOCREATE", "ITEMS", *"abcdefgh"], ["CF.MEXISTS", KEYS[0], *"abcdefghij"],
    ["CF.COUNT", KEYS[0], "a"], ["CF.MDEL", KEYS[0], *"abcx"], ["CF.INFO", KEYS[0]],
    ["CF.ADVANCE", KEYS[0], 10**18], ["CF.INSERTNX", KEYS[0], "NOCREATE", "ITEMS", *"abcy"],
    ["CF.COMPACT", KEYS[0]], ["CF.SCANDUMP", KEYS[0], 0], ["CF.DUMP", KEYS[0]],
    ["COPY", KEYS[0], "other", "REPLACE"], ["MEMORY", "USAGE", KEYS[0]], ["DUMP", KEYS[0]],
    ["CF.MERGE", "other", KEYS[0]],
]
USED = b"".join(packed(*words) for words in USES)


class Connection:
    """Sends commands, and reads of each an answer or an error."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port))
        self.socket.settimeout(30)
        self.reader = hiredis.Reader(encoding=None)

    def replies(self, count):
        replies = []
        while len(replies) < count:
            reply = self.reader.gets()
            if reply is not False:
                replies.append(reply)
                continue
            received = self.socket.recv(1 << 18)
            assert received, "the server closed the connection"
            self.reader.feed(received)
        return replies


def put(data, at, seed, start):
    """The checksum of the bytes from `start` on, at `at`, where it belongs."""
    if 0 <= start <= at and at + 8 <= len(data):
        data[at:at + 8] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(data[start:at]), seed))


class Part:
    """Bytes of a kind, and where checksums are in them: place, seed, and where what they cover begins."""

    def __init__(self, data, seals):
        self.data, self.seals = data, seals

    def mutated(self, randomness):
        """Damaged, and perhaps sealed again."""
        damaged = bytearray(next(mutations(self.data, randomness, 1)))
        if randomness.random() < 0.5:
            for place, seed, start in self.seals:
                put(damaged, place, seed, start)
        return bytes(damaged)


def header_at(at):
    return at + 120, 2**64 - 1, at


def segment_at(at, end):
    """Of a file with one segment and one spilled copy, or none: seals of both."""
    return [(end, 0, at)]


def parts_of(client, key, expires):
    first, second = client.execute_command("CF.SCANDUMP", key, 0)[1], client.execute_command("CF.SCANDUMP", key, 1)[1]
    whole = client.execute_command("CF.DUMP", key)
    start = first.index(b"\x8bMLK")
    seals_first = [header_at(start)]
    spill = 0 if expires else 40
    before = HEADER if expires else 0
    seals_second = [header_at(0)] if expires else []
    end = len(second) - (8 if expires else spill) - 8
    seals_second += segment_at(before, end)
    if expires:
        seals_first.append((len(first) - 8, 2**64 - 3, start + HEADER))
    else:
        seals_second.append((len(second) - 8, 2**64 - 2, len(second) - 40))
    seals_whole = [header_at(0)] + ([header_at(HEADER)] if expires else [])
    begin = HEADER + before
    seals_whole += segment_at(begin, begin + len(second) - before - (8 if expires else spill) - 8)
    for data, seals in [(first, seals_first), (second, seals_second), (whole, seals_whole)]:
        again = bytearray(data)
        for place, seed, begun in seals:
            put(again, place, seed, begun)
        if seals is not seals_whole or not expires:
            assert again == data, (key, seals)
    return Part(first, seals_first), Part(second, seals_second), Part(whole, seals_whole)


def payload_way(client, key, parts):
    """RESTORE of a DUMP in which parts are replaced, which has their lengths, or any bytes."""
    body = client.dump(key)[:-8]
    places = [(body.index(part.data), part) for part in parts if part.data in body]

    def make(randomness, key):
        damaged = body
        if places and randomness.random() < 0.7:
            at, part = randomness.choice(places)
            changed = part.mutated(randomness)
            if len(changed) == len(part.data):
                damaged = body[:at] + changed + body[at + len(changed):]
        if damaged is body:
            damaged = next(mutations(body, randomness, 1))
        return [["RESTORE", key, 0, damaged + UNCHECKED]]

    return make


def bundle(make, randomness, count):
    """Commands that load payloads, and how many for each key: the last of them loads it."""
    commands, each = [], []
    for key in KEYS[:count]:
        words = make(randomness, key)
        commands += [packed(*command) for command in words]
        each.append(len(words))
    return b"".join(commands), each


def run(table, client, server, what, make):
    if not any(way in what for way in WAYS):
        return
    randomness, begun, connection = random.Random(what), time.monotonic(), Connection(server)
    base = client.info("memory")["used_memory"]
    accepted, most, done = 0, 0, 0
    commands, each = bundle(make, randomness, min(BUNDLE, COUNT))
    while each:
        connection.socket.sendall(commands)
        done += len(each)
        # While the server works.
        following = bundle(make, randomness, min(BUNDLE, COUNT - done))
        replies, uses, at = connection.replies(sum(each)), [], -1
        for key, count in zip(KEYS, each):
            at += count
            if not isinstance(replies[at], hiredis.ReplyError):
                uses.append(USED.replace(KEYS[0], key))
        connection.socket.sendall(b"".join(uses))
        connection.replies(len(uses) * len(USES))
        accepted += len(uses)
        most = max(most, client.info("memory")["used_memory"] - base)
        assert most < BOUND, f"{what}: {most} bytes more"
        client.unlink(*KEYS, "other")
        commands, each = following
    assert server.process.poll() is None and client.ping()
    with open(f"{server.directory}/server.log", errors="replace") as log:
        assert not any("panicked" in line for line in log), f"{what}: a panic"
    peak = client.info("memory")["used_memory_peak"] - base
    table.writerow([what, done, accepted, most, peak, f"{time.monotonic() - begun:.0f}"])
    sys.stdout.flush()


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["way", "payloads", "accepted", "most_bytes_left", "peak_bytes", "seconds"])
    with Server("redis", "--rdbcompression", "no") as server:
        client = server.client(protocol=2)
        do = client.execute_command
        do("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
        do("CF.RESERVE", "lasting", 64)
        do("CF.MADD", "lasting", *range(100), *["often"] * 9)
        do("CF.RESERVE", "expiring", 64, "EXPIRE", 3600)
        do("CF.MADD", "expiring", *range(100))
        for name in ["lasting", "expiring"]:
            first, second, whole = parts = parts_of(client, name, name == "expiring")
            run(table, client, server, f"RESTORE, {name}", payload_way(client, name, parts))
            run(table, client, server, f"CF.LOADCHUNK 1, {name}", lambda randomness, key: [
                ["CF.LOADCHUNK", key, 1, first.mutated(randomness)],
                ["CF.LOADCHUNK", key, 2, second.data]])
            run(table, client, server, f"CF.LOADCHUNK 2, {name}", lambda randomness, key: [
                ["CF.LOADCHUNK", key, 1, first.data],
                ["CF.LOADCHUNK", key, 2, second.mutated(randomness)]])
            run(table, client, server, f"CF.LOAD, {name}", lambda randomness, key: [
                ["CF.LOAD", key, whole.mutated(randomness)]])
        do("CF.RESERVE", "few", 64)
        do("CF.MADD", "few", *range(30), *["often"] * 9)
        chunk = do("CF.SCANDUMP", "few", 0)[1]
        few, again = Part(chunk, [(len(chunk) - 8, 3, 0)]), bytearray(chunk)
        put(again, len(chunk) - 8, 3, 0)
        assert again == chunk
        run(table, client, server, "RESTORE, few items", payload_way(client, "few", [few]))
        run(table, client, server, "CF.LOADCHUNK, few items", lambda randomness, key: [
            ["CF.LOADCHUNK", key, 1, few.mutated(randomness)]])
        header = struct.pack("<QQQQHHH", 0, 16, 0, 2, 2, 20, 2)
        do("CF.LOADCHUNK", "theirs", 1, header)
        do("CF.LOADCHUNK", "theirs", 1 + 32, bytes(range(32)))
        do("CF.LOADCHUNK", "theirs", 1 + 96, bytes(range(100, 164)))
        run(table, client, server, "RESTORE, of RedisBloom", payload_way(client, "theirs", []))
        header, chunk = Part(header, []), Part(bytes(range(64)), [])
        run(table, client, server, "CF.LOADCHUNK, of RedisBloom", lambda randomness, key: [
            ["CF.LOADCHUNK", key, 1, header.mutated(randomness)],
            ["CF.LOADCHUNK", key, 1 + randomness.randrange(200), chunk.mutated(randomness)]])


main()
