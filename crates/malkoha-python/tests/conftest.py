"""What several tests use."""

import os
import subprocess

import pytest

from malkoha import CuckooFilter

# So low that a test that sees a false positive has found something else.
RATE = 1e-8


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
