//! The program itself, small: it runs, checks its answers and writes what it measured.

use std::fs::{self, File};
use std::process::Command;

use lab::report::read_csv;
use lab::results::{FAULTS, Row};

/// The median of a measure of a contender, if it was measured.
fn median(rows: &[Row], contender: &str, measure: &str) -> Option<f64> {
    let is_it = |row: &&Row| row.contender == contender && row.measure == measure;
    rows.iter().rfind(is_it).map(|row| row.median)
}

fn lab(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_lab")).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn a_quick_bench_verifies_and_writes_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/results.csv");
    let csv = path.to_str().unwrap();
    let layouts = "bucketed,semi-sorted,gap-windows,bucketed2:16";
    let quick = ["bench", "--quick", "--keys", "20000", "--layouts", layouts];
    let (good, text) = lab(&[&quick[..], &["--csv", csv, "--date", "today"]].concat());
    assert!(good, "{text}");
    assert!(fs::read_to_string(&path).unwrap().starts_with("# date: today\n# cpu: "));

    let rows: Vec<Row> = read_csv(File::open(&path).unwrap()).unwrap();
    let value = |contender: &str, measure: &str| {
        let found = median(&rows, contender, measure);
        found.unwrap_or_else(|| panic!("no {measure} of {contender} in {rows:#?}"))
    };
    for contender in ["bucketed:12", "semi-sorted:12", "gap-windows:11", "bucketed2:16"] {
        for fault in ["refused", "lost", "disagreements", "not removed"] {
            assert_eq!(value(contender, fault), 0.0, "{fault}");
        }
        let rates = ["insert single", "insert many 95-100 %", "find hashes 50 %", "remove many"];
        for rate in rates.into_iter().chain(["build", "build on 2"]) {
            assert!(value(contender, rate) > 0.0, "{rate}");
        }
    }
    // 262144 absent keys at 0.19 %: 490 false positives expected, 22 the standard deviation.
    let (fpr, stated) = (value("bucketed:12", "fpr"), value("bucketed:12", "expected fpr"));
    assert!((fpr / stated - 1.0).abs() < 0.25, "{fpr} against {stated}");
    assert!((12.5..12.8).contains(&value("bucketed:12", "bits a key")));
}

#[test]
fn maps_and_hash_tables_find_what_was_inserted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("maps.csv");
    let arguments = ["bench", "--maps", "--quick", "--keys", "3000", "--lookups", "10k", "--csv"];
    let (good, text) = lab(&[&arguments[..], &[path.to_str().unwrap()]].concat());
    assert!(good, "{text}");
    let rows: Vec<Row> = read_csv(File::open(&path).unwrap()).unwrap();
    for map in ["CuckooMap", "cuckoo table, 4 x 2", "HashMap of std, growing", "hashbrown"] {
        assert_eq!(median(&rows, map, "lost"), Some(0.0), "{map}");
    }
    let mut faults = rows.iter().filter(|row| row.unit == FAULTS);
    assert!(faults.all(|row| row.greatest == 0.0), "{text}");
}

