//! Lines that are not in a filter, which then has them.

use anyhow::{Result, bail};
use malkoha::{Clock, Filter, KeyHasher};

use super::keeping::{KeepArgs, Kept, Save, Saving};
use super::window::{Earlier, Line, Waiting};
use crate::filter::{Lines, Table};
use crate::input::{Block, Side};
use crate::output::LineWriter;
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;
use crate::records::{Hashed, Keys, Unfit};
use crate::time;

/// Adds lines by their hashes, and tells which were new.
type See<T, C> = fn(&mut Filter<T, C>, &[u64], &mut [bool]) -> Result<()>;

/// Sets the time of a filter whose lines expire.
type Advance<T, C> = fn(&mut Filter<T, C>, u64);

/// Adds lines, and prints those that are new, or all others.
pub(super) struct Printing<T: Table, C: Lines> {
    pub(super) filter: Filter<T, C>,
    pub(super) see: See<T, C>,
    pub(super) advance: Option<Advance<T, C>>,
    /// If lines expire and have no time.
    pub(super) clock: Option<Clock>,
    pub(super) waiting: Option<Waiting>,
    pub(super) earlier: Earlier,
    /// Whether a time has come.
    timed: bool,
    repeated: bool,
    out: LineWriter,
    pub(super) saving: Option<Saving>,
    /// Which lines of a block are new.
    new: Vec<bool>,
    pub(super) lines: u64,
    pub(super) added: u64,
    pub(super) printed: u64,
}

/// A block of lines, and the time of each, if lines have one.
#[derive(Default)]
pub(super) struct Timed {
    pub(super) lines: Hashed,
    /// Milliseconds since 1970; none where it cannot be read.
    pub(super) times: Vec<Option<u64>>,
    /// The file, as it is reported.
    name: String,
}

impl Timed {
    /// Reads a block. Lines have the time of a `field`.
    fn read(
        &mut self,
        block: &Block,
        keys: &Keys,
        field: Option<&Keys>,
        hasher: KeyHasher,
    ) -> Result<()> {
        self.lines.fill(block.source(), keys, hasher)?;
        self.name = keys.tally().map_or("", |tally| tally.name(block.file)).to_owned();
        let Some(field) = field else { return Ok(()) };
        let mut fits = self.lines.records().map(|(_, fit)| fit.is_some());
        field.read(block.source(), |batch| {
            for ((i, field), fits) in batch.keys.iter().enumerate().zip(&mut fits) {
                if fits {
                    let time = time::moment(field);
                    if time.is_none() {
                        batch.note_for(keys, i, Unfit::NoTime)?;
                    }
                    self.times.push(time);
                }
            }
            Ok(())
        })
    }
}

impl<T: Table, C: Lines> Printing<T, C> {
    pub(super) fn of(filter: Filter<T, C>, out: LineWriter, repeated: bool) -> Self {
        Self {
            filter,
            see: C::insert_new,
            advance: None,
            clock: None,
            waiting: None,
            earlier: Earlier::default(),
            timed: false,
            repeated,
            out,
            saving: None,
            new: Vec::new(),
            lines: 0,
            added: 0,
            printed: 0,
        }
    }

    /// Prints lines, whose time is in a `field` if not the clock's. Saves the filter if it is kept.
    pub(super) fn run(
        self,
        side: &Side,
        field: Option<Keys>,
        keep: Option<&KeepArgs>,
        threads: usize,
        progress: &Progress,
    ) -> Result<Self> {
        let (keys, hasher) = (side.keys.clone(), self.filter.hasher());
        let has_time = field.is_some();
        let inputs = side.inputs.clone().numbered(has_time || !keys.are_lines());
        let work = move |block: &Block, timed: &mut Timed| {
            timed.read(block, &keys, field.as_ref(), hasher)
        };
        let printed = match keep {
            None => in_order(&inputs, progress, threads, work, self)?.finish()?,
            Some(keep) => {
                let kept = in_order(&inputs, progress, threads, work, Kept::new(self, keep)?)?;
                kept.finish(|| Ok(()))?
            }
        };
        if has_time && printed.lines > 0 && !printed.timed {
            bail!("no record has a time: is it in another field?");
        }
        if keep.is_some() { side.settle().map(|()| printed) } else { Ok(printed) }
    }

