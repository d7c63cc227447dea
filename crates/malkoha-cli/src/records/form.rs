//! Where records end.

use anyhow::Result;
use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::csv::{ends, record_end};
use super::split::{BATCH, split};

/// The shape of records, and the byte that ends their lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) kind: Kind,
    pub(crate) separator: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Line,
    /// A line, or several where a field in quotes has line breaks.
    Csv {
        delimiter: u8,
    },
    /// Four lines.
    Fastq,
    /// A line that begins with `>`, and those up to the next one.
    Fasta,
}

/// Where the first record of some bytes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Behind this many bytes, with its terminator.
    Whole(usize),
    /// Malformed: its first line, which ends here, counts as a record.
    Wrong(usize),
    /// Not within these bytes.
    Open,
}

impl Form {
    pub(crate) fn lines(separator: u8) -> Self {
        Self { kind: Kind::Line, separator }
    }

    /// Whether each line is a record.
    pub(crate) fn is_line(self) -> bool {
        self.kind == Kind::Line
    }

    /// Whether each line of some bytes is a record.
    fn are_lines(self, bytes: &[u8]) -> bool {
        match self.kind {
            Kind::Csv { .. } => memchr(b'"', bytes).is_none(),
            kind => kind == Kind::Line,
        }
    }

    /// The most records that so many lines can be.
    pub(crate) fn most_records(self, lines: u64) -> u64 {
        if self.kind == Kind::Fastq { lines.div_ceil(4) } else { lines }
    }

    /// The end of the last record that ends in `bytes`, which begin with a record. None ends before
    /// `known`.
    pub(crate) fn last_end(self, bytes: &[u8], known: usize) -> Option<usize> {
        match self.kind {
            _ if self.are_lines(bytes) => {
                memrchr(self.separator, &bytes[known..]).map(|last| known + last + 1)
            }
            // The next one begins there.
            Kind::Fasta => memmem::rfind(bytes, &[self.separator, b'>']).map(|last| last + 1),
            _ => {
                let mut end = 0;
                loop {
                    let start = end;
                    // The closure does not fail.
                    let _ = self.plain_ends(&bytes[start..], |last| {
                        end = start + last + 1;
                        Ok(())
                    });
                    match self.end(&bytes[end..], false) {
                        End::Whole(len) | End::Wrong(len) => end += len,
                        End::Open => return (end > 0).then_some(end),
                    }
                }
            }
        }
    }

    /// Calls `each` with the end of each record, up to one that [`ends`] leaves, or none if this is
    /// no CSV.
    fn plain_ends(self, bytes: &[u8], each: impl FnMut(usize) -> Result<()>) -> Result<()> {
        match self.kind {
            Kind::Csv { delimiter } => ends(bytes, delimiter, self.separator, each),
            _ => Ok(()),
        }
    }

    /// The end of the first record. If there is no more, the last one needs no terminator.
    fn end(self, bytes: &[u8], is_all: bool) -> End {
        let line = |from: usize| {
            let end = memchr(self.separator, &bytes[from..]).map(|end| from + end + 1);
            end.or((is_all && from < bytes.len()).then_some(bytes.len()))
        };
        if bytes.is_empty() {
            return End::Open;
        }
        match self.kind {
            Kind::Line => line(0).map_or(End::Open, End::Whole),
            Kind::Csv { delimiter } => record_end(bytes, delimiter, self.separator, is_all),
            Kind::Fastq => {
                let Some(first) = line(0) else { return End::Open };
                let starts = |at: usize, with: u8| bytes.get(at).is_none_or(|&byte| byte == with);
                if !starts(0, b'@') {
                    return End::Wrong(first);
                }
                let short = if is_all { End::Wrong(first) } else { End::Open };
                let Some(second) = line(first) else { return short };
                if !starts(second, b'+') {
                    return End::Wrong(first);
                }
                let Some(third) = line(second) else { return short };
                // It may be empty.
                let is_last = is_all && third == bytes.len();
                let Some(fourth) = line(third).or(is_last.then_some(third)) else { return short };
                let len = |from: usize, to: usize| bytes[from..to].trim_ascii_end().len();
                // Each letter has a quality.
                let is_right = len(first, second) == len(third, fourth);
                if is_right { End::Whole(fourth) } else { End::Wrong(first) }
            }
            Kind::Fasta => {
                let Some(first) = line(0) else { return End::Open };
                if bytes[0] != b'>' {
                    return End::Wrong(first);
                }
                let next = memmem::find(bytes, &[self.separator, b'>']);
                let last = if is_all { End::Whole(bytes.len()) } else { End::Open };
                next.map_or(last, |next| End::Whole(next + 1))
            }
        }
    }

