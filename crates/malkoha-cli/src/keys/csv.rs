//! Fields of CSV records, each in a line of its own.

use anyhow::{Result, anyhow, bail};
use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use super::fields::Fields;
use crate::input::BOM;

/// Bytes of a record that an error shows.
const SHOWN: usize = 60;

pub(super) struct Records {
    reader: Reader,
    /// The fields of a record, one behind the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Records {
    pub(super) fn new(delimiter: u8) -> Self {
        let reader = ReaderBuilder::new().delimiter(delimiter).build();
        Self { reader, text: Vec::new(), ends: Vec::new() }
    }

    /// Appends the fields of a record; `false` if it lacks one.
    ///
    /// # Errors
    ///
    /// If the record does not end with its line.
    pub(super) fn push(
        &mut self,
        line: &[u8],
        fields: &Fields,
        keys: &mut Vec<u8>,
    ) -> Result<bool> {
        self.read(line)?;
        let Self { text, ends, .. } = self;
        let field = |i: usize| {
            let start = if i == 0 { 0 } else { ends[i - 1] };
            &text[start..ends[i]]
        };
        Ok(fields.join(ends.len(), field, keys))
    }

    /// The numbers of the columns with these names, in a file with this header.
    pub(super) fn columns(&mut self, header: &[u8], names: &[String]) -> Result<Fields> {
        self.read(header.strip_prefix(BOM).unwrap_or(header))?;
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let columns = starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]);
        let columns: Vec<&[u8]> = columns.map(<[u8]>::trim_ascii).collect();
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

    fn read(&mut self, line: &[u8]) -> Result<()> {
        self.ends.clear();
        // The reader passes over empty lines.
        if line.iter().all(|&byte| byte == b'\r') {
            self.ends.push(0);
            return Ok(());
        }
        self.reader.reset();
        // No field is longer than its line, quotes included.
        self.text.resize(line.len() + 1, 0);
        let mut filled = 0;
        for mut input in [line, b"\n"] {
            while !input.is_empty() {
                let (result, read, written) =
                    self.reader.read_field(input, &mut self.text[filled..]);
                input = &input[read..];
                filled += written;
                match result {
                    ReadFieldResult::Field { record_end } => {
                        self.ends.push(filled);
                        if record_end {
                            return Ok(());
                        }
                    }
                    _ => break,
                }
            }
        }
        let shown = line[..line.len().min(SHOWN)].escape_ascii();
        bail!("a quote is not closed in '{shown}': a record must be in one line")
    }
}
