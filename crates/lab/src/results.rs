//! What was measured, run by run, and the medians that reports are made of.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::keys::Present;
use crate::limit::Access;
use crate::measure::median;
use crate::subject::How;

/// Equal parts that a fill is timed in: a decile is two of them.
pub const PARTS: u8 = 20;

/// One thing that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Bits of the table for each key in it.
    BitsPerKey,
    /// Percent of the slots that are occupied.
    Load,
    /// Measured false-positive rate, percent.
    Fpr,
    /// The false-positive rate that the filter states, percent.
    ExpectedFpr,
    /// All keys inserted.
    Insert(How),
    /// The keys from one twentieth of the fill to another, the first inclusive.
    InsertPart(How, u8, u8),
    /// Built from a slice on this many threads.
    Build(usize),
    /// Lookups.
    Find(How, Present),
    /// Removals, from full to empty.
    Remove(How),
    /// What the memory allows.
    Limit(Access),
    /// Keys that an insert refused.
    Refused,
    /// Keys that were accepted and not found afterwards.
    Lost,
    /// Queries whose answers differed between two ways to ask them.
    Disagreements,
    /// Keys that were in and could not be removed.
    NotRemoved,
}

impl Measure {
    /// The first half of a fill.
    #[must_use]
    pub const fn first_half(how: How) -> Self {
        Self::InsertPart(how, 0, PARTS / 2)
    }

    /// The last tenth of a fill.
    #[must_use]
    pub const fn last_tenth(how: How) -> Self {
        Self::InsertPart(how, PARTS - 2, PARTS)
    }

    /// The last twentieth of a fill.
    #[must_use]
    pub const fn last_twentieth(how: How) -> Self {
        Self::InsertPart(how, PARTS - 1, PARTS)
    }

    /// Unit of the values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::BitsPerKey => "bits",
            Self::Load | Self::Fpr | Self::ExpectedFpr => "%",
            Self::Refused | Self::Lost | Self::Disagreements | Self::NotRemoved => "keys",
            _ => "M/s",
        }
    }

    /// Whether a value other than zero is a defect.
    #[must_use]
    pub const fn is_fault(self) -> bool {
        matches!(self, Self::Refused | Self::Lost | Self::Disagreements | Self::NotRemoved)
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Single => "single",
            Self::Call => "call",
            Self::Hash => "hash",
            Self::Many => "many",
            Self::Hashes => "hashes",
        })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BitsPerKey => f.write_str("bits a key"),
            Self::Load => f.write_str("load"),
            Self::Fpr => f.write_str("fpr"),
            Self::ExpectedFpr => f.write_str("expected fpr"),
            Self::Insert(how) => write!(f, "insert {how}"),
            Self::InsertPart(how, from, to) => {
                let percent = |part: u8| u32::from(part) * 100 / u32::from(PARTS);
                write!(f, "insert {how} {}-{} %", percent(*from), percent(*to))
            }
            Self::Build(1) => f.write_str("build"),
            Self::Build(threads) => write!(f, "build on {threads}"),
            Self::Find(how, Present(percent)) => write!(f, "find {how} {percent} %"),
            Self::Remove(how) => write!(f, "remove {how}"),
            Self::Limit(access) => write!(f, "limit {access}"),
            Self::Refused => f.write_str("refused"),
            Self::Lost => f.write_str("lost"),
            Self::Disagreements => f.write_str("disagreements"),
            Self::NotRemoved => f.write_str("not removed"),
        }
    }
}

/// A line of a result file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What was measured: a filter with its settings, or the memory of a table of that size.
    pub contender: String,
    /// Keys in the filter.
    pub keys: u64,
    /// Name of the measure.
    pub measure: String,
    /// Unit of the values.
    pub unit: String,
    /// Median of the runs.
    pub median: f64,
    /// Least value of the runs.
    pub least: f64,
    /// Greatest value of the runs.
    pub greatest: f64,
    /// Number of runs.
    pub runs: usize,
    /// The median as a fraction of what the memory allows, for lookups.
    pub of_limit: Option<f64>,
}

/// All values of one size, by contender and measure.
#[derive(Clone, Debug)]
pub struct Results {
    /// Keys in each filter.
    pub keys: u64,
    /// Names, in the order of the tables; those of limits come last.
    pub names: Vec<String>,
    /// For each contender, the limit that belongs to its size, by index into `names`.
    pub limits: BTreeMap<usize, usize>,
    values: BTreeMap<(usize, Measure), Vec<f64>>,
}

impl Results {
    /// Nothing measured yet of these contenders.
    #[must_use]
    pub const fn new(keys: u64, names: Vec<String>) -> Self {
        Self { keys, names, limits: BTreeMap::new(), values: BTreeMap::new() }
    }

    /// Adds one run's value.
    pub fn record(&mut self, contender: usize, measure: Measure, value: f64) {
        self.values.entry((contender, measure)).or_default().push(value);
    }

    /// All runs' values.
    #[must_use]
    pub fn runs(&self, contender: usize, measure: Measure) -> &[f64] {
        self.values.get(&(contender, measure)).map_or(&[], Vec::as_slice)
    }

    /// The median of the runs, if it was measured.
    #[must_use]
    pub fn median(&self, contender: usize, measure: Measure) -> Option<f64> {
        median(self.runs(contender, measure))
    }

    /// Everything that was measured of a contender, in order.
    pub fn measures(&self, contender: usize) -> impl Iterator<Item = Measure> {
        let range = (contender, Measure::BitsPerKey)..(contender + 1, Measure::BitsPerKey);
        self.values.range(range).map(|((_, measure), _)| *measure)
    }

    /// The most that memory allows of single or batched lookups in a table of the contender's
    /// size, taken in the same runs.
    #[must_use]
    pub fn limit(&self, contender: usize, prefetched: bool) -> Option<f64> {
        let limit = *self.limits.get(&contender)?;
        let rates = self.measures(limit).filter_map(|measure| match measure {
            Measure::Limit(access) if access.prefetched() == prefetched => {
                self.median(limit, measure)
            }
            _ => None,
        });
        rates.max_by(f64::total_cmp)
    }

    /// A lookup's median as a fraction of the limit; `None` for everything else.
    #[must_use]
    pub fn of_limit(&self, contender: usize, measure: Measure) -> Option<f64> {
        let Measure::Find(how, _) = measure else { return None };
        let prefetched = matches!(how, How::Many | How::Hashes);
        Some(self.median(contender, measure)? / self.limit(contender, prefetched)?)
    }

    /// All medians, as lines of a file.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let row = |(&(contender, measure), runs): (&(usize, Measure), &Vec<f64>)| Row {
            contender: self.names[contender].clone(),
            keys: self.keys,
            measure: measure.to_string(),
            unit: measure.unit().to_owned(),
            median: median(runs).unwrap_or(f64::NAN),
            least: runs.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: runs.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            runs: runs.len(),
            of_limit: self.of_limit(contender, measure),
        };
        self.values.iter().map(row).collect()
    }
}
