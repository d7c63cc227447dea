//! Deciding which lines of a stream are in a set, batch by batch.

mod approximate;
mod domains;
mod exact;
mod kept;
mod marked;
mod networks;
mod origin;
mod select;
mod sets;
mod sieve;
mod store;
mod suffixes;
mod syntax;

use anyhow::Result;

pub(crate) use approximate::{Approximate, Digests, filter_of};
pub(crate) use domains::{Domains, Names};
pub(crate) use exact::Exact;
pub(crate) use kept::{
    Keeping, is_index, open as open_index, place as place_of_index, verify as verify_index,
};
pub(crate) use marked::Marked;
pub(crate) use networks::Networks;
use origin::Origin;
pub(crate) use select::{Selecting, print_selected};
pub(crate) use sets::{Operation, operate};
use sieve::Sieve;
pub(crate) use store::StoreKeys;

use crate::records::{Forms, Unfit};

/// A set of keys, for lookups of many lines at once, by any number of threads.
pub(crate) trait Matcher: Send + Sync + 'static {
    /// Sets `found[i]` if `keys[i]` is in, and otherwise leaves it unchanged.
    fn find(&self, keys: &[&[u8]], found: &mut [bool]) -> Result<()>;

    /// The place of this key in a list, if it was made to report that.
    fn origin(&self, _key: &[u8]) -> Option<Origin> {
        None
    }

    /// Other forms of keys of lists.
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

/// All of them together.
impl Matcher for Vec<Box<dyn Matcher>> {
    fn find(&self, keys: &[&[u8]], found: &mut [bool]) -> Result<()> {
        self.iter().try_for_each(|part| part.find(keys, found))
    }

    fn origin(&self, key: &[u8]) -> Option<Origin> {
        self.iter().filter_map(|part| part.origin(key)).min()
    }

    fn forms(&self) -> Vec<&Forms> {
        self.iter().flat_map(|part| part.forms()).collect()
    }

    fn fpr(&self) -> f64 {
        self.iter().map(|part| part.fpr()).sum()
    }

    fn has_forms(&self) -> bool {
        self.iter().any(|part| part.has_forms())
    }

    fn refuses(&self, key: &[u8]) -> Option<Unfit> {
        self.iter().find_map(|part| part.refuses(key))
    }
}
