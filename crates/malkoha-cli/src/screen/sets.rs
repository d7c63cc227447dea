//! Files of lines as sets: their union, their intersection, and their difference, in the order of
//! first occurrences.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use malkoha::KeyHasher;

use super::marked::{at, words};
use super::{Exact, Marked};
use crate::input::{Inputs, List, Texts, split};
use crate::keys::Keys;
use crate::progress::Progress;

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

/// Calls `each` with the lines of the result, in the order in which they first occur.
pub(crate) fn operate(
    operation: Operation,
    paths: &[PathBuf],
    separator: u8,
    threads: usize,
    progress: &Progress,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let indexed = if operation == Operation::Union { paths } else { &paths[..1] };
    let lists = indexed.iter().map(|path| List::open(path)).collect::<Result<_>>()?;
    let texts = Texts::new(lists, separator);
    let exact = Exact::build(texts, KeyHasher::random(), threads, progress)?;
    // Whether a line is in the result, by a bit for each place where it may begin.
    let mut wanted = vec![0_u64; words(exact.texts())?];
    for place in exact.first_places() {
        let (word, bit) = at(place);
        wanted[word] |= bit;
    }
    let marked = Arc::new(Marked::nothing_of(exact)?);
    for path in &paths[indexed.len()..] {
        let others = Inputs::of_files(vec![path.clone()], separator).all_needed();
        marked.mark_lines(&others, Keys::lines(), threads, progress)?;
        for (wanted, mark) in wanted.iter_mut().zip(marked.marks()) {
            let mark = mark.swap(0, Ordering::Relaxed);
            *wanted &= if operation == Operation::Difference { !mark } else { mark };
        }
    }
    for (base, list) in marked.texts().lists() {
        let mut place = base;
        split(list, separator, |lines| {
            for line in lines {
                let (word, bit) = at(place);
                if wanted[word] & bit != 0 {
                    each(line)?;
                }
                place += line.len() as u64 + 1;
            }
            Ok(())
        })?;
    }
    Ok(())
}
