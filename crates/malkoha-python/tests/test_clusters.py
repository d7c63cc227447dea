"""Dask, Ray and Spark with several workers on this machine: an engine that is not installed is
skipped."""

import sys

import numpy as np
import pytest

from malkoha import _parts
from malkoha.text import Deduplicator

pd = pytest.importorskip("pandas", reason="pandas is not installed")

WORKERS = 2
ROWS = 40_000


@pytest.fixture(scope="module")
def rows():
    """Rows of which half have a key that others have too, and the exact answer."""
    random = np.random.default_rng(1)
    keys = np.concatenate([np.arange(ROWS // 2), random.integers(0, 5000, ROWS // 2)])
    random.shuffle(keys)
    urls = [f"https://example.org/{key}" for key in keys]
    return pd.DataFrame({"url": urls, "page": np.arange(ROWS) % 3, "n": range(ROWS)})


@pytest.fixture(scope="module")
def wanted(rows):
    return rows.iloc[:100]


@pytest.fixture(scope="module")
def texts():
    """Texts, the same with a word changed, these with another one changed, and one text many times;
    and the numbers of the rows that one machine keeps."""
    random = np.random.default_rng(2)
    words = random.integers(0, 1000, (1000, 60)).astype(str)
    rows = [" ".join(row) for row in words]
    for changed in 10, 30:
        words[:, changed] = "koel"
        rows += [" ".join(row) for row in words]
    rows = pd.DataFrame({"text": random.permutation(rows + rows[:1] * 1000), "n": range(4000)})
    kept = Deduplicator(near=0.8).keep(rows["text"])
    assert 1000 < kept.sum() < 1500
    return rows, rows["n"][kept].tolist()


@pytest.fixture
def asked(monkeypatch):
    """How many rows the process that decides has got."""
    counts, decided = [], _parts.decided

    def counted(batches, options):
        batches = list(batches)
        counts.append(sum(np.count_nonzero(~_parts.is_mark(ids)) for ids, _, _ in batches))
        return decided(batches, options)

    monkeypatch.setattr(_parts, "decided", counted)
    return counts


def changing():
    """A step that makes other texts each time. Workers cannot import it, but get it as a closure."""

    def change(part):
        lengths = np.random.default_rng().integers(0, 99, len(part))
        return part.assign(text=["k" * length for length in lengths])

    return change


def check_texts(cluster, frames, changed, nulls, texts, asked, rows):
    """Both ways give the rows of one machine, also of parts of which some are empty."""
    other = {"near": 0.9, "shingle": "13c", "bands": (5, 20), "seed": 1}
    others = texts[0]["n"][Deduplicator(**other).keep(texts[0]["text"])].tolist()
    for frame in frames:
        for shuffle in (False, True):
            assert rows(cluster.deduplicate_text(frame, "text", shuffle=shuffle)) == texts[1]
        assert asked[-2] == len(texts[0]) and 0 < asked[-1] < len(texts[0]) / 10
        assert rows(cluster.deduplicate_text(frame, "text", shuffle=True, **other)) == others
    for shuffle in (False, True):
        with pytest.raises(Exception, match="persist the frame first"):
            rows(cluster.deduplicate_text(changed, "text", shuffle=shuffle))
        with pytest.raises(Exception, match="null"):
            cluster.deduplicate_text(nulls, "text", shuffle=shuffle)


KEYS = ["url", ["url", "page"]]


def check(rows, on, wanted, seen, pruned, distinct):
    """The filter has every key, no row is lost by pruning, each key is there once."""
    assert seen.contains_many(rows[on]).all()
    columns = [on] if on == "url" else on
    keys = rows[columns].drop_duplicates()
    # A union takes two keys of one fingerprint for one.
    assert 0 <= len(keys) - len(seen) < 0.01 * len(rows)
    exact = rows.merge(wanted[columns].drop_duplicates())
    assert set(exact["n"]) <= set(pruned["n"]) and len(pruned) < len(exact) + 0.01 * len(rows)
    found = distinct[columns].sort_values(columns, ignore_index=True)
    assert (found == keys.sort_values(columns, ignore_index=True)).all(axis=None)


def few(wanted, on):
    from malkoha import CuckooFilter

    keys = CuckooFilter()
    keys.add_many(wanted[on])
    return keys


def test_a_part_of_which_nothing_goes_stays():
    from malkoha import _parts

    ids, keys = _parts.mark(3, 7, 16)
    bits, check = _parts.decided([(ids, keys, ids[:0])], {"near": 0.8})[3]
    # numpy would make the mask of memory that others had, were there no bits.
    assert len(bits) == 1 and check == 7
    assert _parts.staying(bits, 5, 4000).all()


def test_dask(rows, wanted, texts, asked, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    from distributed import Client

    import malkoha.dask as cluster

    with Client(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None):
        frame = dd.from_pandas(rows, npartitions=8)
        for on in KEYS:
            seen = cluster.build(frame[on], fpr=0.001)
            pruned = cluster.prune(frame, on, few(wanted, on)).compute()
            check(rows, on, wanted, seen, pruned, cluster.deduplicate(frame, on).compute())
        # Files, which Dask reads in larger parts if it needs one of the columns alone.
        frame.assign(**{f"other {i}": frame["n"] for i in range(8)}).to_parquet(tmp_path)
        read = cluster.deduplicate(dd.read_parquet(tmp_path), "url").compute()
        frame = dd.from_pandas(texts[0], npartitions=70)
        assert cluster.deduplicate_text(frame, "text").compute()["n"].tolist() == texts[1]
        one, more = (dd.from_pandas(texts[0], npartitions=n) for n in (1, 5))
        frames = one, dd.concat([more[more["n"] < 0], more])
        nulls = more.assign(text=more["text"].where(more["n"] != 3000))
        rows_of = lambda kept: kept.compute()["n"].tolist()
        check_texts(cluster, frames, more.map_partitions(changing()), nulls, texts, asked, rows_of)
    assert sorted(read["url"]) == sorted(rows["url"].unique())


def test_ray(rows, wanted, texts, tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    data = pytest.importorskip("ray.data", reason="Ray is not installed")

    import malkoha.ray as cluster

    ray.init("local", num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    try:
        frame = data.from_pandas([rows[i::4] for i in range(4)])
        for on in KEYS:
            seen = cluster.build(frame, on, fpr=0.001)
            pruned = cluster.prune(frame, on, few(wanted, on)).to_pandas()
            check(rows, on, wanted, seen, pruned, cluster.deduplicate(frame, on).to_pandas())
        # Files, which Ray reads anew for each pass.
        frame.write_parquet(str(tmp_path))
        read = cluster.deduplicate(data.read_parquet(str(tmp_path)), "url").to_pandas()
        some = data.from_pandas([texts[0][i : i + 500] for i in range(0, 4000, 500)])
        some = some.map_batches(lambda batch: batch, batch_size=100)
        for actors in (1, 3):
            kept = cluster.deduplicate_text(some, "text", actors=actors).to_pandas()
            assert kept["n"].tolist() == texts[1], actors
            # Blocks without rows have no columns.
            none, few_rows = some.filter(lambda row: False), some.filter(lambda row: row["n"] < 10)
            assert cluster.deduplicate_text(none, "text", actors=actors).count() == 0
            kept = cluster.deduplicate_text(few_rows, "text", actors=actors).to_pandas()
            assert kept["n"].tolist() == [n for n in texts[1] if n < 10]
        assert cluster.deduplicate(none, "n").count() == 0
        assert cluster.deduplicate(some, "n").count() == len(texts[0])
        with pytest.raises(ValueError, match="similarity"):
            cluster.deduplicate_text(some, "text", near=1.5)
        with pytest.raises(Exception, match="give at most that many actors, not 99"):
            cluster.deduplicate_text(some, "text", actors=99).to_pandas()
    finally:
        ray.shutdown()
    assert sorted(read["url"]) == sorted(rows["url"].unique())


def test_spark(rows, wanted, texts, asked, monkeypatch):
    # Its workers are processes of this interpreter.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")

    import malkoha.spark as cluster

    session = sql.SparkSession.builder.master(f"local[{WORKERS}]")
    session = session.config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = session.createDataFrame(rows).repartition(4).cache()
        for on in KEYS:
            seen = cluster.build(frame, on, fpr=0.001)
            pruned = cluster.prune(frame, on, few(wanted, on)).toPandas()
            check(rows, on, wanted, seen, pruned, cluster.deduplicate(frame, on).toPandas())
        session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 300)
        session.conf.set("spark.sql.shuffle.partitions", 4)
        some = session.createDataFrame(texts[0])
        frames = some.coalesce(1), some.where("n < 0").union(some)
        change = changing()
        changed = some.mapInPandas(lambda parts: map(change, parts), some.schema)
        nulls = some.selectExpr("if(n = 3000, null, text) as text", "n")
        rows_of = lambda kept: kept.toPandas()["n"].tolist()
        check_texts(cluster, frames, changed, nulls, texts, asked, rows_of)
    finally:
        session.stop()
