"""A block device in memory that remembers what was written to it, in order, and what was flushed.

One file, served by FUSE, with a loop device on it: below a real file system, without a driver of its
own. Linux turns the flushes of the loop device into syncs of the file. After a power cut a disk has all
that was flushed before, and of later writes any: `image` says what was left.

Needs /dev/fuse and the rights of the administrator. Nothing but the standard library.
"""

import ctypes
import os
import random
import stat
import struct
import subprocess
import threading

SECTOR = 512
LOOKUP, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT = (
    1, 3, 4, 14, 15, 16, 17, 18, 20, 25, 26)
NO_ANSWER = (2, 36, 42)  # FORGET, INTERRUPT, BATCH_FORGET
OPENDIR, RELEASEDIR, ACCESS, DESTROY = 27, 29, 34, 38
ENOENT, EIO, ENOSYS = 2, 5, 38
BIG_WRITES, MAX_PAGES, DIRECT = 1 << 5, 1 << 22, 1
ROOT, FILE = 1, 2
MOST = 1 << 20

libc = ctypes.CDLL(None, use_errno=True)


class Recorder:
    """The file, its bytes, and a journal of (offset, bytes), 'flush' and what `note` was given."""

    def __init__(self, directory, size):
        self.bytes = bytearray(size)
        self.base = None
        self.journal = []
        self.recording = False
        self.failing = 0.0
        self.failed = 0
        self.chance = random.Random(1)
        self.lock = threading.Lock()
        self.directory = directory
        os.makedirs(directory, exist_ok=True)
        self.fuse = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.fuse},rootmode=40000,user_id=0,group_id=0"
        if libc.mount(b"recorder", directory.encode(), b"fuse", 0, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), f"cannot mount a FUSE file system on {directory}")
        threading.Thread(target=self.serve, daemon=True).start()
        self.file = os.path.join(directory, "disk")

    def close(self):
        subprocess.run(["umount", "-l", self.directory], check=False)

    def record(self):
        """Remembers all that is written from here on."""
        with self.lock:
            self.base, self.journal, self.recording = bytes(self.bytes), [], True

    def note(self, what):
        with self.lock:
            if self.recording:
                self.journal.append(what)

    def image(self, events, chance, sector=SECTOR):
        """The bytes after a power cut behind so many events: writes since the last flush are there or
        not, sector by sector."""
        disk = bytearray(self.base)
        pending = []
        for event in self.journal[:events]:
            if event == "flush":
                for offset, data in pending:
                    disk[offset:offset + len(data)] = data
                pending = []
            elif isinstance(event[0], int):
                pending.append(event)
        # All of it, nothing, or something of each.
        share = chance.choice((0.0, 0.2, 0.5, 0.8, 1.0))
        for offset, data in pending:
            for at in range(0, len(data), sector):
                if chance.random() < share:
                    disk[offset + at:offset + at + sector] = data[at:at + sector]
        return disk

    def serve(self):
        while True:
            try:
                request = os.read(self.fuse, MOST + 4096)
            except OSError as error:
                if error.errno == ENOENT:
                    continue
                return
            length, opcode, unique, node = struct.unpack_from("<IIQQ", request)
            if opcode in NO_ANSWER:
                continue
            try:
                answer, code = self.answer(opcode, node, request[40:length]), 0
            except OSError as error:
                answer, code = b"", -error.errno
            try:
                os.write(self.fuse, struct.pack("<IiQ", 16 + len(answer), code, unique) + answer)
            except OSError:
                pass

    def attributes(self, node):
        mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o600
        size = 0 if node == ROOT else len(self.bytes)
        times = (0, 0, 0, 0, 0, 0)
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, size // 512, *times[:3], *times[3:], mode,
                           1, 0, 0, 0, 4096, 0)

    def fail(self):
        if self.failing and self.chance.random() < self.failing:
            self.failed += 1
            raise OSError(EIO, "as asked")

    def answer(self, opcode, node, body):
        if opcode == INIT:
            return struct.pack("<IIIIHHIIHHI28x", 7, 31, MOST, BIG_WRITES | MAX_PAGES, 16, 12, MOST, 1,
                               MOST // 4096, 0, 0)
        if opcode == LOOKUP:
            if body.rstrip(b"\0") != b"disk":
                raise OSError(ENOENT, "no such file")
            return struct.pack("<QQQQII", FILE, 0, 3600, 3600, 0, 0) + self.attributes(FILE)
        if opcode in (GETATTR, SETATTR):
            return struct.pack("<QII", 3600, 0, 0) + self.attributes(node)
        if opcode in (OPEN, OPENDIR):
            return struct.pack("<QII", 0, DIRECT if opcode == OPEN else 0, 0)
        if opcode == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            self.fail()
            return bytes(self.bytes[offset:offset + size])
        if opcode == WRITE:
            _, offset, size = struct.unpack_from("<QQI", body)
            self.fail()
            data = body[40:40 + size]
            with self.lock:
                self.bytes[offset:offset + size] = data
                if self.recording:
                    self.journal.append((offset, data))
            return struct.pack("<II", size, 0)
        if opcode == FSYNC:
            self.fail()
            self.note("flush")
            return b""
        if opcode in (FLUSH, RELEASE, RELEASEDIR, ACCESS, DESTROY):
            return b""
        if opcode == STATFS:
            return struct.pack("<QQQQQIIII24x", 1 << 20, 1 << 20, 1 << 20, 1, 1, 4096, 255, 4096, 0)
        raise OSError(ENOSYS, "not offered")
