"""`malkoha remote` on real servers: one alone, and clusters whose slots move and primaries die."""

import json
import os
import re
import subprocess
import tempfile
import threading
import unittest

from clusters import Cluster
from servers import CLUSTER_KINDS, KINDS, Server, free_port, until

COMMAND = os.environ["MALKOHA_COMMAND"]


class Remote:
    """The command on one filter."""

    def __init__(self, servers, key="urls"):
        self.place = [word for server in servers
                      for word in ("--url", f"redis://127.0.0.1:{server.port}")]
        self.place += ["--key", key]

    def run(self, name, *options, lines=(), code=0, env=None):
        """Standard output; on failure the message. Without a code either answer will do."""
        command = [COMMAND, "remote", name, *self.place, *options]
        text = "".join(f"{line}\n" for line in lines)
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120,
                              env={**os.environ, **(env or {})})
        codes = [0, 1] if code is None else [code]
        assert done.returncode in codes, (command, done.returncode, done.stderr)
        return done.stdout if done.returncode < 2 else done.stderr

    def add(self, lines, timeout=60):
        """What the summary says of lines that one replica each shall have."""
        command = [COMMAND, "remote", "add", *self.place, "--replicas", "1", "--timeout", str(timeout),
                   "--json"]
        text = "".join(f"{line}\n" for line in lines)
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
        told = json.loads(done.stdout)
        assert done.returncode == (2 if told["unconfirmed"] else 0), done.stderr
        return told

    def has_all(self, lines):
        """Fails if a line is said to be out."""
        assert self.run("check", "-v", lines=lines, code=1) == ""


def lines(first, end):
    return [f"line{number}" for number in range(first, end)]