    /// The first record of `bytes`, which may be followed by others, without its terminator.
    pub(crate) fn first(self, bytes: &[u8]) -> &[u8] {
        match self.end(bytes, true) {
            End::Whole(len) | End::Wrong(len) => self.without_end(&bytes[..len]),
            End::Open => &[],
        }
    }

    /// The first record, and the next one behind a line for spreadsheets.
    pub(crate) fn header(self, bytes: &[u8]) -> &[u8] {
        let first = self.first(bytes);
        match bytes.get(first.len() + 1..) {
            Some(rest) if is_sep(first) => &bytes[..first.len() + 1 + self.first(rest).len()],
            _ => first,
        }
    }

    /// Whether these records are a line for spreadsheets and nothing more.
    pub(crate) fn is_sep_alone(self, records: &[u8]) -> bool {
        let first = self.first(records);
        is_sep(first) && records.len() <= first.len() + 1
    }

    /// A line for spreadsheets before a header, and the header.
    pub(super) fn without_sep(self, header: &[u8]) -> (&[u8], &[u8]) {
        let line = self.first_line(header);
        let has_sep = line.len() < header.len() && is_sep(line);
        header.split_at(if has_sep { line.len() + 1 } else { 0 })
    }

    /// What lies before the end of the first line.
    pub(super) fn first_line(self, bytes: &[u8]) -> &[u8] {
        memchr(self.separator, bytes).map_or(bytes, |end| &bytes[..end])
    }

    /// Whether a record has its form.
    pub(super) fn is_right(self, record: &[u8]) -> bool {
        self.is_line() || record.is_empty() || matches!(self.end(record, true), End::Whole(_))
    }

    fn without_end(self, record: &[u8]) -> &[u8] {
        record.strip_suffix(&[self.separator]).unwrap_or(record)
    }

    /// Passes on the records of `bytes`, without terminators, in batches of at most [`BATCH`].
    pub(crate) fn split<'a>(
        self,
        bytes: &'a [u8],
        mut each: impl FnMut(&[&'a [u8]]) -> Result<()>,
    ) -> Result<()> {
        if self.are_lines(bytes) {
            return split(bytes, self.separator, each);
        }
        let (mut batch, mut start) = (Vec::with_capacity(BATCH), 0);
        let mut push = |record| {
            batch.push(record);
            if batch.len() == BATCH {
                each(&batch)?;
                batch.clear();
            }
            Ok(())
        };
        loop {
            let from = start;
            self.plain_ends(&bytes[from..], |end| {
                let record = &bytes[start..from + end];
                start = from + end + 1;
                push(record)
            })?;
            let (End::Whole(len) | End::Wrong(len)) = self.end(&bytes[start..], true) else {
                break;
            };
            push(self.without_end(&bytes[start..start + len]))?;
            start += len;
        }
        if batch.is_empty() { Ok(()) } else { each(&batch) }
    }

    /// The lines of a record, or of several: terminators in them, and one.
    pub(crate) fn lines_of(self, record: &[u8]) -> u64 {
        if self.is_line() { 1 } else { memchr_iter(self.separator, record).count() as u64 + 1 }
    }
}

/// Whether a line names, for spreadsheets, the sign between fields.
pub(super) fn is_sep(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    matches!(line, [b's', b'e', b'p', b'=', sign] if !sign.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(kind: Kind, text: &str) -> Vec<(String, bool)> {
        let form = Form { kind, separator: b'\n' };
        let mut records = Vec::new();
        let each = |batch: &[&[u8]]| {
            records.extend(
                batch.iter().map(|it| (String::from_utf8_lossy(it).into(), form.is_right(it))),
            );
            Ok(())
        };
        form.split(text.as_bytes(), each).unwrap();
        // Wherever it is cut, the parts have the same records.
        for cut in 0..text.len() {
            if let Some(end) = form.last_end(&text.as_bytes()[..cut], 0) {
                let mut parts = Vec::new();
                for part in [&text.as_bytes()[..end], &text.as_bytes()[end..]] {
                    form.split(part, |batch| {
                        parts
                            .extend(batch.iter().map(|it| String::from_utf8_lossy(it).to_string()));
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
            (
                Kind::Fastq,
                "@a\nA\n+\nII\n@b\nA\n+\n",
                &["!@a", "!A", "!+", "!II", "!@b", "!A", "!+"],
            ),
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
}
