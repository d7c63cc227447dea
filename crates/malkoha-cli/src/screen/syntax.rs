//! Lists whose lines have a syntax.

use anyhow::Result;

use crate::failure::tell;
use crate::input::Texts;
use crate::records::domains::Line;
use crate::records::networks::Place;
use crate::records::{Batch, shown};

impl Texts {
    /// Calls `each` with the reader of a list, allowed or blocked, and all its keys whose lines
    /// have a syntax, with their numbers. It returns the content of the line, and the line that
    /// decided it, if another one did. Unfit ones are counted, and a line is reported whose block
    /// did not end.
    pub(super) fn read_forms<R>(
        &self,
        allowed: bool,
        reader: fn(bool) -> R,
        unended: fn(&R) -> Option<Place>,
        mut each: impl FnMut(&mut R, &Batch<'_, '_>, usize, &[u8]) -> (Line, Option<Place>),
    ) -> Result<()> {
        let mut readers: Vec<(R, u64)> = self.lists().map(|_| (reader(allowed), 0)).collect();
        self.read(|_, batch| {
            let (reader, entries) = &mut readers[batch.file()];
            let mut counted = 0;
            for (i, key) in batch.fit() {
                // A row of a table that is commented out.
                if !self.are_lines() && batch.records[i].starts_with(b"#") {
                    continue;
                }
                let (line, under) = each(reader, &batch, i, key);
                counted += u64::from(line != Line::Nothing);
                if let Line::Unfit(why) | Line::Reported(why) = line {
                    batch.note_under(i, why, under)?;
                }
            }
            *entries += counted;
            if self.are_lines() {
                batch.count(counted);
            }
            Ok(())
        })?;
        for (file, (_, entries)) in readers.iter().enumerate() {
            let tally = self.tally(file).filter(|_| *entries == 0 && self.has_records(file));
            tally.into_iter().for_each(|it| it.tell_empty(file));
        }
        for (file, (reader, _)) in readers.iter().enumerate() {
            let Some(place) = unended(reader) else { continue };
            let (line, text) = (place.0, shown(&place.1));
            let what = format!("line {line} of list {}, '{text}'", self.name(file));
            tell(&format!("malkoha: {what}, begins something that does not end"));
        }
        Ok(())
    }
}
