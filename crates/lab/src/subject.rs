//! What is measured: our filters and other people's, behind one interface.
//!
//! Every method takes a slice and loops inside, so that the loop is compiled with the filter's own
//! type and there is no dynamic call per key.

use anyhow::Result;

/// In which way a filter is asked to do something for a slice of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// A plain loop; the compiler may inline the filter's method into it.
    Single,
    /// A plain loop over a function that is not inlined, as in a caller that does other work
    /// between two keys.
    Call,
    /// A plain loop over hashes that the caller has already.
    Hash,
    /// The filter's own batch method, on keys.
    Many,
    /// The filter's own batch method, on hashes that the caller has already.
    Hashes,
}

/// What a filter is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Insert keys.
    Insert,
    /// Look keys up.
    Find,
    /// Remove keys that were inserted.
    Remove,
}

/// A filter under measurement.
pub trait Subject {
    /// Whether the filter offers this.
    fn can(&self, operation: Operation, how: How) -> bool;
    /// Inserts the keys; adds those that it refuses to `refused`.
    fn insert(&mut self, how: How, keys: &[u64], refused: &mut Vec<u64>);
    /// Looks the keys up; returns how many were found. `found` is as long as `keys`, for filters
    /// that write their answers into a slice.
    fn find(&self, how: How, keys: &[u64], found: &mut [bool]) -> u64;
    /// Removes the keys; returns how many were found. `removed` is as long as `keys`.
    fn remove(&mut self, how: How, keys: &[u64], removed: &mut [bool]) -> u64;
    /// Turns keys into what [`How::Hashes`] takes.
    fn hash(&self, keys: &mut [u64]);
    /// Bytes that the filter's table takes.
    fn bytes(&self) -> u64;
    /// Share of the slots that are occupied, where the filter has slots and tells.
    fn load(&self) -> Option<f64>;
    /// The false-positive rate that the filter states for its present load, if it does.
    fn expected_fpr(&self) -> Option<f64>;
}

/// How many of the answers are yes.
pub(crate) fn count(answers: &[bool]) -> u64 {
    answers.iter().map(|&answer| u64::from(answer)).sum()
}

/// Makes an empty subject for this many keys.
pub type Make = Box<dyn Fn(u64) -> Result<Box<dyn Subject>>>;
/// Builds a subject from all its keys at once, on this many threads.
pub type Build = Box<dyn Fn(&[u64], usize) -> Result<Box<dyn Subject>>>;

/// A filter with its settings, which can be built again for every run.
pub struct Contender {
    /// Its name in every table.
    pub name: String,
    /// Whether it is ours: then a wrong answer ends the run, otherwise it is counted and shown.
    pub ours: bool,
    /// Makes it empty.
    pub make: Make,
    /// Builds it from a slice, if it can.
    pub build: Option<Build>,
}
