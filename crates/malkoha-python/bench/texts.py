"""malkoha dedup, compared with other programs that remove duplicates: bench/texts.py --malkoha PATH [JOB ...].

Needs a release build with --features parquet, and duckdb, polars, pyarrow, rensa, datasketch, gaoya, dolma,
text-dedup and "datatrove[processing,io]". A job whose program is not there is left out. Makes 200,000 documents
of 60 to 300 words in 8 files, a fifth of them earlier ones with up to a tenth of the words changed, as JSON
lines, gzip and Parquet; --real takes texts of this machine instead: Debian's descriptions of packages, copyright
files, or the sources of crates. Each run is a process with 2 threads, from files to files, or to marks. Sides take
turns. Prints medians of --runs in Markdown: seconds, processor seconds, the peak memory of the largest process, and
what stays. Only malkoha's files are synchronised to the device.
"""

import argparse
import gzip
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import random
import re
import shutil
import statistics
import string
import subprocess
import sys
import time

FEW = 20_000  # documents for the slowest


def made(count):
    """Pairs of a text and the number of the one that it was made of."""
    random.seed(1)
    words = ["".join(random.choices(string.ascii_lowercase, k=random.randint(4, 8))) for _ in range(50_000)]
    texts = []
    for n in range(count):
        of = random.randrange(n) if n and random.random() < 0.2 else None
        if of is None:
            text = random.choices(words, k=random.randint(60, 300))
        else:
            text = texts[of].split(" ")
            for at in random.sample(range(len(text)), int(len(text) * random.uniform(0, 0.1))):
                text[at] = random.choice(words)
        texts.append(" ".join(text))
        yield texts[-1], of


