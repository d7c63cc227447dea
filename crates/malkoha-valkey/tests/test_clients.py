"""Clients of other languages: node-redis in both protocols, and Jedis in RESP2.

node-redis is installed by `npm install --prefix target/module-node redis@6`, as `test` does where
there is npm. Jedis is looked for where MALKOHA_JEDIS says: a class path of Jedis 4.4 or newer and
what it needs (commons-pool2, slf4j-api, gson, org.json)."""

import os
import shutil
import subprocess
import unittest

from servers import KINDS, Server

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.environ.get("CARGO_TARGET_DIR", f"{HERE}/../../../target")
NODE = os.environ.get("MALKOHA_NODE", f"{TARGET}/module-node/node_modules")
JEDIS = os.environ.get("MALKOHA_JEDIS")


class Clients(unittest.TestCase):
    def run_on_all(self, protocols, *words, **variables):
        for kind in KINDS:
            with Server(kind) as server:
                for protocol in protocols:
                    with self.subTest(kind=kind, protocol=protocol):
                        server.client().flushall()
                        done = subprocess.run(
                            [*words, str(server.port), protocol], capture_output=True, text=True,
                            env={**os.environ, **variables}, timeout=120)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertIn("passed", done.stdout)

    @unittest.skipUnless(shutil.which("node") and os.path.isdir(f"{NODE}/redis"),
                         "no node-redis: npm install --prefix target/module-node redis@6")
    def test_node_redis(self):
        self.run_on_all("23", "node", f"{HERE}/clients/node_redis.mjs", NODE_PATH=NODE)

    @unittest.skipUnless(shutil.which("java") and JEDIS,
                         "no Jedis: set MALKOHA_JEDIS to its class path")
    def test_jedis(self):
        self.run_on_all("2", "java", "-cp", JEDIS, f"{HERE}/clients/JedisTest.java")


if __name__ == "__main__":
    unittest.main()
