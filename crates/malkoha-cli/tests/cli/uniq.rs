//! `malkoha uniq`, with a hash set as its oracle.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;

use crate::harness::Dir;

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
    let run = dir.run("uniq --approximate --json --seed 9 --capacity 50000 input").succeeds();
    let record: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(record["lines"], 200_000);
    assert_eq!(record["distinct"], seen.len());
    assert!(record["fpr"].as_f64().unwrap() < 1e-6, "{record}");
    let bits = record["bytes"].as_f64().unwrap() * 8.0 / seen.len() as f64;
    assert!(bits < 40.0, "{bits} bits per line");
}

/// Threads that wait for a block that fails do not hold the end up.
#[test]
fn what_fails_ends_with_the_lines_before_it() {
    let record = |n: u32| if n == 150_000 { "x\n".into() } else { format!("{{\"a\":{n}}}\n") };
    let dir = Dir::with("input", (0..200_000).map(record).collect::<String>());
    let run = |threads| dir.run(&format!("uniq --json-field a --strict --threads {threads} input"));
    let one = run(1);
    assert_eq!(one.stderr, "malkoha: line 150001 of 'input' is no JSON object: 'x'\n");
    assert!(one.code == Some(2) && !one.stdout.is_empty());
    for threads in [2, 8] {
        assert!(run(threads).stdout == one.stdout, "{threads} threads");
    }
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

/// Lines of a week, each with its time, against a list of when each word was there last.
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

/// Lines that are up to ten minutes out of order, against the same in order; and one later still.
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
