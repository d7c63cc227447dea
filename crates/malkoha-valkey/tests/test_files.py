"""What CF.DUMP gives is a file of the command `malkoha`, and CF.LOAD takes one that it wrote."""

import os
import subprocess
import tempfile
import unittest

from servers import KINDS, Server

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
                client.execute_command("CF.MADD", "f", *items)
                with open(path, "wb") as file:
                    file.write(client.execute_command("CF.DUMP", "f"))
                run("verify", path)
                self.assertIn("20,000", run("info", path))
                self.assertEqual(run("check", "-c", path, lines=items), "20000\n")
                run("add", path, lines=["one more"])
                with open(path, "rb") as file:
                    client.execute_command("CF.LOAD", "g", file.read())
                self.assertTrue(all(client.execute_command("CF.MEXISTS", "g", "one more", *items)))


if __name__ == "__main__":
    unittest.main()
