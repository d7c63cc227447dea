"""Every Python block of the guide and of the package's README runs, as one program for each page."""

import codeop
import doctest
import pathlib
import re

import pytest

import malkoha.text

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = [ROOT / "crates/malkoha-python/README.md", *sorted((ROOT / "docs").glob("PYTHON*.md"))]
NEEDS = {"polars", "pandas", "duckdb", "pyarrow", "dask", "distributed", "ray", "pyspark"}
NEEDS |= {"datasets", "datatrove"}


def blocks(page):
    """The blocks of a page, after as many empty lines as make tracebacks tell its lines."""
    for block in re.finditer(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S):
        yield "\n" * (page.read_text().count("\n", 0, block.start()) + 1) + block[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}
    snippets = list(blocks(page))
    assert snippets
    for snippet in snippets:
        for module in sorted(NEEDS & set(re.findall(r"^\s*(?:import|from) (\w+)", snippet, re.M))):
            pytest.importorskip(module)
        exec(compile(snippet, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_can_be_pasted(page):
    """Into an interpreter that reads line by line: an empty line ends a block, nothing else does."""
    for snippet in blocks(page):
        pending = ""
        for line in [*snippet.splitlines(), ""]:
            pending += line + "\n"
            pending = pending if codeop.compile_command(pending[:-1]) is None else ""
        assert not pending.strip()


def test_docstrings_are_true():
    assert doctest.testmod(malkoha).failed == doctest.testmod(malkoha.text).failed == 0
