"""Batches of every form that keys come in: one answer for each, the same as one by one."""

import array

import numpy as np
import pyarrow as pa
import pytest
from conftest import optional
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from malkoha import CuckooFilter

duckdb, pd, pl = optional("duckdb"), optional("pandas"), optional("polars")
INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u8", "?"]
ARROW_INTEGERS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32()]
ARROW_INTEGERS += [pa.int64(), pa.uint64(), pa.date32(), pa.timestamp("us"), pa.duration("ns")]
WORDS = [f"{'x' * (i % 30)}{i}" for i in range(500)]


@pytest.fixture
def words():
    seen = CuckooFilter(fpr=1e-8)
    seen.add_many(WORDS[::2])
    return seen


@given(
    arrays.arrays(arrays.integer_dtypes() | arrays.unsigned_integer_dtypes(), st.integers(0, 60)),
    st.slices(60),
)
def test_integers_of_any_width_stride_and_order(values, cut):
    seen = CuckooFilter(fpr=1e-8)
    values = values[cut]
    seen.add_many(values)
    assert len(seen) == len(values)
    assert all(int(value) in seen for value in values)
    assert seen.contains_many(values).all() and seen.contains_many([int(v) for v in values]).all()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_one_value_is_one_key_whatever_its_type(dtype):
    seen = CuckooFilter()
    seen.add_many([0, 1])
    assert seen.contains_many(np.array([0, 1, 1], dtype)).all()


def test_negative_integers_are_their_twos_complement():
    seen = CuckooFilter()
    seen.add_many(np.array([-2], "i1"))
    assert -2 in seen and np.int64(-2) in seen and 2**64 - 2 in seen and 254 not in seen


@pytest.mark.parametrize("kind", ARROW_INTEGERS, ids=str)
def test_arrow_integers_and_dates(kind):
    seen = CuckooFilter(fpr=1e-8)
    seen.add_many(range(0, 100, 2))
    numbers = pa.array(range(100), pa.int32()).cast(pa.int64()).cast(kind, safe=False) \
        if kind != pa.date32() else pa.array(range(100), pa.int32()).cast(kind)
    for column in (numbers, numbers[3:90], pa.chunked_array([numbers[:7], numbers[7:]])):
        found = seen.contains_many(column)
        assert found.dtype == bool and len(found) == len(column)
        first = 3 if len(column) == 87 else 0
        assert list(found) == [(first + i) % 2 == 0 for i in range(len(column))]


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        iter,
        np.array,
        lambda words: np.array(words, "S"),
        lambda words: np.array(words, object),
        lambda words: np.array(words, np.dtypes.StringDType()),
        lambda words: [word.encode() for word in words],
        pa.array,
        lambda words: pa.array(words, pa.large_string()),
        lambda words: pa.array(words, pa.string_view()),
        lambda words: pa.array(words, pa.binary()),
        lambda words: pa.array(words).dictionary_encode(),
        lambda words: pa.table({"word": words}),
        lambda words: pa.record_batch({"word": words}),
        pl.Series,
        lambda words: pl.Series(words, dtype=pl.Categorical),
        lambda words: pl.DataFrame({"word": words}),
        pd.Series,
        lambda words: pd.Series(words, dtype="category"),
        lambda words: duckdb.sql("from words", connection=registered(words)),
    ],
)
def test_text_in_every_form(words, form):
    found = words.contains_many(form(WORDS))
    assert list(found) == [i % 2 == 0 for i in range(len(WORDS))]


def registered(words):
    connection = duckdb.connect()
    connection.register("words", pa.table({"word": words}))
    return connection


@pytest.mark.parametrize(
    "column",
    [
        ["koel", None, "wren", None],
        pa.array(["koel", None, "wren", None]),
        pa.array(["koel", None, "wren", None], pa.string_view()),
        pa.array(["koel", None, "wren", None]).dictionary_encode(),
        pa.array(["x", "koel", None, "wren", None])[1:],
        lambda: pl.Series(["koel", None, "wren", None]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1]), pa.array(["koel", None, "wren"])),
    ],
    ids=lambda column: type(column).__name__,
)
def test_nulls_are_no_keys(column):
    column = column() if callable(column) else column
    seen = CuckooFilter()
    seen.add_many(column)
    assert len(seen) == 2 and "koel" in seen and "wren" in seen and "" not in seen
    assert list(seen.contains_many(column)) == [True, False, True, False]
    assert list(seen.count_many(column)) == [1, 0, 1, 0]
    assert list(seen.add_unique_many(column)) == [False] * 4
    assert list(seen.remove_many(column)) == [True, False, True, False] and not seen


@pytest.mark.parametrize(
    "nulls, nothing",
    [
        (lambda: pa.nulls(3), lambda: pa.array([], pa.string())),
        (lambda: pl.Series([None, None, None]), lambda: pl.Series([], dtype=pl.Int8)),
        (lambda: [None] * 3, lambda: []),
        (lambda: np.array(["NaT"] * 3, "M8[s]"), lambda: np.array([], "i8")),
    ],
)
def test_nothing_but_nulls_and_nothing_at_all(words, nulls, nothing):
    assert list(words.contains_many(nulls())) == [False] * 3
    assert words.contains_many(nothing()).shape == (0,)
    assert words.add_unique_many(nothing()).shape == (0,)