/// The linker driver of Rust programs also compiles C.
#[cfg(unix)]
#[test]
fn a_shared_object_is_measured_with_ours() {
    let folder = tempfile::tempdir().unwrap();
    let (object, path) = (folder.path().join("bitmap.so"), folder.path().join("results.csv"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/bitmap.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-fPIC", "-shared", "-o"]).arg(&object).arg(source);
    assert!(compiler.status().unwrap().success());
    let (object, csv) = (object.to_str().unwrap(), path.to_str().unwrap());
    let quick = ["bench", "--quick", "--keys", "20000", "--layouts", "bucketed", "--csv", csv];
    let (good, text) = lab(&[&quick[..], &["--peer", object]].concat());
    assert!(good && text.contains("bucketed:12 over the others"), "{text}");

    let rows: Vec<Row> = read_csv(File::open(&path).unwrap()).unwrap();
    let value = |measure: &str| median(&rows, "bitmap", measure);
    assert_eq!((value("bits a key"), value("lost")), (Some(64.0), Some(0.0)));
    // One bit in 64 is set, 262144 keys are asked for.
    assert!(value("fpr").is_some_and(|percent| (1.4..1.7).contains(&percent)), "{rows:#?}");
    assert_eq!((value("find many 50 %"), value("remove single")), (None, None));

    let (good, text) = lab(&["bench", "--keys", "20000", "--peer", csv]);
    assert!(!good && text.contains("peer.h"), "{text}");
}

/// From 1000 keys, as people do without a capacity.
#[test]
fn growth_is_measured_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growth.csv");
    let arguments = ["grow", "--keys", "3000,20k", "--fpr", "0.01", "--csv"];
    let (good, text) = lab(&[&arguments[..], &[path.to_str().unwrap()]].concat());
    assert!(good, "{text}");
    let rows: Vec<Row> = read_csv(File::open(&path).unwrap()).unwrap();
    // Of the larger size, which comes last.
    let value = |kind: &str, measure: &str| median(&rows, &format!("{kind}, fpr 0.01"), measure);
    for kind in ["set", "map", "shared set", "shared map"] {
        for measure in ["one by one", "batches of 1,024", "one batch", "churn", "get", "99.99 %"] {
            assert!(value(kind, measure).is_some_and(|rate| rate > 0.0), "{kind}: {measure}");
        }
    }
    let fpr = value("set", "measured fpr").unwrap();
    assert!((0.005..1.2).contains(&fpr), "{fpr}");
    assert!(value("set", "unique, 65,536").is_some() && value("map", "unique, 65,536").is_none());
    assert!(value("shared map", "one by one, gain").is_some(), "{text}");
    assert!(value("set", "bits/key").is_some_and(|bits| (10.0..25.0).contains(&bits)), "{text}");
    assert!(value("hashbrown", "measured fpr").is_some_and(|fpr| fpr == 0.0), "{text}");
}

#[test]
fn threads_are_measured_on_every_filter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.csv");
    let arguments = ["threads", "--keys", "3000", "--threads", "1,2", "--runs", "1", "--csv"];
    let (good, text) = lab(&[&arguments[..], &[path.to_str().unwrap()]].concat());
    assert!(good, "{text}");
    let rows: Vec<Row> = read_csv(File::open(&path).unwrap()).unwrap();
    for filter in ["striped, parking", "one lock, elided MCS", "one owner, no sharing"] {
        for mix in ["lookups", "10 % inserts", "50 % inserts", "inserts"] {
            for way in ["one by one", "in batches"] {
                for threads in [1, 2] {
                    let measure = format!("{mix}, {way}, {threads} threads");
                    let found = median(&rows, filter, &measure);
                    assert!(found.is_some_and(|rate| rate > 0.0), "no {measure} of {filter}");
                }
            }
        }
    }
    for wrong in [["--threads", "0"], ["--threads", "1025"], ["--runs", "0"]] {
        let (good, text) = lab(&[&["threads", "--keys", "100"], &wrong[..]].concat());
        assert!(!good && text.contains("1 to 1024"), "{text}");
    }
    let (good, text) = lab(&["threads", "--only", "nest"]);
    assert!(!good && text.contains("striped, MCS"), "{text}");
}

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    let (good, text) = lab(&["bench", "--layouts", "nest"]);
    assert!(!good && text.contains("bucketed8"), "{text}");
    assert!(!lab(&["bench", "--layouts", "bucketed:x"]).0);
    let (good, text) = lab(&["bench", "--keys", "many"]);
    assert!(!good && text.contains("not a number"), "{text}");
}

/// No key is lost, and no operation does more than is promised, whoever chose the keys.
#[test]
fn a_short_soak_holds() {
    let (good, text) = lab(&["soak", "--operations", "300k"]);
    assert!(good, "{text}");
}

/// It once ran nothing, and said nothing.
#[test]
fn a_kind_that_soak_does_not_have_is_an_error_that_lists_those_it_has() {
    let (good, text) = lab(&["soak", "--operations", "1000", "--only", "fixed, set;nonsense"]);
    assert!(!good && text.contains("nonsense") && !text.contains("operations"), "{text}");
    for kind in lab::soak::KINDS {
        assert!(text.contains(kind), "{kind}: {text}");
    }
    let (good, text) = lab(&["soak", "--operations", "1000", "--only", "fixed, set;shared, map"]);
    assert!(good && text.contains("fixed, set") && text.contains("shared, map"), "{text}");
    assert!(!text.contains("one owner"), "{text}");
}
