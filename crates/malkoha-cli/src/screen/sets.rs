//! Files as sets of records: their union, their intersection, and their difference, in the order of
//! first occurrences.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use malkoha::KeyHasher;

use super::marked::{at, words};
use super::{Exact, Marked};
use crate::failure::tell;
use crate::input::{Side, Texts, name};
use crate::progress::Progress;
use crate::records::{Tally, tell_difference};

/// An operation on several sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// All lines.
    Union,
    /// Those of the first that are in all others.
    Intersection,
    /// Those of the first that are in no other.
    Difference,
}

/// Calls `each` with the records of `first` that are in the result, in the order in which they
/// first occur; before them with the headers of its files and their names, if there are headers.
pub(crate) fn operate(
    operation: Operation,
    first: &Side,
    others: &[Side],
    threads: usize,
    progress: &Progress,
    mut each: impl FnMut(&[u8], Option<&str>) -> Result<()>,
) -> Result<()> {
    let exact = Exact::build(Texts::open(first)?, KeyHasher::random(), threads, progress)?;
    // Whether a record is in the result, by a bit for each place where it may begin.
    let mut wanted = vec![0_u64; words(&exact.texts)?];
    for place in exact.first_places() {
        let (word, bit) = at(place);
        wanted[word] |= bit;
    }
    let marked = Arc::new(Marked::nothing_of(exact)?);
    let mut is_any_equal = false;
    for other in others {
        marked.mark(other, threads, progress)?;
        if let (Some(first), Some(other)) = (first.keys.tally(), other.keys.tally())
            && other.has_empty()
        {
            first.tell_empty_from(1);
        }
        for (wanted, mark) in wanted.iter_mut().zip(&marked.marks) {
            let mark = mark.swap(0, Ordering::Relaxed);
            is_any_equal |= mark != 0;
            *wanted &= if operation == Operation::Difference { !mark } else { mark };
        }
    }
    let texts = &marked.keys.texts;
    let is_wanted = |place| {
        let (word, bit) = at(place);
        wanted[word] & bit != 0
    };
    let (mut left_out, mut known) = (0, HashSet::new());
    let names = first.inputs.paths().iter().map(|path| name(path));
    for (header, name) in texts.headers().zip(names) {
        header.map_or(Ok(()), |header| each(header, Some(&name)))?;
    }
    texts.read_again(|mut place, batch| {
        let mut are_equal = Vec::with_capacity(batch.len());
        for record in batch.records {
            are_equal.push(is_wanted(place) == (operation == Operation::Intersection));
            if is_wanted(place) {
                each(record, None)?;
            }
            place += record.len() as u64 + 1;
        }
        if operation == Operation::Union {
            is_any_equal |= are_equal.contains(&true);
        }
        if operation != Operation::Union && !texts.are_lines() {
            marked.keys.find_places(batch.keys, |i, first| {
                let is_other = texts.record_at(first) != batch.records[i];
                left_out += u64::from(is_other && is_wanted(first));
            });
        }
        let keeps = |tally: &&Tally| !others.is_empty() && tally.keeps(batch.file());
        if let Some(tally) = first.keys.tally().filter(keeps) {
            let firsts = (0..batch.len()).filter(|&i| known.insert(batch.keys[i].to_vec()));
            batch.keep_some(tally, firsts.map(|i| (i, are_equal[i])));
        }
        Ok(())
    })?;
    if left_out > 0 {
        let option = if operation == Operation::Difference { " -v" } else { "" };
        tell(&format!(
            "malkoha: records left out for earlier ones with the same key: {left_out} \
             ('malkoha screen{option}' prints all)"
        ));
    }
    if operation == Operation::Union {
        marked.prove_among_files();
    }
    if !others.is_empty() || operation == Operation::Union {
        tell_difference(is_any_equal, None, 0.0);
    }
    Ok(())
}
