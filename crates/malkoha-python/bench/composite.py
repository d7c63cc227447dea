"""Keys of several columns, compared with keys of one column of text, on one thread: bench/composite.py [ROWS]."""

import sys
import time
from statistics import median

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from malkoha import CuckooFilter

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
ids = np.random.default_rng(1).permutation(ROWS)
texts = pa.array([f"https://example.org/pages/{n:014d}" for n in ids])
forms = {
    "text of 40 bytes": texts,
    "int64": ids,
    "Arrow table: int64, text of 40 bytes": pa.table({"id": ids, "text": texts}),
    "Arrow table: int64, text of 9 bytes": pa.table({"id": ids, "text": [f"page{n % 99_999:05d}" for n in ids]}),
    "Arrow table: two int64": pa.table({"a": ids, "b": ids}),
    "pandas: int64, text of 40 bytes": pd.DataFrame({"id": ids, "text": texts.to_pandas()}),
    "polars: int64, text of 40 bytes": pl.DataFrame({"id": ids, "text": pl.from_arrow(texts)}),
    "structured: int64, int32": np.rec.fromarrays([ids, ids.astype("i4")]),
    "decimal128(21, 2)": pa.array(ids).cast(pa.decimal128(21, 2)),
    "lists of two int64": pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(ids, 2)), 2),
}
times = {name: ([], []) for name in forms}
for _ in range(3):
    for name, keys in forms.items():
        seen, start = CuckooFilter(fpr=0.001), time.perf_counter()
        seen.add_many(keys, threads=1)
        added = time.perf_counter()
        assert seen.contains_many(keys, threads=1).all()
        times[name][0].append(added - start)
        times[name][1].append(time.perf_counter() - added)
base = [median(one) for one in times["text of 40 bytes"]]
print(f"{ROWS:,} keys, millions per second, and the ratio to the column of text\n")
print("| keys | added | | looked up | |\n| --- | ---: | ---: | ---: | ---: |")
for name, (adds, lookups) in times.items():
    add, lookup = median(adds), median(lookups)
    print(f"| {name} | {ROWS / add / 1e6:.1f} | {base[0] / add:.2f} "
          f"| {ROWS / lookup / 1e6:.1f} | {base[1] / lookup:.2f} |")
