//! Deciding which lines of a stream are in a set, batch by batch.

mod approximate;
mod domains;
mod entries;
mod exact;
mod index;
mod kept;
mod lists;
mod marked;
mod networks;
mod origin;
mod select;
mod sets;
mod sieve;
mod store_keys;
mod suffixes;
mod words;

use anyhow::{Context, Result};

pub(crate) use approximate::Approximate;
use approximate::filter_of;
use domains::{Domains, Names};
use entries::{Unread, read_entries};
use exact::Exact;
pub(crate) use kept::{Keeping, is_index, place as place_of_index, verify as verify_index};
pub(crate) use lists::{How, Lists};
use marked::{Marked, smaller_than};
use networks::Networks;
pub(crate) use origin::Origin;
#[cfg(feature = "remote")]
pub(crate) use select::Selection;
pub(crate) use select::{Selecting, print_selected};
pub(crate) use sets::{Operation, operate};
use sieve::Sieve;
pub(crate) use store_keys::StoreKeys;

use crate::failure::CANNOT_WRITE;
use crate::output::stdout;

/// A set of lines, for lookups of many lines at once, by any number of threads.
pub(crate) trait Matcher: Send + Sync + 'static {
    /// Sets `found[i]` if `lines[i]` is in, and otherwise leaves it unchanged.
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()>;

    /// The place of this line in a list, if it was made to report that.
    fn origin(&self, _line: &[u8]) -> Option<Origin> {
        None
    }
}

/// All of them together.
impl Matcher for Vec<Box<dyn Matcher>> {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        self.iter().try_for_each(|part| part.find(lines, found))
    }

    fn origin(&self, line: &[u8]) -> Option<Origin> {
        self.iter().filter_map(|part| part.origin(line)).min()
    }
}

/// Prints one result as a line.
pub(crate) fn print_record(record: &impl std::fmt::Display) -> Result<()> {
    use std::io::Write;
    stdout::is_open().context(CANNOT_WRITE)?;
    writeln!(std::io::stdout(), "{record}").context(CANNOT_WRITE)
}
