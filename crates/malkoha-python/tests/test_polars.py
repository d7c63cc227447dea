"""The namespace of expressions, eager and lazy."""

import pytest

from malkoha import CuckooFilter

pl = pytest.importorskip("polars", reason="polars is not installed")
import malkoha.polars  # noqa: E402, F401

URLS = ["/a", "/b", None, "/a", "/c"]


@pytest.fixture
def seen():
    seen = CuckooFilter(fpr=1e-8)
    seen.add_many(["/a", "/c", "/c"])
    return seen


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_rows_are_kept_that_are_in(seen, engine):
    frame = pl.LazyFrame({"url": URLS, "n": range(5)})
    query = frame.filter(pl.col("url").malkoha.is_in(seen)).select("n")
    assert query.collect(engine=engine)["n"].to_list() == [0, 3, 4]
    query = frame.select(pl.col("url").malkoha.count(seen))
    assert query.collect(engine=engine)["url"].to_list() == [1, 0, 0, 1, 2]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_each_key_is_new_once(seen, engine):
    frame = pl.LazyFrame({"url": ["/b", "/a", "/b", None] * 50_000, "n": range(200_000)})
    query = frame.with_columns(new=pl.col("url").malkoha.first_seen(seen)).filter("new")
    assert query.collect(engine=engine)["n"].to_list() == [0]
    assert query.collect(engine=engine).is_empty(), "it remembers"


def test_plans_push_it_down(seen, tmp_path):
    pl.DataFrame({"url": URLS, "n": range(5)}).write_parquet(tmp_path / "log.parquet")
    query = pl.scan_parquet(tmp_path / "log.parquet").with_columns(twice=pl.col("n") * 2)
    query = query.filter(pl.col("url").malkoha.is_in(seen))
    plan = query.explain()
    assert plan.index("WITH_COLUMNS") < plan.index("SELECTION"), plan
    assert query.collect()["twice"].to_list() == [0, 6, 8]


def test_eager_and_grouped(seen):
    frame = pl.DataFrame({"url": URLS})
    assert frame.filter(pl.col("url").malkoha.is_in(seen)).height == 3
    by_url = frame.group_by("url", maintain_order=True).agg(pl.col("url").malkoha.is_in(seen).sum().alias("in"))
    assert by_url["in"].to_list() == [2, 0, 0, 1]
