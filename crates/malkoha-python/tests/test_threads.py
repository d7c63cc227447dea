"""One filter, many threads."""

import collections
import ctypes
import functools
import operator
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future

import numpy as np
import pyarrow as pa
import pytest
from conftest import FREE_THREADED

from malkoha import CuckooFilter, CuckooMap, ExpiringCuckooFilter
from malkoha.text import Deduplicator

THREADS = 4


def together(*jobs):
    """Runs jobs on a thread each, all at the same time. Gives up after ten minutes, and then waits
    neither for threads that wait for each other nor for one that did not start."""
    barrier, answers = threading.Barrier(len(jobs)), [Future() for _ in jobs]

    def start(job, answer):
        try:
            barrier.wait()
            answer.set_result(job())
        except BaseException as error:
            answer.set_exception(error)

    for job_and_answer in zip(jobs, answers):
        threading.Thread(target=start, args=job_and_answer, daemon=True).start()
    return [answer.result(600) for answer in answers]


@pytest.mark.parametrize("batch", [1, 5000])
def test_each_key_is_new_to_one_thread(empty, batch):
    keys = np.arange(5000)

    def claim():
        if batch == 1:
            return sum(empty.add_unique(int(key)) for key in keys)
        return empty.add_unique_many(keys).sum()

    assert sum(together(*[claim] * THREADS)) == 5000 and len(empty) == 5000


def test_lookups_go_on_while_others_add(empty):
    empty.add_many(range(1000))
    always = np.arange(1000)

    def look():
        return all(empty.contains_many(always).all() for _ in range(200))

    def change():
        for round in range(20):
            some = np.arange(1000 + 100 * round, 1100 + 100 * round)
            empty.add_many(some)
            assert empty.remove_many(some).all()
        return True

    assert all(together(look, change, look, change)) and len(empty) == 1000


@pytest.mark.parametrize("kind", ["growable", "fixed"])
def test_unions_in_both_directions_wait_for_each_other_never(make, kind):
    one, other = make[kind](), make[kind]()
    one.add_many(range(1000))
    other.add_many(range(1000, 2000))

    def unite(ours, theirs):
        for _ in range(50):
            ours |= theirs
            assert (ours == theirs) in (True, False)

    together(*[lambda: unite(one, other), lambda: unite(other, one)] * 2)
    assert len(one) == len(other) == 2000


@pytest.fixture
def patient():
    """With the interpreter's lock, no thread takes it from one that does not give it."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(interval)


def test_batches_let_other_threads_run(patient):
    keys, count, done = np.arange(2_000_000), 0, threading.Event()

    def turns():
        """How often the other thread runs during a batch."""
        seen = CuckooFilter(2_000_000, growable=False)
        before = count
        seen.add_many(keys, threads=1)
        return count - before

    def add():
        try:
            # A busy machine may not let it, whatever the batch does; not each time.
            return any(turns() > 0 for _ in range(50))
        finally:
            done.set()

    def run():
        nonlocal count
        while not done.wait(0.001):
            count += 1

    assert together(add, run)[0]


def test_threads_with_keys_of_their_own(empty):
    """Single keys, without a lock: nobody loses a key to another thread."""
    empty.add_many(np.arange(-50, 0))

    def change(first):
        for _ in range(40):
            for key in range(first, first + 50):
                empty.add(key)
            assert all(key in empty for key in range(first, first + 50))
            assert empty.count(first) == 1
            for key in range(first + 1, first + 50):
                empty.remove(key)
            assert first in empty and empty.discard(first)
        empty.add(first)

    def watch():
        for _ in range(20):
            copies = [empty.copy(), pickle.loads(pickle.dumps(empty))]
            assert all(copy.contains_many(np.arange(-50, 0)).all() for copy in copies)
            assert 50 <= len(empty) and repr(empty) and empty.size_in_bytes and empty == empty

    changes = [lambda first=100 * i: change(first) for i in range(2 * THREADS)]
    together(*changes, watch, watch)
    assert len(empty) == 50 + len(changes)
    assert all(100 * i in empty for i in range(len(changes)))


def test_single_keys_beside_batches(empty):
    """A batch runs without the interpreter's lock, on which single keys rely otherwise."""
    empty.add_many(range(-1000, 0))
    some, done = np.arange(1000), threading.Event()

    def batches():
        try:
            for _ in range(300):
                empty.add_many(some)
                assert empty.remove_many(some).all()
        finally:
            done.set()

    def single(first):
        turns = 0
        while not done.is_set():
            empty.add(first)
            assert first in empty and empty.count(first) >= 1 and len(empty) > 1000
            assert all(key in empty for key in range(-20, 0))
            empty.remove(first)
            turns += 1
        return turns

    together(batches, lambda: single(10_000), lambda: single(20_000))
    assert len(empty) == 1000 and empty.contains_many(range(-1000, 0)).all()


