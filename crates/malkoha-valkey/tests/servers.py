"""Real servers on loopback, each with a directory and a port of its own."""

import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import redis

# Servers have a directory of their own.
MODULE = os.path.realpath(os.environ["MALKOHA_MODULE"])
KINDS = ["redis", "valkey"]
# MALKOHA_LONG=1 also runs the tests of clusters on both servers, and builds the package.
LONG = bool(os.environ.get("MALKOHA_LONG"))
CLUSTER_KINDS = KINDS if LONG else ["valkey"]


# Below those that systems give to outgoing connections, as a cluster's port is, 10000 above: a server
# that was killed finds its port free when it starts again.
PORTS = range(12_000, 22_000)
# Ports that this process has taken from all that run next to it.
TAKEN = []


def free_port():
    """A free port whose cluster port is free too, for this process as long as it lives."""
    while True:
        port = random.choice(PORTS)
        # A name that one process at a time can have, and that goes with it.
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0malkoha-port-{port}")
            for number in port, port + 10_000:
                with socket.socket() as free:
                    free.bind(("127.0.0.1", number))
        except OSError:
            name.close()
            continue
        TAKEN.append(name)
        return port


def until(condition, what, seconds=30):
    """Waits for a condition, and fails if it does not come."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except redis.exceptions.RedisError:
            pass
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


class Server:
    """A server that is stopped at the end of a `with` block, or with this process at the latest."""

    def __init__(self, kind, *options, password=None, first=()):
        self.kind = kind
        self.password = password
        # What starts the server, as `nice` does.
        self.first = first
        self.options = options
        self.port = free_port()
        self.directory = tempfile.mkdtemp(prefix="malkoha-module-")
        self.process = None
        atexit.register(self.stop)
        self.start()

    def start(self):
        self.start_with("--loadmodule", MODULE)

    def start_with(self, *module):
        """With a module as options, or a configuration file, say."""
        command = [
            *self.first, f"{self.kind}-server", *module, "--port", str(self.port), "--bind", "127.0.0.1",
            "--dir", self.directory, "--save", "", "--enable-debug-command", "local",
            "--logfile", "server.log", "--repl-diskless-sync-delay", "0",
            *self.options,
        ]
        # What it says before it has its log. Not to our own output: who reads that would wait for
        # the server too.
        with open(f"{self.directory}/server.log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            until(self.serves, f"the {self.kind} server starts")
        except AssertionError as error:
            # The log goes with the server.
            raise AssertionError(f"{error}\n{self.log()}") from None

    def serves(self):
        assert self.process.poll() is None, f"the {self.kind} server has ended"
        return self.client().ping() and not self.client().info("persistence")["loading"]

    def client(self, **options):
        return redis.Redis(port=self.port, password=self.password, socket_timeout=30, **options)

    def kill(self):
        """As a crash does: kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self):
        """In an orderly way; what is saved depends on the options."""
        self.process.terminate()
        self.process.wait()
        self.start()

    def log(self):
        with open(f"{self.directory}/server.log") as log:
            return log.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        atexit.unregister(self.stop)
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def digest(client, key):
    return client.execute_command("DEBUG", "DIGEST-VALUE", key)[0]


def chunks(client, key):
    position, chunk = client.execute_command("CF.SCANDUMP", key, 0)
    while position:
        yield position, chunk
        position, chunk = client.execute_command("CF.SCANDUMP", key, position)
