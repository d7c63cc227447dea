"""Fixtures of several tests."""

import importlib
import os
import subprocess
import sysconfig

import pytest

from malkoha import CuckooFilter

# So low that a test that sees a false positive has found something else.
RATE = 1e-8
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


class Missing:
    """Stands for a package that cannot be used: a test that calls anything of it is skipped."""

    def __init__(self, why):
        self._why = why

    def __getattr__(self, _):
        return lambda *_, **__: pytest.skip(self._why)


def optional(name):
    """A package, or what skips the tests that use it."""
    if FREE_THREADED and name == "duckdb":
        return Missing("importing duckdb turns the interpreter's lock on")
    try:
        return importlib.import_module(name)
    except ImportError:
        return Missing(f"{name} is not installed")


@pytest.fixture
def make():
    """Makes an empty filter of each kind that can change."""
    return {
        "growable": lambda **options: CuckooFilter(fpr=RATE, **options),
        "fixed": lambda **options: CuckooFilter(10_000, RATE, growable=False, **options),
        "shared": lambda **options: CuckooFilter(fpr=RATE, shared=True, **options),
    }


@pytest.fixture(params=["growable", "fixed", "shared"])
def empty(request, make):
    return make[request.param]()


@pytest.fixture(scope="session")
def command():
    """Runs the command `malkoha`; returns its standard output as bytes."""
    path = os.environ.get("MALKOHA_COMMAND")
    if path is None:
        pytest.skip("MALKOHA_COMMAND names no command malkoha")

    def run(*arguments, stdin=b""):
        done = subprocess.run([path, *map(str, arguments)], input=stdin, capture_output=True)
        assert done.returncode < 2, done.stderr.decode()
        return done.stdout

    return run
