//! The sources of indexes.

use clap::Parser;

use super::*;
use crate::records::{KeyArgs, ListArgs};

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    lists: ListArgs,
}

fn options(text: &str) -> Options {
    Options::parse_from(format!("x {text}").split_whitespace())
}

/// Indexes that were kept stay of use.
#[test]
fn keys_of_indexes_have_numbers_that_stay() {
    for (given, text, number) in [
        ("", "", 0),
        ("-i", "lines whole ignore-case", 3_700_595_001),
        ("-k 2 -t blank", "lines fields 2-2 blank", 3_648_060_535),
        ("-k 1,3-5,7- --trim", "lines fields 1-1,3-5,7- 9 trim joined", 3_112_951_307),
        (
            "--csv -k mail -t ; --ignore-unicode-case",
            "csv 59 named [\"mail\"] ignore-unicode-case",
            59_561_113,
        ),
        ("--json-field /a/b --crlf", "lines json \"/a/b\" crlf", 2_145_965_861),
        ("--digest md5", "lines whole md5 trim", 3_321_764_135),
        ("--digest sha1 -k 1 -t :", "lines fields 1-1 58 sha1 trim", 3_531_405_393),
        ("--digest sha256", "lines whole sha256 trim", 127_818_423),
        ("--digest ntlm -i", "lines whole ntlm trim", 2_244_679_727),
    ] {
        let keys = options(given).keys.keys_of_list(b'\n').unwrap();
        assert_eq!((&*keys.description(), digest_of(&keys)), (text, number), "{given}");
    }
}

/// Lists of whole lines have the keys of an index of lines, if they have no other signs.
#[test]
fn indexes_of_lines_serve_lists_of_whole_lines() {
    for (given, list, index) in [
        ("--csv -k mail", "ann@x", Some("")),
        ("--csv -k mail", "ann@x,1", None),
        ("--csv -k mail", "\"ann@x\"", None),
        ("-k 2 -t ;", "a,b", Some("")),
        ("--json-field a", "a,b", Some("")),
        ("--json-field a", "{a", None),
        ("--fastq", "read/1", Some("")),
        ("--fastq", "@read", None),
        ("--fasta", "a b", None),
        ("-k 2 -K 1", "a", None),
        ("--csv -k mail -i", "ann@x", Some("")),
        ("--csv -k mail -i", "Ann@x", Some("-i")),
        ("-k 2 --trim --crlf", "a b", Some("--trim --crlf")),
        ("-k 2 --trim --crlf", "ab", Some("")),
        ("-k 2 --ignore-unicode-case", "a\u{e9}", Some("--ignore-unicode-case")),
        ("--digest sha1", "00aa", Some("")),
        ("--digest sha1", "00AA", Some("--digest sha1")),
        ("--digest sha1 --csv -k 2", "0x00aa", Some("--digest sha1")),
    ] {
        let Options { keys: of, lists } = options(given);
        let keys = lists.keys(&of, b'\n', false).unwrap();
        let same = keys.of_lines(&Bytes::of(list.as_bytes()));
        let known = |given: &str| {
            let index = digest_of(&options(given).keys.keys_of_list(b'\n').unwrap());
            same.iter().any(|keys| digest_of(keys) == index)
        };
        assert_eq!(known(index.unwrap_or("")), index.is_some(), "{given}: {list}");
        assert!(index == Some("") || !known(""), "{given}: {list}");
    }
    let bytes = Bytes::of("a\u{e9}\n".as_bytes());
    assert_eq!(Bytes::of_bits(&bytes.to_bits()), bytes);
}
