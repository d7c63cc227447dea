"""The stubs name what there is, with its arguments."""

import ast
import inspect
import pathlib
from collections.abc import MutableMapping

import pytest

import malkoha
from malkoha import CuckooFilter, CuckooMap, ExpiringCuckooFilter, Snapshot, Store, Table
from malkoha._malkoha import Batch
from malkoha.text import Deduplicator

STUBS = [ast.parse(stub.read_text()) for stub in pathlib.Path(malkoha.__file__).parent.glob("*.pyi")]
CLASSES = {node.name: node for stub in STUBS for node in stub.body if isinstance(node, ast.ClassDef)}
NATIVE = [CuckooFilter, CuckooMap, ExpiringCuckooFilter, Deduplicator, Batch]
REAL = pytest.mark.parametrize("real", [*NATIVE, Snapshot, Store, Table])
# Of every object or mapping, and those that the interpreter makes of others.
INHERITED = {*dir(object), "__module__", "__ror__", "__rand__", "__weakref__", "__dict__"}
INHERITED |= set(dir(MutableMapping))


def stubbed(name):
    bases = [getattr(base, "value", base).id for base in CLASSES[name].bases]
    found = {}
    for one in bases:
        found |= stubbed(one) if one in CLASSES else {}
    functions = [node for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)]
    return found | {node.name: node for node in functions}


@REAL
def test_names_are_those_that_are(real):
    names = {name for name in dir(real) if name.startswith("__") or not name.startswith("_")}
    assert set(stubbed(real.__name__)) - INHERITED == names - INHERITED


@REAL
def test_arguments_are_those_that_are(real):
    checked = 0
    for name, node in stubbed(real.__name__).items():
        member = real if name == "__new__" else getattr(real, name)
        if name.startswith("__") and name != "__new__" or not callable(member):
            continue
        told = [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
        told = [name for name in told if name not in ("self", "cls")]
        told += [node.args.vararg.arg] if node.args.vararg else []
        taken = [name for name in inspect.signature(member).parameters if name != "self"]
        assert told == taken, name
        checked += 1
    assert checked > 3


@REAL
def test_everything_is_documented(real):
    for name, member in {**dict(inspect.getmembers(real)), "class": real}.items():
        if not name.startswith("_"):
            assert inspect.getdoc(member), f"{real.__name__}.{name}"
