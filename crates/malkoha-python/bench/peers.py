"""Malkoha beside other packages: bench/peers.py [KEYS [LOOKUPS]].

Needs rbloom, fastbloom-rs, pybloom-live, pyprobables and polars beside a release build
(``maturin develop --release``). Prints a Markdown table of rates in millions of keys a second. Rates
of one run are to be compared with each other. Each package does each thing its best way: batches where
it has them. Slow packages get fewer keys, and say how many.
"""

import sys
import time

import numpy as np
import polars as pl
import pybloom_live
import rbloom
from fastbloom_rs import FilterBuilder
from probables import BloomFilter as ProbablesBloom

from malkoha import CuckooFilter

RATE = 0.001
FEW = 200_000
ROUNDS = 3


def rate(keys, do):
    """Millions of keys a second, of the best of a few runs, and what the last one returned."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        result = do()
        best = min(best, time.perf_counter() - start)
    return keys / best / 1e6, result


def row(name, **rates):
    cells = [rates.get(column) for column in ("add", "one", "many", "remove", "bits")]
    print(f"| {name} | " + " | ".join("" if c is None else f"{c:.1f}" for c in cells) + " |")


def check(mask, keys):
    """Lookups of keys of which the first half are in."""
    mask, half = np.asarray(mask), len(keys) // 2
    assert mask[:half].all() and mask[half:].mean() < 5 * RATE


def malkoha(name, make, keys, queries, some, threads):
    add, filled = rate(len(keys), lambda: made(make, keys))
    one, _ = rate(len(some), lambda: [key in filled for key in some])
    many, mask = rate(len(queries), lambda: filled.contains_many(queries, threads=threads))
    check(mask, queries)
    start = time.perf_counter()
    bits = filled.size_in_bytes * 8 / len(keys)
    assert filled.remove_many(keys).all()
    remove = len(keys) / (time.perf_counter() - start) / 1e6
    row(name, add=add, one=one, many=many, remove=remove, bits=bits)


def made(make, keys):
    filled = make()
    filled.add_many(keys)
    return filled


def mix(key):
    """Python's hash of an integer is itself: rbloom asks for a better one."""
    return (key * 0x9E3779B97F4A7C15F39CC0605CEDC835 & (1 << 128) - 1) - (1 << 127)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    lookups = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    random = np.random.default_rng(1)
    drawn = np.unique(random.integers(0, 2**62, count + lookups, "u8"))
    random.shuffle(drawn)
    keys, absent = drawn[:count], drawn[count : count + lookups // 2]
    queries = np.concatenate([random.choice(keys, len(absent)), absent])
    some, listed, few = queries[-FEW:].tolist(), keys.tolist(), keys[:FEW].tolist()
    print(f"{count:,} keys of 64 bits, {len(queries):,} lookups of which half are in, rate {RATE}\n")
    print("| | add | `in`, one by one | mask of a batch | remove | bits a key |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for threads in (1, 2):
        words = f", {threads} threads" if threads > 1 else ", 1 thread"
        grows = lambda: CuckooFilter(fpr=RATE)
        fixed = lambda: CuckooFilter(count, RATE, growable=False)
        malkoha("malkoha, growing" + words, grows, keys, queries, some, threads)
        malkoha("malkoha, of fixed size" + words, fixed, keys, queries, some, threads)

    def fill_rbloom():
        bloom = rbloom.Bloom(count, RATE, mix)
        bloom.update(listed)
        return bloom

    def fill_rbloom_by_hash():
        bloom = rbloom.Bloom(count, RATE)
        bloom.update(listed)
        return bloom

    asked = queries.tolist()
    for name, fill in (("rbloom, Python's hash", fill_rbloom_by_hash), ("rbloom, another hash", fill_rbloom)):
        add, bloom = rate(count, fill)
        one, _ = rate(len(some), lambda: [key in bloom for key in some])
        many, mask = rate(len(asked), lambda: np.fromiter(map(bloom.__contains__, asked), bool))
        assert mask[: len(absent)].all()
        row(name, add=add, one=one, many=many, bits=bloom.size_in_bits / count)

    def fill_fastbloom():
        bloom = FilterBuilder(count, RATE).build_bloom_filter()
        bloom.add_int_batch(listed)
        return bloom

    try:
        add, bloom = rate(count, fill_fastbloom)
        one, _ = rate(len(some), lambda: [bloom.contains(key) for key in some])
        many, mask = rate(len(asked), lambda: np.array(bloom.contains_int_batch(asked)))
        check(mask, queries)
        row("fastbloom-rs", add=add, one=one, many=many)
    except (AttributeError, OverflowError, TypeError) as error:
        print(f"| fastbloom-rs: {error} | | | | | |")

    def fill_pybloom():
        bloom = pybloom_live.BloomFilter(len(few), RATE)
        for key in few:
            bloom.add(key)
        return bloom

    add, bloom = rate(len(few), fill_pybloom)
    one, _ = rate(len(some), lambda: [key in bloom for key in some])
    row(f"pybloom-live ({len(few):,} keys)", add=add, one=one, bits=bloom.num_bits / len(few))

    texts, asked_texts = list(map(str, few[:20_000])), list(map(str, some[:20_000]))

    def fill_probables():
        bloom = ProbablesBloom(est_elements=len(texts), false_positive_rate=RATE)
        for key in texts:
            bloom.add(key)
        return bloom

    add, bloom = rate(len(texts), fill_probables)
    one, _ = rate(len(asked_texts), lambda: [bloom.check(key) for key in asked_texts])
    row(f"pyprobables ({len(texts):,} keys)", add=add, one=one, bits=bloom.number_bits / len(texts))

    add, exact = rate(count, lambda: set(listed))
    one, _ = rate(len(some), lambda: [key in exact for key in some])
    many, mask = rate(len(asked), lambda: np.fromiter(map(exact.__contains__, asked), bool))
    check(mask, queries)
    row("set", add=add, one=one, many=many, bits=sys.getsizeof(exact) * 8 / count + 32 * 8)

    left, right = pl.DataFrame({"key": queries}), pl.DataFrame({"key": keys})
    many, _ = rate(len(queries), lambda: left.join(right, on="key", how="semi"))
    row(f"polars semi-join, {pl.thread_pool_size()} threads", many=many)

    print("\n| text of 40 bytes, 1 thread | add | mask of a column |\n| --- | ---: | ---: |")
    urls = pl.Series(keys[:1_000_000]).cast(pl.String).str.pad_start(40, "x")
    asked = urls
    add, filled = rate(len(urls), lambda: made(lambda: CuckooFilter(len(urls), RATE, growable=False), urls))
    for name, column in (("polars", asked), ("pyarrow", asked.to_arrow())):
        many, mask = rate(len(column), lambda: filled.contains_many(column, threads=1))
        assert mask.all()
        print(f"| malkoha, {name} | {add:.1f} | {many:.1f} |")
    listed = urls.to_list()
    bloom = rbloom.Bloom(len(listed), RATE)
    add, _ = rate(len(listed), lambda: bloom.update(listed))
    many, _ = rate(len(listed), lambda: np.fromiter(map(bloom.__contains__, listed), bool))
    print(f"| rbloom, from a list | {add:.1f} | {many:.1f} |")
    left, right = pl.DataFrame({"key": asked}), pl.DataFrame({"key": urls})
    many, _ = rate(len(asked), lambda: left.join(right, on="key", how="semi"))
    print(f"| polars semi-join, {pl.thread_pool_size()} threads | | {many:.1f} |")


main()
