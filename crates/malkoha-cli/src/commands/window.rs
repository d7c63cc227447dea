//! Lines that are new within a time, by their arrival or by a time in them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::{Context, Result};
use clap::Args;
use malkoha::tables::{Ages, Expiring};
use malkoha::{Clock, Filter};

use super::first::{Printing, Timed};
use crate::failure::tell;
use crate::filter::Table;
use crate::output::LineWriter;
use crate::records::{KeyArgs, Keys};
use crate::time;

/// How long lines are remembered, and since when.
#[derive(Args, Clone, Debug)]
pub(crate) struct WindowArgs {
    /// Print a line again when this time has passed since: 90s, 24h, 30days
    #[arg(long, value_name = "TIME", value_parser = time::duration)]
    pub(crate) within: Option<u64>,

    /// Measure --within from the last occurrence of a line, not from its last printing
    #[arg(long, requires = "within")]
    renew: bool,

    /// Take the time from this field: seconds since 1970, or from 1e11 on milliseconds, from 1e14
    /// on microseconds, from 1e17 on nanoseconds; 2026-11-22T08:30:00, in UTC or with an offset; or
    /// 22/Nov/2026:08:30:00 +0100. A number, a name if -k has names or with --json-field, or two as
    /// 1,2 for a date and its time
    #[arg(long, value_name = "FIELD", requires = "within")]
    time_field: Option<String>,

    /// Accept lines that come late by up to this time: lines wait in memory that long, and are then
    /// taken in the order of their times
    #[arg(long, value_name = "TIME", requires = "time_field", value_parser = time::duration)]
    disorder: Option<u64>,
}

impl WindowArgs {
    /// Whether lines have the time of the clock, and not their own.
    pub(super) fn is_by_arrival(&self) -> bool {
        self.time_field.is_none()
    }

    /// The field of the time, if it is not the clock's.
    pub(super) fn field(&self, keys: &KeyArgs, separator: u8) -> Result<Option<Keys>> {
        let field = self.time_field.as_deref().map(|field| {
            keys.field(field, separator).with_context(|| format!("--time-field {field}"))
        });
        field.transpose()
    }

    /// Prints the lines that are new to `seen` within its time, or all others.
    pub(super) fn printing<T: Ages>(
        &self,
        seen: Filter<Expiring<T>>,
        out: LineWriter,
        repeated: bool,
    ) -> Printing<Expiring<T>, malkoha::Keys>
    where
        Expiring<T>: Table,
    {
        let earlier =
            Earlier { allowed: seen.resolution(), latest: seen.now(), ..Earlier::default() };
        let mut printing = Printing::of(seen, out, repeated);
        printing.earlier = earlier;
        if self.renew {
            printing.see = refresh;
        }
        printing.advance = Some(Filter::<Expiring<T>>::advance);
        printing.clock = self.is_by_arrival().then(Clock::start);
        printing.waiting = self.disorder.map(Waiting::new);
        printing
    }
}

fn refresh<T: Ages>(
    seen: &mut Filter<Expiring<T>>,
    hashes: &[u64],
    new: &mut [bool],
) -> Result<()> {
    seen.refresh_hashes(hashes, new).map_err(|refusal| refusal.error.into())
}

/// Lines with earlier times than lines before them.
#[derive(Default)]
pub(super) struct Earlier {
    /// Lines are remembered no more exactly than this.
    allowed: u64,
    latest: u64,
    lines: usize,
    most: u64,
}

impl Earlier {
    /// Counts lines of a time.
    pub(super) fn note(&mut self, time: u64, lines: usize) {
        let by = self.latest.saturating_sub(time);
        if by > self.allowed {
            self.lines += lines;
            self.most = self.most.max(by);
        }
        self.latest = self.latest.max(time);
    }

    pub(super) fn tell(&self) {
        if self.lines > 0 {
            let (most, lines) = (time::in_words(self.most), self.lines);
            let are =
                if lines == 1 { "line has an earlier time" } else { "lines have earlier times" };
            tell(&format!(
                "malkoha: {lines} {are} than lines before, by up to {most}, and the latest was \
                 taken: see --disorder"
            ));
        }
    }
}

/// Lines that others with earlier times may follow, the earliest first.
pub(super) struct Waiting {
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
pub(super) struct Line {
    pub(super) time: u64,
    number: u64,
    pub(super) hash: u64,
    pub(super) text: Box<[u8]>,
}

impl Waiting {
    fn new(disorder: u64) -> Self {
        Self { lines: BinaryHeap::new(), disorder, latest: 0, number: 0, late: 0 }
    }

    /// Takes lines. One that is too late gets the earliest time that is still possible.
    pub(super) fn take(&mut self, timed: &Timed) {
        let lines = timed.lines.records().filter(|(_, fit)| fit.is_some()).map(|(line, _)| line);
        for ((text, &hash), &time) in lines.zip(&timed.lines.hashes).zip(&timed.times) {
            let (earliest, time) = (self.due(), time.unwrap_or(self.latest));
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
    pub(super) fn next(&mut self) -> Option<Line> {
        let is_due = self.lines.peek().is_some_and(|Reverse(line)| line.time <= self.due());
        if is_due { self.pop() } else { None }
    }

    /// The next line.
    pub(super) fn pop(&mut self) -> Option<Line> {
        self.lines.pop().map(|Reverse(line)| line)
    }

    pub(super) fn tell(&self) {
        if self.late > 0 {
            let disorder = time::in_words(self.disorder);
            let (late, are) = (self.late, if self.late == 1 { "line was" } else { "lines were" });
            tell(&format!(
                "malkoha: {late} {are} later than --disorder {disorder} allows, and taken as that old"
            ));
        }
    }
}
