"""The programs of examples/ do what they say. shared_set.py is in test_servers.py."""

import functools
import http.server
import importlib.util
import pathlib
import subprocess
import sys
import threading

import pytest

from malkoha import Store

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(code, *arguments, stdin="", crashes=False):
    """A process that finds the examples."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, cwd=EXAMPLES, input=stdin, capture_output=True, text=True)
    assert done.returncode == (9 if crashes else 0), done.stderr
    return done.stdout


SPIDER = """
import sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "pages"
    start_urls = [sys.argv[1]]

    def parse(self, response):
        print(response.url.rsplit("/", 1)[1])
        for link in response.css("a"):
            yield response.follow(link)

settings = dict(DUPEFILTER_CLASS="dupefilter.StoreDupeFilter", MALKOHA_SEEN=sys.argv[2], LOG_ENABLED=False)
process = CrawlerProcess(settings | dict(TELNETCONSOLE_ENABLED=False))
process.crawl(Spider)
process.start()
"""


def test_scrapy_requests_each_page_once(tmp_path):
    pytest.importorskip("scrapy")
    pages, links = tmp_path / "pages", "".join(f"<a href='{n}.html'>{n}</a>" for n in range(50))
    pages.mkdir()
    for number in range(50):
        (pages / f"{number}.html").write_text(links)
    (pages / "index.html").write_text(links)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=pages)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/index.html"
        first = run(SPIDER, url, tmp_path / "seen").split()
        assert sorted(first) == sorted(["index.html", *[f"{n}.html" for n in range(50)]])
        (pages / "index.html").write_text(links + "<a href='new.html'>new</a>")
        (pages / "new.html").write_text(links)
        second = run(SPIDER, url, tmp_path / "seen").split()
        # Scrapy does not filter the requests that a crawl starts with.
        assert second == ["index.html", "new.html"]
        server.shutdown()


APPLY = """
import os, sys
from malkoha import Store
from once import Consumer
with Store(sys.argv[1]) as store:
    crash = lambda: os._exit(9) if sys.argv[3] == "crash" else None
    print(Consumer(store, crash).apply(sys.argv[2], 5), store.get("total"))
"""

def test_a_message_is_handled_once(tmp_path):
    """Whatever crashes between the effect and the mark."""
    path = tmp_path / "store"
    assert run(APPLY, path, "m1", "-") == "True b'5'\n"
    assert run(APPLY, path, "m1", "-") == "False b'5'\n"
    run(APPLY, path, "m2", "crash", crashes=True)
    assert run(APPLY, path, "m2", "-") == "True b'10'\n"
    told = subprocess.run(
        [sys.executable, EXAMPLES / "once.py", path], input="m2 5\nm3 1\n", capture_output=True, text=True
    )
    assert told.stdout == "m2 again\nm3 new\ntotal 11\n", told.stderr


def test_an_effect_elsewhere_is_repeated_after_a_crash(tmp_path):
    sent = []
    with Store(tmp_path / "store") as store:
        crashes = example("once").Consumer(store, lambda: 1 / 0)
        consumer = example("once").Consumer(store)
        with pytest.raises(ZeroDivisionError):
            crashes.send("m1", sent.append)
        assert consumer.send("m1", sent.append) and not consumer.send("m1", sent.append)
    assert sent == ["m1", "m1"]


def test_readers_notice_what_a_writer_changes(tmp_path):
    readers = EXAMPLES / "readers.py"
    command = [sys.executable, readers, "write", tmp_path]
    subprocess.run(command, input="koel\nwren\n", text=True, check=True)
    command = [sys.executable, readers, "read", tmp_path]
    assert subprocess.check_output(command, input="wren\ngull\n", text=True) == "wren 1\n"
    module = example("readers")
    following, reader = module.Following(tmp_path / "seen.mlk"), module.Reader(tmp_path / "store")
    before = following.filter()
    found = module.read(tmp_path, ["wren", "gull"])
    assert next(found) == ("wren", b"1")
    assert following.filter() is before and "gull" not in before and len(reader.store) == 2
    module.write(tmp_path, ["gull"])
    assert following.filter() is not before and following.filter().contains_many(["gull", "wren"]).all()
    assert next(found) == ("gull", b"0")
    assert "gull" not in reader.store and "wren" in before
    reader.refresh()
    assert reader.store["gull"] == b"0" and len(reader.store) == 3
