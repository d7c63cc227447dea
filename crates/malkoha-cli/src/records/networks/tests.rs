//! Lines of lists and what they say, as people have them.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::*;

/// Networks, `!` before those that are excepted, and lines of lists that have them.
const CASES: &str = include_str!("tests.txt");

#[test]
fn many_signs_in_a_word_are_no_range() {
    for sign in ["-", "..", "–", ":", "://"] {
        let line = format!("1.1.1.1{sign}").repeat(100_000);
        let read = Lines::new(false).read(line.as_bytes(), [0; 4], |_, _| {});
        assert_eq!(read, Line::Unfit(Unfit::NoNetwork), "{sign}");
    }
    let line = ["1.1.1.1 ", &"{ ".repeat(500_000)].concat();
    let read = Lines::new(false).read(line.as_bytes(), [0; 4], |_, _| {});
    assert_eq!(read, Line::Unfit(Unfit::Else));
}

#[test]
fn the_first_network_is_the_subject() {
    let first = Some(Range::V4(0x0a01_0203, 0x0a01_0203));
    for line in [
        "10.1.2.3 5.6.7.8 GET",
        "10.1.2.3 - 255.255.255.255 [x]",
        "10.1.2.3 - 24 [x]",
        "10.1.2.3 - - [x] \"ua ; 8.8.8.8\"",
        "sshd: user description from 10.1.2.3 port 22",
        "del no disabled remark: 10.1.2.3 > 1.1.1.1",
        r#"{"ua":"remark 7. -D","ip":"10.1.2.3","x":"1.1.1.1"}"#,
    ] {
        assert_eq!(subject(line.as_bytes()), first, "{line}");
    }
    let all = Some(Range::V4(0x0a00_0000, 0x0aff_ffff));
    for line in ["10.0.0.0 - 10.255.255.255", "10.0.0.0 255.0.0.0", "10.0.0.0/8 GET", "10.*"] {
        assert_eq!(subject(line.as_bytes()), all, "{line}");
    }
    for line in ["", "# 10.1.2.3", "x", "12/8 03:11:02"] {
        assert_eq!(subject(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn lines_as_people_have_them() {
    let (mut wrong, mut expected) = (Vec::new(), "");
    for case in CASES.lines() {
        let (text, lines) = case.split_once("| ").unwrap();
        expected = Some(text.trim_end()).filter(|text| !text.is_empty()).unwrap_or(expected);
        for line in lines.split(" | ") {
            let (line, is_allowed) = match line.strip_prefix("--allow ") {
                Some(line) => (line, true),
                None => (line, false),
            };
            let (mut found, mut reader) = (Vec::new(), Lines::new(is_allowed));
            let is_block = line.contains("\\n");
            for line in line.split("\\n") {
                let since = [found.len(), 0, 0, 0];
                let read = reader.read(line.as_bytes(), since, |range, is_excepted| {
                    let text = |it| match u32::try_from(it) {
                        Ok(it) if range.is_v4() => Ipv4Addr::from(it).to_string(),
                        _ => Ipv6Addr::from(it).to_string(),
                    };
                    let (first, last) = range.ends();
                    let last =
                        if last > first { format!("-{}", text(last)) } else { String::new() };
                    let text = text(first) + &last;
                    found.push(if is_excepted { format!("!{text}") } else { text });
                });
                match read {
                    Line::Entries => {}
                    Line::Nothing | Line::Unfit(Unfit::NoNetwork) if is_block => {}
                    Line::Nothing => found.push("Nothing".to_owned()),
                    Line::Reported(why) | Line::Unfit(why) => found.push(format!("{why:?}")),
                }
            }
            found.dedup();
            let found = found.join(" ");
            if found != expected {
                wrong.push(format!("{line}: {found}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
