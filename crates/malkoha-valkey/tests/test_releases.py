"""The files and dumps of earlier releases are loaded, and the package of this one.

Before a release, with the module that it will have: python test_releases.py make 0.1.0"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from servers import KINDS, LONG, Server, digest

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures")
PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../package/deb")
ITEMS = [f"item{number}" for number in range(2000)]
# How each filter was reserved; all but the small one have the items, and one of them nine times.
FILTERS = {
    "keyed": ["1000", "HASHKEY", "000102030405060708090a0b0c0d0e0f"],
    "seeded": ["100", "SEED", "7", "ERROR", "0.001", "GROWTH", "64"],
    # So few that they have no table.
    "small": ["1000", "HASHKEY", "000102030405060708090a0b0c0d0e0f"],
    "fixed": ["2500", "EXPANSION", "0", "BUCKETSIZE", "4"],
    # Until the year 2343.
    "expiring": ["1000", "EXPIRE", "1e10", "ERROR", "0.001", "HASHKEY", "000102030405060708090a0b0c0d0e0f"],
}


def make(release):
    """The files of a release, with the oldest server, which newer ones read."""
    with Server("redis") as server:
        client = server.client(protocol=2)
        for key, words in FILTERS.items():
            client.execute_command("CF.RESERVE", key, *words)
            items = ITEMS[:30] if key.startswith("small") else ITEMS
            client.execute_command("CF.MADD", key, *items, *["item7"] * 8)
            client.execute_command("CF.MDEL", key, *items[-len(items) // 20:])
            with open(f"{FIXTURES}/{release}-{key}.dump", "wb") as file:
                file.write(client.dump(key))
        first = client.cf().scandump("keyed", 0)[1]
        client.cf().loadchunk("half", 1, first)
        client.save()
        shutil.copy(f"{server.directory}/dump.rdb", f"{FIXTURES}/{release}.rdb")


class Releases(unittest.TestCase):
    def check(self, client, key):
        run = client.execute_command
        deleted, left = (2, 28) if key.startswith("small") else (100, 1900)
        self.assertTrue(all(run("CF.MEXISTS", key, *ITEMS[:left])), key)
        expires = key.startswith("expiring")
        self.assertEqual(run("CF.COUNT", key, "item7"), 1 if expires else 9, key)
        strangers = sum(run("CF.MEXISTS", key, *range(10_000)))
        self.assertLess(strangers, 200, key)
        info = client.cf().info(key)
        inserted = left if expires else left + 8
        self.assertEqual((info.insertedNum, info.deletedNum), (inserted, deleted), key)

    def test_files_and_dumps_are_loaded(self):
        files = sorted(glob.glob(f"{FIXTURES}/*.rdb"))
        self.assertTrue(files)
        for kind in KINDS:
            for path in files:
                release = os.path.basename(path).removesuffix(".rdb")
                with self.subTest(kind=kind, release=release), Server(kind) as server:
                    server.kill()
                    shutil.copy(path, f"{server.directory}/dump.rdb")
                    server.start()
                    client = server.client(protocol=2)
                    for key in FILTERS:
                        with open(f"{FIXTURES}/{release}-{key}.dump", "rb") as file:
                            client.restore(f"{key} again", 0, file.read())
                        self.check(client, f"{key} again")
                        # Kinds that came later are in no file.
                        if client.exists(key):
                            self.check(client, key)
                            self.assertEqual(digest(client, f"{key} again"), digest(client, key))
                    client.cf().loadchunk("half", 2, client.cf().scandump("keyed", 1)[1])
                    self.check(client, "half")

    def test_the_dashboard_shows_what_there_is(self):
        package = os.path.dirname(PACKAGE)
        with open(f"{package}/exporter.lua") as file:
            script = file.read()
        with open(f"{package}/grafana.json") as file:
            shown = set(re.findall(r'key=."(malkoha_\w+)."', file.read()))
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                client = server.client(protocol=2)
                client.execute_command("CF.MADD", "f", *"abc")
                told = client.eval(script, 0)
                told = dict(zip(told[::2], told[1::2]))
                wanted = {name.encode(): str(number).encode()
                          for name, number in client.info("malkoha_filters").items()}
                self.assertEqual(told, wanted)
                self.assertEqual(shown, {name.decode() for name in told})

    @unittest.skipUnless(LONG, "a release build: set MALKOHA_LONG=1")
    def test_the_package_has_what_a_server_loads(self):
        with tempfile.TemporaryDirectory() as directory:
            environment = {**os.environ, "CARGO_TARGET_DIR": directory}
            told = subprocess.run([PACKAGE], env=environment, check=True, capture_output=True,
                                  text=True).stdout
            package, tree = told.split(":")[0], f"{directory}/root"
            subprocess.run(["dpkg-deb", "-x", package, tree], check=True)
            with open(f"{tree}/etc/malkoha/malkoha.conf") as file:
                snippet = file.read().replace("/usr/lib", f"{tree}/usr/lib")
            for kind in KINDS:
                with self.subTest(kind=kind), Server(kind) as server:
                    configuration = f"{server.directory}/server.conf"
                    with open(configuration, "w") as file:
                        # The settings that are comments must be right too.
                        file.write(snippet.replace("# malkoha.", "malkoha."))
                    server.kill()
                    server.start_with(configuration)
                    self.assertEqual(server.client().cf().add("f", "x"), 1)
                    rate = server.client().config_get("malkoha.error-rate")
                    self.assertEqual(rate, {"malkoha.error-rate": "0.01"})


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(sys.argv[2])
    else:
        unittest.main()