    fn advance(&mut self, time: u64) {
        self.timed |= time > 0;
        self.advance.iter().for_each(|advance| advance(&mut self.filter, time));
    }

    /// Sees lines, as many at once as have one time.
    fn see(&mut self, timed: &Timed) -> Result<()> {
        let Timed { lines, times, name } = timed;
        let (len, mut done) = (lines.hashes.len(), 0);
        let hasher = self.filter.hasher();
        let is_in = |form: &[u8]| self.filter.contains_hash(hasher.hash_bytes(form));
        let known = lines.candidates.iter().map(|it| (it, it.find(is_in)));
        let known: Vec<_> = known.filter(|(_, forms)| !forms.is_empty()).collect();
        self.new.resize(len, false);
        loop {
            let time = times.get(done);
            let alike = time.map(|time| times[done..].iter().take_while(|&it| it == time).count());
            let range = done..done + alike.unwrap_or(len);
            if let Some(&Some(time)) = time {
                self.earlier.note(time, range.len());
                self.advance(time);
            }
            done = range.end;
            (self.see)(&mut self.filter, &lines.hashes[range.clone()], &mut self.new[range])?;
            if done == len {
                break;
            }
        }
        for (candidate, forms) in known.into_iter().filter(|(it, _)| self.new[it.record]) {
            forms.into_iter().for_each(|form| candidate.note(form, name, None));
        }
        for (line, fit) in lines.records() {
            self.print(line, fit.map(|i| self.new[i]))?;
        }
        Ok(())
    }

    /// Sees a line that waited.
    fn see_waiting(&mut self, line: &Line) -> Result<()> {
        self.advance(line.time);
        let mut new = [false];
        (self.see)(&mut self.filter, &[line.hash], &mut new)?;
        self.print(&line.text, Some(new[0]))
    }

    /// Counts a line, and prints it if it is wanted. One that equals no other is always new, and
    /// not remembered.
    fn print(&mut self, line: &[u8], new: Option<bool>) -> Result<()> {
        self.lines += 1;
        self.added += u64::from(new == Some(true));
        if new.unwrap_or(true) != self.repeated {
            self.printed += 1;
            self.out.write(line)?;
        }
        Ok(())
    }

    /// Prints what still waits, and writes all that was printed.
    fn finish(mut self) -> Result<Self> {
        self.end()?;
        Ok(self)
    }
}

impl<T: Table, C: Lines> Sink for Printing<T, C> {
    type Made = Timed;

    fn head(&mut self, header: &[u8], file: &str) -> Result<()> {
        self.out.head(header, file)
    }

    fn take(&mut self, timed: &mut Timed) -> Result<()> {
        let (before, now) = (self.added, self.clock.as_ref().map(Clock::now));
        now.into_iter().for_each(|now| self.advance(now));
        match &mut self.waiting {
            Some(waiting) => {
                waiting.take(timed);
                for (line, _) in timed.lines.records().filter(|(_, fit)| fit.is_none()) {
                    self.print(line, None)?;
                }
                while let Some(line) = self.waiting.as_mut().and_then(Waiting::next) {
                    self.see_waiting(&line)?;
                }
            }
            None => self.see(timed)?,
        }
        // If lines expire, repeated ones might be younger now.
        let changed = self.advance.is_some() || self.added > before;
        self.saving.iter_mut().for_each(|saving| saving.changed |= changed);
        timed.lines.clear();
        timed.times.clear();
        self.out.end_batch()
    }
}

impl<T: Table, C: Lines> Save for Printing<T, C> {
    fn save(&mut self) -> Result<()> {
        self.out.finish()?;
        self.saving.as_mut().map_or(Ok(()), |saving| saving.save(&self.filter))
    }

    fn end(&mut self) -> Result<()> {
        if let Some(mut waiting) = self.waiting.take() {
            while let Some(line) = waiting.pop() {
                self.see_waiting(&line)?;
            }
            waiting.tell();
            self.saving.iter_mut().for_each(|saving| saving.changed = true);
        }
        self.earlier.tell();
        self.save()
    }
}