class RemoteTest(unittest.TestCase):
    def test_one_server(self):
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                remote = Remote([server])
                options = ["--shards", "5", "--capacity", "20k", "--fpr", "0.001", "--json"]
                told = json.loads(remote.run("load", *options, lines=lines(0, 20_000)))
                wanted = {"lines": 20_000, "added": 20_000, "resent": 0, "unknown": 0,
                          "unconfirmed": 0, "missing": 0}
                self.assertEqual(told, wanted)
                self.assertEqual(server.client().keys("urls*").__len__(), 6)
                found = remote.run("check", lines=lines(19_000, 120_000)).split()
                self.assertEqual(found[:1000], lines(19_000, 20_000))
                # 0.1 % of 100,000; four standard deviations are 40.
                self.assertLess(len(found), 1140)
                self.assertEqual(remote.run("check", lines=["", "no such line"], code=1), "")
                told = remote.run("add", "--unique", "--json", lines=lines(19_999, 20_002))
                self.assertEqual(json.loads(told)["added"], 2)
                told = json.loads(remote.run("remove", "--json", lines=lines(0, 10_000)))
                self.assertEqual(told["removed"], 10_000)
                info = json.loads(remote.run("info", "--json"))
                self.assertEqual((info["keys"], info["shards"]), (10_002, 5))
                self.assertLess(info["fpr"], 0.001)
                self.assertIn("lines", remote.run("info"))

    def test_what_cannot_be_answered_is_an_error(self):
        with Server("redis") as server, Server("valkey") as other:
            remote = Remote([server])
            self.assertIn("malkoha remote load", remote.run("check", lines=["x"], code=2))
            remote.run("load", "--shards", "4", lines=lines(0, 100))
            self.assertIn("there already", remote.run("load", lines=[], code=2))
            self.assertIn("has 4 shards", remote.run("check", "--shards", "5", lines=["x"], code=2))
            # What cannot be made leaves nothing that the next attempt would find, but what was there.
            half, client = Remote([server], "half"), server.client()
            client.execute_command("CF.RESERVE", "half:1", 1000)
            message = half.run("load", "--shards", "4", lines=["x"], code=2)
            self.assertIn("half:1", message)
            self.assertIn("exists", message)
            self.assertEqual(client.keys("half*"), [b"half:1"])
            client.delete("half:1")
            half.run("load", "--shards", "4", lines=["x"])
            server.client().delete("urls:2")
            for command in "check", "add", "remove":
                self.assertIn("urls:2 is gone", remote.run(command, lines=lines(0, 9), code=2))
            message = remote.run("add", "--unique", lines=lines(0, 9), code=2)
            self.assertIn("urls:2 is gone", message)
            self.assertIn("urls:2 is gone", remote.run("info", code=2))
            self.assertEqual(server.client().exists("urls:2"), 0)
            server.client().copy("urls:3", "urls:2")
            server.client().set("urls:1", "text")
            self.assertIn("urls:1 is a string", remote.run("check", lines=lines(0, 9), code=2))
            self.assertIn("WRONGTYPE", remote.run("add", lines=lines(0, 9), code=2))
            server.client().set("text", "x")
            self.assertIn("something else", Remote([server], "text").run("info", code=2))
            other.kill()
            message = Remote([other]).run("check", "--timeout", "1", lines=["x"], code=2)
            self.assertIn("cannot reach", message)
            message = Remote([]).run("info", code=2, env={"MALKOHA_URL": "nonsense"})
            self.assertIn("redis://", message)
            self.assertNotIn("nonsense", message)

    def test_too_few_replicas(self):
        """Acknowledged lines once went out again each second: one was counted five times."""
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server, Server(kind) as replica:
                client = server.client()
                counts = lambda: sum(client.execute_command("CF.COUNT", f"urls:{shard}", "line7")
                                     for shard in range(4))
                remote = Remote([server])
                remote.run("load", "--shards", "4", lines=[])
                options = ["--replicas", "1", "--timeout", "2"]
                message = remote.run("add", *options, lines=lines(0, 100), code=2)
                self.assertIn("100 of 100 lines", message)
                self.assertIn("0 replicas of 1", message)
                self.assertIn("100 lines were added, but", message)
                self.assertEqual(counts(), 1)
                # One that comes while the command waits is enough.
                replica.client().replicaof("127.0.0.1", server.port)
                told = json.loads(remote.run("add", "--json", "--replicas", "1", lines=["line7"]))
                self.assertEqual((told["added"], told["unconfirmed"]), (1, 0))
                self.assertEqual(counts(), 2)
                message = remote.run("remove", "--replicas", "2", "--timeout", "1",
                                     lines=lines(7, 9), code=2)
                self.assertIn("2 lines were removed, but", message)
                self.assertEqual(counts(), 1)

    def test_a_user_with_least_rights(self):
        """Those of docs/MODULE.md."""
        with open(os.path.join(os.path.dirname(__file__), "../../../docs/MODULE.md")) as file:
            page = file.read()
        rules = dict(re.findall(r"^ACL SETUSER (\w+) on >password (.*)$", page, re.MULTILINE))
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server:
                for name, rights in rules.items():
                    server.client().execute_command(
                        "ACL", "SETUSER", name, "on", ">password", *rights.split())
                url = lambda name: {
                    "MALKOHA_URL": f"redis://{name}:password@127.0.0.1:{server.port}"}
                writer, reader, remote = url("writer"), url("reader"), Remote([])
                remote.run("load", "--shards", "3", lines=lines(0, 50), env=writer)
                remote.run("add", "--unique", lines=lines(40, 60), env=writer)
                remote.run("remove", lines=lines(50, 60), env=writer)
                remote.run("info", env=reader)
                self.assertEqual(remote.run("check", "-c", lines=lines(0, 50), env=reader), "50\n")
                self.assertIn("permissions", remote.run("add", lines=["x"], env=reader, code=2))

    def test_any_protocol_in_the_url(self):
        with Server("valkey") as server:
            remote = Remote([])
            env = {"MALKOHA_URL": f"redis://127.0.0.1:{server.port}?protocol=resp3"}
            remote.run("load", lines=lines(0, 10), env=env)
            self.assertEqual(remote.run("check", "-c", lines=lines(0, 10), env=env), "10\n")
            self.assertEqual(remote.run("remove", lines=lines(0, 1), env=env), "")

    def test_passwords(self):
        with Server("valkey", "--requirepass", "secret", password="secret") as server:
            remote, env = Remote([]), {"MALKOHA_URL": f"redis://:secret@127.0.0.1:{server.port}"}
            remote.run("load", lines=lines(0, 10), env=env)
            self.assertEqual(remote.run("check", "-c", lines=lines(0, 10), env=env), "10\n")
            wrong = {"MALKOHA_URL": f"redis://:wrong@127.0.0.1:{server.port}"}
            message = remote.run("check", lines=["x"], env=wrong, code=2)
            self.assertNotIn("wrong@", message)

    def test_tls(self):
        with tempfile.TemporaryDirectory() as directory:
            certificate, key = f"{directory}/server.crt", f"{directory}/server.key"
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=server",
                 "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE",
                 "-out", certificate, "-keyout", key], check=True, capture_output=True)
            port = free_port()
            with Server("redis", "--tls-port", str(port), "--tls-cert-file", certificate,
                        "--tls-key-file", key, "--tls-ca-cert-file", certificate,
                        "--tls-auth-clients", "no"):
                remote, url = Remote([]), {"MALKOHA_URL": f"rediss://127.0.0.1:{port}"}
                trusting = {**url, "SSL_CERT_FILE": certificate}
                remote.run("load", lines=lines(0, 10), env=trusting)
                found = remote.run("check", "-c", lines=lines(0, 10), env=trusting)
                self.assertEqual(found, "10\n")
                self.assertIn("ertificate", remote.run("check", lines=["x"], env=url, code=2))

    def test_slots_move_under_load(self):
        for kind in CLUSTER_KINDS:
            with self.subTest(kind=kind), Cluster(kind) as cluster:
                remote = Remote(cluster.primaries[:1])
                remote.run("load", "--shards", "32", lines=lines(0, 1000))
                clients = [server.client() for server in cluster.primaries]
                slots = sorted({clients[0].execute_command("CLUSTER", "KEYSLOT", f"urls:{shard}")
                                for shard in range(32)})
                slots = [slot for slot in slots if slot < 5461]
                self.assertGreater(len(slots), 3)
                enough, moves = threading.Event(), []

                def move():
                    while not enough.is_set():
                        cluster.move(slots, *[(0, 1), (1, 0)][len(moves) % 2])
                        moves.append(1)

                mover = threading.Thread(target=move)
                mover.start()
                try:
                    first = 1000
                    while len(moves) < 4:
                        remote.run("add", lines=lines(first, first + 20_000))
                        first += 20_000
                        remote.has_all(lines(0, first))
                finally:
                    enough.set()
                    mover.join()
                remote.has_all(lines(0, first))

    def test_a_server_without_slots_is_passed_over(self):
        with Cluster("valkey") as cluster, Server("valkey", "--cluster-enabled", "yes") as alone:
            # Asked in this order.
            urls = [f"redis://127.0.0.1:{alone.port}",
                    f"redis://localhost:{cluster.primaries[0].port}"]
            remote, env = Remote([]), {"MALKOHA_URL": " ".join(urls)}
            remote.run("load", "--timeout", "2", lines=lines(0, 100), env=env)
            self.assertEqual(remote.run("check", "-c", lines=lines(0, 100), env=env), "100\n")
            message = Remote([alone]).run("info", "--timeout", "1", code=2)
            self.assertIn("without slots", message)

    def test_a_primary_dies(self):
        for kind in CLUSTER_KINDS:
            with self.subTest(kind=kind), Cluster(kind, 1) as cluster:
                remote = Remote(cluster.primaries)
                remote.run("load", "--shards", "12", "--replicas", "1", lines=lines(0, 1000))
                done, unsure, resent = [1000], [0], [0]
                enough = threading.Event()

                def add():
                    while not enough.is_set():
                        batch = lines(done[0], done[0] + 2000)
                        told = remote.add(batch)
                        # What nobody vouches for may be lost, and is not added twice.
                        unsure[0] += told["unconfirmed"]
                        resent[0] += told["resent"]
                        done[0] += 2000

                adder = threading.Thread(target=add)
                adder.start()
                try:
                    until(lambda: done[0] > 5000, "load")
                    # It has the first slots, and the keys' slots must be learned without it.
                    cluster.primaries[0].kill()
                    options = ["-v", "--timeout", "1"]
                    message = remote.run("check", *options, lines=lines(0, 1000), code=2)
                    self.assertIn("no progress", message)
                    replica = cluster.replicas[0]
                    until(lambda: replica.client().info("replication")["role"] == "master",
                          "a new primary", 60)
                    cluster.primaries[0].start()
                    before = done[0]
                    until(lambda: done[0] > before + 4000, "load after the failover", 60)
                finally:
                    enough.set()
                    adder.join()
                told = remote.run("check", "-c", lines=lines(0, done[0]))
                self.assertLessEqual(done[0] - int(told), unsure[0])
                keys = json.loads(remote.run("info", "--json"))["keys"]
                self.assertTrue(done[0] - unsure[0] <= keys <= done[0] + resent[0], (keys, done))


if __name__ == "__main__":
    unittest.main()
