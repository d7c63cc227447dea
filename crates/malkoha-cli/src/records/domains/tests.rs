//! Lines of lists and what they say, as people have them.

use super::*;

/// One case in each line: names and what they stand for, and lines of lists that have them, or
/// lists of several lines.
const CASES: &str = include_str!("tests.txt");

#[test]
fn names_are_as_long_as_any() {
    let label = |len: usize| "a".repeat(len);
    let long = [label(63), label(63), label(63), label(61)].join(".");
    for (name, is_one) in [
        (label(63) + ".example", true),
        (label(64) + ".example", false),
        (long.clone(), true),
        (long + "a", false),
        ("é".repeat(60) + ".example", false),
    ] {
        assert_eq!(normal(name.as_bytes()).is_some(), is_one, "{name}");
    }
}

#[test]
fn lines_as_people_have_them() {
    let mut wrong = Vec::new();
    for case in CASES.lines() {
        let (expected, lines) = case.split_once(" ¦ ").unwrap();
        for line in lines.split(" ¦ ") {
            let found = if line.contains("\\n") { list(line) } else { alone(line) };
            if found != expected {
                wrong.push(format!("{line}: {found}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn alone(line: &str) -> String {
    let (mut names, mut reaches) = (Vec::new(), Vec::new());
    let read = domains(line.as_bytes(), |name, reach| {
        names.push(String::from_utf8(name.to_vec()).unwrap());
        reaches.push(format!("{}{}", reach.itself, reach.below));
    });
    let mut of_list = Vec::new();
    let read_of_list =
        Lines::default().read(line.as_bytes(), 0, |name, _| of_list.push(name.to_vec()));
    assert_eq!((read_of_list, of_list.len()), (read, names.len()), "{line}");
    match read {
        Line::Entries => format!("{} {}", names.join(","), reaches[0]),
        Line::Nothing => "Nothing".to_owned(),
        Line::Reported(why) | Line::Unfit(why) => {
            format!("{why:?} {}", names.join(",")).trim_end().to_owned()
        }
    }
}

/// The names of a list, the rank of each for itself and below it, and the notices about the list.
fn list(text: &str) -> String {
    let (mut lines, mut names, mut reported) = (Lines::default(), Vec::new(), Vec::new());
    for line in text.split("\\n") {
        let since = names.len();
        let read = lines.read(line.as_bytes(), since, |name, reach| {
            names.push((String::from_utf8(name.to_vec()).unwrap(), reach));
        });
        if let Some((since, verdict)) = lines.turned.take() {
            names[since..].iter_mut().for_each(|it| it.1 = it.1.judged(verdict));
        }
        if let Line::Reported(why) | Line::Unfit(why) = read {
            reported.push(format!("{why:?}"));
        }
    }
    reported.dedup();
    names.retain(|it| it.1 != Reach::default());
    let names = names.iter().map(|(name, it)| format!("{name} {}{}", it.itself, it.below));
    names.chain(reported).collect::<Vec<_>>().join(" ")
}
