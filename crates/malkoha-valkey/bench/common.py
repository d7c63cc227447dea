"""Real servers for measurements, and commands sent as fast as a socket takes them."""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests"))

from servers import KINDS, Server  # noqa: E402,F401

# Before other processes, or what they take would be measured.
FIRST = ["chrt", "-f", "10"] if os.geteuid() == 0 else []


def packed(*words):
    """A command as it is sent."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


class Pipe:
    """Sends commands that are answered by one integer each, and counts the answers 1."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port))

    def run(self, command, key, numbers):
        start = packed(command, key).replace(b"*2", b"*3", 1)
        commands = b"".join(start + b"$8\r\n%08d\r\n" % number for number in numbers)
        self.socket.sendall(commands)
        wanted, replies = 4 * len(numbers), bytearray()
        while len(replies) < wanted:
            replies += self.socket.recv(1 << 16)
        assert len(replies) == wanted and replies[:1] == b":", replies[:100]
        return replies.count(b":1")


def microseconds(client, command):
    """Calls of a command since the statistics were reset, and microseconds in all."""
    stats = client.info("commandstats").get(f"cmdstat_{command.lower()}", {"calls": 0, "usec": 0})
    return stats["calls"], stats["usec"]


def processor_seconds(client):
    cpu = client.info("cpu")
    return cpu["used_cpu_user"] + cpu["used_cpu_sys"]


class Turns:
    """The turns of a server's main thread, from one wait for events to the next: the longest of them is
    what other clients wait for at most. Needs a C compiler."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="malkoha-turns-")
        atexit.register(shutil.rmtree, self.directory)
        self.file, library = f"{self.directory}/turns", f"{self.directory}/turns.so"
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "turns.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        # What starts the server to be watched.
        self.first = [*FIRST, "env", f"LD_PRELOAD={library}", f"TURNS={self.file}"]

    def longest(self, since):
        """Milliseconds of the longest turn that ended after this time, by the clock and of the processor."""
        with open(self.file) as file:
            turns = [tuple(map(float, line.split())) for line in file]
        turns = [turn[1:] for turn in turns if turn[0] > since] or [(0.0, 0.0)]
        return [max(each) / 1000 for each in zip(*turns)]
