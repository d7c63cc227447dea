"""A consumer that handles each message once, although a queue delivers it again after a crash.

    python once.py STORE < messages        # lines of an identifier and an amount

`apply` changes the store itself: the effect and the mark are one batch, so a crash leaves both or
neither. `send` has an effect elsewhere, which no batch includes. A crash between effect and mark
repeats the effect, so its receiver must know the identifier, or drop what it gets twice.
"""

import sys

from malkoha import Store

# Longer than any queue delivers a message again.
REMEMBERED = 7 * 24 * 3600


class Consumer:
    def __init__(self, store, between=lambda: None):
        self.store, self.done, self.between = store, store.table("done"), between

    def apply(self, message, amount):
        """Adds to the total; returns whether the message was new."""
        if message in self.done:
            return False
        with self.store.batch() as batch:
            batch["total"] = str(int(self.store.get("total", 0)) + amount)
            self.between()
            batch.put(message, b"", ttl=REMEMBERED, table=self.done)
        return True

    def send(self, message, effect):
        """Calls `effect`, and again after a crash before the mark."""
        if message in self.done:
            return False
        effect(message)
        self.between()
        self.done.put(message, b"", ttl=REMEMBERED)
        return True


def main():
    # With "always", a power cut does not undo what was acknowledged to the queue.
    with Store(sys.argv[1], durability="always") as store:
        consumer = Consumer(store)
        for line in sys.stdin:
            message, amount = line.split()
            print(message, "new" if consumer.apply(message, int(amount)) else "again")
        print("total", int(store["total"]))


if __name__ == "__main__":
    main()
