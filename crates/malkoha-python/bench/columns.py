"""Columns of text through a filter, and the memory that it takes: bench/columns.py [ROWS].

Linux alone: the peak of the process's memory, beyond the column's bytes, is reset before the lookup and read
after it. A copy of the text would show.
"""

import pathlib
import sys
import time

import polars as pl
import pyarrow as pa

from contenders import memory

from malkoha import CuckooFilter

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
RATE = 0.001


def measured(name, column, size, filtered, most):
    times, extra = [], 0.0
    for threads in (1, 1, 2, 2):
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        before, start, cpu = memory("VmRSS"), time.perf_counter(), time.process_time()
        mask = known.contains_many(column, threads=threads)
        times.append((threads, time.perf_counter() - start, time.process_time() - cpu))
        # The mask of the time before, which is still there, may give its memory to this one.
        extra = max(extra, memory("VmHWM") - before)
        assert extra < most, f"{name}: {extra:.0f} MiB"
    assert mask[: ROWS // 2].all() and mask[ROWS // 2 :].mean() < 2 * RATE
    start = time.perf_counter()
    rows = filtered(mask)
    kept = time.perf_counter() - start
    assert rows >= ROWS // 2
    one, two = (min(t[1:] for t in times if t[0] == threads) for threads in (1, 2))
    print(f"| {name} | {size / 2**20:,.0f} | {one[0]:.3f} ({one[1]:.3f}) | {ROWS / one[1] / 1e6:.0f} "
          f"| {two[0]:.3f} | {kept:.3f} | {extra:.1f} |", flush=True)


texts = pl.select(pl.format("https://example.org/pages/{}", pl.int_range(ROWS).cast(pl.String).str.zfill(14)))
texts = texts.to_series()
known = CuckooFilter(fpr=RATE)
start = time.perf_counter()
known.add_many(texts.head(ROWS // 2))
added = time.perf_counter() - start
print(f"{ROWS:,} texts of {texts.str.len_bytes()[0]} bytes, of which half are in a growing filter; {ROWS // 2:,} added "
      f"in {added:.2f} s from nothing.\n")
print("| column | its bytes, MiB | mask, s by the clock (of processor), 1 thread | M/s | 2 threads, s "
      "| rows filtered, s | peak beyond the column, MiB |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
# The mask, and what threads and the allocator take: a tenth of the texts' bytes.
most = ROWS / 2**20 + 24
measured("polars", texts, texts.estimated_size(), lambda mask: texts.filter(mask).len(), most)
chunked = pa.chunked_array([texts[at : at + 1_000_000].to_arrow() for at in range(0, ROWS, 1_000_000)])
rows = lambda column: lambda mask: len(column.filter(pa.array(mask)))
measured(f"pyarrow, {chunked.type}, {chunked.num_chunks} chunks", chunked, chunked.nbytes, rows(chunked), most)
plain = chunked.cast(pa.large_string()).combine_chunks()
del chunked
measured(f"pyarrow, {plain.type}", plain, plain.nbytes, rows(plain), most)