@pytest.mark.parametrize("kind", ["growable", "shared"])
def test_batches_of_two_threads_at_once(make, kind):
    """Large enough for several threads each."""
    seen, halves = make[kind](), np.arange(200_000).reshape(2, -1)
    together(*[lambda keys=keys: seen.add_many(keys, threads=2) for keys in halves])
    assert len(seen) == 200_000
    found = together(*[lambda keys=keys: seen.contains_many(keys, threads=2) for keys in halves])
    assert all(mask.all() for mask in found)
    gone = together(*[lambda keys=keys: seen.remove_many(keys) for keys in halves])
    assert all(mask.all() for mask in gone) and len(seen) == 0


def test_a_list_that_changes_meanwhile(make):
    """Whatever else the batch sees, it sees the keys that stay. Few, because the interpreter makes
    each step wait for the others where they run on one processor."""
    seen, keys, done = make["growable"](), list(range(4000)), threading.Event()

    def change():
        while not done.is_set():
            keys.extend(range(4000, 4100))
            del keys[4000:]

    def add():
        try:
            for _ in range(5):
                seen.add_unique_many(keys)
        finally:
            done.set()

    together(add, change, change)
    assert seen.contains_many(range(4000)).all() and len(seen) <= 4100


@pytest.mark.parametrize("options", [{}, {"shared": True}])
def test_maps_and_sets_that_forget(options):
    ages = CuckooMap(fpr=1e-8, value_bits=20, **options)
    recent = ExpiringCuckooFilter(1000, fpr=1e-8, **options)

    def change(first):
        for key in range(first, first + 300):
            ages.add(key, 1)
            ages.replace(key, 1, key)
            assert ages.get(key) == [key]
            assert recent.add_unique(key) and key in recent
            if key % 2:
                ages.remove(key, key)

    together(*[lambda first=300 * i: change(first) for i in range(THREADS)],
             lambda: [recent.advance(now) for now in range(500)])
    assert len(ages) == 150 * THREADS and len(recent) == 300 * THREADS


@pytest.mark.skipif(not FREE_THREADED, reason="this interpreter has its lock")
def test_threads_run_at_the_same_time(patient):
    """Two threads that wait for each other's keys, and never give way: with the interpreter's lock,
    the first turn would take longer than the test may."""
    assert not sys._is_gil_enabled(), "the interpreter's lock has been turned on"
    seen, turns = CuckooFilter(fpr=1e-8, shared=True), 20

    def alternate(own):
        for turn in range(own, turns, 2):
            seen.add(turn)
            while turn + 1 not in seen and turn + 1 < turns:
                pass

    together(lambda: alternate(0), lambda: alternate(1))
    assert len(seen) == turns


@pytest.mark.skipif(not FREE_THREADED, reason="this interpreter has its lock")
def test_the_interpreters_lock_stays_off():
    program = "import sys, malkoha; malkoha.CuckooFilter().add(1); print(sys._is_gil_enabled())"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_ctrl_c_ends_a_long_batch(request):
    """What was done before it stays, and the filter works."""
    # Python has no handler if the signal was ignored when it began, as in jobs in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    keys = np.arange((1 << 22) + 1)
    seen = CuckooFilter(len(keys))

    def interrupted(call):
        # Nothing in between is Python code, which would handle the signal.
        calls = [ctypes.pythonapi.PyErr_SetInterrupt, call]
        with pytest.raises(KeyboardInterrupt):
            collections.deque(map(operator.call, calls))

    interrupted(functools.partial(seen.add_many, keys))
    assert len(seen) == 1 << 22 and 0 in seen
    interrupted(functools.partial(seen.contains_many, keys))
    interrupted(functools.partial(seen.remove_many, keys))
    assert len(seen) == 0
    interrupted(functools.partial(seen.contains_many, [1] * (1 << 16)))
    texts, kept = pa.array(map(str, range((1 << 16) + 1))), Deduplicator()
    interrupted(functools.partial(kept.keep, texts))
    assert kept.decided == 1 << 16 and kept.keep(texts).nonzero()[0].tolist() == [1 << 16]
