"""Makes the files here: python make.py, with pyarrow, duckdb and polars."""
import datetime, decimal, random
import duckdb, polars, pyarrow as pa, pyarrow.parquet as pq

random.seed(1)
word = lambda: f"w{random.randrange(300)}"
texts = []
for n in range(90):
    line = lambda: " ".join(word() for _ in range(10))
    texts.append(random.choice(texts) if n % 4 == 3 else "\n".join(line() for _ in range(1 + n % 2)))
texts[50] = None


def table(texts):
    n = len(texts)
    start = datetime.datetime(2026, 1, 1)
    return pa.table({
        "id": pa.array(range(n), pa.int32()),
        "text": pa.array(texts),
        "tags": pa.array([None if i % 7 == 0 else ["a", None, "b"][: i % 4] for i in range(n)]),
        "meta": [{"body": text, "deep": [{"b": [i, None]}] * (i % 3)} for i, text in enumerate(texts)],
        "when": pa.array([start + datetime.timedelta(hours=i) for i in range(n)], pa.timestamp("us")),
        "price": pa.array([decimal.Decimal(i) / 4 for i in range(n)], pa.decimal128(12, 2)),
        "share": pa.array([i / 7 for i in range(n)], pa.float32()),
        "score": pa.array([i / 7 if i % 5 else None for i in range(n)]),
        "ok": pa.array([i % 3 == 0 for i in range(n)]),
        "hash": pa.array([bytes([i] * 4) for i in range(n)], pa.binary(4)),
        "map": pa.array([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int64())),
    }).replace_schema_metadata({"huggingface": '{"made": "here"}'})


rows = table(texts)
codecs = {"text": "zstd", "meta.body": "gzip", "tags.list.element": "brotli", "id": "lz4"}
pq.write_table(rows, "pyarrow.parquet", row_group_size=30, compression=codecs, write_page_index=True)
rows = rows.set_column(1, "text", rows["text"].cast(pa.large_string()).dictionary_encode())
pq.write_table(rows.select(["text", "id", "when"]), "pyarrow-2.parquet", row_group_size=40,
               data_page_version="2.0", use_dictionary=["text"], write_statistics=False,
               column_encoding={"id": "DELTA_BINARY_PACKED"}, use_deprecated_int96_timestamps=True)
duckdb.sql("copy (select id, text, tags, meta, ok from rows) to 'duckdb.parquet' (row_group_size 2048)")
polars.from_arrow(rows.select(["id", "text", "tags"])).write_parquet("polars.parquet", row_group_size=45)
