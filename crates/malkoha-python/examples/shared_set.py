"""A set that several processes change at once, in a Valkey or Redis server with Malkoha's module.

    valkey-server --loadmodule libmalkoha_valkey.so
    python shared_set.py /page-1 /page-2    # in any number of processes

Each line is printed by one process alone: CF.ADDNX adds and reports in one step.
"""

import sys

import redis


def new(client, lines):
    seen = client.cf()
    return [line for line in lines if seen.addnx("seen", line)]


if __name__ == "__main__":
    print(*new(redis.Redis(decode_responses=True), sys.argv[1:]), sep="\n")
