"""The embedded store as a mapping, against dict, over processes, threads and damage."""

import errno
import gc
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import MutableMapping
from datetime import timedelta

import numpy as np
import pytest
from conftest import optional

import malkoha
from malkoha import Store

# checks/run dictionary makes 10 million of them.
OPERATIONS = int(os.environ.get("MALKOHA_STORE_OPERATIONS", 20_000))
KEYS = 3000


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store") as store:
        yield store


class Pair:
    """A store and what it must have: keys of the store itself, of a table, and of one in order."""

    def __init__(self, path, seed):
        self.path, self.random = path, random.Random(seed)
        self.store, self.dicts = Store(path), ({}, {}, {})

    def mappings(self):
        tables = self.store, self.store.table("birds"), self.store.table("sorted", ordered=True)
        return list(zip(tables, self.dicts))

    def keys(self, count):
        return [b"%d" % self.random.randrange(KEYS) for _ in range(count)]

    def value(self):
        return self.random.randbytes(self.random.choice([0, 3, 30, 100, 300]))

    def step(self, store, model):
        (key,) = self.keys(1)
        match self.random.randrange(14):
            case 0 | 1 | 2:
                store[key] = model[key] = self.value()
            case 3:
                assert store.discard(key) == (model.pop(key, None) is not None)
            case 4:
                assert store.pop(key, None) == model.pop(key, None)
            case 5:
                assert store.put_if_absent(key, b"new") == (key not in model)
                model.setdefault(key, b"new")
            case 6:
                old, new = model.get(key), self.random.choice([None, b"swapped"])
                assert not store.compare_and_swap(key, b"another", b"wrong")
                assert store.compare_and_swap(key, old, new)
                model.pop(key, None)
                model |= {key: new} if new is not None else {}
            case 7:
                keys = self.keys(50)
                values = [self.value() for _ in keys]
                store.put_many(keys, values)
                model.update(zip(keys, values))
            case 8:
                keys = self.keys(20)
                there = store.remove_many(keys)
                assert there.tolist() == [key in model for key in keys]
                for key in keys:
                    model.pop(key, None)
            case 9:
                with store.batch() as batch:
                    for key in self.keys(10):
                        batch[key] = model[key] = self.value()
                    del batch[key]
                    del model[key]
            case 10:
                keys = self.keys(50)
                assert store.get_many(keys) == [model.get(key) for key in keys]
                assert store.contains_many(keys).tolist() == [key in model for key in keys]
            case _:
                assert store.get(key) == model.get(key) and (key in store) == (key in model)

    def compare(self):
        for store, model in self.mappings():
            assert len(store) == len(model) and store.items() == model.items()
            assert (list if store.ordered else sorted)(store) == sorted(model)
            assert dict(store.prefix(b"1")) == {k: v for k, v in model.items() if k[:1] == b"1"}
            between = list(store.range(b"2", b"25"))
            assert between == sorted((k, v) for k, v in model.items() if b"2" <= k < b"25")

    def run(self, steps):
        mappings = self.mappings()
        for _ in range(steps):
            self.step(*self.random.choice(mappings))
        self.compare()


def in_another_process(path, seed, dicts, steps):
    """Goes on where another process has stopped; returns what the store must have now."""
    pair = Pair(path, seed)
    pair.dicts = dicts
    pair.compare()
    pair.run(steps)
    pair.store.close()
    return pair.dicts


def read_in_another_process(path, dicts):
    with Store(path, read_only=True) as store:
        return [store, store.table("birds"), store.table("sorted")] == list(dicts)


def test_it_is_a_dict(tmp_path):
    """Random operations, among them reopening, and processes that take over or read."""
    rounds, steps = 4, OPERATIONS // 12
    pair = Pair(tmp_path / "store", 1)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for number in range(rounds):
            pair.run(steps)
            pair.store.sync()
            assert pool.apply(read_in_another_process, (pair.path, pair.dicts))
            if number % 2:
                pair.store.compact()
            pair.store.close()
            passed = pair.path, number, pair.dicts, steps
            pair.dicts = pool.apply(in_another_process, passed)
            pair.store = Store(pair.path)
            pair.compare()
            pair.run(steps)
            assert not pair.store.verify().damage
    for store, model in pair.mappings():
        store.clear()
        assert not store and len(store) == 0 and list(store) == [] and len(model)
    pair.store.close()


