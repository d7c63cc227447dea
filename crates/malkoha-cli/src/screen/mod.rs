//! Deciding which lines of a stream are in a set, batch by batch.

mod approximate;
mod domains;
mod exact;
mod index;
mod kept;
mod lists;
mod marked;
mod networks;
mod select;
mod sets;
mod sieve;
mod suffixes;

use anyhow::Result;

use approximate::filter_of;
pub(crate) use approximate::{Approximate, Digests};
pub(crate) use domains::{Domains, Names};
use exact::Exact;
pub(crate) use kept::{Keeping, is_index, place as place_of_index, verify as verify_index};
pub(crate) use lists::{How, Lists, StoreKeys};
use marked::{Marked, smaller_than};
pub(crate) use networks::Networks;
#[cfg(feature = "remote")]
pub(crate) use select::Selection;
pub(crate) use select::{Selecting, print_selected};
pub(crate) use sets::{Operation, operate};
use sieve::Sieve;

use crate::records::{Forms, Unfit};

/// A line of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    /// The number of the list among those that are named, from 0.
    pub(crate) list: usize,
    /// The number of the line in it, from 1.
    pub(crate) line: u64,
}

/// A set of keys, for lookups of many lines at once, by any number of threads.
pub(crate) trait Matcher: Send + Sync + 'static {
    /// Sets `found[i]` if `keys[i]` is in, and otherwise leaves it unchanged.
    fn find(&self, keys: &[&[u8]], found: &mut [bool]) -> Result<()>;

    /// The place of this key in a list, if it was made to report that.
    fn origin(&self, _key: &[u8]) -> Option<Origin> {
        None
    }

    /// What keys of lists would be, written otherwise.
    fn forms(&self) -> Vec<&Forms> {
        Vec::new()
    }

    /// The rate at which keys are found that are not in.
    fn fpr(&self) -> f64 {
        0.0
    }

    /// Whether not every key has a form that can be found.
    fn has_forms(&self) -> bool {
        false
    }

    /// Why this key, which was not found, could not be found in any list.
    fn refuses(&self, _key: &[u8]) -> Option<Unfit> {
        None
    }
}
