"""The stubs name what there is, with its arguments."""

import ast
import inspect
import pathlib

import pytest

import malkoha
from malkoha import CuckooFilter, CuckooMap, ExpiringCuckooFilter
from malkoha.text import Deduplicator

STUBS = ast.parse((pathlib.Path(malkoha.__file__).parent / "_malkoha.pyi").read_text())
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
REAL = pytest.mark.parametrize("real", [CuckooFilter, CuckooMap, ExpiringCuckooFilter, Deduplicator])
# Of every object, and those that the interpreter makes of others.
INHERITED = set(dir(object)) | {"__module__", "__ror__", "__rand__", "__weakref__"}


def stubbed(name):
    bases = [base.id for base in CLASSES[name].bases]
    bodies = [node for one in (*bases, name) for node in CLASSES[one].body]
    return {node.name: node for node in bodies if isinstance(node, ast.FunctionDef)}


@REAL
def test_names_are_those_that_are(real):
    assert set(stubbed(real.__name__)) - INHERITED == set(vars(real)) - INHERITED


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
    assert checked > 8


@REAL
def test_everything_is_documented(real):
    for name, member in {**vars(real), "class": real}.items():
        if not name.startswith("_"):
            assert inspect.getdoc(member), f"{real.__name__}.{name}"
