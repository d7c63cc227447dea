"""The methods of a set, compared with Python's own."""

import copy
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malkoha import BuildError, CuckooFilter, CuckooMap, ExpiringCuckooFilter, InsertError, UnionError
from malkoha.text import Deduplicator

keys = st.one_of(st.text(), st.binary(), st.integers(-(2**63), 2**64 - 1))
steps = st.lists(st.tuples(st.sampled_from(["add", "discard", "unique"]), st.integers(0, 40)))


def encoded(key):
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, int):
        return (key % 2**64).to_bytes(8, "little")
    return key


@given(st.lists(keys), st.lists(keys))
def test_holds_what_was_added_and_no_more(inside, outside):
    seen = CuckooFilter(fpr=1e-8)
    for key in inside:
        seen.add(key)
    copies = Counter(map(encoded, inside))
    assert len(seen) == len(inside)
    for key in inside + outside:
        assert seen.count(key) == copies[encoded(key)]
        assert (key in seen) == (encoded(key) in copies)
    assert list(seen.contains_many(inside + outside)) == [key in seen for key in inside + outside]


@settings(max_examples=50)
@pytest.mark.parametrize("kind", ["growable", "fixed", "shared"])
@given(steps=steps)
def test_follows_a_counter(kind, steps):
    options = {"growable": {}, "fixed": {"growable": False}, "shared": {"shared": True}}[kind]
    seen, exact = CuckooFilter(1000, 2e-6, growth=None, **options), Counter()
    for step, key in steps:
        if step == "add":
            seen.add(key)
            exact[key] += 1
        elif step == "unique":
            assert seen.add_unique(key) == (exact[key] == 0)
            exact[key] = max(exact[key], 1)
        else:
            assert seen.discard(key) == (exact[key] > 0)
            exact[key] = max(exact[key] - 1, 0)
    assert len(seen) == exact.total()
    assert all(seen.count(key) == copies for key, copies in exact.items())


def test_remove_tells_what_is_not_in(empty):
    empty.add("koel")
    empty.remove("koel")
    with pytest.raises(KeyError, match="koel"):
        empty.remove("koel")
    assert not empty.discard("koel") and not empty and len(empty) == 0


def test_clear_and_truth(empty):
    empty.add_many(range(100))
    assert empty and len(empty) == 100
    empty.clear()
    assert not empty and 5 not in empty


def test_copies_are_apart(empty):
    empty.add("koel")
    for other in (empty.copy(), copy.copy(empty), copy.deepcopy(empty)):
        assert other == empty and other.kind == empty.kind
        other.add("wren")
        assert other != empty and "wren" not in empty


def test_is_no_key_and_equals_nothing_else(empty):
    with pytest.raises(TypeError, match="unhashable"):
        hash(empty)
    assert empty != {} and empty != 0 and not (empty == set())
    with pytest.raises(TypeError):
        iter(empty)


@pytest.mark.parametrize("kind", ["growable", "fixed"])
def test_unions_and_intersections(make, kind):
    one, other = make[kind](), make[kind]()
    one.update(["koel", "koel", "wren"])
    other.update(np.array([b"koel", b"magpie"]))
    both, common = one | other, one & other
    assert len(both) == 4 and both.count("koel") == 2 and "magpie" in both
    assert "koel" in common and "wren" not in common and "magpie" not in common
    assert "magpie" not in one, "operators change neither side"
    kept = one
    one |= other
    assert one is kept and one == both
    one &= common
    assert "wren" not in one and "koel" in one
    one |= one
    assert one.count("koel") == 2
    with pytest.raises(TypeError):
        one | {"koel"}
    with pytest.raises(TypeError):
        one |= {"koel"}


@pytest.mark.parametrize("kind", ["growable", "fixed"])
def test_copies_add_up_where_that_is_asked_for(make, kind):
    one, other = make[kind](), make[kind]()
    one.update(["koel", "wren"])
    other.update(["koel", "magpie"])
    one.sum_with(other)
    assert list(one.count_many(["koel", "wren", "magpie", "gull"])) == [2, 1, 1, 0]
    one.sum_with(one)
    assert one.count("koel") == 4


