//! Lines that are new within a time, by their arrival or by a time in them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use malkoha::tables::{Ages, Expiring};
use malkoha::{Clock, Filter, KeyHasher};

use super::keeping::{KeepArgs, Kept, Save, Saving};
use crate::failure::{CANNOT_WRITE, tell};
use crate::input::{Block, Side};
use crate::output::LineWriter;
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;
use crate::records::{Hashed, KeyArgs, Keys, shown};
use crate::time::{self, SPELLINGS};

/// How long lines are remembered, and since when.
#[derive(Args, Clone, Debug)]
pub(crate) struct WindowArgs {
    /// Print a line again when this time has passed since: 90s, 24h, 30days
    #[arg(long, value_name = "TIME", value_parser = time::duration)]
    pub(crate) within: Option<u64>,

    /// Measure --within from the last occurrence of a line, not from its last printing
    #[arg(long, requires = "within")]
    renew: bool,

    /// Take the time from this field, in seconds since 1970 or as 2026-11-22T08:30:00Z (UTC). A
    /// number, or a name if -k has names or with --json-field
    #[arg(long, value_name = "FIELD", requires = "within")]
    time_field: Option<String>,

    /// Accept lines that come late by up to this time: lines wait in memory that long, and are then
    /// taken in the order of their times
    #[arg(long, value_name = "TIME", requires = "time_field", value_parser = time::duration)]
    disorder: Option<u64>,
}

/// Handles lines that are new within the time, and others.
pub(crate) struct Printing<T: Ages> {
    pub(crate) seen: Filter<Expiring<T>>,
    /// The clock, if lines have no time.
    clock: Option<Clock>,
    renew: bool,
    /// Print all but the new ones.
    repeated: bool,
    waiting: Option<Waiting>,
    out: LineWriter,
    saving: Option<Saving>,
    /// Which lines of a block are new.
    new: Vec<bool>,
    pub(crate) lines: u64,
    pub(crate) printed: u64,
    /// Lines that were new.
    pub(crate) added: u64,
}

impl WindowArgs {
    /// Whether lines have the time of the clock, and not their own.
    pub(crate) fn is_by_arrival(&self) -> bool {
        self.time_field.is_none()
    }

    /// Prints the lines of `inputs` that are new to `seen` within its time, or all others, and
    /// saves `seen` if it is kept.
    pub(crate) fn print<T: Ages + Send + 'static>(
        &self,
        seen: Filter<Expiring<T>>,
        (side, keys): (&Side, &KeyArgs),
        (out, repeated): (LineWriter, bool),
        kept: Option<(Saving, &KeepArgs)>,
        threads: usize,
        progress: &Progress,
    ) -> Result<Printing<T>> {
        let hasher = seen.hasher();
        let (saving, keep) = kept.unzip();
        let printing = Printing {
            seen,
            clock: self.is_by_arrival().then(Clock::start),
            renew: self.renew,
            repeated,
            waiting: self.disorder.map(Waiting::new),
            out,
            saving,
            new: Vec::new(),
            lines: 0,
            printed: 0,
            added: 0,
        };
        let field = self.time_field.as_deref().map(|field| {
            keys.field(field, side.separator()).with_context(|| format!("--time-field {field}"))
        });
        let reading = Reading { field: field.transpose()?, keys: side.keys.clone(), hasher };
        let work = move |block: &Block, timed: &mut Timed| reading.read(block, timed);
        let Some(keep) = keep else {
            return in_order(&side.inputs, progress, threads, work, printing)?.finish();
        };
        let kept = Kept::new(printing, keep)?;
        let kept = in_order(&side.inputs, progress, threads, work, kept)?;
        kept.end().context("it was saved, and ends")?.finish()
    }
}

/// A block of lines, and the time of each, if lines have one.
#[derive(Default)]
pub(crate) struct Timed {
    lines: Hashed,
    /// Milliseconds since 1970.
    times: Vec<u64>,
}

/// How blocks are read.
struct Reading {
    field: Option<Keys>,
    keys: Keys,
    hasher: KeyHasher,
}

impl Reading {
    fn read(&self, block: &Block, timed: &mut Timed) -> Result<()> {
        timed.lines.fill(block.source(), &self.keys, self.hasher)?;
        let Some(field) = &self.field else { return Ok(()) };
        let mut fits = timed.lines.records().map(|(_, fit)| fit.is_some());
        let times = &mut timed.times;
        field.read(block.source(), |batch| {
            for field in batch.keys.iter().zip(&mut fits).filter(|&(_, fits)| fits).map(|it| it.0) {
                let wrong =
                    || anyhow!("'{}' is no time: --time-field takes {SPELLINGS}", shown(field));
                times.push(time::moment(field).ok_or_else(wrong)?);
            }
            Ok(())
        })
    }
}

