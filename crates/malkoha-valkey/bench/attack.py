"""229 crafted items and a twin against a filter of the server: items that are refused afterwards,
the time that honest ones take, and what the twin does to its victim, as CSV.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so MALKOHA_LAB=target/release/lab \\
    python crates/malkoha-valkey/bench/attack.py
"""

import csv
import struct
import sys
import time

import numpy

from common import KINDS, Pipe, Server

WORD = 2**64 - 1
MIX = 0x9E3779B97F4A7C15
MULTIPLIER = 0x9FB21C651E98DF25
# XXH3-64 of eight zero bytes, from which the constant of its seed 0 follows.
OF_ZERO = 0xC77B3ABB6F87ACD9

ITEMS, SEGMENTS, CROWDED = 229, 32, 28
HONEST = 200_000
BATCH = 1_000
VICTIM = b"the victim of an attack"


def unmixed(hash):
    """Takes back the last steps of XXH3-64 of eight bytes (crates/malkoha/tests/it/support/xxh3.rs)."""
    inverse = pow(MULTIPLIER, -1, 2**64)
    word = hash ^ hash >> 28 ^ hash >> 56
    word = word * inverse & WORD
    word ^= ((word >> 35) + 8) & WORD
    word = word * inverse & WORD
    rotated = lambda by: (word << by | word >> (64 - by)) & WORD
    for _ in range(63):
        word ^= rotated(49) ^ rotated(24)
    return word


def item_of(hash):
    """The item of eight bytes with this hash under seed 0."""
    word = unmixed(hash) ^ unmixed(OF_ZERO)
    return ((word << 32 | word >> 32) & WORD).to_bytes(8, "little")


def crafted():
    """Items for two buckets of each of some segments, found with nothing but the code: strings that
    agree in 20 bits, five of which choose the segment, and in the first place."""
    inverse, each, n = pow(MIX, -1, 2**64), -(-ITEMS // CROWDED), 0
    items = []
    for segment in range(CROWDED):
        found = 0
        while found < each and len(items) < ITEMS:
            n += 1
            hash = (segment << 51 | n * MIX % 2**44) * inverse & WORD
            if hash >> 20 & 0xFFF == 77:
                items.append(item_of(hash))
                found += 1
    return items


def sip13(key, items):
    """SipHash-1-3 of items of eight bytes, given as little-endian words."""
    k0, k1 = (numpy.uint64(word) for word in key)
    rotated = lambda v, by: v << numpy.uint64(by) | v >> numpy.uint64(64 - by)

    def round(v0, v1, v2, v3):
        v0, v2 = v0 + v1, v2 + v3
        v1, v3 = rotated(v1, 13) ^ v0, rotated(v3, 16) ^ v2
        v0, v2 = rotated(v0, 32) + v3, v2 + v1
        v1, v3 = rotated(v1, 17) ^ v2, rotated(v3, 21) ^ v0
        return v0, v1, rotated(v2, 32), v3

    start = [0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573]
    state = [numpy.full_like(items, k ^ numpy.uint64(word))
             for k, word in zip([k0, k1, k0, k1], start)]
    for word in (items, numpy.uint64(8 << 56)):
        state[3] = state[3] ^ word
        state = list(round(*state))
        state[0] = state[0] ^ word
    state[2] = state[2] ^ numpy.uint64(0xFF)
    for _ in range(3):
        state = round(*state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def found_with_the_file(dump):
    """The like, found by trying with the key that is in the file: strings that agree in eight bits
    and those that choose the segment, and in the first place."""
    assert dump[12] == 2, "not SipHash-1-3"
    key = struct.unpack_from("<Q", dump, 24) + struct.unpack_from("<Q", dump, 72)
    items, of_segment, each, first = [], [0] * SEGMENTS, -(-ITEMS // CROWDED), 0
    while len(items) < ITEMS:
        tried = numpy.arange(first, first + (1 << 18), dtype=numpy.uint64)
        first += len(tried)
        hashes = sip13(key, tried)
        strings = hashes * numpy.uint64(MIX)
        place = hashes >> numpy.uint64(20) & numpy.uint64(0xFFF)
        is_one = (place == 77) & (strings >> numpy.uint64(56) == 0)
        for item, string in zip(tried[is_one].tolist(), strings[is_one].tolist()):
            segment = string >> 51 & (SEGMENTS - 1)
            if segment < CROWDED and of_segment[segment] < each and len(items) < ITEMS:
                of_segment[segment] += 1
                items.append(item.to_bytes(8, "little"))
    return items


def twin_of_victim():
    """Of the hash of the victim under seed 0, which any build of XXH3-64 tells."""
    return item_of(0xA11D611260FC46AD)


def attack(client, pipe, key, items, options):
    run = client.execute_command
    run("CF.RESERVE", key, 1024, *options)
    items = items(key)
    added = sum(run("CF.ADD", key, item) for item in items)
    refused, start = 0, time.monotonic()
    for first in range(0, HONEST, BATCH):
        refused += BATCH - pipe.run("CF.ADD", key, range(first, first + BATCH))
    seconds = time.monotonic() - start
    lost = sum(1 - found for item in items for found in [run("CF.EXISTS", key, item)])
    found = 0
    for first in range(0, HONEST, BATCH):
        found += pipe.run("CF.EXISTS", key, range(first, first + BATCH))
    return [len(items) - added, refused, lost + HONEST - found, f"{seconds:.2f}"]


def twin(client, options):
    run, twin = client.execute_command, twin_of_victim()
    run("CF.RESERVE", "twins", 1024, *options)
    run("CF.ADD", "twins", twin)
    seems_in = run("CF.EXISTS", "twins", VICTIM)
    run("CF.ADD", "twins", VICTIM)
    run("CF.DEL", "twins", twin), run("CF.DEL", "twins", twin)
    is_gone = 1 - run("CF.EXISTS", "twins", VICTIM)
    run("DEL", "twins")
    return [seems_in, is_gone]


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["server", "hash", "attacker knows", "items", "of them refused",
                    f"refused of {HONEST} honest ones", "lost", "s", "twin makes victim seem in",
                    "twin removes victim"])
    by_code = lambda key: crafted()
    for kind in KINDS:
        with Server(kind) as server:
            client, pipe = server.client(), Pipe(server)
            dump = lambda key: found_with_the_file(client.execute_command("CF.DUMP", key))
            for name, knows, options, items in [
                ("XXH3-64", "nothing", ["SEED", 0], lambda key: []),
                ("XXH3-64", "the code", ["SEED", 0], by_code),
                ("SipHash-1-3", "nothing", [], lambda key: []),
                ("SipHash-1-3", "the code", [], by_code),
                ("SipHash-1-3", "the file", [], dump),
            ]:
                row = attack(client, pipe, f"f-{name}-{knows}", items, options)
                twins = twin(client, options) if knows == "the code" else ["", ""]
                table.writerow([kind, name, knows, ITEMS if knows != "nothing" else 0, *row, *twins])


if __name__ == "__main__":
    main()
