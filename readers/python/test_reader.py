"""The reader against the vectors of the library: python test_reader.py"""

import json
import pathlib

from malkoha_reader import Filter, FormatError, sip13, xxh3

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main() -> None:
    vectors = json.loads((ROOT / "readers/vectors.json").read_text())
    for vector in vectors["xxh3"]:
        data = bytes((i * 167 + 13) % 256 for i in range(vector["bytes"]))
        assert xxh3(data, int(vector["seed"], 16)) == int(vector["xxh3"], 16), vector
    for vector in vectors["sip13"]:
        data = bytes((i * 167 + 13) % 256 for i in range(vector["bytes"]))
        assert sip13(data, *(int(key, 16) for key in vector["key"])) == int(vector["sip13"], 16)
    answers = 0
    for vector in vectors["files"]:
        data = bytearray((ROOT / vector["file"]).read_bytes())
        filter = Filter(bytes(data))
        filter.verify()
        for key, answer in enumerate(vector["answers"]):
            assert (key.to_bytes(8, "little") in filter) == (answer == "1"), (vector["file"], key)
            answers += 1
        data[140] ^= 4
        refused(bytes(data))
        refused(bytes(data[:150]))
    print(f"python: {len(vectors['files'])} files, {answers} answers as they should be")


def refused(data: bytes) -> None:
    try:
        Filter(data).verify()
    except FormatError:
        return
    raise AssertionError("a damaged file was not refused")


if __name__ == "__main__":
    main()