impl<T: Ages + Send + 'static> Sink for Printing<T> {
    type Made = Timed;

    fn head(&mut self, header: &[u8]) -> Result<()> {
        self.out.head(header).context(CANNOT_WRITE)
    }

    fn take(&mut self, timed: &mut Timed) -> Result<()> {
        if let Some(clock) = &self.clock {
            self.seen.advance(clock.now());
        }
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
        // Also if no line was new, because repeated lines may be younger now.
        self.saving.iter_mut().for_each(|saving| saving.changed = true);
        timed.lines.clear();
        timed.times.clear();
        self.out.end_batch().context(CANNOT_WRITE)
    }
}

impl<T: Ages + Send + 'static> Save for Printing<T> {
    fn save(&mut self) -> Result<()> {
        self.out.finish().context(CANNOT_WRITE)?;
        self.saving.as_mut().map_or(Ok(()), |saving| saving.save(&self.seen))
    }
}

impl<T: Ages + Send + 'static> Printing<T> {
    /// Sees lines, as many at once as have one time.
    fn see(&mut self, timed: &Timed) -> Result<()> {
        let hashes = &timed.lines.hashes;
        self.new.resize(hashes.len(), false);
        let mut done = 0;
        while done < hashes.len() {
            let time = timed.times.get(done);
            let rest = timed.times.get(done..).unwrap_or(&[]);
            let alike = time.map(|time| rest.iter().take_while(|&other| other == time).count());
            let end = done + alike.unwrap_or(hashes.len());
            time.iter().for_each(|&&time| self.seen.advance(time));
            let (hashes, new) = (&hashes[done..end], &mut self.new[done..end]);
            let seen = if self.renew {
                self.seen.refresh_hashes(hashes, new)
            } else {
                self.seen.insert_unique_hashes(hashes, new).map(|_| ())
            };
            seen.map_err(|refusal| refusal.error)?;
            done = end;
        }
        for (line, fit) in timed.lines.records() {
            self.print(line, fit.map(|i| self.new[i]))?;
        }
        Ok(())
    }

    /// Sees a line that waited.
    fn see_waiting(&mut self, line: &Line) -> Result<()> {
        self.seen.advance(line.time);
        let new = if self.renew {
            self.seen.refresh_hash(line.hash)?
        } else {
            self.seen.insert_unique_hash(line.hash)?
        };
        self.print(&line.text, Some(new))
    }

    /// Counts a line, and prints it if it is wanted. One that equals no other is always new.
    fn print(&mut self, line: &[u8], new: Option<bool>) -> Result<()> {
        self.lines += 1;
        self.added += u64::from(new == Some(true));
        if new.unwrap_or(true) != self.repeated {
            self.printed += 1;
            self.out.write(line).context(CANNOT_WRITE)?;
        }
        Ok(())
    }

    /// Prints what still waits, and writes all that was printed.
    fn finish(mut self) -> Result<Self> {
        if let Some(mut waiting) = self.waiting.take() {
            while let Some(Reverse(line)) = waiting.lines.pop() {
                self.see_waiting(&line)?;
            }
            waiting.tell();
        }
        self.save()?;
        Ok(self)
    }
}

/// Lines that others with earlier times may follow, the earliest first.
struct Waiting {
    lines: BinaryHeap<Reverse<Line>>,
    disorder: u64,
    /// The latest time of all lines.
    latest: u64,
    /// The number of lines, and of those that came too late.
    number: u64,
    late: u64,
}

/// Ordered by time, and among equal times by number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    time: u64,
    number: u64,
    hash: u64,
    text: Box<[u8]>,
}

impl Waiting {
    fn new(disorder: u64) -> Self {
        Self { lines: BinaryHeap::new(), disorder, latest: 0, number: 0, late: 0 }
    }

    /// Takes lines. One that is too late gets the earliest time that is still possible.
    fn take(&mut self, timed: &Timed) {
        let lines = timed.lines.records().filter(|(_, fit)| fit.is_some()).map(|(line, _)| line);
        for ((text, &hash), &time) in lines.zip(&timed.lines.hashes).zip(&timed.times) {
            let earliest = self.due();
            self.late += u64::from(time < earliest);
            let time = time.max(earliest);
            self.latest = self.latest.max(time);
            self.number += 1;
            let line = Line { time, number: self.number, hash, text: text.into() };
            self.lines.push(Reverse(line));
        }
    }

    /// The time up to which all lines have arrived.
    fn due(&self) -> u64 {
        self.latest.saturating_sub(self.disorder)
    }

    /// The next line, if no earlier one can arrive.
    fn next(&mut self) -> Option<Line> {
        let is_due = self.lines.peek().is_some_and(|Reverse(line)| line.time <= self.due());
        if is_due { self.lines.pop().map(|Reverse(line)| line) } else { None }
    }

    fn tell(&self) {
        if self.late > 0 {
            let disorder = time::in_words(self.disorder);
            let (late, are) = (self.late, if self.late == 1 { "line was" } else { "lines were" });
            tell(&format!(
                "malkoha: {late} {are} later than --disorder {disorder} allows, and taken as that old"
            ));
        }
    }
}