class Pairs:
    """As MutableMapping's update() takes it: no items()."""

    def keys(self):
        return ["a", "b"]

    def __getitem__(self, key):
        return {"a": "1", "b": "2"}[key]


def test_a_mapping(store):
    assert isinstance(store, MutableMapping) and isinstance(store.table("t"), MutableMapping)
    store.update({"a": "1"}, b="2")
    store.update(Pairs())
    same = store
    store |= [("c", b"3")]
    assert store is same
    assert b"3" in store.values() and b"4" not in store.values()
    assert store == {b"a": b"1", b"b": b"2", b"c": b"3"} and store
    assert list(store.keys()) == [b"a", b"b", b"c"] and list(store.values()) == [b"1", b"2", b"3"]
    assert store.setdefault("a", "9") == b"1" and store.setdefault("d", "4") == b"4"
    assert store.setdefault("a") == b"1"
    with pytest.raises(TypeError, match="a value is bytes or str, not NoneType"):
        store.setdefault("none")
    assert store.pop("d") == b"4" and store.pop("d", 7) == 7 and store.get("d", 7) == 7
    assert store.popitem() in [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")] and len(store) == 2
    for call in (lambda: store["d"], lambda: store.pop("d"), lambda: store.__delitem__("d")):
        with pytest.raises(KeyError, match="'d'"):
            call()
    store.clear()
    with pytest.raises(KeyError):
        store.popitem()
    assert "Store" in repr(store) and "'t'" in repr(store.table("t"))
    with pytest.raises(TypeError, match="pass its path"):
        pickle.dumps(store)


def test_text(tmp_path):
    with Store(tmp_path / "store", text=True) as store:
        store["ünïcode"] = b"caf\xc3\xa9"
        store.table("t")["k"] = "v"
        pa, arrow = optional("pyarrow"), store.get_many(["ünïcode", "no"], arrow=True)
        assert pa.array(arrow) == pa.array(["café", None], pa.large_string())
        assert dict(store) == {"ünïcode": "café"} and store.get_many(["ünïcode"]) == ["café"]
        assert store.snapshot().table("t")["k"] == "v"
        with pytest.raises(UnicodeEncodeError):
            store["\ud800"] = "1"
        with pytest.raises(ValueError, match="row 1 is not Unicode"):
            store.get_many(["a", "\ud800"])
        store["bad"] = b"\xff"
        for read in (
            lambda: store["bad"],
            lambda: store.get_many(["bad"]),
            lambda: store.get_many(["bad"], arrow=True),
            lambda: list(store.items()),
            lambda: store.snapshot()["bad"],
        ):
            with pytest.raises(UnicodeDecodeError) as raised:
                read()
            assert "without text=True" in raised.value.__notes__[0]
        # Reading continues after it.
        items, found = iter(store.items()), []
        for _ in range(2):
            try:
                found += items
            except UnicodeDecodeError:
                pass
        assert found == [("ünïcode", "café")]
    with Store(tmp_path / "store") as store:
        store[b"\xff"] = b"no text"
    with Store(tmp_path / "store", text=True) as store:
        store.clear()
        assert len(store.snapshot()) == 0 and list(store) == []


def test_columns(store):
    pa = optional("pyarrow")
    keys = np.array([b"koel", b"wren"])
    store.put_many(keys, np.array(["1", "2"]))
    assert store.get_many(np.array(["wren", "gull", "koel"])) == [b"2", None, b"1"]
    table = pa.table({"k": pa.chunked_array([["gull", "koel"], [None, "wren"]])})
    assert store.get_many(table["k"]) == [None, b"1", None, b"2"]
    found = store.get_many(table, arrow=True)
    for _ in range(2):
        assert len(found) == 4 and pa.array(found).to_pylist() == [None, b"1", None, b"2"]
    assert optional("polars").Series(found).to_list() == [None, b"1", None, b"2"]
    assert pa.array(store.get_many(["koel"] * 9, arrow=True)).to_pylist() == [b"1"] * 9
    assert len(pa.array(store.get_many([], arrow=True))) == 0
    kept = pa.array(found)
    del found
    gc.collect()
    assert kept[3].as_py() == b"2"
    assert store.contains_many(table).tolist() == [False, True, False, True]
    coded = pa.array(["koel", "gull"]).dictionary_encode()
    store.put_many(coded, pa.array([b"\x00", b""], pa.binary_view()), ttl=timedelta(hours=1))
    assert store.get_many(coded) == [b"\x00", b""]
    assert store.remove_many(table["k"]).tolist() == [True, True, False, True] and not store
    store.put_many(iter([bytearray(b"a"), memoryview(b"b")]), [b"", ""])
    assert list(store) == [b"a", b"b"] and store.get_many([]) == []
    store.put_many([], [])
    for keys, values, message in (
        (["a", None], ["1", "2"], "key in row 1 is null"),
        (["a", "b"], ["1", None], "value in row 1 is null"),
        (["a"], ["1", "2"], "1 keys, but 2 values"),
    ):
        with pytest.raises(ValueError, match=message):
            store.put_many(keys, values)
    pd = optional("pandas")
    for keys in ([b"koel", pd.NA], [b"koel", float("nan")], pd.array(["koel", pd.NaT], dtype="string")):
        assert store.get_many(keys) == [None, None]
    for keys, found in (
        ([b"a", 7], "row 1 is int"),
        (np.arange(3), "a batch of int64 is no bytes or text: encode"),
        (pa.array([None, 1]), "a batch of int64"),
        (pd.array([None, 1], dtype="Int64"), "row 1 is int"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "a batch of DataFrame is"),
        (b"abc", "in a list"),
        (7, "int is no batch"),
    ):
        with pytest.raises(TypeError, match=found):
            store.contains_many(keys)


def test_wrong_types_and_sizes(store):
    for key, value in (("a", 1), ("a", None), (1, "a"), (None, "a"), (1.5, "a"), (("a",), "a")):
        with pytest.raises(TypeError, match="is bytes or str"):
            store[key] = value
    store["k" * 65536], store[""] = b"v" * (40 << 20), b""
    assert len(store["k" * 65536]) == 40 << 20 and store[""] == b""
    for call in (lambda: store.put("k" * 65537, ""), lambda: store.batch().put("k" * 65537, "")):
        with pytest.raises(malkoha.StoreValueError, match="65537 bytes"):
            call()
    for ttl in (0, -1, float("nan"), float("inf"), timedelta(0), timedelta(-1), "x"):
        with pytest.raises(ValueError, match="ttl is a number of seconds above 0"):
            store.put("a", "b", ttl=ttl)
    assert "a" not in store


def test_options(tmp_path):
    for options, message in (
        (dict(durability=0), "above 0"),
        (dict(durability="never"), "always"),
        (dict(compression="zip"), "lz4"),
        (dict(log_ratio=1), "1.2"),
        (dict(file_bytes=1), "4 KiB"),
        (dict(file_bytes=-1), "4096 to 2"),
        (dict(seed=2**64), "0 to 2"),
    ):
        with pytest.raises(ValueError, match=message):
            Store(tmp_path / "none", **options)
    with pytest.raises(TypeError, match="seed is for a store that is written"):
        Store(tmp_path / "none", read_only=True, seed=1)
    assert not (tmp_path / "none").exists()
    every = dict(durability="always", compression="lz4", background=False, file_bytes=1 << 20)
    with Store(str(tmp_path / "store"), **every, compact_share=0.5, log_ratio=2) as store:
        store["a"] = b"b" * 1000
        assert store["a"] == b"b" * 1000 and store.stats()["log_bytes"] < 600
        assert "malkoha_store_keys" in store.prometheus("x") and store.background_error() is None
    with Store(tmp_path / "store", durability=timedelta(seconds=1), create=False) as store:
        assert "a" in store and store.path == tmp_path / "store"


def test_order(tmp_path):
    path, model = tmp_path / "ordered", {}
    with Store(path, ordered=True) as store:
        birds, plain = store.table("birds", ordered=True), store.table("plain")
        for n in range(3000):
            key, value = b"%d" % (n * 7919 % 4001), b"%d" % n
            store[key] = birds[key] = plain[key] = model[key] = value
        for key in list(model)[::3]:
            del store[key], birds[key], plain[key], model[key]
        assert store.ordered and birds.ordered and not plain.ordered
        with pytest.raises(malkoha.StoreValueError, match="'plain' are in no order"):
            store.table("plain", ordered=True)
        plain.set_ordered(True)
        for table in store, birds, plain, store.snapshot():
            assert list(table.items()) == sorted(model.items())
            assert list(table.prefix("12")) == sorted(i for i in model.items() if i[0][:2] == b"12")
    with pytest.raises(malkoha.StoreValueError, match="are kept in order"):
        Store(path, ordered=False)
    with Store(path, read_only=True) as store:
        assert list(store) == sorted(model) and next(store.range("4"))[0] >= b"4"


def test_time_to_live(store):
    store.put("a", "1", ttl=0.05)
    store.put_many(["b"], ["1"], ttl=0.05)
    with store.batch() as batch:
        batch.put("c", "1", ttl=0.05)
        batch.put("d", "1", ttl=3600)
    assert "d" in store
    deadline = time.monotonic() + 10
    while set(store) != {b"d"}:
        assert time.monotonic() < deadline


def test_batches(store):
    birds = store.table("birds")
    with store.batch() as batch:
        batch["a"] = "1"
        batch.put("k", "2", table=birds)
        batch["b"] = "3"
        assert len(batch) == 3 and not store and not birds
    assert store == {b"a": b"1", b"b": b"3"} and birds == {b"k": b"2"} and len(batch) == 0
    with pytest.raises(ZeroDivisionError), store.batch() as batch:
        batch["a"] = "lost"
        raise ZeroDivisionError
    batch = birds.batch()
    batch["l"] = "4"
    batch.discard("a", table=store)
    batch.write()
    assert store == {b"b": b"3"} and set(birds) == {b"k", b"l"}
    batch["m"] = "5"
    store.remove_table("birds")
    with pytest.raises(malkoha.TableNotFoundError, match="birds"):
        batch.write()
    assert len(batch) == 1
    with pytest.raises(malkoha.TableNotFoundError, match="removed"):
        birds["k"]


def test_snapshots(store):
    store.table("t")["k"] = "1"
    store.update(a="1", b="2")
    with store.snapshot() as snapshot:
        store.clear()
        store["c"] = "3"
        assert snapshot == {b"a": b"1", b"b": b"2"} and "c" not in snapshot and len(snapshot) == 2
        assert dict(snapshot.prefix("a")) == {b"a": b"1"} and snapshot.table("t") == {b"k": b"1"}
        assert list(snapshot.range(stop="b")) == [(b"a", b"1")] and snapshot["a"] == b"1"
        with pytest.raises(KeyError):
            snapshot.table("none")
        items = iter(snapshot.items())
    with pytest.raises(malkoha.StoreClosedError, match="snapshot was closed"):
        snapshot["a"]
    assert dict(items) == {b"a": b"1", b"b": b"2"}


def test_iteration_takes_little_memory(store):
    """A chunk at a time: 200 MB of values take less than a quarter of that."""
    resource = pytest.importorskip("resource")
    for number in range(200):
        store[b"%d" % number] = bytes(1 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    values = iter(store.values())
    next(values)
    store.clear()
    assert sum(map(len, values)) == 199 << 20
    # The mapped log counts too, except for what was read before.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


def test_closed_stores(tmp_path):
    store = Store(tmp_path / "store")
    table, batch, keys = store.table("t"), store.batch(), iter(store)
    batch["a"] = "1"
    store.close()
    store.close()
    assert store.closed and "closed" in repr(store) and list(keys) == []
    for call in (
        lambda: store["a"],
        lambda: store.put("a", "1"),
        lambda: store.get_many(["a"]),
        lambda: len(store),
        lambda: list(table),
        batch.write,
        store.snapshot,
        store.verify,
        lambda: store.table("u"),
    ):
        with pytest.raises(malkoha.StoreClosedError, match="open it again"):
            call()


def test_readers_and_a_second_writer(tmp_path):
    path = tmp_path / "store"
    with pytest.raises(malkoha.StoreNotFoundError, match="nothing was written yet") as raised:
        Store(path, read_only=True)
    assert isinstance(raised.value, FileNotFoundError) and raised.value.errno == errno.ENOENT
    with Store(path) as store:
        with Store(path, read_only=True) as reader:
            assert len(reader) == 0
            store["a"] = "1"
            assert "a" not in reader
            for change in (lambda: reader.put("a", "1"), lambda: reader.put_many(["a"], ["1"])):
                with pytest.raises(malkoha.ReadOnlyError):
                    change()
            with pytest.raises(malkoha.TableNotFoundError, match="'t'"):
                reader.table("t")
        with Store(path, read_only=True) as reader:
            assert reader["a"] == b"1"
        with pytest.raises(malkoha.StoreLockedError, match="this process has the store open"):
            Store(path)
        code = f"import malkoha; malkoha.Store({str(path)!r})"
        failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "in use by another process" in failed.stderr


def test_dropping_closes(tmp_path):
    path = tmp_path / "store"
    store = Store(path)
    table = store.table("t")
    store["a"] = "1"
    del store
    gc.collect()
    with pytest.raises(malkoha.StoreLockedError):
        Store(path)
    table["b"] = "2"
    del table
    gc.collect()
    with Store(path) as store:
        assert store == {b"a": b"1"} and store.table("t") == {b"b": b"2"}
    # A process that ends without closing or dropping it.
    before = (path / "CHECKPOINT").stat().st_mtime_ns
    code = f"import malkoha; store = malkoha.Store({str(path)!r}); store['c'] = 'd'; store.me = store"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (path / "CHECKPOINT").stat().st_mtime_ns > before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_processes(tmp_path):
    store = Store(tmp_path / "store")
    store["a"] = "1"
    keys, snapshot = iter(store), store.snapshot()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for call in (lambda: store["a"], lambda: len(store), lambda: snapshot["a"], lambda: next(keys)):
                with pytest.raises(malkoha.StoreLockedError, match="before this process was forked"):
                    call()
            assert store.closed
            store.close()
            with Store(store.path, read_only=True) as reader:
                assert reader["a"] == b"1"
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert list(keys) == [b"a"] and store["a"] == b"1"
    store["b"] = "2"
    store.close()
    with Store(tmp_path / "store") as store:
        assert len(store) == 2 and not store.verify().damage


def write_batches(path, durability):
    """Batches of ten keys with one value, told when they are written."""
    with Store(path, durability=durability) as store:
        for number in range(int(store.get("k0", b"0")) + 1, 1_000_000_000):
            value = b"%d" % number
            store.put_many([b"k%d" % i for i in range(10)], [value] * 10)
            with store.batch() as batch:
                for i in range(10):
                    batch[b"l%d" % i] = value
            print(number, flush=True)


def start_writing(path, durability):
    code = "import sys, test_store; test_store.write_batches(sys.argv[1], eval(sys.argv[2]))"
    command = [sys.executable, "-c", code, path, repr(durability)]
    return subprocess.Popen(command, cwd=os.path.dirname(__file__), stdout=subprocess.PIPE)


def test_readers_while_another_process_writes(tmp_path):
    """Each sees whole batches, and what was told before it opened."""
    process = start_writing(tmp_path / "store", 0.2)
    for _ in range(20):
        told = int(process.stdout.readline())
        with Store(tmp_path / "store", read_only=True) as store:
            values = {store[f"k{i}"] for i in range(10)}
            assert len(values) == 1 and int(values.pop()) >= told
            assert len({store.get(f"l{i}") for i in range(10)}) == 1
    process.kill()
    process.communicate()


@pytest.mark.parametrize("durability", [0.2, "always"])
def test_killed_writers(tmp_path, durability):
    """Batches are whole, and none is lost that was told."""
    for number in range(5):
        process = start_writing(tmp_path / "store", durability)
        for _ in range(20 * number + 1):
            told = process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        told = int((told + process.stdout.read()).split(b"\n")[-2])
        process.wait()
        with Store(tmp_path / "store") as store:
            values = [set(map(store.get, (b"%s%d" % (s, i) for i in range(10)))) for s in (b"k", b"l")]
            assert [len(of) for of in values] == [1, 1]
            first, second = (int(of.pop()) for of in values)
            assert told <= second <= first <= told + 1


def test_threads(store):
    """Threads that change, count and close; each counted increment is there."""
    store["count"] = "0"
    done, increments = [], 300

    def count():
        for _ in range(increments):
            while True:
                old = store["count"]
                if store.compare_and_swap("count", old, b"%d" % (int(old) + 1)):
                    break
        done.append(1)

    def write(number):
        keys = [f"{number}/{i}" for i in range(500)]
        for value in map(str, range(20)):
            store.put_many(keys, [value] * len(keys))
            assert len(set(store.get_many(keys))) == 1
            snapshot = store.snapshot()
            assert len(list(snapshot)) == len(snapshot)
        done.append(1)

    def run(*targets):
        threads = [threading.Thread(target=target, args=args) for target, *args in targets]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    gone = []

    def remove(keys):
        gone.append(int(store.remove_many(keys).sum()))

    for _ in range(20):
        keys = [f"gone {n}" for n in range(2000)]
        store.put_many(keys, keys)
        run((remove, keys), (remove, keys))
        assert sum(gone) == len(keys) and not gone.clear()
    run((count,), (count,), (write, 1), (write, 2))
    assert len(done) == 4 and store["count"] == b"%d" % (2 * increments) and len(store) == 1001
    shared, seen = iter(store.items()), []
    run(*[(lambda: seen.extend(shared),)] * 4)
    assert sorted(seen) == sorted(store.items())

    def use():
        try:
            while True:
                store["a"] = store.get("a", "x")
                store.get_many(["a", "b"])
        except malkoha.StoreClosedError:
            done.append(1)

    run((use,), (use,), (lambda: time.sleep(0.05) or store.close(),))
    assert len(done) == 6


def test_damage_backup_and_repair(tmp_path):
    path = tmp_path / "store"
    with Store(path) as store:
        store["first"], store["second"] = "old", "kept"
        store["first"] = "new value"
        store.backup(tmp_path / "copy")
        store.checkpoint()
        store["later"] = "1"
        assert store.verify()[:3] == (4, 3, 0)
        with pytest.raises(malkoha.StoreValueError, match="without files"):
            store.backup(tmp_path / "copy")
    with Store(tmp_path / "copy") as copy:
        assert copy == {b"first": b"new value", b"second": b"kept"}
    damaged = [log for log in path.glob("*.log") if b"new value" in log.read_bytes()]
    data = damaged[0].read_bytes()
    # A file of its own: the copy has the same ones.
    damaged[0].unlink()
    damaged[0].write_bytes(data.replace(b"new value", b"new valuE"))
    with Store(path) as store:
        with pytest.raises(malkoha.StoreDamagedError, match="is damaged at byte") as raised:
            store["first"]
        assert raised.value.file == damaged[0].name and raised.value.offset > 0
        found = store.verify()
        assert found.lost_keys == [(None, b"first")] and found.lost == 1
        assert isinstance(found.damage[0], malkoha.StoreDamagedError)
    with Store(path, past_damage=True) as store:
        assert store.recovery().lost_keys == [(None, b"first")] and store["first"] == b"old"
    repaired = Store.repair(path)
    assert repaired.keys == 3 and repaired.lost_keys == [(None, b"first")] and repaired.set_aside
    with Store(path) as store:
        assert store["first"] == b"old" and not store.verify().damage
