"""Sets whose keys expire: the window, ages, batches, files, unions, threads."""

import copy
import pickle
import random
import threading

import numpy as np
import pytest

from malkoha import BuildError, CuckooFilter, ExpiringCuckooFilter, InsertError, ReadError, UnionError

KINDS = {"fixed": {"growable": False}, "growable": {}, "shared": {"shared": True}}


@pytest.fixture(params=KINDS)
def make(request):
    return lambda ttl, capacity=1000, **more: ExpiringCuckooFilter(
        ttl, capacity, **KINDS[request.param], **more
    )


def test_a_key_is_found_for_the_window_and_no_longer(make):
    seen = make(3600)
    seen.advance(1_000_000)
    seen.add("cuckoo")
    assert (seen.ttl, seen.resolution, seen.now) == (3600, 240, 1_000_000)
    seen.advance(1_003_600)
    assert "cuckoo" in seen and len(seen) == 1 and 3600 <= seen.age("cuckoo") < 3840
    seen.advance(1_003_840)
    assert "cuckoo" not in seen and len(seen) == 0 and seen.age("cuckoo") is None
    seen.advance(5)
    assert seen.now == 1_003_840, "time does not go back"


def test_refresh_makes_young_and_add_unique_does_not(make):
    seen = make(1500, resolution=100)
    assert seen.add_unique("a") and seen.refresh("b")
    seen.advance(1000)
    assert not seen.add_unique("a") and not seen.refresh("b")
    assert seen.age("a") >= 1000 and seen.age("b") < 100
    seen.advance(1700)
    assert seen.add_unique("a") and "b" in seen


def test_a_model_of_a_day(make):
    model, seen, now = {}, make(600, 5000, fpr=1e-6), 0
    random.seed(7)
    for _ in range(4000):
        now += random.randrange(10)
        seen.advance(now)
        key = random.randrange(300)
        if random.random() < 0.1:
            assert seen.discard(key) or now - model.get(key, -(10**9)) > 600
            model.pop(key, None)
        else:
            was = now - model.get(key, -(10**9))
            new = seen.refresh(key)
            assert not new if was <= 600 else new or was < 640
            model[key] = now
        other = random.randrange(300)
        age = now - model.get(other, -(10**9))
        assert other in seen if age <= 600 else age < 640 or other not in seen


def test_batches_give_masks(make):
    seen = make(60, 10_000)
    keys = np.arange(5000)
    assert seen.add_unique_many(keys).sum() > 4980
    assert not seen.add_unique_many(keys).any()
    seen.advance(50)
    new = seen.refresh_many(np.arange(2500, 7500))
    assert not new[:2500].any() and new[2500:].sum() > 2480
    assert seen.contains_many(keys).all() and seen.count_many(keys).max() == 1
    seen.advance(70)
    assert seen.contains_many(np.arange(2500, 7500)).all()
    assert seen.contains_many(keys[:2500]).sum() < 25
    seen.add_many([b"x", None, "y"])
    assert list(seen.remove_many(["y", "z", None])) == [True, False, False]
    seen.clear()
    assert len(seen) == 0 and not seen


def test_files_and_copies(make, tmp_path):
    seen = make(60, seed=5)
    seen.add_many(range(500))
    seen.advance(30)
    seen.add_many(range(500, 900))
    path = tmp_path / "seen.mlk"
    seen.save(path)
    # The file of a shared set is that of a growable one.
    shared = seen.kind == "shared"
    for other in (
        ExpiringCuckooFilter.load(path, shared=shared),
        seen.copy() if shared else ExpiringCuckooFilter.open(path),
        ExpiringCuckooFilter.from_bytes(seen.to_bytes(), shared=shared),
        pickle.loads(pickle.dumps(seen)),
        copy.deepcopy(seen),
    ):
        assert other == seen and other.kind == seen.kind and (other.now, other.seed) == (30, 5)
        other.advance(70)
        assert not other.contains_many(range(400)).all() and other.contains_many(range(500, 900)).all()
        assert len(seen) > 890, "a copy has a time of its own"
    with pytest.raises(ReadError, match="set whose keys expire"):
        CuckooFilter.load(path)
    CuckooFilter(10).save(path)
    for read in (ExpiringCuckooFilter.load, ExpiringCuckooFilter.open):
        with pytest.raises(ReadError, match="set whose keys expire"):
            read(path)


@pytest.mark.parametrize("options", [KINDS["fixed"], KINDS["growable"]])
def test_unions_keep_the_younger(options):
    a, b = (ExpiringCuckooFilter(1500, 1000, **options) for _ in range(2))
    a.add("both")
    a.add("old")
    b.advance(1000)
    b.add("both")
    both = a | b
    assert both.now == 1000 and both.age("both") < 100 and both.age("old") >= 1000
    assert a.now == 0
    a |= b
    assert a == both
    a |= a
    assert a == both
    with pytest.raises(UnionError, match="time that keys live"):
        a |= ExpiringCuckooFilter(60, 1000, **options)
    with pytest.raises(UnionError, match="build both growable"):
        a |= ExpiringCuckooFilter(1500, 1000, shared=True)
    with pytest.raises(TypeError):
        a | CuckooFilter(1000)


def test_what_cannot_be_is_told():
    with pytest.raises(BuildError):
        ExpiringCuckooFilter(0)
    with pytest.raises(TypeError, match="leave growable out"):
        ExpiringCuckooFilter(60, 1000, growable=False, shared=True)
    with pytest.raises(KeyError):
        ExpiringCuckooFilter(60).remove("nothing")
    full = ExpiringCuckooFilter(60, 100, growable=False)
    with pytest.raises(InsertError):
        full.add_many(range(10_000))
    assert full.contains_many(range(100)).any()


def test_one_thread_is_told_that_a_key_is_new():
    seen, new = ExpiringCuckooFilter(60, 1000, 1e-6, shared=True), []
    def work(turn):
        keys = np.roll(np.arange(20_000), turn * 5000)
        new.append(int(sum(seen.add_unique_many(part).sum() for part in np.array_split(keys, 50))))
    threads = [threading.Thread(target=work, args=(turn,)) for turn in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sum(new) == len(seen) >= 19_990
