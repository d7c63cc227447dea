//! CSV: fields that may be quoted, and records that end with a line outside of quotes.

use anyhow::{Result, anyhow};
use csv_core::{ReadFieldResult, Reader, ReaderBuilder, Terminator};
use memchr::{memchr, memchr2};

use super::fields::Fields;
use super::form::End;

/// A quote that is not closed within this many bytes is a mistake.
const MOST_BYTES: usize = 16 << 20;

/// Where the first record ends. A quote opens at the beginning of a field alone. If one is not
/// closed, or what follows it is no end of a field, and this is on a later line, then it is not
/// the quote that was meant, and the first line alone is wrong.
pub(super) fn record_end(bytes: &[u8], delimiter: u8, separator: u8, is_all: bool) -> End {
    let mut at = 0;
    let line = || memchr(separator, bytes).map(|end| end + 1);
    loop {
        // Outside of quotes.
        let Some(found) = memchr2(b'"', separator, &bytes[at..]).map(|found| at + found) else {
            return if is_all { End::Whole(bytes.len()) } else { End::Open };
        };
        at = found + 1;
        if bytes[found] == separator {
            return End::Whole(at);
        }
        let opens = found == 0 || bytes[found - 1] == delimiter;
        if !opens {
            continue;
        }
        // Within them, up to a quote that is not doubled.
        loop {
            let Some(quote) = memchr(b'"', &bytes[at..]).map(|quote| at + quote) else {
                return match line() {
                    Some(end) if is_all || bytes.len() >= MOST_BYTES => End::Wrong(end),
                    _ if is_all => End::Wrong(bytes.len()),
                    _ => End::Open,
                };
            };
            at = quote + 1;
            match bytes.get(at) {
                Some(b'"') => at += 1,
                None if !is_all => return End::Open,
                None => break,
                Some(&byte) if byte == delimiter || byte == separator || byte == b'\r' => break,
                Some(_) => match line().filter(|&end| end < at) {
                    Some(end) => return End::Wrong(end),
                    None => break,
                },
            }
        }
    }
}

/// Reads fields of records.
#[derive(Debug)]
pub(super) struct Records {
    reader: Reader,
    /// The fields of a record, one behind the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Records {
    pub(super) fn new(delimiter: u8, separator: u8) -> Self {
        let end = Terminator::Any(separator);
        let reader = ReaderBuilder::new().delimiter(delimiter).terminator(end).build();
        Self { reader, text: Vec::new(), ends: Vec::new() }
    }

    /// Appends fields of a record; `false` if it lacks one. Returns the number of its fields.
    pub(super) fn push(
        &mut self,
        record: &[u8],
        fields: &Fields,
        keys: &mut Vec<u8>,
    ) -> (bool, usize) {
        self.read(record);
        let Self { text, ends, .. } = self;
        let field = |i: usize| &text[i.checked_sub(1).map_or(0, |before| ends[before])..ends[i]];
        (fields.join(ends.len(), field, keys), ends.len())
    }

    /// The numbers of the columns with these names, in a file with this header.
    pub(super) fn columns(&mut self, header: &[u8], names: &[String]) -> Result<Fields> {
        self.read(header);
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let columns =
            starts.zip(&self.ends).map(|(start, &end)| self.text[start..end].trim_ascii());
        let columns: Vec<&[u8]> = columns.collect();
        let number = |name: &String| {
            let number = columns.iter().position(|column| column == &name.as_bytes());
            number.map(|number| (number, number)).ok_or_else(|| {
                let all = columns.iter().map(|column| format!("'{}'", column.escape_ascii()));
                let all = all.collect::<Vec<_>>().join(", ");
                anyhow!("there is no column '{name}' in the first line: it has {all}")
            })
        };
        names.iter().map(number).collect::<Result<_>>().map(Fields)
    }

    fn read(&mut self, record: &[u8]) {
        self.ends.clear();
        // The reader passes over empty lines.
        if record.is_empty() {
            return self.ends.push(0);
        }
        self.reader.reset();
        // No field is longer than its record, quotes included.
        self.text.resize(self.text.len().max(record.len() + 1), 0);
        let (mut filled, mut rest) = (0, record);
        loop {
            let (result, read, written) = self.reader.read_field(rest, &mut self.text[filled..]);
            filled += written;
            rest = &rest[read..];
            match result {
                ReadFieldResult::Field { record_end } => {
                    self.ends.push(filled);
                    if record_end {
                        return;
                    }
                }
                // An empty input is the end.
                ReadFieldResult::InputEmpty => {}
                _ => return,
            }
        }
    }
}
