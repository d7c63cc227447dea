"""One filter, many threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from malkoha import CuckooFilter

THREADS = 4


def together(*jobs):
    """Runs jobs on a thread each, all at the same time; gives up after a minute."""
    barrier = threading.Barrier(len(jobs))

    def start(job):
        barrier.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result(60) for future in [pool.submit(start, job) for job in jobs]]


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


def test_batches_let_other_threads_run():
    seen = CuckooFilter(2_000_000, growable=False)
    keys, done, turns = np.arange(2_000_000), threading.Event(), 0

    def add():
        seen.add_many(keys, threads=1)
        done.set()

    thread = threading.Thread(target=add)
    thread.start()
    while not done.wait(0.001):
        turns += 1
    thread.join()
    assert turns > 5
