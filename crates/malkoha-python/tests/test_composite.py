"""Keys of several columns, lists, decimals and wide integers: one key whichever way it comes."""

import datetime as dt
import os
import pathlib
import subprocess
import sys
import uuid
from collections import namedtuple
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from conftest import optional

from malkoha import CuckooFilter, CuckooMap

pd, pl = optional("pandas"), optional("polars")
RUST = pathlib.Path(__file__).parents[2] / "malkoha/tests/fixtures/set-v1-composite-keys.mlk"
MODEL = pathlib.Path(__file__).with_name("composite_model.py")
Visit = namedtuple("Visit", "user page")
ZONE = dt.timezone(dt.timedelta(hours=5))
TIMES = [dt.datetime(2026, 1, 2, 3, 4, 5, 6), dt.datetime(1960, 1, 1, 1)]
ZONED = [time.replace(tzinfo=ZONE) for time in TIMES]
DELTAS = [dt.timedelta(3, 4, 5), dt.timedelta(-3, 4, 5)]
UUIDS = [uuid.UUID(int=7), uuid.UUID(int=2**127 + 1)]
WIDE = [5, -2, 2**64 - 1, 2**64, -(2**63) - 1, 2**127 - 1, -(2**127)]
PAIRS = [(1, "koel"), (2, "wren"), None, (2**40, "ü")]
MONEY = [Decimal("1.50"), Decimal("5"), None, Decimal("-0.01"), Decimal("0")]

LONG = Decimal("-" + "9" * 38 + "." + "9" * 38)


def pairs():
    return {"user": [1, 2, None, 2**40], "page": ["koel", "wren", "gull", "ü"]}


def runs(ends, values, cut=slice(None)):
    return pa.RunEndEncodedArray.from_arrays(ends, values)[cut]


def decimals(units, scale):
    """pyarrow makes none of a scale below 0 of Python's."""
    data = b"".join(unit.to_bytes(16, "little", signed=True) for unit in units)
    return pa.Array.from_buffers(pa.decimal128(10, scale), len(units), [None, pa.py_buffer(data)])


def frame(**columns):
    """Whose index is no range."""
    return pd.DataFrame({name: [None, *column] for name, column in columns.items()})[1:].set_axis(list("zyxw"))


