"""Files: to the command and back, mapped, pickled, damaged."""

import multiprocessing
import pickle

import numpy as np
import pytest

from malkoha import CuckooFilter, ReadError, ReadOnlyError

WORDS = ["koel", "wren", "ünïcode", ""]


@pytest.mark.parametrize("kind", ["growable", "fixed"])
def test_the_command_reads_what_python_wrote(command, make, kind, tmp_path):
    empty = make[kind]()
    empty.add_many(WORDS)
    empty.save(tmp_path / "seen.mlk")
    lines = "\n".join(["wren", "magpie", "ünïcode", "", "koel"]) + "\n"
    found = command("check", "-q", tmp_path / "seen.mlk", stdin=lines.encode())
    assert found.decode().split("\n")[:-1] == ["wren", "ünïcode", "", "koel"]


@pytest.mark.parametrize("options", [[], ["--fixed"], ["--random-seed"]])
def test_python_reads_what_the_command_wrote(command, tmp_path, options):
    lines = "".join(f"line {i}\n" for i in range(1000)).encode()
    command("build", "-q", *options, "--fpr", "1e-6", "-o", tmp_path / "seen.mlk", stdin=lines)
    for read in (CuckooFilter.load, CuckooFilter.open):
        seen = read(tmp_path / "seen.mlk")
        assert seen.contains_many([f"line {i}" for i in range(1000)]).all()
        assert b"line 1000" not in seen and len(seen) == 1000
        assert (seen.seed is None) == (options == ["--random-seed"])


def test_round_trips(empty, tmp_path):
    empty.add_many(range(1000))
    empty.save(tmp_path / "seen.mlk")
    shared = empty.kind == "shared"
    again = [
        CuckooFilter.load(tmp_path / "seen.mlk", shared=shared),
        CuckooFilter.load(str(tmp_path / "seen.mlk"), shared=shared),
        CuckooFilter.from_bytes(empty.to_bytes(), shared=shared),
        CuckooFilter.from_bytes(bytearray(empty.to_bytes()), shared),
        *(pickle.loads(pickle.dumps(empty, protocol)) for protocol in range(2, 6)),
    ]
    assert all(one == empty and one.kind == empty.kind for one in again)


def test_a_shared_filter_is_a_growable_one_in_a_file(make, tmp_path):
    shared = make["shared"]()
    shared.add_many(range(1000))
    shared.save(tmp_path / "seen.mlk")
    for read in (CuckooFilter.load, CuckooFilter.open):
        grown = read(tmp_path / "seen.mlk")
        assert grown.kind == "growable" and grown.contains_many(range(1000)).all()
    assert CuckooFilter.from_bytes(grown.to_bytes(), shared=True) == shared
    with pytest.raises(TypeError, match="fixed set, which threads cannot share"):
        CuckooFilter.from_bytes(make["fixed"]().to_bytes(), shared=True)


def test_mapped_of_fixed_size_is_read_only(make, tmp_path):
    seen = make["fixed"]()
    seen.add_many(range(1000))
    seen.save(tmp_path / "seen.mlk")
    mapped = CuckooFilter.open(tmp_path / "seen.mlk")
    assert mapped.kind == "mapped" and len(mapped) == 1000 and mapped.contains_many(range(1000)).all()
    for change in (lambda: mapped.add(1), mapped.clear, lambda: mapped.add_many([1])):
        with pytest.raises(ReadOnlyError, match="copy\\(\\) it"):
            change()
    with pytest.raises(ReadOnlyError):
        mapped |= seen
    assert mapped.copy() == seen and pickle.loads(pickle.dumps(mapped)) == seen
    seen.clear()
    seen |= mapped
    assert len(seen) == 1000


def test_mapped_that_grows_changes_in_memory(make, tmp_path):
    seen = make["growable"]()
    seen.add_many(range(1000))
    seen.save(tmp_path / "seen.mlk")
    mapped = CuckooFilter.open(tmp_path / "seen.mlk")
    assert mapped == seen
    mapped.add_many(range(1000, 5000))
    assert mapped.contains_many(range(5000)).all()
    assert CuckooFilter.load(tmp_path / "seen.mlk") == seen
    mapped.save(tmp_path / "seen.mlk")
    assert len(CuckooFilter.load(tmp_path / "seen.mlk")) == 5000


def worker(path, keys):
    return int(CuckooFilter.open(path).contains_many(keys).sum())


def in_memory(seen, keys):
    return int(seen.contains_many(keys).sum())


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_processes_share_a_file_and_send_filters(make, tmp_path, method):
    seen, path = make["fixed"](), tmp_path / "seen.mlk"
    seen.add_many(np.arange(1000))
    seen.save(path)
    keys = np.arange(500, 1500)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.starmap(worker, [(path, keys)] * 4) == [500] * 4
        assert pool.starmap(in_memory, [(seen, keys)] * 2) == [500] * 2
    mapped = CuckooFilter.open(path)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(in_memory, (mapped, keys)) == 500


def test_what_is_no_file_says_so(make, tmp_path):
    path = tmp_path / "seen.mlk"
    for read in (CuckooFilter.load, CuckooFilter.open):
        with pytest.raises(FileNotFoundError) as told:
            read(path)
        assert told.value.filename == str(path)
        assert told.value.strerror == "No such file or directory"
    with pytest.raises(IsADirectoryError, match="directory: /$"):
        make["fixed"]().save("/")
    with pytest.raises(OSError):
        make["fixed"]().save(tmp_path / "none" / "seen.mlk")
    path.write_bytes(b"PK" + bytes(200))
    for read in (CuckooFilter.load, CuckooFilter.open):
        with pytest.raises(ReadError, match="not a malkoha file"):
            read(path)


@pytest.mark.parametrize("kind", ["growable", "fixed", "shared"])
def test_damage_is_told(make, kind):
    seen = make[kind]()
    seen.add_many(range(100))
    data = seen.to_bytes()
    for at in range(0, len(data), max(len(data) // 200, 1)):
        damaged = bytearray(data)
        damaged[at] ^= 1
        with pytest.raises(ReadError):
            CuckooFilter.from_bytes(damaged)
        with pytest.raises(ReadError):
            CuckooFilter.from_bytes(data[:at])


def test_unions_of_fixed_size_with_the_command_name_its_layout(command, tmp_path):
    path, capacity = tmp_path / "built.mlk", ["--capacity", 1000]
    command("build", "-q", "--fixed", "--fpr", 0.001, *capacity, "-o", path, stdin=b"koel\n")
    built = CuckooFilter.load(path)
    ours = CuckooFilter(1000, 0.001, growable=False, layout="gap-windows")
    ours.add("wren")
    assert (built | ours).contains_many(["koel", "wren"]).all()
    command("build", "-q", "--fpr", 0.001, *capacity, "--layout", "bucketed", "-o", path)
    assert CuckooFilter.load(path) == CuckooFilter(1000, 0.001, growable=False)


def test_maps_are_no_sets(command, tmp_path):
    command("build", "-q", "--fixed", "--values", "-o", tmp_path / "map.mlk", stdin=b"koel\t7\n")
    for read in (CuckooFilter.load, CuckooFilter.open):
        with pytest.raises(ReadError, match="holds a map"):
            read(tmp_path / "map.mlk")
