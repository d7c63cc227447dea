//! `malkoha uniq`, with a hash set as its oracle.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;

use crate::harness::Dir;

#[test]
fn prints_first_occurrences_in_order() {
    let dir = Dir::with("input", "b\na\nb\n\nc\na\n\n");
    dir.run("uniq input").prints("b\na\n\nc\n");
    dir.run("uniq input input").prints("b\na\n\nc\n");
    dir.run("uniq --repeated input").prints("b\na\n\n");
    dir.pipe("x\r\nx\nx", "uniq").prints("x\r\nx\n");
    dir.pipe(b"a\nb\0c\0a\nb", "uniq -0").prints(b"a\nb\0c\0");
    dir.pipe("", "uniq").finds_nothing();
    dir.pipe("a\nb\n", "uniq --repeated").finds_nothing();
}

/// From a capacity of ten too, so that the filter grows many times.
#[test]
fn grows_with_the_stream() {
    let (mut input, mut expected, mut seen) = (String::new(), String::new(), HashSet::new());
    let mut state = 1_u64;
    for _ in 0..200_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let line = (state >> 33) % 100_000;
        writeln!(input, "{line}").unwrap();
        if seen.insert(line) {
            writeln!(expected, "{line}").unwrap();
        }
    }
    let dir = Dir::with("input", input);
    for options in ["", "--capacity 10", "--capacity 50k", "--seed 9 --capacity 100k"] {
        dir.run(&format!("uniq {options} input")).prints(&expected);
        dir.shell(&format!("cat input | malkoha uniq {options}")).prints(&expected);
    }
    // At this rate one such stream in fifty loses a line; this one does not.
    dir.run("uniq --approximate --seed 9 --capacity 100k input").prints(&expected);
    let run = dir.run("uniq --approximate --json --capacity 50000 input").succeeds();
    let record: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(record["lines"], 200_000);
    assert_eq!(record["distinct"], seen.len());
    assert!(record["fpr"].as_f64().unwrap() < 1e-6, "{record}");
    let bits = record["bytes"].as_f64().unwrap() * 8.0 / seen.len() as f64;
    assert!(bits < 40.0, "{bits} bits per line");
}

#[test]
fn lines_come_out_while_the_input_is_open() {
    let dir = Dir::new();
    let mut command = dir.command("uniq --line-buffered");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in ["a", "b"] {
        writeln!(input, "{line}").unwrap();
        assert_eq!(output.next().unwrap().unwrap(), line);
    }
    drop(input);
    assert!(output.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn says_before_it_starts_what_it_cannot() {
    let dir = Dir::with("input", "a\na\n");
    dir.run("uniq --approximate --fpr 1e-7 input").prints("a\n");
    let run = dir.pipe("a\n", "uniq --approximate --fpr 1e-12");
    assert_eq!((run.code, run.stdout.len()), (Some(2), 0));
    assert!(run.stderr.contains("ask for at least"), "{}", run.stderr);
}

/// With awk as the oracle: from files, where lines are compared, and from streams.
#[test]
fn counts_duplicates_and_unique_lines() {
    let dir = Dir::new();
    dir.shell(
        "RANDOM=1; for i in {1..6000}; do echo $((RANDOM % 3000)); done > one
         RANDOM=2; for i in {1..6000}; do echo $((RANDOM % 3000)); done > two; printf last >> two",
    )
    .prints("");
    let order = "!($0 in n) { o[++k] = $0 } { n[$0]++ }";
    for (option, awk) in [
        (
            "-c",
            format!(
                "{order} END {{ for (i = 1; i <= k; i++) printf \"%7d %s\\n\", n[o[i]], o[i] }}"
            ),
        ),
        ("-u", format!("{order} END {{ for (i = 1; i <= k; i++) if (n[o[i]] == 1) print o[i] }}")),
        ("-d", "++n[$0] == 2".to_owned()),
        ("--repeated", "n[$0]++".to_owned()),
    ] {
        let expected = dir.shell(&format!("cat one two | awk '{awk}'")).succeeds().stdout;
        for threads in [1, 2] {
            let uniq = format!("uniq --threads {threads} --capacity 10 {option}");
            dir.run(&format!("{uniq} one two")).prints(&expected);
            dir.shell(&format!("cat one two | malkoha {uniq}")).prints(&expected);
            dir.shell(&format!("cat two | malkoha {uniq} one -")).prints(&expected);
        }
    }
    dir.pipe("a\n", "uniq -d").finds_nothing();
    dir.pipe("a\na\n", "uniq -u").finds_nothing();
    dir.pipe(b"a\nb\0a\nb", "uniq -0 -c").prints(b"      2 a\nb\0");
}

/// What is appended while the file is read is left for the next time.
#[test]
fn a_file_that_grows_is_read_as_it_was() {
    let dir = Dir::with("input", "a\nb\n");
    dir.run("uniq input input").prints("a\nb\n");
    dir.shell("malkoha uniq --repeated input input | tee -a input > out").prints("");
    assert_eq!(dir.read("out"), b"a\nb\n");
}

/// Lines of a week, each with its time, beside a list of when each word was there last.
#[test]
fn lines_are_new_again_after_a_time() {
    let (mut input, mut expected, mut last) = (String::new(), String::new(), HashMap::new());
    let (mut state, mut time, day) = (1_u64, 1_790_000_000_u64, 86_400);
    for _ in 0..60_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        time += (state >> 33) % 20;
        // Word 7 is there all the time, others for half a day in three, so that no gap is between a
        // day and a fifteenth more.
        let is_other = time % (3 * day) < day / 2 && state >> 63 == 1;
        let word = if is_other { (state >> 40) % 500 + 100 } else { 7 };
        let line = format!("{time} {word}\n");
        input += &line;
        if last.insert(word, time).is_none_or(|at| time - at > day) {
            expected += &line;
        }
    }
    let dir = Dir::with("log", &input);
    let options = "--within 24h --time-field 1 -t ' ' -k 2";
    dir.shell(&format!("malkoha uniq {options} --renew log")).prints(&expected);
    let printed = dir.shell(&format!("malkoha uniq {options} log")).succeeds().stdout;
    let printed = String::from_utf8(printed).unwrap();
    let others = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.ends_with(" 7")).map(str::to_owned).collect()
    };
    assert!(others(&printed) == others(&expected) && others(&expected).len() > 1_000);
    // Again when a day has passed since it was printed, and a fifteenth more at most.
    let sevens = printed.lines().filter_map(|line| line.strip_suffix(" 7"));
    let times: Vec<u64> = sevens.map(|time| time.parse().unwrap()).collect();
    let gaps: Vec<u64> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps.len() > 4 && gaps.iter().all(|gap| (day..day + day / 15 + 200).contains(gap)));
}

