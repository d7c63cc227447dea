"""Texts: the same decisions from all columns, threads and calls, and those of an oracle."""

import copy
import json
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import optional

from malkoha import BuildError, ReadError, UnionError
from malkoha.text import Deduplicator

pa, pd, pl = (optional(name) for name in ("pyarrow", "pandas", "polars"))

METHODS = [{}, {"words": True}, {"near": 0.8}, {"near": 0.8, "numbered": True}, {"paragraphs": True}]
each_method = pytest.mark.parametrize("options", METHODS, ids=str)


def made(count, seed=1):
    """Texts of which about a third are those before them, equal or with some words changed."""
    chance = random.Random(seed)
    words = [f"wört{n}" if n % 7 == 0 else f"word{n}" for n in range(3000)]
    texts = []
    for _ in range(count):
        if texts and chance.random() < 0.35:
            text = chance.choice(texts).split(" ")
            for _ in range(chance.choice([0, 0, 1, 4, 20])):
                text[chance.randrange(len(text))] = chance.choice(words)
        else:
            text = chance.choices(words, k=chance.randrange(1, 120))
            for at in range(20, len(text), 21):
                text[at] += "\nthe same line in many texts\n"
        texts.append(" ".join(text))
    return texts


TEXTS = made(1500)


def columns(texts):
    yield "list", texts
    yield "generator", (text for text in texts)
    yield "numpy str", np.array(texts)
    yield "numpy objects", np.array(texts, dtype=object)
    yield "numpy StringDType", np.array(texts, dtype=np.dtypes.StringDType())
    yield "numpy bytes", np.char.encode(np.array(texts), "utf-8")
    for kind in ("string", "large_string", "string_view", "large_binary"):
        yield kind, pa.array(texts).cast(kind)
    yield "slice", pa.array(["first", *texts, "last"])[1:-1]
    yield "chunks", pa.chunked_array([texts[:7], [], texts[7:]])
    yield "dictionary", pa.array(texts).dictionary_encode()
    yield "table", pa.table({"text": texts})
    yield "pandas", pd.Series(texts)
    yield "pandas objects", pd.Series(texts, dtype=object)
    yield "categories", pd.Series(texts, dtype="category")
    yield "polars", pl.Series(texts)


@pytest.mark.parametrize("options", [{}, {"near": 0.8}], ids=str)
def test_all_columns_of_texts_are_equal(options):
    texts = [text for text in TEXTS[:300] if text] + ["", "a\0b"]
    wanted = Deduplicator(**options).keep(texts, threads=1)
    assert wanted.dtype == bool and 0 < wanted.sum() < len(texts)
    for name, column in columns(texts):
        seen = Deduplicator(**options)
        assert (seen.keep(column) == wanted).all(), name
        assert len(seen) == seen.kept == wanted.sum() and seen.decided == len(texts)


@each_method
def test_decisions_depend_on_the_order_alone(options):
    seen = Deduplicator(**options)
    wanted, cut = seen.keep(TEXTS, threads=1), Deduplicator(**options).cut(TEXTS)
    assert 0 < wanted.sum() < len(TEXTS)
    assert [text is not None for text in cut] == wanted.tolist()
    for threads, size in [(2, 1500), (7, 1500), (2, 100), (None, 7), (1, 1)]:
        other = Deduplicator(**options)
        parts = [TEXTS[i : i + size] for i in range(0, len(TEXTS), size)]
        assert (np.concatenate([other.keep(part, threads=threads) for part in parts]) == wanted).all()
        assert other.to_bytes() == seen.to_bytes()
    again = Deduplicator(**options)
    for start in range(0, len(TEXTS), 500):
        again = pickle.loads(pickle.dumps(again))
        part = slice(start, start + 500)
        assert (again.keep(TEXTS[part]) == wanted[part]).all()


def first_of(texts, of):
    numbers = {}
    return [-1 if numbers.setdefault(of(text), i) == i else numbers[of(text)] for i, text in enumerate(texts)]


def words_of(text):
    return tuple("".join(c if c.isalnum() else " " for c in text.lower()).split())


@pytest.mark.parametrize("options, of", [({}, str), ({"words": True}, words_of)], ids=["exact", "words"])
def test_equal_texts_are_those_of_a_dict(options, of):
    texts = [text.title() + "." if i % 3 == 0 else text for i, text in enumerate(TEXTS)]
    wanted = first_of(texts, of)
    assert Deduplicator(numbered=True, **options).duplicates_of(texts).tolist() == wanted
    assert Deduplicator(**options).keep(texts).tolist() == [number < 0 for number in wanted]


def runs(text):
    words = words_of(text)
    return {words[i : i + 5] for i in range(max(1, len(words) - 4))}