def test_dates_are_counts_of_their_unit_and_not_a_time_is_null():
    days = np.array(["1970-01-03", "NaT"], "M8[D]")
    seen = CuckooFilter()
    seen.add_many(days)
    assert len(seen) == 1 and 2 in seen
    assert list(seen.contains_many(days)) == [True, False]
    assert not seen.contains_many(days.astype("M8[s]")).any()


def test_views_of_memory_are_read(words):
    words.add_many(array.array("i", [5, 6]))
    assert words.contains_many(memoryview(array.array("q", [5, 6]))).all()


def test_new_keys_are_told_in_order(empty):
    new = empty.add_unique_many(np.array([3, 1, 3, 2, 1]))
    assert list(new) == [True, True, False, True, False] and len(empty) == 3


def test_removes_one_copy_each(empty):
    empty.add_many([1, 1, 2])
    assert list(empty.remove_many([1, 1, 1, 2, 3])) == [True, True, False, True, False]


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_large_batches_are_alike_on_any_number_of_threads(threads):
    keys = np.arange(500_001, dtype="u4")
    seen = CuckooFilter(len(keys), growable=False)
    seen.add_many(keys[::2], threads=threads)
    column = pa.chunked_array([keys[:70_000], keys[70_000:]])
    for found in (seen.contains_many(keys, threads=threads), seen.contains_many(column)):
        assert found[::2].all() and found[1::2].mean() < 0.002
    counts = seen.count_many(keys, threads=threads)
    assert counts.dtype == np.uint64 and (counts > 0).sum() == found.sum()


@pytest.mark.parametrize(
    "column, message",
    [
        ("koel", "put one value in a list"),
        (b"koel", "put one value in a list"),
        (np.zeros((2, 2), int), "has 2: ravel"),
        (np.zeros(2), "an array of float64 has no keys"),
        ([1.5], "float is no key"),
        ([np.array([5, 6])], "ndarray is no key"),
        (np.ma.array([1, 2], mask=[True, False]), "a masked array is no batch"),
        (lambda: pl.Series([1.5]), "array of floats has no keys"),
        (lambda: pa.array([None], pa.month_day_nano_interval()), "of calendar intervals has no keys"),
        (7, "int is no batch"),
    ],
)
def test_what_is_no_batch_says_so(words, column, message):
    column = column() if callable(column) else column
    with pytest.raises((TypeError, ValueError), match=message):
        words.contains_many(column)
    assert len(words) == 250


@pytest.mark.parametrize(
    "key, error",
    [(2**255, OverflowError), (-(2**255) - 1, OverflowError), (1.5, TypeError), (None, TypeError)],
)
def test_what_is_no_key_says_so(empty, key, error):
    for method in (empty.add, empty.discard, empty.count, empty.__contains__):
        with pytest.raises(error):
            method(key)


VIEWS = pa.array(["koel", "a koel of 13 bytes"], pa.string_view()).buffers()


@pytest.mark.parametrize(
    "kind, buffers, items, message",
    [
        (pa.string(), [np.array([0, 9, 3], "i4"), b"abc"], None, "texts whose ends are not in order"),
        (pa.string_view(), [VIEWS[1], VIEWS[2].slice(1)], None, "views of bytes outside its buffers"),
        (pa.list_(pa.int8()), [np.array([0, 3, 2], "i4")], [1, 2], "lists of items that it has not"),
        (pa.list_view(pa.int8()), [np.array([0, 1], "i4")] * 2, [1], "lists of items that it has not"),
    ],
    ids=str,
)
def test_arrow_values_outside_their_buffers_are_not_read(kind, buffers, items, message):
    buffers = [buffer if buffer is None else pa.py_buffer(buffer) for buffer in [None, *buffers]]
    children = items and [pa.array(items, pa.int8())]
    array = pa.Array.from_buffers(kind, 2, buffers, children=children)
    with pytest.raises(ValueError, match=f"the Arrow array has {message}"):
        CuckooFilter().contains_many(array)


def test_pandas_without_pyarrow():
    """It offers Arrow data, which it then cannot make."""

    class Series:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ImportError("pyarrow")

        def __array__(self, dtype=None, copy=None):
            return np.array([5, 7])

    seen = CuckooFilter()
    seen.add_many(Series())
    assert seen.contains_many([5, 6, 7]).tolist() == [True, False, True]


def test_other_bytes_are_keys(empty):
    empty.add(bytearray(b"koel"))
    assert "koel" in empty and memoryview(b"koel") in empty and np.bytes_(b"koel") in empty
    with pytest.raises(UnicodeEncodeError):
        empty.add("\ud800")


@pytest.mark.parametrize("threads", [1, 2])
def test_large_batches_of_every_kind(threads):
    """Large enough that room is made for them first, and that they are sorted."""
    numbers = np.arange(50_000)
    texts = [f"key {n}" for n in numbers]
    chunks = [[None] * 10_000, texts[:30_000], [], texts[30_000:] + [None] * 20_000]
    nulls = pa.chunked_array(chunks, pa.string())
    for keys in (texts, numbers, nulls, iter(texts + [None] * 10_000), pa.array(texts)):
        seen = CuckooFilter(fpr=0.001)
        asked = texts if keys is not numbers else numbers
        seen.add_many(keys, threads=threads)
        assert len(seen) == 50_000 and seen.contains_many(asked).all()
        assert seen.add_unique_many(asked).sum() == 0
        assert seen.remove_many(asked).all() and len(seen) == 0
