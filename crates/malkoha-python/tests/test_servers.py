"""Filters to the server's module and back, on a real server, and on to the command."""

import importlib.util
import os
import pathlib
import shutil

import numpy as np
import pytest

from malkoha import CuckooFilter, CuckooMap

SERVERS = pathlib.Path(__file__).resolve().parents[2] / "malkoha-valkey/tests/servers.py"
EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
KEYS = 20_000


@pytest.fixture(params=["redis", "valkey"])
def client(request):
    if not os.path.isfile(os.environ.get("MALKOHA_MODULE", "")):
        pytest.skip("MALKOHA_MODULE names no module: crates/malkoha-valkey/test builds it")
    if shutil.which(f"{request.param}-server") is None:
        pytest.skip(f"there is no {request.param}-server")
    # That of the module's own tests.
    spec = importlib.util.spec_from_file_location("servers", SERVERS)
    servers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(servers)
    with servers.Server(request.param) as server:
        yield server.client()


def test_a_filter_goes_round(client, command, tmp_path):
    """Python writes it, the server answers and changes it, Python and the command read it."""
    seen = CuckooFilter(fpr=1e-8)
    seen.add_many([f"item {n}" for n in range(0, KEYS, 2)])
    seen.add_many(np.array([b"twice", b"twice"]))
    client.execute_command("CF.LOAD", "f", seen.to_bytes())
    found = client.execute_command("CF.MEXISTS", "f", *[f"item {n}" for n in range(KEYS)])
    assert found[::2] == [1] * (KEYS // 2) and sum(found[1::2]) == 0
    assert client.execute_command("CF.COUNT", "f", "twice") == 2

    client.execute_command("CF.MADD", "f", b"\x00\xff", *[f"item {n}" for n in range(1, KEYS, 2)])
    assert client.execute_command("CF.DEL", "f", "item 0") == 1
    back = CuckooFilter.from_bytes(client.execute_command("CF.DUMP", "f"))
    assert "item 0" not in back and back.kind == "growable"
    assert len(back) == KEYS + 2 and back.count("twice") == 2 and b"\x00\xff" in back
    back.add("item 0")
    back.save(tmp_path / "back.mlk")
    lines = "".join(f"item {n}\n" for n in range(KEYS)) + "never\n"
    assert command("check", "-c", tmp_path / "back.mlk", stdin=lines.encode()) == b"%d\n" % KEYS


def test_a_filter_of_the_server_and_one_of_the_command(client, command, tmp_path):
    """What the others built is read here, and goes back to them."""
    client.execute_command("CF.MADD", "f", "twice", "twice", *[f"item {n}" for n in range(KEYS)])
    seen = CuckooFilter.from_bytes(client.execute_command("CF.DUMP", "f"))
    assert seen.contains_many([f"item {n}" for n in range(KEYS)]).all() and seen.count("twice") == 2
    lines = "".join(f"item {n}\n" for n in range(KEYS)).encode()
    command("build", "-q", "--fpr", "1e-8", "-o", tmp_path / "built.mlk", stdin=lines)
    built = CuckooFilter.load(tmp_path / "built.mlk")
    built.add_many(["twice", "twice", "later"])
    client.execute_command("CF.LOAD", "g", built.to_bytes())
    asked = ["twice", "later", "never", *[f"item {n}" for n in range(KEYS)]]
    assert client.execute_command("CF.MEXISTS", "g", *asked) == [1, 1, 0] + [1] * KEYS


def test_processes_that_share_a_set(client):
    """What is new to one of them is new to no other."""
    spec = importlib.util.spec_from_file_location("shared_set", EXAMPLES / "shared_set.py")
    shared_set = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shared_set)
    assert shared_set.new(client, ["/1", "/2", "/1"]) == ["/1", "/2"]
    assert shared_set.new(client, ["/2", "/3"]) == ["/3"]


def test_the_server_says_what_it_takes(client):
    fixed = CuckooFilter(1000, growable=False)
    fixed.add("koel")
    client.execute_command("CF.LOAD", "f", fixed.to_bytes())
    assert client.execute_command("CF.MEXISTS", "f", "koel", "wren") == [1, 0]
    with pytest.raises(Exception, match="build a set"):
        client.execute_command("CF.LOAD", "g", CuckooMap(value_bits=8).to_bytes())