def test_similar_texts_are_those_of_brute_force():
    sets = [runs(text) for text in TEXTS]
    similarity = lambda a, b: len(sets[a] & sets[b]) / len(sets[a] | sets[b])
    numbers = Deduplicator(0.8, numbered=True).duplicates_of(TEXTS).tolist()
    kept, missed, similar = [], 0, 0
    for i, of in enumerate(numbers):
        if of >= 0:
            # The curve of 16 bands of 8 rows finds a pair of 0.3 once in a thousand times.
            assert of in kept and similarity(i, of) > 0.3
            similar += 1
        else:
            missed += any(similarity(i, other) >= 0.8 for other in kept)
            kept.append(i)
    assert similar > 300 and missed < 0.02 * similar
    # The rate of wrong losses is 0.0001 for each text.
    assert abs(int(Deduplicator(0.8).keep(TEXTS).sum()) - len(kept)) <= 3


def test_paragraphs_are_those_of_a_set():
    known, wanted = set(), []
    for text in TEXTS:
        lines, within = [], set()
        for line in text.splitlines(keepends=True):
            content = line.strip()
            if content and (content in known or content in within):
                continue
            within |= {content}
            lines.append(line)
        left = sum(len(line.strip().encode()) for line in lines)
        is_cut = len(lines) < len(text.splitlines())
        if is_cut and left < 100:
            wanted.append(None)
        else:
            wanted.append("".join(lines))
            known |= within
    assert Deduplicator(paragraphs=True).cut(TEXTS) == wanted
    # Lines of the same text alone, of a minimal length.
    twice = Deduplicator(paragraphs=True, min_left=0, min_paragraph=4, numbered=True)
    assert twice.cut(["koel\nabc\nkoel\nabc"]) == ["koel\nabc\nabc"]
    strict = Deduplicator(paragraphs=True, numbered=True)
    assert strict.duplicates_of(["x" * 200, "y\ny", "x" * 200 + "\nz"]).tolist() == [-1, 1, 0]


def test_nulls_are_refused_or_kept():
    texts = ["a", None, "b", "a", None]
    arrow = lambda: pa.array(texts)
    for make in (lambda: texts, lambda: np.array(texts, dtype=object), arrow):
        with pytest.raises(ValueError, match="row 1 is null: .*keep_null=True"):
            Deduplicator().keep(make())
        seen = Deduplicator(numbered=True)
        assert seen.keep(make(), keep_null=True).tolist() == [True, True, True, False, True]
        assert seen.duplicates_of(make(), keep_null=True).tolist() == [0, -1, 2, 0, -1]
        assert (seen.decided, seen.kept) == (10, 2)
        assert Deduplicator().cut(make(), keep_null=True) == ["a", None, "b", None, None]


@pytest.mark.parametrize(
    "texts, error, message",
    [
        ("koel", TypeError, "in a list"),
        (["a", 5], TypeError, "row 1 is no text but int: give str"),
        (["a", "\ud800"], ValueError, "row 1 is not Unicode text"),
        (np.array([b"a", b"\xff"]), ValueError, "row 1 is not Unicode text"),
        (np.arange(3), TypeError, "a batch of int64 is no text: give str"),
        (np.array([["a"]]), ValueError, "one dimension"),
    ],
)
def test_other_objects_are_no_texts(texts, error, message):
    seen = Deduplicator()
    with pytest.raises(error, match=message):
        seen.keep(texts)
    assert seen.decided == 0


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"near": 0.2}, BuildError, "between 0.3 and 0.99"),
        ({"near": 0.8, "shingle": 0}, BuildError, "1 to 1000"),
        ({"near": 0.8, "shingle": "c"}, BuildError, "13c"),
        ({"near": 0.8, "bands": (100, 100)}, BuildError, "at most 4096"),
        ({"near": 0.8, "rate": 0.5}, BuildError, "between 1e-6 and 0.1"),
        ({"near": 0.8, "words": True}, TypeError, "give one"),
        ({"shingle": 5}, TypeError, "give near"),
        ({"words": True, "min_left": 5}, TypeError, "paragraphs=True"),
        ({"key": b"short"}, ValueError, "16 bytes"),
    ],
    ids=str,
)
def test_impossible_options_say_the_limit(options, error, message):
    with pytest.raises(error, match=message):
        Deduplicator(**options)


@each_method
def test_states_come_back(options, tmp_path):
    seen, path = Deduplicator(seed=7, **options), tmp_path / "seen.state"
    seen.keep(TEXTS)
    seen.save(path)
    seen.save(path)
    assert [one.name for one in tmp_path.iterdir()] == ["seen.state"]
    for again in (
        Deduplicator.open(str(path)),
        Deduplicator.from_bytes(bytearray(path.read_bytes())),
        copy.copy(seen),
    ):
        assert again.to_bytes() == seen.to_bytes() == path.read_bytes()
        assert (again.kept, again.decided) == (seen.kept, seen.decided) and again
        assert not Deduplicator.open(path).keep(TEXTS[:1])[0]
    assert seen.size_in_bytes > 0 and (0 < seen.expected_wrong_loss < 2e-4) == ("near" in options)


