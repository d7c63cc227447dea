//! Where records end.

#[cfg(test)]
mod tests;

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

    /// The most records that this many lines can be.
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
                // It might be empty.
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

    /// The first record of `bytes`, which can be followed by others, without its terminator.
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

    /// The text before the end of the first line.
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