#[test]
fn lines_have_the_time_of_their_arrival() {
    let dir = Dir::new();
    dir.pipe("a\nb\na\n", "uniq --within 1h").prints("a\nb\n");
    dir.pipe("a\nb\na\n", "uniq --within 1h --repeated").prints("a\n");
    let run = dir.shell("{ echo a; sleep 1; echo a; } | malkoha uniq --within 100ms");
    run.prints("a\na\n");
    let run = dir.pipe("a\tx\n", "uniq --within 1h --time-field 1");
    assert!(run.code == Some(2) && run.stderr.contains("'a' is no time"), "{run:?}");
    dir.pipe("1\tx\n", "uniq --within 1h --time-field time")
        .complains("--time-field time: write numbers of fields, from 1, as 2 or 1,3 or 2-4 or 3-");
}

/// Lines that are up to ten minutes out of order, beside the same in order; and one later still.
#[test]
fn lines_out_of_order_wait_for_earlier_ones() {
    let (mut times, mut state, mut time) = (Vec::new(), 1_u64, 1_790_000_000_u64);
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        time += (state >> 33) % 40;
        times.push((time, (state >> 40) % 300, time + (state >> 20) % 600));
    }
    let line = |&(time, word, _): &(u64, u64, u64)| format!("{time}\t{word}\n");
    let in_order: String = times.iter().map(line).collect();
    times.sort_by_key(|&(.., arrival)| arrival);
    let as_they_come: String = times.iter().map(line).collect();
    let dir = Dir::with("order", &in_order).and("mixed", &as_they_come);
    let uniq = "uniq --within 1h --time-field 1 -k 2";
    // Lines of one time are in the order in which they come.
    let sorted = dir.shell("sort -s -n -k 1,1 mixed").succeeds().stdout;
    dir.write("sorted", &sorted);
    let expected = dir.run(&format!("{uniq} sorted")).succeeds().stdout;
    dir.run(&format!("{uniq} --disorder 10m mixed")).prints(&expected);
    assert_ne!(dir.run(&format!("{uniq} mixed")).stdout, expected);
    let run =
        dir.pipe("1790009000\ta\n1790000000\tb\n1790005500\tc\n", &format!("{uniq} --disorder 1h"));
    assert_eq!(run.stdout, b"1790000000\tb\n1790005500\tc\n1790009000\ta\n");
    assert_eq!(
        run.stderr,
        "malkoha: 1 line was later than --disorder 1h allows, and taken as that old\n"
    );
}

/// Whatever the number of threads, and behind a block that fails too.
#[test]
fn threads_agree_on_what_is_new() {
    let dir = Dir::new();
    dir.shell("seq 1 400000 | awk '{ print int($1 * 7919 % 250007) }' > lines").prints("");
    let expected = dir.shell("awk '!s[$0]++' lines").succeeds().stdout;
    for threads in [1, 2, 3, 8] {
        dir.run(&format!("uniq --threads {threads} --capacity 10 lines")).prints(&expected);
        dir.shell(&format!("cat lines | malkoha uniq --threads {threads}")).prints(&expected);
    }
    let run = dir.shell(
        "{ cat lines; echo '\"'; cat lines; } | malkoha uniq --csv -k 1 --threads 4 --strict",
    );
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("a quote that is not closed"), "{}", run.stderr);
}