def test_damaged_states_are_refused(tmp_path):
    seen = Deduplicator(near=0.8)
    seen.keep(TEXTS[:50])
    state = seen.to_bytes()
    for at in range(0, len(state), max(len(state) // 100, 1)):
        with pytest.raises(ReadError):
            Deduplicator.from_bytes(state[:at])
        with pytest.raises(ReadError):
            Deduplicator.from_bytes(state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :])
    with pytest.raises(ReadError, match="names of files"):
        Deduplicator.from_bytes(state + b"[]")
    with pytest.raises(FileNotFoundError) as error:
        Deduplicator.open(tmp_path / "none")
    assert error.value.filename == str(tmp_path / "none")
    with pytest.raises(OSError):
        seen.save(tmp_path / "none" / "seen")


def test_united_ones_know_the_texts_of_both():
    ours, theirs = Deduplicator(near=0.8), Deduplicator(near=0.8)
    kept = ours.keep(TEXTS[:700]).sum() + theirs.keep(TEXTS[700:]).sum()
    ours.unite(theirs)
    ours.unite(ours)
    assert ours.kept == kept and not ours.keep(TEXTS).any()
    for other in (Deduplicator(), Deduplicator(near=0.8, numbered=True), Deduplicator(0.8, seed=1)):
        with pytest.raises(UnionError):
            ours.unite(other)


@pytest.mark.parametrize("threads", [1, 3])
def test_keys_of_other_processes_decide_as_texts_do(threads):
    options = {"near": 0.7, "shingle": "13c", "bands": (20, 6)}
    seen, texts = Deduplicator(**options), Deduplicator(**options)
    keys = Deduplicator(**options).band_keys(TEXTS, threads=threads)
    assert keys.shape == (len(TEXTS), 20) and keys.dtype == np.uint64
    wanted = texts.keep(TEXTS)
    assert (np.concatenate([seen.keep_keys(keys[:99]), seen.keep_keys(keys[99:])]) == wanted).all()
    assert seen.to_bytes() == texts.to_bytes()
    unaligned = np.frombuffer(b" " + keys.tobytes(), np.uint8)[1:].view(np.uint64)
    assert not seen.keep_keys(unaligned.reshape(keys.shape)).any()
    assert seen.band_keys([]).shape == (0, 20) and seen.keep_keys(keys[:0]).shape == (0,)
    # Keys that repeat the one before them are none.
    few = Deduplicator(**options)
    assert few.keep_keys(keys[:, :1].repeat(20, axis=1)).sum() == few.kept
    assert few.expected_wrong_loss < texts.expected_wrong_loss / 10
    for wrong in (keys[:, :5], keys[0], keys.astype("int32"), [1]):
        with pytest.raises(TypeError, match="uint64 with 20 columns"):
            seen.keep_keys(wrong)
    with pytest.raises(TypeError, match="give near"):
        Deduplicator().keep_keys(keys)
    with pytest.raises(TypeError, match="numbered=True"):
        seen.duplicates_of(TEXTS)


@pytest.mark.parametrize(
    "options, arguments",
    [
        ({}, []),
        ({"near": 0.8, "seed": 5}, ["--near", "0.8", "--seed", "5"]),
        ({"near": 0.7, "shingle": "13c", "bands": (20, 6)}, "--near 0.7 --shingle 13c --bands 20x6".split()),
        ({"paragraphs": True, "min_left": 50}, ["--paragraphs", "--min-left", "50"]),
    ],
    ids=str,
)
def test_states_go_to_the_command_and_back(command, tmp_path, options, arguments):
    state, wanted = tmp_path / "seen.state", Deduplicator(**options).cut(TEXTS)

    def by_command(texts):
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        out = command("dedup", "-q", "--field", "text", "--seen", state, *arguments, stdin=lines.encode())
        return [json.loads(line)["text"] for line in out.splitlines()]

    first = Deduplicator(**options)
    assert first.cut(TEXTS[:500]) == wanted[:500]
    first.save(state)
    assert by_command(TEXTS[500:1000]) == [text for text in wanted[500:1000] if text is not None]
    last = Deduplicator.open(state)
    assert last.decided == 1000 and last.cut(TEXTS[1000:]) == wanted[1000:]


def test_threads_share_one():
    seen = Deduplicator()
    with ThreadPoolExecutor(4) as pool:
        masks = list(pool.map(seen.keep, [TEXTS] * 4))
    assert np.sum(masks) == len(set(TEXTS)) == seen.kept
