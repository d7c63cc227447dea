"""Answers from a filter file, in Python alone: docs/FORMAT.md as a program.

    python malkoha_reader.py seen.mlk < lines.txt       # prints the lines that are in

For sets and maps of fixed size. The package of this repository is hundreds of times faster; this
is for where nothing can be installed, and to show that the format's description is enough.
"""

import struct
import sys

MASK = 2**64 - 1
SIGNATURE = b"\x8bMLK\r\n\x1a\n"
BUCKETED, SEMI_SORTED, GAP_WINDOWS, WORDS = 1, 2, 3, 5


class FormatError(ValueError):
    """The file is damaged, or of a kind that this reader does not know."""


class Filter:
    """A filter in the bytes of its file."""

    def __init__(self, data: bytes) -> None:
        if len(data) < 128 or data[:8] != SIGNATURE:
            raise FormatError("not a malkoha file: it does not begin with the signature")
        if xxh3(data[:120], MASK) != number(data, 120):
            raise FormatError("the header is damaged: restore it from a copy")
        version, kind, self.hash, self.layout, bucket, self.bits, values = struct.unpack_from(
            "<HHBBBBB", data, 8
        )
        if version != 1 or kind not in (1, 2) or self.layout not in (1, 2, 3, 5):
            raise FormatError("this reader knows version 1 of sets and maps of fixed size")
        self.seed, self.key = number(data, 24), number(data, 72)
        self.capacity, self.len = number(data, 32), number(data, 40)
        self.segments, self.places = struct.unpack_from("<II", data, 48)
        self.data, f, places = data, self.bits, self.places
        # Bits of a place, of a slot, and of all slots of a segment.
        if self.layout == BUCKETED:
            self.slots, self.slot_bits = bucket, f + values
            used = bucket * (f + values) * places
        elif self.layout == SEMI_SORTED:
            used = (4 * f - 4) * places
        elif self.layout == GAP_WINDOWS:
            self.gap = min(7, (57 if f <= 14 else 121) // f - 1)
            used = (places + self.gap) * f
        else:
            self.slots, used = 64 // f, 64 * places
        self.segment_bytes = -(-used // 64) * 8 + 16
        table = self.segments * self.segment_bytes
        if number(data, 56) != table or len(data) < 128 + table + 8 * self.segments:
            raise FormatError("the file is not as long as its header says")

    def verify(self) -> None:
        """Checks every byte of the table."""
        sums = 128 + self.segments * self.segment_bytes
        for segment in range(self.segments):
            start = 128 + segment * self.segment_bytes
            found = xxh3(self.data[start : start + self.segment_bytes], segment)
            if found != number(self.data, sums + 8 * segment):
                raise FormatError(f"segment {segment} is damaged")

    def hash_of(self, key: bytes) -> int:
        return xxh3(key, self.seed) if self.hash == 1 else sip13(key, self.seed, self.key)

    def __contains__(self, key: bytes) -> bool:
        h = self.hash_of(key)
        high, low = h >> 32, h & 0xFFFFFFFF
        most = 2 ** (self.bits - (self.layout == GAP_WINDOWS)) - 1
        fingerprint = ((h * 0x9E3779B97F4A7C15 & MASK) >> 32) * most >> 32
        fingerprint += 1
        base = (128 + (high * self.segments >> 32) * self.segment_bytes) * 8
        i = low * self.places >> 32
        j = ((fingerprint * 0x9E3779B1 & 0xFFFFFFFF) * self.places >> 32) - i
        return any(self._holds(base, place, fingerprint) for place in (i, j % self.places))

    def _holds(self, base: int, place: int, fingerprint: int) -> bool:
        f = self.bits
        if self.layout == GAP_WINDOWS:
            gap = 1 + ((fingerprint * 0x85EBCA77 & 0xFFFFFFFF) * self.gap >> 32)
            start, end = (self._bits(base + at * f, f) for at in (place, place + gap))
            return start == 2 * fingerprint or end == 2 * fingerprint + 1
        if self.layout == SEMI_SORTED:
            return fingerprint in self._bucket(base + place * (4 * f - 4))
        if self.layout == WORDS:
            start, step = base + place * 64, f
        else:
            start, step = base + place * self.slots * self.slot_bits, self.slot_bits
        return any(self._bits(start + k * step, f) == fingerprint for k in range(self.slots))

    def _bucket(self, start: int) -> list[int]:
        low_bits = self.bits - 4
        rank = self._bits(start, 12)
        found = []
        # The top nibbles, greatest first: the number is a sum of binomials, one for each.
        for k in (3, 2, 1, 0):
            nibble = max(n for n in range(16) if binomial(n + k, k + 1) <= rank)
            rank -= binomial(nibble + k, k + 1)
            found.append(nibble << low_bits | self._bits(start + 12 + k * low_bits, low_bits))
        return found

    def _bits(self, start: int, count: int) -> int:
        window = int.from_bytes(self.data[start // 8 : start // 8 + 8], "little")
        return window >> start % 8 & (1 << count) - 1


def binomial(n: int, k: int) -> int:
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


def number(data: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


# SipHash with one round for each word and three at the end (Aumasson and Bernstein, 2012).


def sip13(data: bytes, key0: int, key1: int) -> int:
    v = [
        key0 ^ 0x736F6D6570736575,
        key1 ^ 0x646F72616E646F6D,
        key0 ^ 0x6C7967656E657261,
        key1 ^ 0x7465646279746573,
    ]

    def rounds(count: int) -> None:
        for _ in range(count):
            for a, b, left, right in ((0, 1, 13, 32), (2, 3, 16, 0), (0, 3, 21, 0), (2, 1, 17, 32)):
                v[a] = v[a] + v[b] & MASK
                v[b] = rotate(v[b], left) ^ v[a]
                v[a] = rotate(v[a], right)

    whole = len(data) // 8 * 8
    last = number(data, whole, len(data) - whole) | (len(data) & 0xFF) << 56
    for word in [number(data, at) for at in range(0, whole, 8)] + [last]:
        v[3] ^= word
        rounds(1)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(3)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def rotate(x: int, by: int) -> int:
    return (x << by | x >> 64 - by) & MASK


# XXH3-64 with a seed, after its specification.

P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578"
    "825ad07dccff7221b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea3"
    "71644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931"
    "c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def xxh3(data: bytes, seed: int) -> int:
    size = len(data)
    if size > 240:
        return _long(data, seed)
    if size > 16:
        return _middle(data, seed)
    if size > 8:
        low = number(data, 0) ^ ((_secret(24) ^ _secret(32)) + seed & MASK)
        high = number(data, size - 8) ^ ((_secret(40) ^ _secret(48)) - seed & MASK)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche(size + swapped + high + _fold(low, high))
    if size > 3:
        swapped = int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big")
        seed ^= swapped << 32
        keyed = number(data, size - 4, 4) + (number(data, 0, 4) << 32)
        keyed ^= (_secret(8) ^ _secret(16)) - seed & MASK
        keyed ^= rotate(keyed, 49) ^ rotate(keyed, 24)
        keyed = keyed * 0x9FB21C651E98DF25 & MASK
        keyed = (keyed ^ (keyed >> 35) + size) * 0x9FB21C651E98DF25 & MASK
        return keyed ^ keyed >> 28
    if size > 0:
        mixed = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        flip = (number(SECRET, 0, 4) ^ number(SECRET, 4, 4)) + seed
        return _avalanche64(mixed ^ flip & MASK)
    return _avalanche64(seed ^ _secret(56) ^ _secret(64))


def _middle(data: bytes, seed: int) -> int:
    size = len(data)

    def mix(at: int, secret: int) -> int:
        low = number(data, at) ^ (_secret(secret) + seed & MASK)
        high = number(data, at + 8) ^ (_secret(secret + 8) - seed & MASK)
        return _fold(low, high)

    total = size * P64[0]
    if size <= 128:
        for i in reversed(range((size + 31) // 32)):
            total += mix(16 * i, 32 * i) + mix(size - 16 * (i + 1), 32 * i + 16)
        return _avalanche(total)
    total = _avalanche(total + sum(mix(16 * i, 16 * i) for i in range(8)))
    rest = sum(mix(16 * i, 16 * (i - 8) + 3) for i in range(8, size // 16))
    return _avalanche(total + rest + mix(size - 16, 119))


def _long(data: bytes, seed: int) -> int:
    secret = b"".join(
        struct.pack("<QQ", low + seed & MASK, high - seed & MASK)
        for low, high in struct.iter_unpack("<QQ", SECRET)
    )
    acc = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]

    def accumulate(at: int, key: int) -> None:
        for i in range(8):
            word = number(data, at + 8 * i)
            keyed = word ^ number(secret, key + 8 * i)
            acc[i ^ 1] = acc[i ^ 1] + word & MASK
            acc[i] = acc[i] + (keyed & 0xFFFFFFFF) * (keyed >> 32) & MASK

    stripes = (len(data) - 1) // 64
    for stripe in range(stripes):
        accumulate(64 * stripe, 8 * (stripe % 16))
        if stripe % 16 == 15:
            for i in range(8):
                mixed = acc[i] ^ acc[i] >> 47 ^ number(secret, 128 + 8 * i)
                acc[i] = mixed * P32[0] & MASK
    accumulate(len(data) - 64, 121)
    result = len(data) * P64[0]
    for i in range(4):
        low, high = (acc[2 * i + k] ^ number(secret, 11 + 16 * i + 8 * k) for k in (0, 1))
        result += _fold(low, high)
    return _avalanche(result)


def _secret(at: int) -> int:
    return number(SECRET, at)


def _fold(a: int, b: int) -> int:
    product = a * b
    return product & MASK ^ product >> 64


def _avalanche(x: int) -> int:
    x &= MASK
    x = (x ^ x >> 37) * 0x165667919E3779F9 & MASK
    return x ^ x >> 32


def _avalanche64(x: int) -> int:
    x = (x ^ x >> 33) * P64[1] & MASK
    x = (x ^ x >> 29) * P64[2] & MASK
    return x ^ x >> 32


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: malkoha_reader.py FILTER < LINES", file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], "rb") as file:
            filter = Filter(file.read())
        filter.verify()
    except (OSError, FormatError) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        return 2
    found = 1
    for line in sys.stdin.buffer:
        if line.rstrip(b"\n") in filter:
            sys.stdout.buffer.write(line)
            found = 0
    return found


if __name__ == "__main__":
    sys.exit(main())
