"""What others wait for while one client sends commands that take long: a million items at a time up
to ten million, then dump, load, merge, sweep, look up and delete all. As CSV: the command's own
time, the longest time that another client waited for a PING meanwhile, the longest turn of the
server's main thread from one wait for events to the next, by the clock and by the processor's time for
it alone, the longest piece of work that the server's latency monitor saw, and the processor time of the
main thread.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so python crates/malkoha-valkey/bench/long.py

As root the server runs before other processes: what they take is not the module's.
"""

import csv
import os
import sys
import threading
import time

import redis

from common import KINDS, Server, Turns

MILLION = int(os.environ.get("MALKOHA_MILLION", "1000000"))
MILLIONS = 10
TICK = os.sysconf("SC_CLK_TCK")


class Waits:
    """A client that sends PING after PING, and the longest that one took."""

    def __init__(self, server):
        self.client = server.client()
        self.longest, self.over, self.pings, self.running = 0.0, 0, 0, False

    def __enter__(self):
        self.longest, self.over, self.pings, self.running = 0.0, 0, 0, True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        while self.running:
            begun = time.perf_counter()
            self.client.ping()
            waited = time.perf_counter() - begun
            self.longest, self.pings = max(self.longest, waited), self.pings + 1
            self.over += waited > 0.002
            time.sleep(0.0002)

    def __exit__(self, *_):
        self.running = False
        self.thread.join()


def main_thread_seconds(server):
    with open(f"/proc/{server.process.pid}/task/{server.process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["server", "command", "seconds", "main_thread_seconds", "pings", "pings_over_2_ms",
                    "longest_ping_ms", "longest_turn_ms", "longest_turn_processor_ms",
                    "longest_piece_ms", "mean_call_us", "load_average"])
    for kind in os.environ.get("MALKOHA_KINDS", " ".join(KINDS)).split():
        turns = Turns()
        with Server(kind, "--latency-monitor-threshold", "1", "--proto-max-bulk-len", "2gb",
                    "--client-query-buffer-limit", "2gb", first=turns.first) as server:
            client, other, waits = server.client(protocol=2), server.client(), Waits(server)

            def sent(*words):
                connection = client.connection_pool.get_connection()
                connection.send_packed_command(connection.pack_command(*words))
                try:
                    return connection.read_response()
                except redis.ResponseError as error:
                    return error
                finally:
                    client.connection_pool.release(connection)

            def measured(what, *words, work=None):
                """What a command replies, or work that sends some of it."""
                other.execute_command("LATENCY", "RESET")
                other.config_resetstat()
                before, begun, at = main_thread_seconds(server), time.perf_counter(), time.time()
                with waits:
                    reply = work() if work else sent(*words)
                took, used = time.perf_counter() - begun, main_thread_seconds(server) - before
                # The turn in which the command's arguments were freed is over by then.
                time.sleep(0.05)
                pieces = [one[3] for one in other.execute_command("LATENCY", "LATEST")
                          if one[0] == b"cf-piece"]
                stats = other.info("commandstats").get(f"cmdstat_{words[0].lower()}", {})
                table.writerow([kind, what, f"{took:.3f}", f"{used:.2f}", waits.pings, waits.over,
                                f"{waits.longest * 1000:.2f}", *(f"{most:.2f}" for most in turns.longest(at)),
                                max(pieces, default="below 1"), f"{stats.get('usec_per_call', 0):.0f}",
                                f"{os.getloadavg()[0]:.1f}"])
                sys.stdout.flush()
                return reply

            def dump():
                position, chunks = 0, []
                while True:
                    position, chunk = sent("CF.SCANDUMP", "f", position)
                    if position == 0:
                        return chunks
                    chunks.append((position, chunk))

            def load(chunks):
                for position, chunk in chunks:
                    sent("CF.LOADCHUNK", "chunks", position, chunk)

            items = lambda number: [f"{one:08d}" for one in range(number * MILLION, (number + 1) * MILLION)]
            # What any command of so many arguments costs the server.
            measured("EXISTS of a million names", "EXISTS", *items(0))
            # And of a module, which does nothing with them.
            measured("CF.INSERT that is refused at its first word", "CF.INSERT", "f", *items(0))
            measured("CF.RESERVE of ten million", "CF.RESERVE", "reserved", 10 * MILLION)
            measured("DEL of ten million reserved", "DEL", "reserved")
            client.execute_command("CF.RESERVE", "f", 10_000, "GROWTH", 1024, "SEED", 0)
            for number in range(MILLIONS):
                measured(f"CF.MADD of million {number + 1}", "CF.MADD", "f", *items(number))
            measured("CF.MEXISTS of a million", "CF.MEXISTS", "f", *items(3))
            measured("CF.INSERTNX of a million that are in", "CF.INSERTNX", "f", "ITEMS", *items(4))
            file = measured("CF.DUMP of ten million", "CF.DUMP", "f")
            measured("CF.LOAD of ten million", "CF.LOAD", "loaded", file)
            # What as many bytes cost the server.
            measured("SET of as many bytes", "SET", "text", file)
            measured("GET of them", "GET", "text")
            client.execute_command("CF.RESERVE", "g", 10_000, "GROWTH", 1024, "SEED", 0)
            measured("CF.MADD of a million more", "CF.MADD", "g", *items(MILLIONS))
            measured("CF.MERGE of ten million and one", "CF.MERGE", "g", "f")
            chunks = measured("CF.SCANDUMP of all chunks", "CF.SCANDUMP", work=dump)
            measured("CF.LOADCHUNK of all chunks", "CF.LOADCHUNK", work=lambda: load(chunks))
            for number in range(MILLIONS):
                measured(f"CF.MDEL of million {number + 1}", "CF.MDEL", "f", *items(number))
            measured("CF.COMPACT of an empty one", "CF.COMPACT", "f")
            client.execute_command("CF.RESERVE", "short", 10_000, "GROWTH", 1024, "EXPIRE", 3600)
            measured("CF.MADD of a million that expire", "CF.MADD", "short", *items(0))
            measured("CF.ADVANCE by a day", "CF.ADVANCE", "short", int(time.time() + 86400) * 1000)
            measured("CF.COMPACT when all have expired", "CF.COMPACT", "short")
            measured("DEL of ten million", "DEL", "loaded")
            measured("DEL of eleven million", "DEL", "g")


main()