def test_unions_that_do_not_exist_say_so(make):
    with pytest.raises(UnionError, match="a growable filter and a fixed one have no union"):
        make["growable"]() | make["fixed"]()
    for other in ("growable", "shared"):
        with pytest.raises(UnionError, match="a shared filter has no union"):
            make["shared"]() | make[other]()
    with pytest.raises(UnionError, match="hash keys in different ways"):
        make["growable"]() | make["growable"](seed=1)


def test_hashes_differ_by_seed_and_key():
    key = bytes(range(16))
    filters = [CuckooFilter(), CuckooFilter(seed=7), CuckooFilter(key=key)]
    for seen in filters:
        seen.add("koel")
    assert [seen.seed for seen in filters] == [0, 7, None]
    assert [seen.key for seen in filters] == [None, None, key]
    assert len({seen.to_bytes() for seen in filters}) == 3
    assert all("koel" in seen for seen in filters)


@pytest.mark.parametrize("number", [-1, 10**30, 10**5000], ids=["-1", "10^30", "10^5000"])
@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda n: CuckooFilter(n), "capacity .* is out of range: give 1 to 2"),
        (lambda n: CuckooMap(n), "capacity .* is out of range: give 1 to 2"),
        (lambda n: CuckooFilter(fpr=n * 10**300), "is out of range: .* above 0 and below 1"),
        (lambda n: CuckooFilter(10, growth=n * 10**300), "growth .* is out of range: .* 1 to "),
        (lambda n: CuckooFilter(seed=n), "seed .* is out of range: give 0 to 2"),
        (lambda n: CuckooMap(value_bits=n), "value_bits .* is out of range: give 1 to 64"),
        (lambda n: CuckooMap().add(1, n), "value .* is out of range: give 0 to 2"),
        (lambda n: CuckooMap().discard(1, n), "value .* is out of range: give 0 to 2"),
        (lambda n: CuckooMap().count_value(1, n), "value .* is out of range: give 0 to 2"),
        (lambda n: CuckooMap().replace(1, 1, n), "value .* is out of range: give 0 to 2"),
        (lambda n: CuckooFilter().add_many([1], threads=n), "threads .* is out of range: give 1"),
        (lambda n: CuckooFilter().contains_many([1], threads=n), "threads .* is out of range"),
        (lambda n: ExpiringCuckooFilter(n), "ttl .* is out of range: give 1 to 2"),
        (lambda n: ExpiringCuckooFilter(60, resolution=n), "resolution .* is out of range: give 1"),
        (lambda n: ExpiringCuckooFilter(60).advance(n), "now .* is out of range: give 0 to 2"),
        (lambda n: Deduplicator(near=n * 10**300), "out of range|between|above 0"),
        (lambda n: Deduplicator(near=0.8, bands=(n, 1)), "bands .* is out of range: give two"),
        (lambda n: Deduplicator(near=0.8, rate=n * 10**300), "out of range|between|above 0"),
        (lambda n: Deduplicator(near=0.8, shingle=n), "shingle"),
        (lambda n: Deduplicator(paragraphs=True, min_left=n), "min_left .* is out of range"),
        (lambda n: Deduplicator().keep(["a"], threads=n), "threads .* is out of range: give 1"),
    ],
)
def test_numbers_out_of_range_are_named_with_the_limit(ask, message, number):
    with pytest.raises((BuildError, InsertError), match=message):
        ask(number)


