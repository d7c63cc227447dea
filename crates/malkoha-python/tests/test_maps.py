"""Maps: every value that was added is among the candidates."""

import pickle
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malkoha import BuildError, CuckooMap, InsertError, ReadOnlyError

KINDS = {
    "growable": lambda **options: CuckooMap(fpr=1e-8, **options),
    "fixed": lambda **options: CuckooMap(10_000, 1e-8, growable=False, **options),
    "shared": lambda **options: CuckooMap(10_000, 1e-8, shared=True, **options),
}


@pytest.fixture(params=KINDS)
def empty(request):
    return KINDS[request.param](value_bits=20)


@settings(max_examples=30)
@pytest.mark.parametrize("kind", KINDS)
@given(steps=st.lists(st.tuples(st.booleans(), st.integers(0, 20), st.integers(0, 5))))
def test_follows_a_counter(kind, steps):
    ages, exact = KINDS[kind](value_bits=20), Counter()
    for is_add, key, value in steps:
        if is_add:
            ages.add(key, value)
            exact[key, value] += 1
        else:
            assert ages.discard(key, value) == (exact[key, value] > 0)
            exact[key, value] = max(exact[key, value] - 1, 0)
    for key in range(21):
        assert ages.get(key) == [value for value in range(6) if exact[key, value]]
        assert all(ages.count_value(key, value) == exact[key, value] for value in range(6))
    assert len(ages) == exact.total()


def test_one_by_one(empty):
    empty.add("koel", 12)
    empty.replace("koel", 12, 13)
    assert empty.get("koel") == [13] and "koel" in empty and empty.get("wren") == []
    with pytest.raises(KeyError, match="koel"):
        empty.replace("koel", 12, 14)
    with pytest.raises(KeyError, match="wren"):
        empty.remove("wren", 1)
    with pytest.raises(InsertError, match="more than the 20 bits"):
        empty.add("koel", 2**20)
    empty.remove("koel", 13)
    assert not empty and empty.value_bits == 20
    empty.add("koel", 1)
    empty.clear()
    assert len(empty) == 0


def test_batches(empty):
    keys = np.arange(5000)
    empty.add_many(keys, keys % 100)
    positions, values = empty.get_many(pa.array([4999, None, 10**6, 7]))
    assert positions.tolist() == [0, 3] and values.tolist() == [99, 7]
    positions, values = empty.get_many(keys)
    assert (positions == keys).all() and (values == keys % 100).all()
    assert empty.contains_many(keys).all() and (empty.count_many(keys) == 1).all()
    assert list(empty.remove_many([1, 2, 3], [1, 5, 3])) == [True, False, True]
    empty.add_many(["a", None, "a"], pa.array([5, 6, 4]))
    assert empty.get("a") == [4, 5] and empty.get_many(["a"])[1].tolist() == [4, 5]


def test_refused_pairs_are_named(empty):
    with pytest.raises(InsertError, match="2 of the batch's keys were refused") as told:
        empty.add_many([None, "a", "b", "c"], [0, 2**20, 1, 2**30])
    assert told.value.refused == [1, 3] and empty.get("b") == [1] and len(empty) == 1
    with pytest.raises(ValueError, match="there are 2 keys, but 1 values"):
        empty.add_many([1, 2], [3])
    for values, found in (([1.5, 2], "float64"), ([-1, 2], "negative"), ([None, 2], "object")):
        with pytest.raises(ValueError, match=f"values are integers from 0 to .*, not {found}"):
            empty.add_many([1, 2], values)
    # What is masked was a value too.
    with pytest.raises(TypeError, match="a masked array is no batch"):
        empty.add_many([1, 2], np.ma.array([1, 2], mask=[0, 1]))


def test_files(empty, command, tmp_path):
    empty.add_many(["koel", "wren"], [12, 7])
    path = tmp_path / "ages.mlk"
    empty.save(path)
    # The file of a shared map is that of a growable one.
    loaded = CuckooMap.load(path, shared=empty.kind == "shared")
    assert loaded == empty == pickle.loads(pickle.dumps(empty)) == empty.copy()
    assert command("get", "-q", path, stdin=b"koel\nmagpie\n") == b"koel\t12\n"
    mapped = CuckooMap.open(path)
    assert mapped.get("wren") == [7] and mapped.get_many(["koel"])[1].tolist() == [12]
    if empty.kind == "fixed":
        with pytest.raises(ReadOnlyError):
            mapped.add("gull", 1)


def test_the_command_s_map_opens(command, tmp_path):
    path = tmp_path / "ages.mlk"
    command("build", "-q", "--values", "-o", path, stdin=b"koel\t12\nwren\t7\n")
    assert CuckooMap.load(path).get(b"koel") == CuckooMap.open(path).get("koel") == [12]


def test_what_cannot_be_built_says_why():
    with pytest.raises(BuildError, match="values of 65 bits"):
        CuckooMap(value_bits=65)
    with pytest.raises(BuildError, match="give the number of keys"):
        CuckooMap(growable=False, value_bits=8)
