"""Random operations with composite keys against dict and Counter, in a process of its own:

    composite_model.py run FOLDER SEED OPERATIONS     # leaves its filter, map and exact answers there
    composite_model.py check FOLDER                   # compares what the files answer
"""

import pickle
import random
import sys
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from malkoha import CuckooFilter, CuckooMap

# Columns of each shape, with a value for a number. Two shapes differ in their first one, so that
# keys that are one key here are equal in Python too.
SHAPES = [
    [lambda n: "pair", lambda n: n],
    [lambda n: "text", lambda n: f"{n % 7}" * (n % 40), lambda n: n.to_bytes(3)],
    [lambda n: "nested", lambda n: {"a": n % 50, "b": {"c": f"{n}", "d": n}}],
    [lambda n: "price", lambda n: Decimal(n).scaleb(-2), lambda n: date(1970, 1, 1) + timedelta(n)],
    [lambda n: "wide", lambda n: Decimal(n**9 + 1)],
    [lambda n: "list", lambda n: [f"{n}", "x"] * (n % 3 + 1)],
    [lambda n: f"eight {n}", *([lambda n: n % 5] * 7)],
]
NUMBERS = 3000
MIXED = [(shape, n) for shape in range(len(SHAPES)) for n in range(NUMBERS)]


def key(value):
    """The key of a column's value: structs are tuples."""
    if isinstance(value, dict):
        return tuple(map(key, value.values()))
    return value


def frozen(key):
    """The same for a dict, in which lists cannot be."""
    return tuple(("list", *map(frozen, part)) if isinstance(part, list) else part for part in key)


VALUES = {one: [column(one[1]) for column in SHAPES[one[0]]] for one in MIXED}
KEYS = {one: tuple(map(key, values)) for one, values in VALUES.items()}
EXACT = {one: frozen(key) for one, key in KEYS.items()}


def column(values):
    kind = pa.decimal256(60, 4) if isinstance(values[0], Decimal) else None
    return pa.array(values, kind)


def batch(ones, as_table):
    """Keys as tuples, or those of one shape as a table."""
    if not as_table:
        return [KEYS[one] for one in ones]
    columns = zip(*(VALUES[one] for one in ones))
    return pa.table({f"{i}": column(values) for i, values in enumerate(columns)})


def single(rng, seen, copies, pages, exact):
    one = rng.choice(MIXED)
    key, known = KEYS[one], EXACT[one]
    match rng.randrange(6):
        case 0:
            seen.add(key)
            copies[known] += 1
        case 1:
            assert seen.add_unique(key) == (copies[known] == 0), key
            copies[known] = max(copies[known], 1)
        case 2 | 3:
            assert seen.discard(key) == (copies[known] > 0), key
            copies[known] = max(copies[known] - 1, 0)
        case 4:
            assert seen.count(key) == copies[known] and (key in seen) == (copies[known] > 0), key
        case 5:
            assert pages.get(key) == ([exact[known]] if known in exact else []), key
            if known in exact:
                pages.remove(key, exact.pop(known))
            else:
                exact[known] = one[1]
                pages.add(key, one[1])


def many(rng, seen, copies, pages, exact):
    as_table, count = rng.random() < 0.7, rng.randrange(1, 1500)
    if as_table:
        shape = rng.randrange(len(SHAPES))
        ones = [(shape, rng.randrange(NUMBERS)) for _ in range(count)]
    else:
        ones = rng.choices(MIXED, k=count)
    keys, known = batch(ones, as_table), [EXACT[one] for one in ones]
    match rng.randrange(5):
        case 0:
            seen.add_many(keys)
            copies.update(known)
        case 1:
            new = seen.add_unique_many(keys).tolist()
            for key, is_new in zip(known, new, strict=True):
                assert is_new == (copies[key] == 0), key
                copies[key] = max(copies[key], 1)
        case 2:
            gone = seen.remove_many(keys).tolist()
            for key, was_in in zip(known, gone, strict=True):
                assert was_in == (copies[key] > 0), key
                copies[key] = max(copies[key] - 1, 0)
        case 3:
            assert seen.count_many(keys).tolist() == [copies[key] for key in known]
            assert seen.contains_many(keys).tolist() == [copies[key] > 0 for key in known]
        case 4:
            positions, values = pages.get_many(keys)
            found = [(i, exact[key]) for i, key in enumerate(known) if key in exact]
            assert list(zip(positions.tolist(), values.tolist())) == found
    return count


def run(folder, seed, operations):
    rng = random.Random(seed)
    seen, copies = CuckooFilter(fpr=1e-8), Counter()
    pages, exact = CuckooMap(fpr=1e-8, value_bits=20), {}
    done = 0
    while done < operations:
        if rng.random() < 0.999:
            single(rng, seen, copies, pages, exact)
            done += 1
        else:
            done += many(rng, seen, copies, pages, exact)
    assert len(seen) == copies.total() and len(pages) == len(exact)
    seen.save(folder / "seen.mlk")
    pages.save(folder / "pages.mlk")
    (folder / "exact").write_bytes(pickle.dumps((copies, exact)))


def check(folder):
    copies, exact = pickle.loads((folder / "exact").read_bytes())
    for read in ("load", "open"):
        seen = getattr(CuckooFilter, read)(folder / "seen.mlk")
        pages = getattr(CuckooMap, read)(folder / "pages.mlk")
        for one in MIXED:
            key, known = KEYS[one], EXACT[one]
            assert seen.count(key) == copies[known], key
            assert pages.get(key) == ([exact[known]] if known in exact else []), key
        for shape in range(len(SHAPES)):
            ones = [(shape, n) for n in range(NUMBERS)]
            assert seen.count_many(batch(ones, True)).tolist() == [copies[EXACT[one]] for one in ones]


if __name__ == "__main__":
    action, folder, *numbers = sys.argv[1:]
    {"run": run, "check": check}[action](Path(folder), *map(int, numbers))
