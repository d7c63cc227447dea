"""Active defragmentation among small filters: keys that were moved, and whether all are as before.

Debian's servers cannot defragment; one built with its own jemalloc can, put in the path as redis-server
or valkey-server:

MALKOHA_MODULE=target/release/libmalkoha_valkey.so python crates/malkoha-valkey/bench/defrag.py redis
"""

import sys

from common import Server
from servers import digest, until

FILTERS = 40_000
SETTINGS = {
    "active-defrag-ignore-bytes": 1,
    "active-defrag-threshold-lower": 0,
    "active-defrag-cycle-min": 90,
    "active-defrag-cycle-max": 95,
    "activedefrag": "yes",
}


def every(client, numbers, *words):
    """A command on each of these filters; its replies."""
    pipe = client.pipeline(transaction=False)
    for number in numbers:
        name, *rest = [str(word).format(number) for word in words]
        pipe.execute_command(name, *rest)
    return pipe.execute()


def main():
    kept = range(0, FILTERS, 4)
    with Server(sys.argv[1]) as server:
        client = server.client()
        every(client, range(FILTERS), "CF.RESERVE", "filter {}", 10)
        every(client, range(FILTERS), "CF.ADD", "filter {}", "item {}")
        every(client, (n for n in range(FILTERS) if n % 4), "DEL", "filter {}")
        before = [digest(client, f"filter {n}") for n in kept]
        for name, value in SETTINGS.items():
            client.config_set(name, value)
        moved = lambda: client.info("stats")["active_defrag_key_hits"]
        until(lambda: moved() > FILTERS // 20, "filters are moved")
        assert before == [digest(client, f"filter {n}") for n in kept]
        assert all(every(client, kept, "CF.EXISTS", "filter {}", "item {}"))
        assert all(every(client, kept, "CF.ADD", "filter {}", "another"))
        every(client, kept, "DEL", "filter {}")
        print(f"{moved()} keys of {len(kept)} filters moved, all as before")


main()
