//! What the memory allows: random loads and nothing else.
//!
//! A filter's lookup needs two cache lines. How many pairs of lines a core can fetch per second, in
//! a plain loop and with prefetches, is the limit that no filter of that kind can pass.

mod kernels;
mod measure;
mod table;

use std::fmt;

pub use measure::report;
pub use table::Table;

/// Which lines a step loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lines {
    /// One line, whose position the previous load decides: the bare latency.
    Chain,
    /// One line anywhere.
    One,
    /// Two lines anywhere, independent of each other.
    Two,
    /// Two lines in one segment of 384 KiB, as our filters do.
    Near,
}

/// How the loads are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Issue {
    /// One step after the other; what overlaps is up to the processor.
    Loop,
    /// Prefetches for this many steps, then their loads.
    Batch(usize),
    /// Each step prefetches for the one this far ahead.
    Ring(usize),
}

/// One kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// Which lines.
    pub lines: Lines,
    /// How they are loaded.
    pub issue: Issue,
}

/// The sizes of batches and the distances of rings that are tried.
const PREFETCHES: [Issue; 9] = [
    Issue::Batch(32),
    Issue::Batch(64),
    Issue::Batch(128),
    Issue::Batch(256),
    Issue::Batch(512),
    Issue::Ring(16),
    Issue::Ring(32),
    Issue::Ring(64),
    Issue::Ring(128),
];

impl Access {
    /// Everything there is to measure.
    pub fn all() -> impl Iterator<Item = Self> {
        let chain = Self { lines: Lines::Chain, issue: Issue::Loop };
        let of = |lines| {
            let issues = std::iter::once(Issue::Loop).chain(PREFETCHES);
            issues.map(move |issue| Self { lines, issue })
        };
        std::iter::once(chain).chain(of(Lines::One)).chain(of(Lines::Two)).chain(of(Lines::Near))
    }

    /// The accesses that a filter's lookups are compared with.
    pub fn of_lookups() -> impl Iterator<Item = Self> {
        Self::all().filter(|access| matches!(access.lines, Lines::Two | Lines::Near))
    }

    /// Whether this is a limit for batched lookups; otherwise it is one for single lookups.
    #[must_use]
    pub fn prefetched(self) -> bool {
        self.issue != Issue::Loop
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.lines {
            Lines::Chain => "dependent chain",
            Lines::One => "1 line",
            Lines::Two => "2 lines",
            Lines::Near => "2 lines in a segment",
        })?;
        match self.issue {
            Issue::Loop if self.lines == Lines::Chain => Ok(()),
            Issue::Loop => f.write_str(", loop"),
            Issue::Batch(size) => write!(f, ", batch {size}"),
            Issue::Ring(distance) => write!(f, ", ring {distance}"),
        }
    }
}
