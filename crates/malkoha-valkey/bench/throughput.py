"""CF.* against SET and GET of the same server: requests a second, and the server's processor time a
command. As CSV, with the load of the machine.

MALKOHA_MODULE=target/release/libmalkoha_valkey.so python crates/malkoha-valkey/bench/throughput.py
"""

import csv
import os
import subprocess
import sys

from common import KINDS, Server, processor_seconds

ITEM = "__rand_int__"
COMMANDS = [
    ["SET", f"k:{ITEM}", "v"],
    ["GET", f"k:{ITEM}"],
    ["CF.ADD", "f", ITEM],
    ["CF.EXISTS", "f", ITEM],
    ["CF.MEXISTS", "f", *[ITEM] * 10],
    ["CF.DEL", "f", ITEM],
]


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["server", "pipeline", "command", "requests", "requests_per_second",
                    "server_us_per_command", "p50_ms", "p99_ms", "load_average"])
    for kind in KINDS:
        with Server(kind) as server:
            client = server.client()
            client.execute_command("CF.RESERVE", "f", 1_000_000)
            for pipeline, requests in [(50, 1_000_000), (1, 60_000)]:
                for command in COMMANDS:
                    before = processor_seconds(client)
                    done = subprocess.run(
                        [f"{kind}-benchmark", "-p", str(server.port), "-c", "20", "-r", "1000000",
                         "-n", str(requests), "-P", str(pipeline), "--csv", *command],
                        capture_output=True, text=True, check=True)
                    used = (processor_seconds(client) - before) / requests * 1e6
                    figures = list(csv.reader(done.stdout.splitlines()))[-1]
                    table.writerow([kind, pipeline, command[0], requests, figures[1],
                                    f"{used:.2f}", figures[4], figures[6],
                                    f"{os.getloadavg()[0]:.1f}"])
                    sys.stdout.flush()


main()