@pytest.mark.parametrize(
    "column, keys",
    [
        (lambda: pa.table(pairs()), PAIRS),
        (lambda: pa.table(pairs()).slice(1, 2), PAIRS[1:3]),
        (lambda: pa.record_batch(pairs()), PAIRS),
        (lambda: pa.concat_tables([pa.table(pairs()), pa.table(pairs())]), PAIRS * 2),
        (lambda: pa.table(pairs()).to_struct_array(), PAIRS),
        (lambda: pl.DataFrame(pairs()), PAIRS),
        (lambda: pl.DataFrame(pairs()).to_struct(), PAIRS),
        (lambda: pl.DataFrame(pairs()).cast({"page": pl.Categorical}), PAIRS),
        (lambda: frame(**pairs()).astype({"user": "Int64"}), PAIRS),
        (lambda: frame(**pairs()).astype({"user": "int64[pyarrow]", "page": object}), PAIRS),
        (lambda: pd.DataFrame(pairs()).convert_dtypes().astype({"page": "category"}), PAIRS),
        (lambda: pd.MultiIndex.from_tuples([(1, "koel"), (2, None)], names=["n", "n"]), [(1, "koel"), None]),
        (lambda: pd.Series(PAIRS), PAIRS),
        (lambda: np.array(PAIRS[:2], [("user", ">i4"), ("page", "S6")]), PAIRS[:2]),
        (lambda: np.array(PAIRS[:2], [("user", "u1"), ("page", "U6")])[::-1], PAIRS[1::-1]),
        (lambda: np.array([(1, (2, "2026-01-02")), (1, (2, "NaT"))], [("a", "i2"), ("b", "i1,M8[D]")]),
         [(1, (2, dt.date(2026, 1, 2))), None]),
        (lambda: [Visit(1, "koel"), Visit("ü", 2)], [(1, "koel"), ("ü", 2)]),
        (lambda: list(np.array(PAIRS[:2], "i8,U6")), PAIRS[:2]),
        # A struct, and in it a null, a struct of one column, and eight columns.
        (lambda: pa.array([{"a": {"b": 1, "c": "x"}}, None, {"a": None}]), [(1, "x"), None, None]),
        (lambda: pa.array([{"a": 0, "b": {"c": 1, "d": "x"}}, None, {"a": 1}])[1:], [None, None]),
        (lambda: pa.table({name: [1, 2] for name in "abcdefgh"}), [(1,) * 8, (2,) * 8]),
        (lambda: pa.table({"one": [1, 2]}), [1, 2]),
        (lambda: np.array([(1,), (2,)], [("one", "i4")]), [1, 2]),
        # Lists.
        (lambda: pa.array([[1, 2], [], None, [3], [1, None]]), [[1, 2], [], None, [3], None]),
        (lambda: pa.array([["a"], [], ["b", "c"]], pa.large_list(pa.string())), [["a"], [], ["b", "c"]]),
        (lambda: pa.array([[1, 2], [3, 4], None], pa.list_(pa.int8(), 2))[1:], [[3, 4], None]),
        (lambda: pa.array([[1, 2], [3], None], pa.list_view(pa.uint16()))[1:], [[3], None]),
        (lambda: pa.array([[1, 2], [3], None], pa.large_list_view(pa.int64())), [[1, 2], [3], None]),
        (lambda: pa.array([[{"a": 1, "b": "x"}], []]), [[(1, "x")], []]),
        (lambda: pa.array([[[1], [2, 3]], [[], [2**40]]]), [[[1], [2, 3]], [[], [2**40]]]),
        (lambda: pa.array([MONEY[:2], [Decimal(2), Decimal(3)]]), [MONEY[:2], [2, 3]]),
        (lambda: pa.array([["a", "b"], ["a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))), [["a", "b"], ["a"]]),
        (lambda: pd.Series([[1, 2], [3]]), [[1, 2], [3]]),
        (lambda: pl.Series([[1, 2], [3]]), [[1, 2], [3]]),
        # Runs.
        (lambda: runs([2, 3, 6], ["a", None, "b"]), ["a", "a", None, "b", "b", "b"]),
        (lambda: runs(pa.array([], pa.int32()), pa.array([], pa.string())), []),
        (lambda: runs(pa.array([2, 3, 6], pa.int16()), [7, None, 8], slice(1, 5)), [7, None, 8, 8]),
        (lambda: pa.table({"a": runs([2, 3], [7, 8]), "b": list("xyz")}), [(7, "x"), (7, "y"), (8, "z")]),
        # Wide integers and decimals.
        (lambda: pl.Series(WIDE, dtype=pl.Int128), WIDE),
        (lambda: pl.Series([5, 2**64, 2**128 - 1], dtype=pl.UInt128), [5, 2**64, 2**128 - 1]),
        (lambda: pa.array([Decimal(n) for n in WIDE], pa.decimal256(60, 0)), WIDE),
        *((lambda kind=kind: pa.array(MONEY, kind(9, 3)), MONEY)
          for kind in (pa.decimal32, pa.decimal64, pa.decimal128, pa.decimal256)),
        (lambda: pl.Series(MONEY, dtype=pl.Decimal(10, 2)), MONEY),
        (lambda: decimals([150, -2], -10), [1_500_000_000_000, -20_000_000_000]),
        (lambda: decimals([150, -2], -90), [Decimal("1.50E+92"), Decimal("-20E+89")]),
        (lambda: pa.array([LONG], pa.decimal256(76, 38)), [LONG]),
        # Dates, times and UUIDs.
        (lambda: pa.array([time.date() for time in TIMES]), [time.date() for time in TIMES]),
        (lambda: pa.array(TIMES), TIMES),
        (lambda: pa.array(ZONED), ZONED),
        (lambda: pa.array([time.time() for time in TIMES]), [time.time() for time in TIMES]),
        (lambda: pa.array(DELTAS), DELTAS),
        (lambda: pl.Series(TIMES), TIMES),
        (lambda: np.array(["2026-01-02", "1960-01-01"], "M8[s]"), list(np.array(["2026-01-02", "1960-01-01"], "M8[s]"))),
        (lambda: pd.Series(ZONED), [pd.Timestamp(time) for time in ZONED]),
        (lambda: pd.Series(TIMES).astype("M8[ns]"), [pd.Timestamp(time).as_unit("ns") for time in TIMES]),
        (lambda: pa.array([one.bytes for one in UUIDS], pa.uuid()), UUIDS),
        (lambda: np.array([True, False]), [np.True_, False]),
        # Objects of polars, of which Arrow data would have the addresses.
        (lambda: pl.DataFrame({"a": pl.Series(["koel", 1, None], dtype=pl.Object)}), ["koel", 1, None]),
        (lambda: pl.DataFrame({"a": pl.Series(["koel", (1, "x")], dtype=pl.Object), "b": [1, None]}),
         [("koel", 1), None]),
        # Types of pandas alone, and those of which it makes no Arrow data.
        (lambda: pd.Series(pd.period_range("2026-01", periods=2, freq="M")), [pd.Period("2026-01"), pd.Period("2026-02")]),
        (lambda: pd.period_range("1970-02", periods=2, freq="M"), [1, 2]),
        (lambda: pd.Series(pd.interval_range(0, 2)), [pd.Interval(0, 1), (1, 2)]),
        (lambda: pd.interval_range(0, 2), [(0, 1), pd.Interval(1, 2)]),
        (lambda: pd.Series(pd.arrays.SparseArray([0, 5, 0])), [0, 5, 0]),
        (lambda: pd.DataFrame({"a": pd.arrays.SparseArray([0, 5]), "b": list("xy")}), [(0, "x"), (5, "y")]),
        (lambda: pd.arrays.SparseArray([0, 5]), [0, 5]),
        (lambda: pd.Series(pd.Categorical([1, "a", None])), [1, "a", None]),
        (lambda: pd.Categorical(["koel", None]), ["koel", None]),
        (lambda: pd.Series(pd.Categorical.from_codes([0, 1], [(1, "a"), (2, "b")])), [(1, "a"), (2, "b")]),
        (lambda: pd.Series(pd.Categorical.from_codes([0, 1], [(1, 2), (3, 4)])), [(1, 2), (3, 4)]),
        (lambda: pd.DataFrame({"a": pd.Categorical.from_codes([0, 1], [(1, 2), (3, 4)]), "b": [5, 6]}),
         [((1, 2), 5), ((3, 4), 6)]),
        (lambda: pd.array([2**60 + 1, None], dtype="Int64"), [2**60 + 1, None]),
        (lambda: [pd.NA, 1, pd.NaT], [None, 1, None]),
    ],
)
def test_a_column_has_the_keys_of_its_values(column, keys):
    column = column()
    seen = CuckooFilter(fpr=1e-8)
    seen.add_many(column)
    alone = [key for key in keys if key is not None]
    assert len(seen) == len(alone) and all(key in seen for key in alone)
    assert seen.contains_many(column).tolist() == [key is not None for key in keys]
    assert seen.contains_many(keys).tolist() == [key is not None for key in keys]
    assert len({CuckooFilter.to_bytes(one(key)) for key in alone}) == len(set(map(repr, alone)))


def one(key):
    seen = CuckooFilter(fpr=1e-8)
    seen.add(key)
    return seen


def test_rust_has_the_same_keys():
    """Those of crates/malkoha/tests/it/keys.rs, in its order."""
    numbers = [tuple(range(1, count + 1)) for count in range(4, 8)]
    wide = 2**64
    keys = [
        (1, "koel"), (-1, 2**63, 2**64 - 1), ("ab", "c"), ("a", "bc"), ("koel",), *numbers,
        tuple("abcdefgh"), ((1, ("a", "b")), ("c",)), (b"\0\xff", "ü", ""),
        (wide, -(2**127), 2**128 - 8), (2**200, uuid.UUID(bytes=bytes([7] * 16))),
        (True, dt.date(2026, 1, 2), dt.datetime(2026, 1, 2, 3, 2, 2, 7)),
        (Decimal("1.50"), "EUR"), (Decimal("150.0"), "EUR"), (Decimal("-1E-40"), Decimal("3E+100")),
        [1, -2, 3], list(range(100)), ("a", ["b"] * 30, []), [[1], [2, 3]], [(1, "a"), (2, "b")],
        [wide, wide + 1],
    ]
    theirs = CuckooFilter.load(RUST)
    assert len(theirs) == len(keys) and [key for key in keys if key not in theirs] == []
    ours = CuckooFilter(100, 1e-6, growable=False, layout="bucketed")
    ours.add_many(keys)
    assert ours == theirs


@pytest.mark.parametrize("same", [
    [0, Decimal("0E-999999999999"), Decimal("-0"), Decimal("0E+999999999999"), False],
    [Decimal("1.5"), Decimal("1.50"), Decimal("15E-1"), (15, 1)],
    [Decimal("-2.50"), Decimal("-25E-1"), (-25, 1)],
    [10**70, Decimal(10) ** 70, Decimal("1E+70"), Decimal("1." + "0" * 90 + "E+70")],
    [Decimal("3E+999999999999"), (3, -999999999999)],
    [Decimal("7E-999999999999"), (7, 999999999999)],
    [2**64 - 5, -5],
    [2**128 - 2**100, -(2**100)],
    [(1, 2), Visit(1, 2), (True, np.int8(2)), (1, Decimal("2.0"))],
])
def test_equal_values_are_one_key(same):
    assert len({CuckooFilter.to_bytes(one(key)) for key in same}) == 1


DEEP = ()
for _ in range(100_000):
    DEEP = (DEEP,)


@pytest.mark.parametrize(
    "keys, message",
    [
        (lambda: pa.table({"a": [1], "b": [1.5]}), "column 'b': an Arrow array of floats has no keys: cast"),
        (lambda: pd.DataFrame({"a": [1], "b": [1.5]}), "column 'b': an Arrow array of floats"),
        (lambda: pd.DataFrame({"a": [1], "b": [{1}]}), "column 'b': set is no key: give"),
        (lambda: np.zeros(2, [("a", "i4"), ("b", "f8")]), "column 'b': an array of float64"),
        (lambda: np.zeros(2, [("a", "i4"), ("b", "i4", (3,))]), "one dimension, this array has 2"),
        (lambda: pa.table({name: [1] for name in "abcdefghi"}), "9 columns are no batch of keys: select 1 to 8"),
        (lambda: pa.array([{}], pa.struct([])), "0 columns are no batch"),
        (lambda: pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "array of maps has no keys"),
        (lambda: pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]), "of unions"),
        (lambda: pa.nulls(1, nested(pa.int64(), 40)), "more than 32 deep"),
        (lambda: [DEEP], "more than 32 deep"),
        (lambda: [(1, 2.5)], "float is no key: give a str"),
        (lambda: [()], "a tuple of 0 is no key: give 1 to 8"),
        (lambda: [(1,) * 9], "a tuple of 9 is no key"),
        (lambda: [{"a": 1}], "dict is no key"),
        (lambda: [pd.Series([1])], "Series is no key"),
        (lambda: [Decimal("inf")], "an infinite Decimal is no key"),
        (lambda: [2**255], r"integer keys are -2\*\*255 to 2\*\*255 - 1"),
        (lambda: [Decimal(10**80 + 1)], "more than 76 digits"),
        (lambda: [dt.timedelta(999_999_999)], "a timedelta of 2"),
        (lambda: pl.LazyFrame({"a": [1]}), r"LazyFrame is no batch: .* collect\(\) a lazy one"),
        (lambda: 5, "int is no batch: give a list"),
        (lambda: pd.Series([1j]), "complex128 has no keys: give text"),
        (lambda: pd.interval_range(0.5, 2.5), "float64 is no key"),
        (lambda: [np.void(b"ab")], "void is no key: give"),
    ],
)
def test_what_is_no_key_is_named(empty, keys, message):
    with pytest.raises((TypeError, ValueError, OverflowError), match=message):
        empty.add_many(keys())
    assert not empty


def nested(kind, depth):
    return pa.list_(nested(kind, depth - 1)) if depth else kind


@pytest.mark.parametrize("null", [None, float("nan"), (1, None), ("a", (float("nan"), 2)), [None], Decimal("nan"), np.datetime64("NaT")], ids=str)
def test_a_key_with_a_null_in_it_is_null(empty, null):
    empty.add_many([null, 1])
    assert len(empty) == 1 and empty.contains_many([null, 1]).tolist() == [False, True]
    for method in (empty.add, empty.discard, empty.count, empty.__contains__):
        with pytest.raises(TypeError, match="null"):
            method(null)


def test_maps_have_composite_keys():
    pages = CuckooMap(fpr=1e-6)
    pages.add_many(pa.table({"user": [1, 2], "page": ["a", "b"]}), [10, 20])
    assert pages.get((2, "b")) == [20] and pages.get((1, "b")) == []


def test_batches_of_many_rows_in_chunks(empty):
    numbers = np.arange(5000)
    table = pa.table({"n": numbers, "text": [f"{n % 70}" for n in numbers]})
    pieces = pa.concat_tables([table.slice(0, 1500), table.slice(1500, 7), table.slice(1507)])
    empty.add_many(pieces)
    assert empty.contains_many(table).all() and empty.contains_many(table.to_pandas()).all()
    swapped = table.set_column(1, "text", [[f"{n % 71}" for n in numbers]])
    assert empty.contains_many(swapped).tolist() == [n % 70 == n % 71 for n in range(5000)]


@pytest.mark.parametrize("seed", [0, 1, 2026])
def test_follows_a_counter_over_processes(seed, tmp_path):
    """Of any hash seed: Python's own hashes of texts differ between its processes."""
    operations = int(os.environ.get("MALKOHA_OPERATIONS", 30_000)) // 3
    for hash_seed, action in ((seed, ["run", tmp_path, seed, operations]), (seed + 1, ["check", tmp_path])):
        command = [sys.executable, MODEL, *map(str, action)]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": str(hash_seed)}, check=True)
