//! Lists whose lines have a syntax.

use anyhow::Result;

use crate::failure::tell;
use crate::input::Texts;
use crate::records::domains::Line;
use crate::records::networks::Place;
use crate::records::{Batch, Unfit, shown};

impl Texts {
    /// Calls `each` with all keys whose lines have a syntax, and their numbers. It returns what the
    /// line has, and the line that decided it, if another one did. Unfit ones are counted.
    pub(super) fn read_forms(
        &self,
        mut each: impl FnMut(&Batch<'_, '_>, usize, &[u8]) -> (Line, Option<Place>),
    ) -> Result<()> {
        let mut entries = vec![0; self.lists().count()];
        self.read(|_, batch| {
            let mut counted = 0;
            for (i, key) in batch.fit() {
                // A row of a table that is commented out.
                if !self.are_lines() && batch.records[i].starts_with(b"#") {
                    continue;
                }
                let (line, under) = each(&batch, i, key);
                counted += u64::from(line != Line::Nothing);
                if let Line::Unfit(why) | Line::Told(why) = line {
                    batch.note_under(i, why, under)?;
                }
            }
            entries[batch.file()] += counted;
            if self.are_lines() {
                batch.count(counted);
            }
            Ok(())
        })?;
        for (file, _) in entries.iter().enumerate().filter(|&(_, &count)| count == 0) {
            let tally = self.tally(file).filter(|_| self.has_records(file));
            tally.into_iter().for_each(|it| it.tell_empty(file));
        }
        Ok(())
    }

    /// Reports a line of a list that began what did not end.
    pub(super) fn tell_unended(&self, file: usize, place: &Place) {
        let (line, text) = (place.0, shown(&place.1));
        let what = format!("line {line} of list {}, '{text}'", self.name(file));
        tell(&format!("malkoha: {what}, begins something that does not end"));
    }

    /// Counts a record of a list that others make unfit.
    pub(super) fn note(
        &self,
        file: usize,
        at: (u64, usize),
        place: &Place,
        why: Unfit,
    ) -> Result<()> {
        self.tally(file).map_or(Ok(()), |it| it.note(file, &place.1, why, at, || place.0))
    }
}