def make(folder, count):
    documents = [{"id": str(n), "text": text, "of": of} for n, (text, of) in enumerate(made(count))]
    write(folder, [documents[part * count // 8 : (part + 1) * count // 8] for part in range(8)])


def descriptions():
    packages = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, errors="replace", check=True).stdout
    found = re.finditer(r"^Description(?:-en)?: (.*(?:\n .*)*)", packages, re.M)
    return [match[1].replace("\n ", "\n") for match in found]


def below(folder, pattern):
    texts = (path.read_bytes().decode(errors="replace") for path in sorted(folder.glob(pattern)) if path.is_file())
    return list(texts)


REAL = {
    "debian": descriptions,
    "copyright": lambda: below(pathlib.Path("/usr/share/doc"), "*/copyright"),
    "crates": lambda: below(pathlib.Path.home() / ".cargo/registry/src", "*/*/**/*.rs"),
}


def take(texts, folder):
    """The same files, of other texts."""
    documents = [{"id": str(n), "text": text} for n, text in enumerate(texts)]
    share = -(-len(documents) // 8)
    write(folder, [documents[first : first + share] for first in range(0, len(documents), share)])


def write(folder, parts):
    import pyarrow
    import pyarrow.parquet

    for name in ("jsonl", "documents", "parquet"):
        (folder / name).mkdir(parents=True)
    for number, part in enumerate(parts):
        lines = "".join(json.dumps(document) + "\n" for document in part)
        (folder / f"jsonl/{number}.jsonl").write_text(lines)
        (folder / f"documents/{number}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), 6))
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(part), folder / f"parquet/{number}.parquet")


def texts(most=None):
    """All documents, and the texts of the first ones."""
    lines = [line for path in sorted(pathlib.Path("jsonl").iterdir()) for line in open(path)][:most]
    return lines, [json.loads(line)["text"] for line in lines]


def keep(lines, kept):
    pathlib.Path("out.jsonl").write_text("".join(line for line, stays in zip(lines, kept) if stays))


def runs_of_words(text):
    words = text.split()
    return {" ".join(words[at : at + 5]) for at in range(max(len(words) - 4, 1))}


def duckdb(form):
    import duckdb

    duckdb.sql("set threads = 2")
    read, to = (("read_ndjson('jsonl/*')", "json") if form == "jsonl" else ("'parquet/*.parquet'", "parquet"))
    duckdb.sql(f"copy (select distinct on (text) * from {read}) to 'out.{form}' (format {to})")


def polars(form):
    import polars

    scan = polars.scan_ndjson("jsonl/*") if form == "jsonl" else polars.scan_parquet("parquet/*")
    frame = scan.unique("text", keep="first", maintain_order=True).collect()
    frame.write_ndjson("out.jsonl") if form == "jsonl" else frame.write_parquet("out.parquet")


def rensa():
    from rensa import RMinHash, RMinHashLSH

    lines, all_texts = texts()
    matrix = RMinHash.digest_matrix_from_token_sets([list(runs_of_words(text)) for text in all_texts], 128, 42)
    index = RMinHashLSH(0.8, 128, 16)
    flags = index.query_duplicate_flags_matrix_one_shot(matrix)
    keep(lines, [not flag for flag in flags])


def rensa_one_by_one():
    from rensa import RMinHash, RMinHashDeduplicator

    lines, all_texts = texts()
    seen, kept = RMinHashDeduplicator(0.8, 128, True, 16), []
    for number, text in enumerate(all_texts):
        minhash = RMinHash(128, 42)
        minhash.update(list(runs_of_words(text)))
        duplicate = seen.is_duplicate(str(number), minhash)
        if not duplicate:
            seen.add(str(number), minhash)
        kept.append(not duplicate)
    keep(lines, kept)


def datasketch():
    from datasketch import MinHash, MinHashLSH

    lines, all_texts = texts(FEW)
    index, kept = MinHashLSH(0.8, 128), []
    for number, text in enumerate(all_texts):
        minhash = MinHash(128)
        minhash.update_batch([run.encode() for run in runs_of_words(text)])
        kept.append(not index.query(minhash))
        if kept[-1]:
            index.insert(number, minhash)
    keep(lines, kept)


def gaoya():
    from gaoya.minhash import MinHashStringIndex

    lines, all_texts = texts()
    index = MinHashStringIndex(32, 0.8, 16, 8, None, "word", True, (5, 5), "smallvec")
    kept = []
    for number, text in enumerate(all_texts):
        kept.append(not index.query(text))
        if kept[-1]:
            index.insert_document(number, text)
    keep(lines, kept)


def text_dedup():
    options = "--path json --data_files jsonl/*.jsonl --split train --column text --output out --cache_dir cache"
    options += " --num_proc 2 --ngram 5 --num_perm 128 --b 16 --r 8 --threshold 0.8 --hash_func xxh3"
    subprocess.run([sys.executable, "-m", "text_dedup.minhash", *options.split()], check=True, stderr=sys.stderr)


def datatrove():
    from datatrove.executor.local import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    config, reader = MinhashConfig(n_grams=5, num_buckets=16, hashes_per_bucket=8), JsonlReader("jsonl")
    writer = JsonlWriter("out", compression=None)
    steps = [
        ([reader, MinhashDedupSignature("signatures", config)], 8),
        ([MinhashDedupBuckets("signatures", "buckets", config=config)], 16),
        ([MinhashDedupCluster("buckets", "remove", config=config)], 1),
        ([reader, MinhashDedupFilter("remove"), writer], 8),
    ]
    for number, (pipeline, tasks) in enumerate(steps):
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=2, logging_dir=f"logs/{number}").run()


def dolma():
    # Without the package, whose import takes longer than the work.
    folder = pathlib.Path(importlib.util.find_spec("dolma").submodule_search_locations[0])
    library = importlib.machinery.ExtensionFileLoader("dolma", str(next(folder.glob("dolma.*.so"))))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("dolma", library))
    library.exec_module(module)
    how = {"name": "d", "documents": {"attribute_name": "d", "key": "$.text"}, "document_dir": "documents"}
    bloom = {"file": "bloom", "read_only": False, "size_in_bytes": 0}
    bloom |= {"estimated_doc_count": 200_000, "desired_false_positive_rate": 1e-6}
    how |= {"skip_empty": False, "min_length": 0, "min_words": 0, "num_partitions": 1, "partition_index": 0}
    config = {"documents": [f"{os.getcwd()}/documents/*.gz"], "bloom_filter": bloom}
    config["dedupe"] = how | {"file_partition": False}
    config |= {"processes": 2, "work_dir": {"input": "work-in", "output": "work-out"}, "is_s3_volume": False}
    module.deduper_entrypoint(json.dumps(config))


def stays(job, name):
    """Documents that another program has left, from what it wrote."""
    if name == "Dolma":
        marks = [json.loads(line) for path in pathlib.Path("attributes/d").iterdir() for line in gzip.open(path)]
        return sum(not mark["attributes"].get("d") for mark in marks)
    if name == "text-dedup":
        import datasets

        return len(datasets.load_from_disk("out"))
    if job == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_metadata("out.parquet").num_rows
    out = pathlib.Path("out")
    return sum(1 for path in (out.iterdir() if out.exists() else [out.with_suffix(".jsonl")]) for _ in open(path))


JOBS = {
    "equal": (
        "equal texts, JSON lines",
        "-o out jsonl",
        {"DuckDB": lambda: duckdb("jsonl"), "Polars": lambda: polars("jsonl")},
    ),
    "parquet": (
        "equal texts, Parquet",
        "-o out parquet",
        {"DuckDB": lambda: duckdb("parquet"), "Polars": lambda: polars("parquet")},
    ),
    "marks": ("equal texts, marks of gzip", "--dry-run documents", {"Dolma": dolma}),
    "near": (
        "similar texts, JSON lines",
        "--near 0.8 -o out jsonl",
        {
            "rensa": rensa,
            "rensa, one by one": rensa_one_by_one,
            "gaoya": gaoya,
            "text-dedup": text_dedup,
            "datatrove": datatrove,
            f"datasketch, {FEW} documents": datasketch,
        },
    ),
}


def run(command, job, name):
    """Seconds, processor seconds, MB and documents that stay."""
    outputs = "out out.jsonl out.parquet attributes bloom cache signatures buckets remove logs work-in"
    for path in map(pathlib.Path, outputs.split()):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    # Another program starts it, because a process begins with the peak of the one that starts it.
    timed = ["/usr/bin/time", "-o", "usage", "-f", "%e %U %S %M", *command]
    with open("log", "w") as log:
        done = subprocess.run(timed, stdout=subprocess.PIPE, stderr=log, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed: see {os.getcwd()}/log")
    seconds, user, system, kibibytes = map(float, pathlib.Path("usage").read_text().split())
    kept = json.loads(done.stdout)["kept"] if name == "malkoha" else stays(job, name.rpartition(" ")[0])
    return seconds, user + system, kibibytes * 1024 / 1e6, kept


def version(name):
    try:
        return importlib.metadata.version(name.split(",")[0].lower())
    except importlib.metadata.PackageNotFoundError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("jobs", nargs="*", choices=[*JOBS, []])
    parser.add_argument("--malkoha", type=pathlib.Path, help="the command")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/malkoha-texts"))
    parser.add_argument("--real", choices=REAL, help="real texts")
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="names of other programs, with commas between them")
    parser.add_argument("--do", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.do:
        job, name = arguments.do.split("/")
        return JOBS[job][2][name]()
    if not arguments.folder.exists():
        real = arguments.real
        take(REAL[real](), arguments.folder) if real else make(arguments.folder, arguments.documents)
    malkoha, program = arguments.malkoha.resolve(), pathlib.Path(__file__).resolve()
    os.chdir(arguments.folder)
    cpu = next((line for line in open("/proc/cpuinfo") if line.startswith("model name")), ": unknown")
    machine = f"{cpu.split(':')[1].strip()}, {os.cpu_count()} processors"
    print(f"{time.strftime('%Y-%m-%d')}, {machine}, Python {platform.python_version()}")
    print("\n| job | program | seconds | of processors | MB | stay |")
    print("| --- | --- | ---: | ---: | ---: | ---: |", flush=True)
    for job in arguments.jobs or JOBS:
        title, options, others = JOBS[job]
        command = [malkoha, "dedup", "--json", "--field", "text", *options.split()]
        sides = {"malkoha": command}
        for name in others:
            if version(name) and (not arguments.only or name in arguments.only.split(",")):
                sides[f"{name} {version(name)}"] = [sys.executable, program, "--do", f"{job}/{name}"]
        measured = {name: [] for name in sides}
        for _ in range(arguments.runs):
            for name, command in sides.items():
                measured[name].append(run(command, job, name))
        for name, runs in measured.items():
            seconds, processors, memory, kept = map(statistics.median, zip(*runs))
            print(f"| {title} | {name} | {seconds:.2f} | {processors:.2f} | {memory:.0f} | {kept:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
