//! Records of every form, wherever they are cut.

use super::*;

fn records(kind: Kind, text: &str) -> Vec<(String, bool)> {
    let form = Form { kind, separator: b'\n' };
    let mut records = Vec::new();
    let each = |batch: &[&[u8]]| {
        records
            .extend(batch.iter().map(|it| (String::from_utf8_lossy(it).into(), form.is_right(it))));
        Ok(())
    };
    form.split(text.as_bytes(), each).unwrap();
    // Wherever it is cut, the parts have the same records.
    for cut in 0..text.len() {
        if let Some(end) = form.last_end(&text.as_bytes()[..cut], 0) {
            let mut parts = Vec::new();
            for part in [&text.as_bytes()[..end], &text.as_bytes()[end..]] {
                form.split(part, |batch| {
                    parts.extend(batch.iter().map(|it| String::from_utf8_lossy(it).to_string()));
                    Ok(())
                })
                .unwrap();
            }
            assert!(parts.iter().eq(records.iter().map(|(record, _)| record)), "{cut}: {text}");
        }
    }
    records
}

/// Every text of some signs has the same records as by looking for one end after the other.
#[test]
fn records_with_quotes_anywhere() {
    let form = Form { kind: Kind::Csv { delimiter: b',' }, separator: b'\n' };
    for number in 0..5_u32.pow(8) {
        let signs = (0..8).map(|at| b"\"\n,a\r"[(number / 5_u32.pow(at) % 5) as usize]);
        // Those that are looked at together end before, within and behind them.
        let before = b"x,\"y\"\n".repeat(number as usize % 12);
        let text: Vec<u8> = before.into_iter().chain(signs).collect();
        let (mut expected, mut rest) = (Vec::new(), &text[..]);
        while let End::Whole(len) | End::Wrong(len) = form.end(rest, true) {
            expected.push(form.without_end(&rest[..len]));
            rest = &rest[len..];
        }
        let mut found = Vec::new();
        form.split(&text, |batch| {
            found.extend_from_slice(batch);
            Ok(())
        })
        .unwrap();
        assert_eq!(found, expected, "{}", text.escape_ascii());
    }
}

#[test]
fn records_of_every_form() {
    let csv = Kind::Csv { delimiter: b',' };
    for (kind, text, expected) in [
        (csv, "a,\"b\nc\",d\ne\n\nf", &["a,\"b\nc\",d", "e", "", "f"][..]),
        (
            csv,
            "\"a\"\"\nb\",c\r\n5\" x,y\n\"z\"w\"v\n",
            &["\"a\"\"\nb\",c\r", "5\" x,y", "\"z\"w\"v"],
        ),
        // A quote that is not closed, or closed too late: the first line alone is wrong.
        (csv, "1,\"a\n2,b\n3,\"c\"\n", &["!1,\"a", "2,b", "3,\"c\""]),
        (csv, "1,a\n2,\"b\n3,c", &["1,a", "!2,\"b", "3,c"]),
        (Kind::Fastq, "@a b\nAC\n+\n@I\n@c\nA\n+c\nI", &["@a b\nAC\n+\n@I", "@c\nA\n+c\nI"]),
        (Kind::Fastq, "@a\n\n+\n\n@b\n\n+\n", &["@a\n\n+\n", "@b\n\n+"]),
        (Kind::Fastq, "@a\nA\n+\nII\n@b\nA\n+\n", &["!@a", "!A", "!+", "!II", "!@b", "!A", "!+"]),
        (Kind::Fastq, "x\n\n@a\nA\n+\nI\n@b\nA\n", &["!x", "", "@a\nA\n+\nI", "!@b", "!A"]),
        (Kind::Fasta, "x\n>a b\nAC\nGT\n>c\n>d\nA", &["!x", ">a b\nAC\nGT", ">c", ">d\nA"]),
    ] {
        let found = records(kind, text);
        let found: Vec<String> = found
            .into_iter()
            .map(|(record, is_right)| if is_right { record } else { format!("!{record}") })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }
}