@pytest.mark.parametrize("number", [0, float("nan"), float("inf"), -0.5])
@pytest.mark.parametrize(
    "ask",
    [
        lambda n: CuckooFilter(fpr=n),
        lambda n: CuckooFilter(10, growth=-n),
        lambda n: CuckooMap(fpr=n),
        lambda n: ExpiringCuckooFilter(60, fpr=n),
        lambda n: Deduplicator(near=n),
        lambda n: Deduplicator(near=0.8, rate=n),
    ],
)
def test_rates_out_of_range_are_refused(ask, number):
    with pytest.raises(BuildError, match="out of range|between|above"):
        ask(number)


def test_what_cannot_be_built_says_why():
    with pytest.raises(BuildError, match="above 0 and below 1"):
        CuckooFilter(fpr=2)
    with pytest.raises(BuildError, match="capacity 0 is out of range"):
        CuckooFilter(0, growable=False)
    with pytest.raises(BuildError, match="give the number of keys"):
        CuckooFilter(growable=False)
    with pytest.raises(TypeError, match="a shared filter grows"):
        CuckooFilter(10, growable=False, shared=True)
    with pytest.raises(ValueError, match="has 16 bytes, this one 3"):
        CuckooFilter(key=b"abc")
    with pytest.raises(TypeError, match="not both"):
        CuckooFilter(seed=1, key=bytes(16))


@pytest.mark.parametrize("layout", ["bucketed", "gap-windows", "semi-sorted", "words"])
def test_layouts_have_the_rate_and_lie_in_files(layout, tmp_path):
    seen = CuckooFilter(10_000, 0.01, growable=False, layout=layout)
    seen.add_many(np.arange(10_000))
    assert seen.contains_many(np.arange(10_000)).all()
    assert seen.contains_many(np.arange(10_000, 60_000)).mean() < 0.015
    seen.save(tmp_path / "seen.mlk")
    assert CuckooFilter.load(tmp_path / "seen.mlk") == seen


@pytest.mark.parametrize("rate, layout", [(0.01, "bucketed"), (1e-9, "gap-windows")])
def test_the_layout_is_bucketed_where_that_reaches_the_rate(rate, layout):
    assert CuckooFilter(1000, rate, growable=False) == CuckooFilter(
        1000, rate, growable=False, layout=layout
    )
    smallest = CuckooFilter(1000, rate, growable=False, layout="gap-windows")
    assert smallest.size_in_bytes <= CuckooFilter(1000, rate, growable=False).size_in_bytes


def test_layouts_unite_with_their_own_alone():
    one, other = (
        CuckooFilter(1000, growable=False, layout=layout) for layout in (None, "gap-windows")
    )
    with pytest.raises(UnionError, match="filters of the same layout"):
        one | other


def test_layouts_that_do_not_exist_say_so():
    with pytest.raises(ValueError, match="one of bucketed, gap-windows, semi-sorted, words"):
        CuckooFilter(10, growable=False, layout="flat")
    with pytest.raises(TypeError, match="grows has a layout of its own"):
        CuckooFilter(10, layout="bucketed")


def test_a_full_filter_refuses_and_names_positions():
    seen = CuckooFilter(100, 0.01, growable=False)
    with pytest.raises(InsertError, match="filter is full") as told:
        seen.add_many(range(1000))
    refused = set(told.value.refused)
    assert len(seen) == 1000 - len(refused) and refused < set(range(1000))
    assert all(key in seen for key in range(1000) if key not in refused)
    with pytest.raises(InsertError, match="filter is full") as told:
        for key in range(1000, 2000):
            seen.add(key)
    assert told.value.refused == []


def test_reports_its_shape(empty):
    empty.add_many(range(1000))
    assert 0 < empty.expected_fpr() < 1e-5
    assert empty.size_in_bytes > 1000
    assert repr(empty).startswith("<CuckooFilter of 1000 keys in ") and empty.kind in repr(empty)


def test_shrinks_again():
    seen = CuckooFilter()
    seen.add_many(range(100_000))
    full = seen.size_in_bytes
    seen.remove_many(range(99_000))
    seen.shrink_to_fit()
    assert seen.size_in_bytes < full / 4 and seen.contains_many(range(99_000, 100_000)).all()
