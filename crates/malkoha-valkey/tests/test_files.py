"""What CF.DUMP gives is a file of the command `malkoha`, and CF.LOAD takes one that it wrote."""

import os
import subprocess
import tempfile
import unittest

import redis

from servers import KINDS, Server, chunks, digest

COMMAND = os.environ["MALKOHA_COMMAND"]


def run(*words, lines=()):
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run([COMMAND, *words], input=text, capture_output=True, text=True, check=True)
    return done.stdout


class FilesTest(unittest.TestCase):
    def test_dumps_are_files_of_the_command(self):
        items = [f"item{number}" for number in range(20_000)]
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server, \
                    tempfile.TemporaryDirectory() as directory:
                client, path = server.client(), f"{directory}/dump.mlk"
                client.execute_command("CF.MADD", "f", *items, *["often"] * 9)
                with open(path, "wb") as file:
                    file.write(client.execute_command("CF.DUMP", "f"))
                run("verify", path)
                self.assertIn("20,009", run("info", path))
                # Another item may have its fingerprint, and is counted with it.
                self.assertIn(run("count", path, lines=["often"]), ("9\toften\n", "10\toften\n"))
                self.assertEqual(run("check", "-c", path, lines=items), "20000\n")
                run("add", path, lines=["one more"])
                with open(path, "rb") as file:
                    client.execute_command("CF.LOAD", "g", file.read())
                self.assertTrue(all(client.execute_command("CF.MEXISTS", "g", "one more", *items)))

    def test_files_of_fixed_size_make_filters_that_do_not_grow(self):
        items = [f"item{number}" for number in range(100_000)]
        for kind in KINDS:
            with self.subTest(kind=kind), Server(kind) as server, \
                    tempfile.TemporaryDirectory() as directory:
                client, path = server.client(), f"{directory}/fixed.mlk"
                command = client.execute_command
                run("build", "-q", "--fixed", "--capacity", "100050", "-o", path, lines=items)
                with open(path, "rb") as file:
                    built = file.read()
                command("CF.LOAD", "f", built)
                self.assertEqual(command("CF.DUMP", "f"), built)
                self.assertEqual(command("CF.MADD", "f", *range(60)), [True] * 50 + [False] * 10)
                with self.assertRaisesRegex(redis.ResponseError, "Filter is full"):
                    command("CF.ADD", "f", "one more")
                self.assertTrue(all(command("CF.MDEL", "f", *range(50))))
                self.assertEqual(command("CF.COMPACT", "f"), b"OK")
                # By chunks, by the server's own copy, and from its file.
                for chunk in chunks(client, "f"):
                    command("CF.LOADCHUNK", "chunks", *chunk)
                command("COPY", "f", "copy")
                client.execute_command("DEBUG", "RELOAD")
                for key in "f", "chunks", "copy":
                    self.assertEqual(command("CF.DUMP", key), command("CF.DUMP", "f"), key)
                    self.assertTrue(all(command("CF.MEXISTS", key, *items)), key)
                self.assertEqual(digest(client, "chunks"), digest(client, "f"))
                command("CF.LOAD", "other", built)
                command("CF.MDEL", "f", *items[:50_000])
                command("CF.MDEL", "other", *items[50_000:])
                command("CF.MERGE", "f", "other")
                self.assertTrue(all(command("CF.MEXISTS", "f", *items)))
                command("CF.RESERVE", "grows", 1000, "SEED", 0)
                with self.assertRaisesRegex(redis.ResponseError, "merged with their like"):
                    command("CF.MERGE", "grows", "f")

    def test_files_that_cannot_be_loaded_say_what_to_do(self):
        with Server("valkey") as server, tempfile.TemporaryDirectory() as directory:
            command, path = server.client().execute_command, f"{directory}/m.mlk"
            run("build", "-q", "-o", path, lines=["koel"])
            with open(path, "rb") as file:
                lines = file.read()
            run("build", "-q", "--values", "-o", path, lines=["koel\t7"])
            with open(path, "rb") as file:
                pairs = file.read()
            for file, error in [
                (pairs, "without --values"),
                (lines + b"\n", "head -c -1"),
                (b"koel\n", "not a malkoha file"),
            ]:
                with self.assertRaisesRegex(redis.ResponseError, error):
                    command("CF.LOAD", "f", file)
            command("CF.LOAD", "f", lines)


if __name__ == "__main__":
    unittest.main()
